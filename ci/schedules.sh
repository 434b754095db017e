#!/usr/bin/env bash
# Runs every primitive on small simulated machines, under schedules that ordinary runs hardly ever have.
#
#   ci/schedules.sh                              each scenario under the same schedules each time; half a minute
#   ci/schedules.sh --minutes 10                 all of them for 10 minutes, with further seeds
#   ci/schedules.sh --seed 7 [--count 100]       schedules 7, 8, ... instead; one if no count is given
#   ci/schedules.sh --only ondeck_rwlock [...]   scenarios with that in their names
#
# A failure prints its seed, what each thread was doing, the last events, and the command that repeats the run.
source "$(dirname "$0")/common.sh"
while [ $# -gt 0 ]; do
    [ $# -gt 1 ] || { echo "$1 needs a value" >&2; exit 2; }
    case $1 in
        --minutes) export ONDECK_SCHEDULES_SECONDS=$((60 * $2)) ;;
        --seed)
            export ONDECK_SCHEDULES_SEED=$2
            export ONDECK_SCHEDULES_COUNT=${ONDECK_SCHEDULES_COUNT:-1}
            ;;
        --count) export ONDECK_SCHEDULES_COUNT=$2 ;;
        --only) export ONDECK_SCHEDULES_ONLY=$2 ;;
        *) echo "unknown option $1" >&2; exit 2 ;;
    esac
    shift 2
done
# A backtrace of a failure is one of the test tool, not of the thread that made the mistake.
RUST_BACKTRACE=0 cargo test --locked -q -p ondeck-sim --test schedules -- --nocapture
