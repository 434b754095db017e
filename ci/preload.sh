#!/usr/bin/env bash
# The shim exports what the C library does, and unmodified programs cannot tell the two apart.
#
#   ci/preload.sh              builds libondeck_preload.so, compares its symbols with the C library's, and runs the
#                              conformance programs against plain glibc and under the shim
#   ci/preload.sh --quick      the same without the programs that take long
#   ci/preload.sh --long       the same, and signals, time-outs and cancellations race for ten minutes
#   ci/preload.sh --mutants [NAME...]
#                              puts each mistake of locks/ondeck-preload/tests/conformance/mutants.toml into a copy of
#                              the project; the program that is named there must then fail
source "$(dirname "$0")/common.sh"
need_packages gcc g++ python3 binutils musl-tools
[ "$(uname -m)" = x86_64 ] || skip "the shim is for x86-64, and this is $(uname -m)"
getconf GNU_LIBC_VERSION >/dev/null 2>&1 || skip "the shim is for glibc"
target=${CARGO_TARGET_DIR:-$PWD/target}
shim=$target/native/lib/libondeck_preload.so

if [ "${1:-}" = --mutants ]; then
    exec python3 locks/ondeck-preload/tests/conformance/mutants.py "${@:2}"
fi

step "link"
locks/ondeck-preload/link.sh
step "symbols"
python3 locks/ondeck-preload/symbols.py "$shim"

step "conformance"
options=() programs=()
case ${1:-} in
    --quick) programs=(barrier calls calls_others cancel constructors lazy robust spin versions) ;;
    --long) options=(--long) ;;
    "") ;;
    *) echo "ci/preload.sh: no option $1; see the comment at its top"; exit 2 ;;
esac
locks/ondeck-preload/tests/conformance/run.sh --preload "$shim" "${options[@]}" "${programs[@]}"
