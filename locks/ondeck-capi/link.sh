#!/usr/bin/env bash
# Makes libondeck.so.0 and libondeck.a, with their headers and ondeck.pc, in native/ of cargo's
# target folder:
#
#   native/lib/libondeck.so.0         soname libondeck.so.0, symbols with the versions of ondeck.map
#   native/lib/libondeck.so           the symlink for linking
#   native/lib/libondeck.a            one object, with the same symbols; all others are local
#   native/lib/pkgconfig/ondeck.pc    for the prefix PREFIX, /usr/local by default, and LIBDIR, PREFIX/lib by default
#   native/include/ondeck.h, ondeck.hpp
#
# CC is the compiler driver that links, cc by default.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."
CC=${CC:-cc} PREFIX=${PREFIX:-/usr/local}
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
out=$target/native
cargo build --locked --profile native -p ondeck-capi --lib
mkdir -p "$out/lib/pkgconfig" "$out/include"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The names that are exported: the words of ondeck.map that end with a semicolon.
names=$(sed -n 's/^ *\(ondeck_[a-z0-9_]*\);$/\1/p' "$here/ondeck.map")

# One object of what those names need. All other symbols become local: a program may have other
# libraries in Rust, with a standard library of their own.
roots=()
for name in $names; do
    roots+=(-u "$name")
done
ld -r --gc-sections "${roots[@]}" -o "$scratch/ondeck.o" --whole-archive "$out/libondeck_capi.a"
printf '%s\n' "$names" >"$scratch/names"
# The standard library's bitcode is of a newer LLVM than the plugins of a system's linker may know.
objcopy --keep-global-symbols="$scratch/names" -R .llvmbc -R .llvmcmd "$scratch/ondeck.o"
# Without debug information, and without the names of what was dropped: a static program would be
# warned of them.
objcopy --strip-unneeded "$scratch/ondeck.o" "$scratch/stripped.o"
rm -f "$out/lib/libondeck.a"
(cd "$scratch" && mv stripped.o libondeck.o && ar rcsD "$out/lib/libondeck.a" libondeck.o)

# nodelete: threads that are parked, and the handler of forks, outlive a dlclose(3). No -Bsymbolic:
# the table of another copy has to take this one's place.
"$CC" -shared -o "$out/lib/libondeck.so.0" "$scratch/ondeck.o" \
    -Wl,-soname,libondeck.so.0 -Wl,--version-script="$here/ondeck.map" -Wl,--gc-sections \
    -Wl,-z,nodelete -Wl,-z,relro -Wl,-z,now -Wl,-z,defs -Wl,--as-needed
ln -sfn libondeck.so.0 "$out/lib/libondeck.so"

install -m 644 "$here/include/ondeck.h" "$here/include/ondeck.hpp" "$out/include/"
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
sed -e "s|@PREFIX@|$PREFIX|" -e "s|@LIBDIR@|${LIBDIR:-\${exec_prefix\}/lib}|" -e "s|@VERSION@|$version|" \
    "$here/ondeck.pc.in" >"$out/lib/pkgconfig/ondeck.pc"
