#!/usr/bin/env bash
# The shim exports what the C library does, and unmodified programs cannot tell the two apart.
#
#   ci/preload.sh              builds libondeck_preload.so, compares its symbols with the C library's, and runs the
#                              conformance programs against plain glibc and under the shim
#   ci/preload.sh --quick      the same without the programs that take long
#   ci/preload.sh --long       the same, and signals, time-outs and cancellations race for ten minutes
#   ci/preload.sh --cost       prints what an uncontended lock and unlock cost, with plain glibc, under the shim, and
#                              with functions that do nothing
#   ci/preload.sh --mutants [NAME...]
#                              puts each mistake of crates/ondeck-preload/tests/conformance/mutants.toml into a copy of
#                              the project; the program that is named there must then fail
source "$(dirname "$0")/common.sh"
need_packages gcc g++ python3 binutils
[ "$(uname -m)" = x86_64 ] || skip "the shim is for x86-64, and this is $(uname -m)"
getconf GNU_LIBC_VERSION >/dev/null 2>&1 || skip "the shim is for glibc"
target=${CARGO_TARGET_DIR:-$PWD/target}
shim=$target/native/lib/libondeck_preload.so

if [ "${1:-}" = --mutants ]; then
    exec python3 crates/ondeck-preload/tests/conformance/mutants.py "${@:2}"
fi

step "link"
crates/ondeck-preload/link.sh
if [ "${1:-}" = --cost ]; then
    work=$target/preload-cost
    mkdir -p "$work"
    gcc -O2 -Wall -Wextra -Werror -pthread -o "$work/pair" crates/ondeck-preload/tests/pair.c
    gcc -O2 -fPIC -shared -x c -o "$work/nothing.so" - <<<'int pthread_mutex_lock(void *m) { return !m; }
        int pthread_mutex_unlock(void *m) { return !m; }'
    # least LIBRARY KIND THREADS: nanoseconds, the least of some processes, taken in turn with the others.
    least() {
        local library=$1
        shift
        for _ in 1 2 3 4 5 6 7; do LD_PRELOAD=$library "$work/pair" "$@"; done | sort -n | head -n 1
    }
    step "nanoseconds for a lock and an unlock, no contention"
    printf '%-12s %7s %8s %8s %8s %7s\n' kind threads nothing glibc shim ratio
    kinds=(normal recursive errorcheck adaptive)
    for kind in 0 1 2 3; do
        for threads in 1 2; do
            nothing=$(least "$work/nothing.so" "$kind" "$threads")
            glibc=$(least '' "$kind" "$threads")
            shim_cost=$(least "$shim" "$kind" "$threads")
            awk -v k="${kinds[kind]}" -v t="$threads" -v n="$nothing" -v g="$glibc" -v s="$shim_cost" \
                'BEGIN { printf "%-12s %7d %8.2f %8.2f %8.2f %7.2f\n", k, t, n, g, s, s / g }'
        done
    done
    exit 0
fi
step "symbols"
python3 ci/preload-symbols.py "$shim"

step "ONDECK_LOCK"
status=0
told=$(ONDECK_LOCK=no_such_lock LD_PRELOAD=$shim /bin/true 2>&1) || status=$?
if [ "$status" -ne 2 ] || ! grep -q 'ONDECK_LOCK=no_such_lock is no lock' <<<"$told"; then
    echo "a lock that does not exist was not refused: $status, $told"
    exit 1
fi

step "conformance"
options=() programs=()
case ${1:-} in
    --quick) programs=(bypass c11 cancel constructors initializers kinds lazy recursion robust single versions) ;;
    --long) options=(--long) ;;
    "") ;;
    *) echo "ci/preload.sh: no option $1; see the comment at its top"; exit 2 ;;
esac
crates/ondeck-preload/tests/conformance/run.sh --preload "$shim" "${options[@]}" "${programs[@]}"

step "conformance with other locks"
for lock in go_spinbit three_state_futex adaptive_futex; do
    ONDECK_LOCK=$lock crates/ondeck-preload/tests/conformance/run.sh --preload "$shim" kinds c11 cancel single versions
done
