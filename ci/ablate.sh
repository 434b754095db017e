#!/usr/bin/env bash
# Prints what each part of the mutex's waiting policy is worth, on this machine: throughput without it, relative to
# throughput with all parts. A part that is not worth 3 % anywhere goes.
#
#   ci/ablate.sh                 5 rounds of 60 ms of each variant; 2 minutes
#   ci/ablate.sh ROUNDS MILLIS
#
# Run it while nothing else runs: see crates/ondeck/examples/ablate.rs.
source "$(dirname "$0")/common.sh"
cargo run --release --locked -q -p ondeck --features ablation --example ablate -- "${1:-5}" "${2:-60}"
