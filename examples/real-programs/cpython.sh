#!/usr/bin/env bash
# CPython: its own tests of threads, queues and processes, from Debian's package of its test suite.
# shellcheck source=lib.sh disable=SC2034
source "$(dirname "$0")/lib.sh"
program=cpython title='CPython 3.11' unit='queue items a second' package=python3.11
packages=(python3.11 libpython3.11-testsuite)

prepare() {
    mkdir "$scratch/work"
}

check() {
    local tests=(test_thread test_threading test_threading_local test_queue test_threadsignals test_fork1)
    [ -z "$quick" ] || tests=(test_thread test_threading_local test_queue test_fork1)
    cd "$scratch/work"
    for one in "${tests[@]}"; do
        # The tests are Python's: what they leave of temporary files is in the scratch folder.
        TMPDIR=$scratch/work "${prefix[@]}" /usr/bin/python3.11 -m test -q --timeout $((limit * 9 / 10 + 1)) "$one" \
            >"$scratch/log" 2>&1 || fail "$one: $(tail -n 30 "$scratch/log")"
        ok "python3.11 -m test $one"
    done
    if [ -z "$quick" ]; then
        # All tests of processes take minutes. These are of what processes share.
        TMPDIR=$scratch/work "${prefix[@]}" /usr/bin/python3.11 -m test -q -m '*WithProcessesTestQueue*' \
            -m '*WithProcessesTestCondition*' -m '*WithThreadsTestPool*' -m '*TestForkAwareThreadLock*' \
            test_multiprocessing_fork >"$scratch/log" 2>&1 ||
            fail "test_multiprocessing_fork: $(tail -n 30 "$scratch/log")"
        ok "python3.11 -m test test_multiprocessing_fork: queues, conditions, pools of threads, forks amid locks"
    fi
}

measure() {
    rate "$("${prefix[@]}" /usr/bin/python3.11 "$here/programs/threads.py" "$seconds")"
}

main "$@"
