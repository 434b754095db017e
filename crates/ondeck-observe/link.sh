#!/usr/bin/env bash
# Builds libondeck_observe.so into ${CARGO_TARGET_DIR:-target}/native/lib.
#
#     crates/ondeck-observe/link.sh
#
# As crates/ondeck-preload/link.sh, which has the reasons.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
crate=crates/ondeck-observe
target=${CARGO_TARGET_DIR:-target}
cc=${CC:-cc}

cargo build --locked --profile native -p ondeck-observe
archive=$target/native/libondeck_observe.a
mkdir -p "$target/native/lib"
objects=()
for name in observe syscall locks waits order notes; do
    objects+=("$target/native/ondeck_observe_$name.o")
    # No tail call may take the place of a frame that the recorder looks for.
    "$cc" -std=gnu11 -O2 -fPIC -Wall -Wextra -Werror -fasynchronous-unwind-tables -fno-exceptions -ffunction-sections \
        -fno-optimize-sibling-calls -ftls-model=initial-exec -c "$crate/src/$name.c" -o "${objects[-1]}"
done

panic=$(readelf -sW "$archive" 2>/dev/null | awk '$7 == "UND" && $8 ~ /rust_begin_unwind$/ { print $8 }' | sort -u)
[ -n "$panic" ] || { echo "no object of $archive panics by rust_begin_unwind: what does this compiler call it?"; exit 1; }

unwinder=$target/native/libondeck_observe_unwinder.a
objcopy --redefine-sym malloc=ondeck_observe_no_memory --redefine-sym free=ondeck_observe_not_freed \
    "$("$cc" -print-file-name=libgcc_eh.a)" "$unwinder"
"$cc" -shared -o "$target/native/lib/libondeck_observe.so" \
    "${objects[@]}" -Wl,--whole-archive "$archive" -Wl,--no-whole-archive \
    -Wl,--wrap="$panic" -Wl,--defsym="__wrap_$panic=ondeck_observe_panic" \
    -Wl,-soname,libondeck_observe.so -Wl,--version-script="$crate/symbols.map" \
    -Wl,--gc-sections -Wl,-z,now -Wl,-z,relro -Wl,-z,defs -Wl,-z,noexecstack -Wl,-Bsymbolic \
    -nodefaultlibs -lgcc "$unwinder" -lc
