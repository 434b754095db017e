#!/usr/bin/env bash
# Prints what operations of reader-writer locks, spinlocks, semaphores and barriers cost, in nanoseconds: with glibc and
# with the shim.
#
#   crates/ondeck-preload/bench/others.sh [ROUNDS [KIND:THREADS...]]     after crates/ondeck-preload/link.sh
#
# Five rounds take half a minute. Each is a process of its own, and they take turns. The ratio is that of the medians, to
# glibc.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
shim=$(realpath "${CARGO_TARGET_DIR:-$here/../../../target}")/native/lib/libondeck_preload.so
[ -e "$shim" ] || { echo "there is no $shim: run crates/ondeck-preload/link.sh first" >&2; exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"${CC:-cc}" -std=gnu11 -O2 -Wall -Wextra -Werror -pthread "$here/others.c" -o "$scratch/others"
rounds=${1:-5}
shift || true
kinds=("$@")
[ ${#kinds[@]} -gt 0 ] || kinds=(
    read:1 read:2 read:16 write:1 write:2 write:16 mixed:2 mixed:16 spin:1 spin:2 spin:16
    semaphore:1 semaphore:2 semaphore:16 pingpong:2 barrier:2 barrier:4 barrier:16
)

for ((round = 0; round < rounds; round++)); do
    for kind in "${kinds[@]}"; do
        echo "$kind glibc $("$scratch/others" "${kind%:*}" "${kind#*:}")"
        echo "$kind shim $(LD_PRELOAD=$shim "$scratch/others" "${kind%:*}" "${kind#*:}")"
    done
done | sort -k1,2 -k3,3n | awk -v cpu="$(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs" '
    { key = $1 " " $2; values[key] = values[key] " " $3; seen[$1] = 1 }
    function median(key, list, count) { count = split(values[key], list, " "); return list[int((count + 1) / 2)] }
    function range(key, list, count) { count = split(values[key], list, " "); return list[1] " to " list[count] }
    BEGIN { print cpu ": medians of ns an operation, least and most" }
    END {
        for (kind in seen) {
            glibc = median(kind " glibc"); shim = median(kind " shim")
            printf "%-14s glibc %10.1f (%s)  shim %10.1f (%s)  %.2f\n", kind, glibc, range(kind " glibc"), shim, range(kind " shim"), shim / glibc | "sort"
        }
    }'
