#!/usr/bin/env bash
# Prints what an uncontended lock and unlock cost through ondeck.h, beside a plain spinlock: the
# program pair.c, compiled by each compiler that there is, with the shared and with the static
# library.
#
#   crates/ondeck-capi/bench/pair.sh [ROUNDS]     after crates/ondeck-capi/link.sh
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
native=$(realpath "${CARGO_TARGET_DIR:-$here/../../../target}")/native
[ -e "$native/lib/libondeck.so" ] || { echo "$native has no libondeck.so: run crates/ondeck-capi/link.sh first" >&2; exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for compiler in gcc clang; do
    command -v "$compiler" >/dev/null || continue
    for library in libondeck.so libondeck.a; do
        "$compiler" -std=c11 -O2 -pthread -I"$native/include" "$here/pair.c" "$native/lib/$library" \
            -Wl,-rpath,"$native/lib" -o "$scratch/pair"
        printf '\n%s, %s\n' "$compiler" "$library"
        "$scratch/pair" "$@"
    done
done
