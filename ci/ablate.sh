#!/usr/bin/env bash
# Prints what each part of the mutex's waiting policy is worth: throughput without it, relative to throughput with all
# parts. A part that is not worth 3 % anywhere goes.
#
#   ci/ablate.sh                 5 rounds of 60 ms of each variant, on this machine; 2 minutes
#   ci/ablate.sh ROUNDS MILLIS
#   ci/ablate.sh --simulated     on three simulated machines; some 5 minutes
#
# Run it while nothing else runs: see crates/ondeck/examples/ablate.rs and crates/ondeck-sim/examples/simulated_parts.rs.
source "$(dirname "$0")/common.sh"
if [ "${1:-}" = --simulated ]; then
    exec cargo run --release --locked -q -p ondeck-sim --no-default-features --features ablation --example simulated_parts
fi
cargo run --release --locked -q -p ondeck --features ablation --example ablate -- "${1:-5}" "${2:-60}"
