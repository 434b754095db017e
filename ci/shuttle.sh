#!/usr/bin/env bash
# Random schedules of four to twenty threads, of every lock: the same ones each time, or for minutes
# ones that nobody has had before.
#
#   ci/shuttle.sh                        each test's number of executions, with seed 1
#   ci/shuttle.sh --minutes 10           all tests together for so long, with new seeds
#   ci/shuttle.sh --seed 7 [...]         begins with this seed
#
# A failure prints its seed, and the command that has the same execution again.
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
tests=(cargo test --locked -q -p ondeck -p ondeck-zoo --test shuttle --)
# Several at once, as many as there are CPUs.
if [ -n "$minutes" ]; then
    count=$("${tests[@]}" --list | grep -c ': test$')
    ONDECK_SHUTTLE_SECONDS=$((minutes * 60 * $(nproc) / count))
    export ONDECK_SHUTTLE_SECONDS
    step "$count tests, $ONDECK_SHUTTLE_SECONDS s each"
fi
"${tests[@]}" --nocapture
