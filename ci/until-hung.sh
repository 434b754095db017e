#!/usr/bin/env bash
# Runs a program with its arguments, and ends it, with 124, when it hangs: when it and its children
# have used less than 0.04 s of CPU in 3 s, or more than so many seconds, the first argument, in all.
# Not by the clock: on a machine that is busy with other things a program may be slow and well.
set -euo pipefail
set -m
most=$1
shift

# What all processes of a group have used, in milliseconds.
used() {
    local total=0 pid ran
    for pid in $(ps -eo pgid=,pid= | awk -v group="$1" '$1 == group { print $2 }'); do
        for task in /proc/"$pid"/task/*/schedstat; do
            read -r ran _ 2>/dev/null <"$task" || continue
            total=$((total + ran))
        done
    done
    echo $((total / 1000000))
}

"$@" &
# Jobs have groups of their own here, which end with this script.
group=$!
trap 'kill -KILL -- -$group 2>/dev/null || true' EXIT
before=0
samples=0
while kill -0 "$group" 2>/dev/null; do
    sleep 0.1
    samples=$((samples + 1))
    [ $((samples % 10)) -eq 0 ] || continue
    now=$(used "$group" 2>/dev/null)
    hung=$((now > most * 1000))
    if [ $((samples % 30)) -eq 0 ]; then
        # Threads that have ended are missing from the sum, which may shrink.
        [ "$now" -lt "$before" ] || [ $((now - before)) -ge 40 ] || hung=1
        before=$now
    fi
    if [ "$hung" -eq 1 ]; then
        echo "hung: $1 has used $now ms of CPU" >&2
        exit 124
    fi
done
status=0
wait "$group" || status=$?
exit "$status"
