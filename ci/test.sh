#!/usr/bin/env bash
# The README's test command, with a browser for the report, but for the model checker's tests, whose
# files are named loom*: ci/loom.sh runs them. With --all: those too.
source "$(dirname "$0")/common.sh"
need_packages chromium
export ONDECK_REQUIRE_CHROMIUM=1
if [ "${1:-}" = --all ]; then
    cargo test --workspace --locked
else
    cargo test --workspace --locked --lib --bins --examples --test '[!l]*' --test 'l[!o]*'
    cargo test --workspace --locked --doc
fi
