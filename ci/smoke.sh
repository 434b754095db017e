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
