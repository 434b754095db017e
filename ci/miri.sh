#!/usr/bin/env bash
# Runs tests/plain under Miri, which checks the unsafe code of locks, nodes, queues and buckets for wrong borrows,
# accesses to freed memory, data races and weak memory. Then it runs the tests of interfaces in tests/api that have unsafe
# code of their own, and a program that uses each type of the crate, as programs do that are tested under Miri.
#
# They use the platform that programs have under Miri (src/platform/miri.rs): Miri has no inline assembly, membarrier or
# FUTEX_LOCK_PI. So the kernel's part in the protocols of PiMutex and ipc does not run there.
#
# ONDECK_MIRI_SEEDS is the number of schedules of each test, 20 by default. They take two to four minutes.
# --quick tries one schedule of each test, in half a minute of CPU time and as much for the first build.
source "$(dirname "$0")/common.sh"
seeds=${ONDECK_MIRI_SEEDS:-20}
case $* in
    '') ;;
    --quick) seeds=1 ;;
    *) echo "usage: ci/miri.sh [--quick]" >&2; exit 2 ;;
esac
cargo +nightly miri --version >/dev/null 2>&1 ||
    rustup toolchain install nightly --profile minimal --component miri --component rust-src --no-self-update ||
    skip "needs Miri: rustup toolchain install nightly --component miri --component rust-src"
cargo +nightly miri --version
# Miri builds the standard library for itself, and needs its sources.
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
MIRIFLAGS=-Zmiri-many-seeds=0..$seeds "${tests[@]}"

step "the interfaces, and every type"
MIRIFLAGS=-Zmiri-many-seeds=0..$seeds cargo +nightly miri test --locked -q -p ondeck --features arc_lock --test api -- \
    poison:: reentrant:: every_type:: condvar_locks:: lock_all:: owned:: is_held:: --skip fork

step "the tests of a program"
MIRIFLAGS=-Zmiri-many-seeds=0..$seeds cargo +nightly miri test --locked -q -p tested --test right --test types
