#!/usr/bin/env bash
# No warning of the compiler or clippy, in code, tests and examples; no shell mistakes.
source "$(dirname "$0")/common.sh"
cargo clippy --workspace --all-targets --locked -- -D warnings
need_packages shellcheck
shellcheck -x -P ci ci/*.sh .ci/run
