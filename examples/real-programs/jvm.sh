#!/usr/bin/env bash
# OpenJDK: programs/Threads.java with each of its collectors.
# shellcheck source=lib.sh disable=SC2034
source "$(dirname "$0")/lib.sh"
program=jvm title='OpenJDK 17' unit='queue items a second' package=openjdk-17-jdk-headless
packages=(openjdk-17-jdk-headless)

home=/usr/lib/jvm/java-17-openjdk-amd64

prepare() {
    "$home/bin/javac" -d "$scratch" "$here/programs/Threads.java"
}

java() {
    "${prefix[@]}" "$home/bin/java" -Xmx256m -XX:+IgnoreUnrecognizedVMOptions -cp "$scratch" "$@"
}

check() {
    local collectors=(Serial Parallel G1 Z Shenandoah) extent=full
    if [ -n "$quick" ]; then collectors=(Parallel G1) extent=quick; fi
    for collector in "${collectors[@]}"; do
        java "-XX:+Use${collector}GC" Threads check $extent >"$scratch/log" 2>&1 ||
            fail "with $collector GC: $(tail -n 5 "$scratch/log")"
        [ "$(cat "$scratch/log")" = ok ] || fail "with $collector GC: $(tail -n 5 "$scratch/log")"
        ok "$collector GC: monitors, waits, conditions, parked and short-lived threads, a queue, time-outs, garbage"
    done
    # The interpreter and the compilers' threads at once.
    java -Xint Threads check quick >"$scratch/log" 2>&1 || fail "-Xint: $(tail -n 5 "$scratch/log")"
    ok "the same in the interpreter"
}

measure() {
    rate "$(java -XX:+UseG1GC Threads rate "$seconds")"
}

main "$@"
