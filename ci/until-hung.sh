#!/usr/bin/env bash
# Runs a program with its arguments, and ends it, with 124, when it hangs: when it and its children
# have wanted a CPU for less than 0.04 s in 3 s, or have used more than so many seconds of one, the first
# argument, in all. Not by the clock: on a machine that is busy with other things a program may be slow
# and well.
set -euo pipefail
set -m
most=$1
shift

# What all processes of a group have used of a CPU, and for how long they have used or wanted one, in
# milliseconds.
used() {
    local used=0 wanted=0 pid ran waited
    for pid in $(ps -eo pgid=,pid= | awk -v group="$1" '$1 == group { print $2 }'); do
        for task in /proc/"$pid"/task/*/schedstat; do
            read -r ran waited _ 2>/dev/null <"$task" || continue
            used=$((used + ran)) wanted=$((wanted + ran + waited))
        done
    done
    echo $((used / 1000000)) $((wanted / 1000000))
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
    read -r now wanted < <(used "$group" 2>/dev/null)
    hung=$((now > most * 1000))
    if [ $((samples % 30)) -eq 0 ]; then
        # Threads that have ended are missing from the sum, which may shrink.
        [ "$wanted" -lt "$before" ] || [ $((wanted - before)) -ge 40 ] || hung=1
        before=$wanted
    fi
    if [ "$hung" -eq 1 ]; then
        echo "hung: $1 has used $now ms of CPU" >&2
        exit 124
    fi
done
status=0
wait "$group" || status=$?
exit "$status"
