#!/usr/bin/env bash
# All tests but the model checkers', with Chromium for the HTML report.
#
#   ci/test.sh          without the files loom*, which ci/loom.sh runs
#   ci/test.sh --all    all, and with the locks of the museum
source "$(dirname "$0")/common.sh"
need_packages chromium
export ONDECK_REQUIRE_CHROMIUM=1
if [ "${1:-}" = --all ]; then
    cargo test --workspace --locked --features ondeck-cli/museum
else
    cargo test --workspace --locked --lib --bins --examples --test '[!l]*'
    cargo test --workspace --locked --doc
fi
