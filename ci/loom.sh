#!/usr/bin/env bash
# Runs the tests under the loom model checker: of ondeck and its parking table, of every lock of the zoo, and of
# broken locks that must fail. Prints for each test how many involuntary switches it explored, and in how many
# executions.
#
#   ci/loom.sh                             with the bounds that are written beside each test; 12 minutes
#   ci/loom.sh --deeper N [--seconds S]    with N more switches, where loom can. Each switch takes some ten times as
#                                          long as the one before; --seconds bounds the time of each model
#   ci/loom.sh --deeper -1                 with one switch less, as in the gate and in `cargo test`; built like the
#                                          other tests, because optimizing it would take longer than it saves
source "$(dirname "$0")/common.sh"
export ONDECK_LOOM_DEEPER=0
while [ $# -gt 0 ]; do
    case $1 in
        --deeper) export ONDECK_LOOM_DEEPER=$2 ;;
        --seconds) export ONDECK_LOOM_SECONDS=$2 ;;
        *) echo "usage: ci/loom.sh [--deeper N [--seconds S]]" >&2; exit 2 ;;
    esac
    shift 2
done
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# With all crates' features, as the other tests build most of it.
tests=(cargo test --locked --workspace --test 'loom*')
[ "$ONDECK_LOOM_DEEPER" -lt 0 ] || tests+=(--release)
step "build"
"${tests[@]}" --no-run
step "explore"
RUST_BACKTRACE=0 "${tests[@]}" -- --nocapture 2>&1 | tee "$log"
step "$(awk '
    match($0, /[0-9]+ switches, [0-9]+ executions, /) {
        split(substr($0, RSTART), word, " ")
        models++; executions += word[3]; cut += / cut$/
    }
    /^test result: / { tests += $4 }
    END { printf "%d tests, %d models, %d executions, %d models cut", tests, models, executions, cut }
' "$log")"
