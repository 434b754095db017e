"""Whether a merged report has all that one run without shards has: `campaign.py MERGED WHOLE`."""

import json
import sys


def series(report):
    """What tells a series from others, and how many samples of which metrics it has."""
    found = {}
    for one in report["series"]:
        key = one["workload"], one["lock"], one["threads"], tuple(sorted(one["params"].items()))
        assert key not in found, f"{key} is there twice"
        found[key] = {metric["name"]: len(metric["samples"]) for metric in one["metrics"]}
    return found


def mistakes(merged, whole):
    """What is wrong with the merged report."""
    there, wanted = series(merged), series(whole)
    for key in sorted(wanted.keys() - there.keys(), key=str):
        yield f"{key} is missing"
    for key in sorted(there.keys() - wanted.keys(), key=str):
        yield f"{key} is in no run without shards"
    for key in sorted(wanted.keys() & there.keys(), key=str):
        if there[key] != wanted[key]:
            yield f"{key} has the samples {there[key]}, not {wanted[key]}"
    if [one["name"] for one in merged["locks"]] != [one["name"] for one in whole["locks"]]:
        yield "the locks differ"
    if len(merged["baselines"]) != len(whole["baselines"]):
        yield "the measurements of the harness differ in number"
    for what in "partial", "failures":
        if merged[what]:
            yield f"{what}: {merged[what]}"
    if any(warning["code"] == "shards" for warning in merged["warnings"]):
        yield "shards are missing"


def main():
    merged, whole = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:])
    found = list(mistakes(merged, whole))
    for mistake in found:
        print(mistake)
    shards = sorted(run["shard"]["index"] for run in merged["runs"])
    assert whole["series"] and whole["settings"]["shard"] is None
    if not found:
        print(f"complete: {len(whole['series'])} series of shards {shards}")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
