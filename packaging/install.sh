#!/usr/bin/env bash
# Builds and installs the command `ondeck`, the libraries that `ondeck run` loads, and libondeck for C and C++:
# headers, pkg-config file, manual pages and shell completions with them.
#
#   packaging/install.sh [--prefix DIR] [--libdir DIR] [--destdir DIR] [--cargo-profile NAME]
#
#   --prefix          where everything goes: /usr/local
#   --libdir          where libondeck goes: lib below the prefix
#   --destdir         put in front of every path, for packages; nothing that is installed names it
#   --cargo-profile   how the command is built: release, which takes the compiler some minutes; the libraries are
#                     always built for speed
#
# CARGO_TARGET_DIR says where the build goes, as ever. Installing anew replaces what is there; the list of what
# was installed is printed.
# shellcheck source=packaging/options.sh
source "$(dirname "$0")/options.sh"

prefix=/usr/local libdir='' destdir='' cargo_profile=release
options "prefix libdir destdir cargo-profile" "$@"
libdir=${libdir:-$prefix/lib}
for path in "$prefix" "$libdir"; do
    [[ $path == /* ]] || { echo "$path is no absolute path, as --prefix and --libdir need it" >&2; exit 2; }
done
# Cargo's profile `dev` has a folder of another name.
folder=$CARGO_TARGET_DIR/${cargo_profile/#dev/debug}
native=$CARGO_TARGET_DIR/native

cargo build --locked --profile "$cargo_profile" -p ondeck-cli --bin ondeck
PREFIX=$prefix LIBDIR=$libdir bash locks/ondeck-capi/link.sh
bash locks/ondeck-preload/link.sh
bash tools/ondeck-observe/link.sh

# put MODE FILE... FOLDER: installs into a folder of the prefix, and says what.
put() {
    local mode=$1 into=${*: -1} file
    shift
    for file in "${@:1:$#-1}"; do
        install -D -m "$mode" -t "$destdir$into" "$file"
        echo "$into/$(basename "$file")"
    done
}

put 755 "$folder/ondeck" "$prefix/bin"
# Five sixths of it are lines for debuggers. The libraries keep theirs: reports have lines of the locks.
strip --strip-debug "$destdir$prefix/bin/ondeck"
# Not among the libraries that programs are linked with. The command looks here, beside its own folder.
put 644 "$native/lib/libondeck_preload.so" "$native/lib/libondeck_observe.so" "$prefix/lib/ondeck"
put 644 "$native/lib/libondeck.so.0" "$native/lib/libondeck.a" "$libdir"
ln -sf libondeck.so.0 "$destdir$libdir/libondeck.so"
put 644 "$native"/include/ondeck.h* "$prefix/include"

put 644 "$native/lib/pkgconfig/ondeck.pc" "$libdir/pkgconfig"

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
mkdir "$made/man"
"$folder/ondeck" man --folder "$made/man"
put 644 "$made"/man/*.1 "$prefix/share/man/man1"
"$folder/ondeck" completions bash >"$made/ondeck"
put 644 "$made/ondeck" "$prefix/share/bash-completion/completions"
"$folder/ondeck" completions zsh >"$made/_ondeck"
put 644 "$made/_ondeck" "$prefix/share/zsh/site-functions"
"$folder/ondeck" completions fish >"$made/ondeck.fish"
put 644 "$made/ondeck.fish" "$prefix/share/fish/vendor_completions.d"

if [ -z "$destdir" ] && [[ :$PATH: != *":$prefix/bin:"* ]]; then
    echo "$prefix/bin is not in PATH: export PATH=\"$prefix/bin:\$PATH\"" >&2
fi
if [ -z "$destdir" ] && [ "$(id -u)" -eq 0 ]; then
    # A loader that keeps no list of libraries has no such program.
    if command -v ldconfig >/dev/null; then ldconfig; fi
fi
