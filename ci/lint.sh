#!/usr/bin/env bash
# The compiler and clippy give no warning for code, tests and examples, and shellcheck none for the scripts. Every
# hazard has its place in the source, and its row in the page of them. No modules of a crate need each other in a circle.
source "$(dirname "$0")/common.sh"
need_packages python3
python3 ci/mutants/hazards.py check
ci/hazards.sh --check
python3 ci/cycles.py
cargo clippy --workspace --all-targets --locked -- -D warnings
need_packages shellcheck
shellcheck -x -P ci ci/*.sh packaging/*.sh .ci/run
shellcheck -x -P SCRIPTDIR examples/real-programs/*.sh
