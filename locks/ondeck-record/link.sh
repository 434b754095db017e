#!/usr/bin/env bash
# Builds a library that is preloaded, into ${CARGO_TARGET_DIR:-target}/native/lib.
#
#     locks/ondeck-record/link.sh preload|observe [OPTION...]     options are for the C compiler
#
# cargo makes a static library, and the C compiler links it: rustc gives a shared library a version script of its own,
# which does not allow names with versions.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
name=$1
shift
crate=$(echo */"ondeck-$name")
target=${CARGO_TARGET_DIR:-target}
cc=${CC:-cc}
library=$target/native/lib/libondeck_$name.so
archive=$target/native/libondeck_$name.a

cargo build --locked --profile native -p "ondeck-$name" --all-features
mkdir -p "$target/native/lib"
objects=()
for source in locks/ondeck-record/preloaded.c "$crate"/src/*.c; do
    objects+=("$target/native/ondeck_${name}_$(basename "$source" .c).o")
    "$cc" -std=gnu11 -O2 -fPIC -Wall -Wextra -Werror -fasynchronous-unwind-tables -fno-exceptions -ffunction-sections "$@" \
        -c "$source" -o "${objects[-1]}"
done

# The standard library's way to end a panic allocates, takes locks and unwinds. This one writes one line and aborts. With
# nothing left that refers to it, the standard library is not linked.
panic=$(readelf -sW "$archive" 2>/dev/null | awk '$7 == "UND" && $8 ~ /rust_begin_unwind$/ { print $8 }' | sort -u)
[ -n "$panic" ] || { echo "no object of $archive panics by rust_begin_unwind: what does this compiler call it?"; exit 1; }

# The unwinder is the static one: it is for the recorder's stacks alone, knows of no frames that the program
# registers, and so takes no lock. It allocates only to sort such frames; here its allocation always fails, and it goes on without.
unwinder=$target/native/libondeck_${name}_unwinder.a
objcopy --redefine-sym malloc=ondeck_record_no_memory --redefine-sym free=ondeck_record_not_freed \
    "$("$cc" -print-file-name=libgcc_eh.a)" "$unwinder"
# Waits are by the kernel's clock, whatever time another library shows the program.
"$cc" -shared -o "$library" \
    "${objects[@]}" -Wl,--whole-archive "$archive" -Wl,--no-whole-archive \
    -Wl,--wrap="$panic" -Wl,--defsym="__wrap_$panic=ondeck_record_panic" \
    -Wl,--defsym="clock_gettime=ondeck_${name}_clock_gettime" \
    -Wl,-soname,"libondeck_$name.so" -Wl,--version-script="$crate/symbols.map" \
    -Wl,--gc-sections -Wl,-z,now -Wl,-z,relro -Wl,-z,defs -Wl,-z,noexecstack -Wl,-Bsymbolic \
    -Wl,--undefined=ondeck_record_nothing -Wl,--section-start=.nothing=0x400000 \
    -nodefaultlibs -lgcc "$unwinder" -lc

# A loader of musl leaves out a preloaded library that it cannot map. If it could map this one, it could not bind it, and
# would not start the program. It maps a segment that has no bytes in the file, from an offset that no file has, and glibc's
# does not.
last=$(readelf -lW "$library" | awk '/^  [A-Z_]+ +0x/ { if ($1 == "LOAD") last = count; count++ } END { print last }')
printf '\0\xf0\xff\xff\xff\xff\xff\x7f' | dd of="$library" bs=1 seek=$((64 + 56 * last + 8)) conv=notrunc status=none
