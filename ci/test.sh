#!/usr/bin/env bash
# All tests but the model checkers', with Chromium for the HTML report.
#
#   ci/test.sh          without the files loom*, which ci/loom.sh runs
#   ci/test.sh --all    all, by the README's command
#
# Some tests measure the machine that they run on, and other programs may have its CPUs for that moment. A test that
# fails in a package that measures is therefore run once more, after all others, and named in the last line if it
# passes then. Locks get no second run: their tests do not depend on when a thread has a CPU.
source "$(dirname "$0")/common.sh"
need_packages chromium
export ONDECK_REQUIRE_CHROMIUM=1
measuring='ondeck-(lab|cli|profile|record|trace|advise)'

if [ "${1:-}" = --all ]; then
    cargo test --workspace --locked
    exit
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# tests ARGUMENTS: runs them, and keeps in the file what was printed.
tests() {
    cargo test --workspace --locked --no-fail-fast --lib --bins --examples --test '[!l]*' "$@" 2>&1 | tee "$log"
}
status=0 said='all passed'
tests || status=$?
if [ "$status" -ne 0 ]; then
    # Cargo lists the targets that failed as `-p PACKAGE --test NAME`. One that a signal ended names no test.
    mapfile -t failed < <(sed -n 's/^test \(.*\) \.\.\. FAILED$/\1/p' "$log")
    counted=$(awk '/^test result: / { failed += $6 } END { print failed + 0 }' "$log")
    if [ ${#failed[@]} -eq 0 ] || [ ${#failed[@]} -ne "$counted" ] || grep -q '(signal: ' "$log" ||
        grep -o '^    `-p [^ ]*' "$log" | grep -Evx "    .-p $measuring" >/dev/null; then
        exit "$status"
    fi
    step "once more: ${failed[*]}"
    tests -- --exact "${failed[@]}"
    [ "$(grep -c '^test .* \.\.\. ok$' "$log")" -ge ${#failed[@]} ] || { echo "they did not run again"; exit 1; }
    said="all passed, but at the first run: ${failed[*]}"
fi
cargo test --workspace --locked --doc
echo "$said"
