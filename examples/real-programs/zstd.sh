#!/usr/bin/env bash
# zstd with threads: its output is the same with either side's locks every time, and unpacks to the input.
# shellcheck source=lib.sh disable=SC2034
source "$(dirname "$0")/lib.sh"
program=zstd title='zstd -T4' unit='MB compressed a second' package=zstd
packages=(zstd)

prepare() {
    megabytes=$((20 * seconds))
    export megabytes
    "$here/text.py" $megabytes >"$scratch/text"
}

check() {
    local rounds=5 threads
    [ -z "$quick" ] || rounds=2
    for ((round = 0; round < rounds; round++)); do
        for threads in 2 4 16; do
            # Small jobs, so that there are many. The output depends on their size, and not on the threads.
            "${prefix[@]}" zstd -q -5 "-T$threads" -B1MiB -c "$scratch/text" >"$scratch/packed.$side"
            # The first output of the first side is what all others are compared with.
            [ -e "$scratch/packed" ] || cp "$scratch/packed.$side" "$scratch/packed"
            cmp "$scratch/packed" "$scratch/packed.$side"
            "${prefix[@]}" zstd -q -dc "$scratch/packed.$side" | cmp - "$scratch/text"
        done
    done
    ok "the output is the same every time with 2, 4 and 16 threads, and unpacks to the input"
    "${prefix[@]}" zstd -q -t "$scratch/packed.$side"
    ok "zstd -t accepts it"
    "${prefix[@]}" zstd -q -b1e2 -i0 -T4 -B1MiB "$scratch/text" >/dev/null 2>&1
    ok "zstd -b, which unpacks what it has packed and compares, ends well"
}

measure() {
    local start=$EPOCHREALTIME
    "${prefix[@]}" zstd -q -5 -T4 -c "$scratch/text" >/dev/null
    rate "$(per_second "$megabytes" "$start")"
}

main "$@"
