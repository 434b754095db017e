#!/usr/bin/env bash
# Minutes of what the tests do for seconds: everything at random, pages that go away, forks; with and
# without membarrier. ONDECK_STRESS_SECONDS is the length of one part.
source "$(dirname "$0")/common.sh"
export ONDECK_STRESS_SECONDS=${ONDECK_STRESS_SECONDS:-60} ONDECK_TEST_ROUNDS=${ONDECK_TEST_ROUNDS:-300000}
for refused in 0 1; do
    step "ONDECK_NO_MEMBARRIER=$refused"
    ONDECK_NO_MEMBARRIER=$refused cargo test --release --locked -p ondeck --all-features \
        --test stress --test lifetime --test fork -- --nocapture
done
