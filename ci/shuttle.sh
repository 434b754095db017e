#!/usr/bin/env bash
# Runs every lock in random schedules of four to twenty threads, under shuttle.
#
#   ci/shuttle.sh                        each test's number of executions with seed 1: the same ones each time
#   ci/shuttle.sh --minutes 10           all tests together for so many minutes, with new seeds
#   ci/shuttle.sh --seed 7 [...]         begins with this seed
#
# A failure prints its seed, and the command that repeats the execution.
source "$(dirname "$0")/common.sh"
minutes=
while [ $# -gt 0 ]; do
    case $1 in
        --minutes) minutes=$2 ;;
        --seed) export ONDECK_SHUTTLE_SEED=$2 ;;
        *) echo "unknown option $1"; exit 2 ;;
    esac
    shift 2
done
# With all crates' features: so the other tests have built most of it.
tests=(cargo test --locked -q --workspace --test shuttle --)
# As many tests run at once as there are CPUs.
if [ -n "$minutes" ]; then
    count=$("${tests[@]}" --list | grep -c ': test$')
    ONDECK_SHUTTLE_SECONDS=$((minutes * 60 * $(nproc) / count))
    export ONDECK_SHUTTLE_SECONDS
    step "$count tests, $ONDECK_SHUTTLE_SECONDS s each"
fi
"${tests[@]}" --nocapture
