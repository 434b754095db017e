#!/usr/bin/env bash
# Simulates the published tables again, and fails where a number is not the recorded one or docs/validation.md is not
# that of its records. All tables take ten minutes on one CPU; the tests have `go` alone.
#
#   ci/validate.sh              all tables
#   ci/validate.sh folly lab    some of them
source "$(dirname "$0")/common.sh"
exec cargo run --quiet --release --locked -p ondeck-sim --example validate -- --check "$@"
