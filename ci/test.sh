#!/usr/bin/env bash
# The README's test command, with a browser for the report, but for the model checkers' tests, whose
# files are named loom* and shuttle*: ci/loom.sh and ci/shuttle.sh run them. With --all: those too.
source "$(dirname "$0")/common.sh"
need_packages chromium
export ONDECK_REQUIRE_CHROMIUM=1
if [ "${1:-}" = --all ]; then
    cargo test --workspace --locked
else
    cargo test --workspace --locked --lib --bins --examples --test '[!ls]*' --test 'l[!o]*' --test 's[!h]*'
    cargo test --workspace --locked --doc
fi
