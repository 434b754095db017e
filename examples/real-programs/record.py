#!/usr/bin/env python3
"""Says how the rates of the two sides compare, and writes the record. Called by lib.sh; page.py takes what it writes.

begin, end FOLDER: notes CPU times before and after the measurements.
finish FOLDER OPTIONS: the comparison, from the files that lib.sh wrote into its scratch folder.
"""

import argparse
import functools
import json
import math
import os
import pathlib
import platform
import subprocess
import time
from statistics import median

CONFIDENCE = 0.95


@functools.cache
def orders(ones, others, u):
    """The number of orders of two samples in which U of Mann and Whitney has this value."""
    if u < 0 or not ones or not others:
        return int(u == 0)
    # The greatest of all is of the one sample, or of the other.
    return orders(ones - 1, others, u - others) + orders(ones, others - 1, u)


def place(ones, others):
    """Which of the sorted ratios, from either end, is an end of the interval. None if there are too few samples."""
    refused, u = orders(ones, others, 0), 0
    while 2 * refused <= (1 - CONFIDENCE) * math.comb(ones + others, ones):
        u += 1
        refused += orders(ones, others, u)
    return u or None


def compare(base, other):
    """other / base: the ratio and its interval. None if a side has fewer samples than an interval needs.

    Nothing is asked of how rates are distributed. The ratio is the median of the ratios of all pairs (Hodges and Lehmann,
    on logarithms); the interval's ends are two of these ratios, counted from both ends: what two-sided Mann-Whitney tests
    at this level do not refuse.
    """
    end = place(len(base), len(other))
    if end is None or min(base) <= 0 or min(other) <= 0:
        return None
    ratios = sorted(mine / its for mine in other for its in base)
    return {
        "ratio": math.exp(median(math.log(ratio) for ratio in ratios)),
        "interval": [ratios[end - 1], ratios[-end]],
        "confidence": CONFIDENCE,
    }


def cpu_times():
    """Seconds: of all CPUs together, of them busy, and of this script's processes that have ended."""
    ticks = os.sysconf("SC_CLK_TCK")
    all_cpus = [int(word) for word in pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    shell = pathlib.Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()
    busy = sum(all_cpus) - all_cpus[3] - all_cpus[4]
    return {"all": sum(all_cpus) / ticks, "busy": busy / ticks, "own": sum(map(int, shell[11:15])) / ticks}


def others(folder):
    """The share of the CPU time that other programs had during the measurements."""
    begin, end = (json.loads((folder / f"cpu.{when}").read_text()) for when in ("begin", "end"))
    passed = {name: end[name] - begin[name] for name in begin}
    return round(max(0.0, passed["busy"] - passed["own"]) / passed["all"], 3) if passed["all"] > 0 else None


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or None


def lines(path):
    return path.read_text().splitlines() if path.exists() else []


def worst_lock(folder):
    """The lock that threads waited for longest, of the profile. None without a profile, or if no thread waited."""
    entries = [json.loads(line) for line in lines(folder / "profile/locks.jsonl")]
    locks = [entry for entry in entries if entry["type"] == "lock" and entry["wait"]["total"] > 0]
    if not locks:
        return None
    total = sum(lock["wait"]["total"] for lock in locks)
    worst = max(locks, key=lambda lock: lock["wait"]["total"])
    return {
        "name": worst["name"],
        "kind": worst["kind"],
        "waits": worst["wait"]["count"],
        "wait_seconds": round(worst["wait"]["total"] / 1e9, 6),
        "longest_milliseconds": round(worst["wait"]["longest"] / 1e6, 3),
        "share_of_wait": round(worst["wait"]["total"] / total, 3),
    }


def record(folder, given):
    samples = {side: [float(line) for line in lines(folder / f"rates.{side}")] for side in ("glibc", "ondeck")}
    passed = {side: lines(folder / f"passed.{side}") for side in samples}
    cpus = (line.split(":", 1)[1].strip() for line in lines(pathlib.Path("/proc/cpuinfo")) if line.startswith("model name"))
    return {
        "schema": 1,
        "program": given.program,
        "title": given.title,
        "package": {"name": given.package, "version": output_of("dpkg-query", "-W", "-f=${Version}", given.package)},
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": output_of("git", "-C", str(pathlib.Path(__file__).parent), "rev-parse", "--short", "HEAD"),
        "lock": given.lock,
        "machine": {
            "cpu": next(cpus, ""),
            "cpus": len(os.sched_getaffinity(0)),
            "kernel": f"Linux {platform.release()}",
            "libc": " ".join(platform.libc_ver()),
        },
        "cpu_time_of_others": others(folder),
        "quick": bool(os.environ.get("quick")),
        "seconds": int(os.environ["seconds"]),
        "checks": passed["glibc"],
        "passed": passed,
        "failed": lines(folder / "failed"),
        "unit": given.unit,
        "samples": samples,
        "comparison": compare(samples["glibc"], samples["ondeck"]),
        "profiled": (folder / "profile/locks.jsonl").exists(),
        "worst_lock": worst_lock(folder),
    }


def say(result):
    for side, samples in result["samples"].items():
        if samples:
            print(f"{side}: median {median(samples):.6g} {result['unit']}, {len(samples)} measurements")
    compared = result["comparison"]
    if compared:
        low, high = compared["interval"]
        print(f"ratio to glibc {compared['ratio']:.3f}, {compared['confidence']:.0%} interval {low:.3f} to {high:.3f}")
        print(f"other programs had {result['cpu_time_of_others']:.0%} of the CPU time")
    worst = result["worst_lock"]
    if worst:
        print(
            f"worst lock: {worst['name']}, {worst['waits']} waits, {worst['wait_seconds']:.3f} s in all, "
            f"longest {worst['longest_milliseconds']:.1f} ms, {worst['share_of_wait']:.0%} of all waiting"
        )
    elif result["profiled"]:
        print("no thread waited for a lock")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("when", choices=["begin", "end", "finish"])
    parser.add_argument("folder", type=pathlib.Path)
    for name in ("program", "title", "unit", "package", "lock"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--write", type=pathlib.Path)
    given = parser.parse_args()
    if given.when != "finish":
        (given.folder / f"cpu.{given.when}").write_text(json.dumps(cpu_times()))
        return
    result = record(given.folder, given)
    say(result)
    if given.write:
        given.write.parent.mkdir(parents=True, exist_ok=True)
        given.write.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
