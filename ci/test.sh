#!/usr/bin/env bash
# All tests but the model checkers', with Chromium for the HTML report.
#
#   ci/test.sh          without the files loom*, which ci/loom.sh runs, and without examples, which ci/lint.sh compiles
#   ci/test.sh --build  builds these tests, and those of ci/loom.sh --deeper -1
#   ci/test.sh --all    all
source "$(dirname "$0")/common.sh"
need_packages chromium
export ONDECK_REQUIRE_CHROMIUM=1
tests=(cargo test --workspace --locked --lib --bins)
case ${1:-} in
    --all) cargo test --workspace --locked ;;
    --build) "${tests[@]}" --test '*' --no-run ;;
    *)
        "${tests[@]}" --test '[!l]*'
        cargo test --workspace --locked --doc
        ;;
esac
