#!/usr/bin/env bash
# Stresses the locks with real threads: crowds, rounds and tokens (locks/ondeck/tests/stress/main.rs), locks on pages
# that are unmapped, forks, and a membarrier that is refused.
#
#   ci/stress.sh            ten minutes, or ONDECK_STRESS_SECONDS
#   ci/stress.sh --quick    half a minute, built like the other tests, as in the gate
#   ci/stress.sh 60         60 seconds
#
# ONDECK_STRESS_SEED is the seed. A failure prints it.
source "$(dirname "$0")/common.sh"
# Optimized as in a program, and with every feature of the locks.
rounds=50000 built=(--release -p ondeck --features 'arc_lock profile deadlock_detection stats lock_api_04')
case ${1:-} in
    --quick) seconds=30 rounds=5000 built=(--workspace) ;;
    '') seconds=${ONDECK_STRESS_SECONDS:-600} ;;
    *[!0-9]*) echo "usage: ci/stress.sh [--quick | seconds]" >&2; exit 2 ;;
    *) seconds=$1 ;;
esac

# Runs tests of this project's locks.
run() {
    cargo test --locked -q "${built[@]}" "$@"
}

step "build"
run --test stress --test api --test platform --no-run

begin=$SECONDS
step "crowds, rounds and tokens"
ONDECK_STRESS_SECONDS=$((seconds * 7 / 10)) run --test stress -- --nocapture --test-threads 1

step "refusals"
run --test platform -- halfway:: registration::
run --test api -- no_membarrier::

step "pages that go away, and forks"
refused=0
while :; do
    ONDECK_NO_MEMBARRIER=$refused ONDECK_TEST_ROUNDS=$rounds run --test api -- lifetime:: fork::
    refused=$((1 - refused))
    # With membarrier and without it, each at least once.
    [ "$refused" -eq 1 ] || [ $((SECONDS - begin)) -lt "$seconds" ] || break
done
step "done"
