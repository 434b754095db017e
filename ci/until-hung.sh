#!/usr/bin/env bash
# Runs a program, and ends it with 124 when it hangs.
#
#   ci/until-hung.sh SECONDS PROGRAM ARGUMENTS ...
#
# It hangs if, for 3 s, it and its children used less than 0.04 s of CPU time and hardly ever had a thread that is
# runnable, or stopped by a signal; or if they have used more than SECONDS of CPU time in all. Wall time does not count, because on a busy machine a
# program may be slow without hanging.
set -euo pipefail
set -m
most=$1
shift
ticks=$(getconf CLK_TCK)

# Prints the CPU time of all processes of a group in milliseconds, that of ended threads included, and how many of
# their threads are runnable.
used() {
    local used=0 runnable=0 pid line fields
    for pid in $(ps -eo pgid=,pid= | awk -v group="$1" '$1 == group { print $2 }'); do
        line=$(cat /proc/"$pid"/stat 2>/dev/null) || continue
        # After the name, which may have any character: the state, ten others, user, system, and those of ended
        # children.
        read -ra fields <<<"${line##*) }"
        used=$((used + fields[11] + fields[12] + fields[13] + fields[14]))
        runnable=$((runnable + $(cat /proc/"$pid"/task/*/stat 2>/dev/null | grep -c ') [RT] ' || true)))
    done
    echo $((used * 1000 / ticks)) "$runnable"
}

"$@" &
# `set -m` gives each job a process group of its own, which ends with this script.
group=$!
trap 'kill -KILL -- -$group 2>/dev/null || true' EXIT
before=0
samples=0
wanted=0
while kill -0 "$group" 2>/dev/null; do
    sleep 0.1
    samples=$((samples + 1))
    read -r now runnable < <(used "$group" 2>/dev/null)
    [ "$runnable" -eq 0 ] || wanted=$((wanted + 1))
    hung=$((now > most * 1000))
    if [ $((samples % 30)) -eq 0 ]; then
        [ $((now - before)) -ge 40 ] || [ "$wanted" -gt 3 ] || hung=1
        before=$now wanted=0
    fi
    if [ "$hung" -eq 1 ]; then
        echo "hung: $1 has used $now ms of CPU" >&2
        exit 124
    fi
done
status=0
wait "$group" || status=$?
exit "$status"
