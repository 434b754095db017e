#!/usr/bin/env bash
# The README's test command, with a browser for the report.
source "$(dirname "$0")/common.sh"
need_packages chromium
ONDECK_REQUIRE_CHROMIUM=1 cargo test --workspace --locked
