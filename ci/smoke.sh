#!/usr/bin/env bash
# A quick run of every workload writes every report.
#
#   ci/smoke.sh          as released; the compiler takes 5 minutes
#   ci/smoke.sh --dev    built as the tests are
source "$(dirname "$0")/common.sh"
# Built first, so that the time below is only the run's.
if [ "${1:-}" = --dev ]; then
    # With all crates' features, as the tests build it.
    cargo build --locked --workspace --bin ondeck
    ondeck=${CARGO_TARGET_DIR:-target}/debug/ondeck
else
    cargo build --release --locked -p ondeck-cli
    ondeck=${CARGO_TARGET_DIR:-target}/release/ondeck
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
start=$SECONDS
status=0
"$ondeck" bench --quick \
    --json "$folder/r.json" --csv "$folder/r.csv" --html "$folder/r.html" || status=$?
# On one CPU the costs between two CPUs are refused, and the command ends with 1.
accepted=0
[ "$(nproc)" -gt 1 ] || accepted=1
[ "$status" -le "$accepted" ] || { echo "the run ended with $status"; exit 1; }
echo "the quick run took $((SECONDS - start)) s"
for file in r.json r.csv r.html; do
    [ -s "$folder/$file" ] || { echo "$file is empty"; exit 1; }
done
# Each workload of the list but mixed_priority: it needs realtime threads, which not every machine grants.
"$ondeck" list | sed -n '/^workloads$/,/^$/s/^  \([a-z_]*\) .*/\1/p' >"$folder/workloads"
grep -q '^costs$' "$folder/workloads" || { echo "ondeck list names no workloads"; exit 1; }
while read -r workload; do
    [ "$workload" = mixed_priority ] || grep -q "^$workload," "$folder/r.csv" || { echo "$workload was not measured"; exit 1; }
done <"$folder/workloads"

# What measures must not land in a crate that is built without optimization: there, a cached load took thirty times as long.
# A loop that the C compiler optimizes says how long it takes; each is the best of five, taken in turns.
if [ "${1:-}" != --dev ]; then
    cat >"$folder/load.c" <<'END'
#include <stdio.h>
#include <time.h>
int main(void) {
    enum { LOADS = 100000000 };
    volatile int word = 0;
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < LOADS; i += 4) (void)word, (void)word, (void)word, (void)word;
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%f\n", ((end.tv_sec - start.tv_sec) * 1e9 + (end.tv_nsec - start.tv_nsec)) / LOADS);
}
END
    "${CC:-cc}" -O2 -o "$folder/load" "$folder/load.c"
    for _ in 1 2 3 4 5; do
        "$folder/load" >>"$folder/plain"
        "$ondeck" costs --machine-file "$folder/machine.toml" >/dev/null
        sed -n 's/^hit = { value = \([0-9.]*\),.*/\1/p' "$folder/machine.toml" >>"$folder/measured"
    done
    paste -d ' ' "$folder/plain" "$folder/measured" | awk '
        NR == 1 || $1 < plain { plain = $1 }
        NR == 1 || $2 < measured { measured = $2 }
        END {
            print "a cached load: " measured " ns in costs, " plain " ns in a loop of its own"
            exit !(plain > 0 && measured > 0 && measured < 10 * plain)
        }' || { echo "ondeck costs is slower than its processor: which crate compiled the loop?"; exit 1; }
fi
