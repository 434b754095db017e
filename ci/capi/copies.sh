#!/usr/bin/env bash
# Copies of libondeck in one process have one parking table, or the process is refused with a
# message that names both objects: in all ways in which programs and plugins can be linked and
# loaded.
#
#   ci/capi/copies.sh NATIVE     NATIVE is what locks/ondeck-capi/link.sh makes: native/ in cargo's target folder
set -euo pipefail
native=$(realpath "$1")
source=$(realpath "$(dirname "$0")/../../locks/ondeck-capi/tests/c")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export LD_LIBRARY_PATH=$native/lib
CC=${CC:-gcc}
flags=(-std=c11 -O2 -Wall -Wextra -Werror -pthread -I"$native/include")
shared=(-L"$native/lib" -londeck)
static=("$native/lib/libondeck.a")

# plugin NAME FLAGS: a library; all of them are alike but for how they come to libondeck.
plugin() {
    "$CC" "${flags[@]}" -fPIC -shared -Wl,-z,defs "$source/plugin.c" -o "./$1" "${@:2}"
}
plugin shared.so "${shared[@]}"
plugin static.so "${static[@]}"
plugin static2.so "${static[@]}"
plugin hidden.so "${static[@]}" -Wl,--exclude-libs,ALL

# host NAME FLAGS: a program.
host() {
    "$CC" "${flags[@]}" "$source/host.c" -o "./$1" "${@:2}" -ldl
}
uses=-DHOST_USES_ONDECK
host plain
host with_shared $uses "${shared[@]}"
host with_static $uses "${static[@]}"
host with_export $uses "${static[@]}" -rdynamic
host with_symbols $uses "${static[@]}" -Wl,--export-dynamic-symbol='ondeck_*'
host with_table $uses "${static[@]}" -Wl,--export-dynamic-symbol=ondeck_parking_table_6
host without_rows $uses "${static[@]}" -Wl,--export-dynamic-symbol=ondeck_parking_table_6 \
    -Wl,--export-dynamic-symbol=ondeck_fence_state_2
# The functions of two copies, with one table, state and rows.
host with_data $uses "${static[@]}" -Wl,--export-dynamic-symbol='ondeck_*_[0-9]'
# One that has plugins from its start, too: then its linker exports what they refer to.
host with_needed $uses "${static[@]}" -Wl,--no-as-needed ./shared.so -Wl,-rpath-link,"$native/lib"
host no_pie_shared $uses -fno-pic -no-pie "${shared[@]}"
host no_pie_static $uses -fno-pic -no-pie "${static[@]}"
host gc_static $uses "${static[@]}" -Wl,--gc-sections
host no_inline $uses -DONDECK_NO_INLINE "${shared[@]}"

wrong=0
count=0
# one HOST SCOPE PLUGIN...: one table, and locks work across all of them.
one() {
    local status=0
    count=$((count + 1))
    "./$1" "${@:2}" >out 2>err || status=$?
    if [ "$status" -ne 0 ] || ! grep -qx "one table" out; then
        echo "NOT ONE TABLE ($status): $*"
        cat err
        exit 1
    fi
}

# refused NAME NAME HOST SCOPE PLUGIN...: ended by abort(3), with a message that has both names and
# the remedy.
refused() {
    local status=0
    count=$((count + 1))
    # A shell of its own says that it was aborted, and where.
    (exec 2>/dev/null; "./$3" "${@:4}" >out 2>err) || status=$?
    if [ "$status" -ne 134 ] || ! grep -q "two copies of libondeck" err || ! grep -qF "/$1 and " err ||
        ! grep -qF "/$2. A lock" err || ! grep -q "libondeck.so" err || ! grep -q -- "-rdynamic" err; then
        echo "NOT REFUSED ($status), or without $1 and $2: ${*:3}"
        cat err
        exit 1
    fi
}
ulimit -c 0

# The library is shared by all: whatever the scope, it is loaded once.
one with_shared local ./shared.so
one with_shared global ./shared.so
one no_pie_shared local ./shared.so
one no_inline local ./shared.so
one plain local ./shared.so
# A static copy that is exported finds the shared one's table, or the other way round.
one with_shared local ./static.so
one with_shared local ./static.so ./shared.so
one with_export local ./shared.so
one with_export local ./static.so ./shared.so
one with_symbols local ./shared.so
one with_data local ./shared.so
one with_needed local ./shared.so ./static.so
one plain global ./static.so ./static2.so
one plain global ./static.so ./shared.so
# One copy alone is none too many.
one plain local ./static.so
one plain local ./hidden.so
one plain namespace ./shared.so
one plain namespace ./static.so
# Copies that cannot see each other.
refused with_static libondeck.so.0 with_static local ./shared.so
refused no_pie_static libondeck.so.0 no_pie_static local ./shared.so
refused gc_static libondeck.so.0 gc_static local ./shared.so
refused with_table libondeck.so.0 with_table local ./shared.so
refused without_rows libondeck.so.0 without_rows local ./shared.so
refused with_static static.so with_static global ./static.so
refused static.so static2.so plain local ./static.so ./static2.so
refused static.so libondeck.so.0 plain local ./static.so ./shared.so
refused libondeck.so.0 hidden.so with_shared local ./hidden.so
refused with_export hidden.so with_export local ./hidden.so

# The linker copies no table into a program, whether or not that is position-independent.
for program in with_shared no_pie_shared no_inline; do
    if readelf -rW "$program" | grep -q "R_X86_64_COPY.*ondeck"; then
        echo "$program has a copy relocation of the table"
        wrong=1
    fi
done

# A program that was compiled for another ABI is refused by the linker, and by the loader.
mkdir other
for symbol in ondeck_parking_table ondeck_reader_rows; do
    grep -q "\"${symbol}_[0-9]" "$native/include/ondeck.h" || { echo "the header does not name $symbol"; wrong=1; }
    sed "s/${symbol}_[0-9]*/${symbol}_0/" "$native/include/ondeck.h" >other/ondeck.h
    if "$CC" -std=c11 -pthread -Iother $uses "$source/host.c" -o other_abi "${shared[@]}" -ldl 2>err; then
        echo "LINKED although the ABI has another $symbol"
        wrong=1
    fi
    grep -q "undefined reference to .${symbol}_0" err || { cat err; wrong=1; }
    "$CC" -std=c11 -fPIC -shared -Iother "$source/plugin.c" -o other_abi.so "${shared[@]}"
    status=0
    ./plain local ./other_abi.so >out 2>err || status=$?
    if [ "$status" -ne 2 ] || ! grep -q "undefined symbol: ${symbol}_0" err; then
        echo "LOADED ($status) although the ABI has another $symbol"
        cat err
        wrong=1
    fi
done

# Programs without a loader.
"$CC" "${flags[@]}" -static "$source/calls.c" -o without_loader "${static[@]}" && ./without_loader || wrong=1
"$CC" "${flags[@]}" -static-pie "$source/stress.c" -o static_pie "${static[@]}" && ./static_pie 500 || wrong=1

[ "$wrong" -eq 0 ] && echo "$count ways to link and to load"
exit "$wrong"
