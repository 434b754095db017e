#!/usr/bin/env bash
# stress-ng's stressors of mutexes, condition variables, futexes and threads, which verify what they do.
# shellcheck source=lib.sh disable=SC2034
source "$(dirname "$0")/lib.sh"
program=stress-ng title='stress-ng --mutex' unit='mutex operations a second' package=stress-ng
packages=(stress-ng)

prepare() {
    mkdir "$scratch/work"
}

stress() {
    "${prefix[@]}" stress-ng --temp-path "$scratch/work" --timeout "${seconds}s" --verify --metrics-brief "$@" 2>&1
}

check() {
    local stressors=(mutex futex pthread sem fork malloc)
    for one in "${stressors[@]}"; do
        stress "--$one" 2 >"$scratch/log" || fail "--$one: $(tail -n 5 "$scratch/log")"
        ! grep -q 'fail:' "$scratch/log" || fail "--$one: $(grep fail: "$scratch/log")"
        ok "--$one --verify"
    done
}

measure() {
    stress --mutex 1 >"$scratch/log" || fail "$(tail -n 5 "$scratch/log")"
    # Operations a second of real time are the ninth word.
    rate "$(awk '/metrc:/ && $4 == "mutex" { print $9; exit }' "$scratch/log")"
}

main "$@"
