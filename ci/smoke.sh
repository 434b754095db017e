#!/usr/bin/env bash
# The main job, quickly: every workload, every report, and the document they share.
source "$(dirname "$0")/common.sh"
cargo build --release --locked
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
start=$SECONDS
target/release/ondeck bench --quick --json "$folder/r.json" --csv "$folder/r.csv" --html "$folder/r.html"
echo "the quick run took $((SECONDS - start)) s"
for file in r.json r.csv r.html; do
    [ -s "$folder/$file" ] || { echo "$file is empty"; exit 1; }
done
for workload in uncontended throughput wait idle costs; do
    grep -q "^$workload," "$folder/r.csv" || { echo "$workload was not measured"; exit 1; }
done
