#!/usr/bin/env bash
# Miri over the unsafe code of nodes, lists and buckets: borrows, accesses to memory that is gone, data
# races and weak memory, on the platform of the standard library alone (tests/plain.rs).
#
# The Linux platform does not run under Miri: it has inline assembly (__libc_single_threaded) and
# the system calls membarrier, madvise(MADV_WIPEONFORK) and pthread_atfork, which Miri does not have.
#
# ONDECK_MIRI_SEEDS is the number of schedules of each test.
source "$(dirname "$0")/common.sh"
cargo +nightly miri --version >/dev/null 2>&1 ||
    skip "needs Miri: rustup toolchain install nightly --component miri --component rust-src"
cargo +nightly miri --version
# With the sources of the standard library, which Miri builds for itself.
cargo +nightly miri setup
CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-target}")/miri
export CARGO_TARGET_DIR
tests=(cargo +nightly miri test --locked -q -p ondeck --test plain --)

step "a race on purpose"
status=0
report=$(MIRIFLAGS=-Zmiri-many-seeds=0..8 "${tests[@]}" --ignored 2>&1) || status=$?
if [ "$status" -eq 0 ] || ! grep -q 'Undefined Behavior: Data race' <<<"$report"; then
    echo "$report"
    echo "the race was not reported"
    exit 1
fi

step "the tests"
MIRIFLAGS=-Zmiri-many-seeds=0..${ONDECK_MIRI_SEEDS:-16} "${tests[@]}"
