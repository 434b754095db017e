#!/usr/bin/env bash
# Prints what an uncontended pthread_mutex_lock and pthread_mutex_unlock cost, in nanoseconds: with glibc, with the
# shim, with the shim while it records, and with a preloaded library that does the least.
#
#   crates/ondeck-preload/bench/pair.sh [ROUNDS]     after crates/ondeck-preload/link.sh; 30 rounds take half a minute
#
# Each round is a process of its own, and they take turns. The ratio is that of the medians, to glibc.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
shim=$(realpath "${CARGO_TARGET_DIR:-$here/../../../target}")/native/lib/libondeck_preload.so
[ -e "$shim" ] || { echo "there is no $shim: run crates/ondeck-preload/link.sh first" >&2; exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cc=${CC:-cc}
"$cc" -std=gnu11 -O2 -Wall -Wextra -Werror -pthread "$here/pair.c" -o "$scratch/pair"
# The compiler knows pthread_mutex_lock with another argument.
"$cc" -std=gnu11 -O2 -Wall -Wextra -Werror -fno-builtin -shared -fPIC "$here/least.c" -o "$scratch/least.so"
mkdir "$scratch/records"

for ((round = 0; round < ${1:-30}; round++)); do
    for how in alone beside; do
        echo "$how 1-glibc $("$scratch/pair" "$how")"
        echo "$how 2-shim $(LD_PRELOAD=$shim "$scratch/pair" "$how")"
        echo "$how 3-recording $(LD_PRELOAD=$shim ONDECK_PROFILE=$scratch/records "$scratch/pair" "$how")"
        echo "$how 4-least $(LD_PRELOAD=$scratch/least.so "$scratch/pair" "$how")"
    done
    rm -f "$scratch"/records/*
done | sort -k1,2 -k3,3n | awk -v cpu="$(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs" '
    { if ($1 " " $2 != kind) finish(); kind = $1 " " $2; value[++count] = $3 }
    function at(part) { return value[int(part * (count - 1)) + 1] }
    function finish() {
        if (!count) return
        split(kind, word, /[ -]/)
        if (word[2] == 1) glibc = at(0.5)
        printf "%-8s%-12s%6.2f  (%.2f to %.2f)  %.2f of glibc\n", word[1], word[3], at(0.5), at(0.25), at(0.75), at(0.5) / glibc
        count = 0
    }
    BEGIN { print cpu ": medians and quartiles, ns" }
    END { finish() }'
