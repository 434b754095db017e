#!/usr/bin/env bash
# The model checker: ondeck and its parking table, every lock of the zoo, and the broken ones that it
# must notice. Says of each test how many involuntary switches it explored, and in how many executions.
#
#   ci/loom.sh                             the bounds that stand beside each test
#   ci/loom.sh --deeper N [--seconds S]    N switches more, where loom can; each model for S seconds at
#                                          most, without end otherwise: some ten times as long a switch
#   ci/loom.sh --deeper -1                 one fewer, as in the gate, and as `cargo test` does
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

step "build"
# Optimized: what it costs to build is less than what it saves.
cargo test --release --locked -p ondeck -p ondeck-zoo --test 'loom*' --no-run
step "explore"
RUST_BACKTRACE=0 cargo test --release --locked -p ondeck -p ondeck-zoo --test 'loom*' -- --nocapture 2>&1 | tee "$log"
step "$(awk '
    match($0, /[0-9]+ switches, [0-9]+ executions, /) {
        split(substr($0, RSTART), word, " ")
        models++; executions += word[3]; cut += / cut$/
    }
    /^test result: / { tests += $4 }
    END { printf "%d tests, %d models, %d executions, %d models cut", tests, models, executions, cut }
' "$log")"
