#!/usr/bin/env bash
# Builds libondeck_preload.so into ${CARGO_TARGET_DIR:-target}/native/lib.
#
#     crates/ondeck-preload/link.sh
#
# cargo makes a static library, and the C compiler links it: rustc gives a shared library a version script of its own,
# which does not allow names with versions.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
crate=crates/ondeck-preload
target=${CARGO_TARGET_DIR:-target}
cc=${CC:-cc}

cargo build --locked --profile native -p ondeck-preload --features names
archive=$target/native/libondeck_preload.a
mkdir -p "$target/native/lib"
objects=()
for name in asynchronous barrier cancel semaphore spin; do
    objects+=("$target/native/ondeck_preload_$name.o")
    "$cc" -std=gnu11 -O2 -fPIC -Wall -Wextra -Werror -fasynchronous-unwind-tables -fno-exceptions -ffunction-sections \
        -c "$crate/src/$name.c" -o "${objects[-1]}"
done

# The standard library's way to end a panic allocates, takes locks and unwinds. The shim's own writes one line and
# aborts. With nothing left that refers to it, the standard library is not linked.
panic=$(readelf -sW "$archive" 2>/dev/null | awk '$7 == "UND" && $8 ~ /rust_begin_unwind$/ { print $8 }' | sort -u)
[ -n "$panic" ] || { echo "no object of $archive panics by rust_begin_unwind: what does this compiler call it?"; exit 1; }

# The unwinder is the static one: it is for the recorder's stacks alone, knows of no frames that the program
# registers, and so takes no lock. It would allocate to sort such frames; it is told that there is no memory.
unwinder=$target/native/libondeck_preload_unwinder.a
objcopy --redefine-sym malloc=ondeck_preload_no_memory --redefine-sym free=ondeck_preload_not_freed \
    "$("$cc" -print-file-name=libgcc_eh.a)" "$unwinder"
"$cc" -shared -o "$target/native/lib/libondeck_preload.so" \
    "${objects[@]}" -Wl,--whole-archive "$archive" -Wl,--no-whole-archive \
    -Wl,--wrap="$panic" -Wl,--defsym="__wrap_$panic=ondeck_preload_panic" \
    -Wl,-soname,libondeck_preload.so -Wl,--version-script="$crate/symbols.map" \
    -Wl,--gc-sections -Wl,-z,now -Wl,-z,relro -Wl,-z,defs -Wl,-z,noexecstack -Wl,-Bsymbolic \
    -nodefaultlibs -lgcc "$unwinder" -lc
