#!/usr/bin/env bash
# DuckDB reads the JSON Lines of `ondeck bench`: on the shards of a small campaign the query of
# docs/campaigns.md gives the numbers of the merged report.
source "$(dirname "$0")/common.sh"
need_packages python3 python3-venv
version=2.0.0
folder=${CARGO_TARGET_DIR:-$PWD/target}/duckdb-$version
if ! "$folder/bin/python" -c 'import duckdb' 2>/dev/null; then
    python3 -m venv "$folder"
    "$folder/bin/pip" install -q --disable-pip-version-check "duckdb==$version" ||
        skip "DuckDB $version cannot be had from the Python package index"
fi

cargo build --locked -q -p ondeck-cli
ondeck=${CARGO_TARGET_DIR:-$PWD/target}/debug/ondeck
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/shards"
for shard in 1 2; do
    "$ondeck" bench --quick --workloads uncontended,throughput --locks glibc,std,spinlock --rounds 5 \
        --shard "$shard/2" --json "$work/shards/$shard.json" --jsonl "$work/shards/$shard.jsonl" >"$work/log" 2>&1 ||
        { cat "$work/log"; exit 1; }
done
"$ondeck" merge "$work"/shards/*.json --json "$work/all.json"
# The page's only block of SQL.
# shellcheck disable=SC2016  # the backticks are Markdown's
sed -n '/^```sql$/,/^```$/p' docs/campaigns.md | sed '1d;$d' >"$work/query.sql"
[ -s "$work/query.sql" ] || { echo "docs/campaigns.md has no SQL"; exit 1; }

"$folder/bin/python" - "$work" <<'PYTHON'
import json
import os
import statistics
import sys

import duckdb

os.chdir(sys.argv[1])
answer = duckdb.sql(open("query.sql").read()).fetchall()
expected = {}
for series in json.load(open("all.json"))["series"]:
    if series["workload"] == "throughput":
        metric = next(one for one in series["metrics"] if one["name"] == "throughput")
        place = int(series["params"]["section_ns"]), series["threads"]
        expected.setdefault(place, {})[series["lock"]] = statistics.median(metric["samples"])
rows = sum(len(locks) for locks in expected.values())
assert len(expected) >= 4 and rows == 3 * len(expected), expected
assert len(answer) == rows, (answer, expected)
for section_ns, threads, lock, throughput, behind in answer:
    locks = expected[section_ns, threads]
    assert abs(throughput / locks[lock] - 1) < 1e-9, (lock, throughput, locks)
    assert abs(behind / (max(locks.values()) / locks[lock]) - 1) < 1e-9, (lock, behind, locks)
lines = duckdb.sql("SELECT count(*), count(DISTINCT shard) FROM read_json_auto('shards/*.jsonl', union_by_name = true)")
print(f"DuckDB {duckdb.__version__}: {rows} rows as expected, of {lines.fetchall()[0]} lines and shards")
PYTHON
