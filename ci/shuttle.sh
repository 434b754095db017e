#!/usr/bin/env bash
# The gate's job for random schedules, which the simulator makes.
exec "$(dirname "$0")/schedules.sh" "$@"
