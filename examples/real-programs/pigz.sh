#!/usr/bin/env bash
# pigz with threads: its output is the same with either side's locks, however many threads, and unpacks to the input.
# shellcheck source=lib.sh disable=SC2034
source "$(dirname "$0")/lib.sh"
program=pigz title='pigz, 4 threads' unit='MB compressed a second' package=pigz
packages=(pigz)

prepare() {
    megabytes=$((8 * seconds))
    export megabytes
    "$here/text.py" $megabytes >"$scratch/text"
}

check() {
    local rounds=5 threads
    [ -z "$quick" ] || rounds=2
    for ((round = 0; round < rounds; round++)); do
        for threads in 2 4 16; do
            "${prefix[@]}" pigz -p $threads -b 128 <"$scratch/text" >"$scratch/packed.$side"
            # The first output of the first side is what all others are compared with.
            [ -e "$scratch/packed" ] || cp "$scratch/packed.$side" "$scratch/packed"
            cmp "$scratch/packed" "$scratch/packed.$side"
            "${prefix[@]}" pigz -d -p 4 <"$scratch/packed.$side" | cmp - "$scratch/text"
        done
    done
    ok "the output is the same every time with 2, 4 and 16 threads, and unpacks to the input"
    gzip -dc "$scratch/packed.$side" | cmp - "$scratch/text"
    ok "gzip unpacks it to the input"
    "${prefix[@]}" pigz -t <"$scratch/packed.$side"
    ok "pigz -t accepts it"
}

measure() {
    local start=$EPOCHREALTIME
    "${prefix[@]}" pigz -p 4 <"$scratch/text" >/dev/null
    rate "$(per_second "$megabytes" "$start")"
}

main "$@"
