#!/usr/bin/env python3
"""Says how the rates of the two sides compare, and writes the record. Called by lib.sh.

begin, end FOLDER: notes CPU times before and after the measurements.
finish FOLDER OPTIONS: the comparison, from the files that lib.sh wrote into its scratch folder.
"""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import time

from statistics import median

from interval import compare


def cpu_times():
    """Seconds: of all CPUs together, of them busy, and of this script's processes that have ended."""
    ticks = os.sysconf("SC_CLK_TCK")
    all_cpus = [int(word) for word in pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    shell = pathlib.Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()
    own = sum(int(word) for word in shell[11:15])
    busy = sum(all_cpus) - all_cpus[3] - all_cpus[4]
    return {"all": sum(all_cpus) / ticks, "busy": busy / ticks, "own": own / ticks}


def note(folder, when):
    (folder / f"cpu.{when}").write_text(json.dumps(cpu_times()))


def others(folder):
    """The share of the CPU time that other programs had during the measurements."""
    begin, end = (json.loads((folder / f"cpu.{when}").read_text()) for when in ("begin", "end"))
    passed = {name: end[name] - begin[name] for name in begin}
    if passed["all"] <= 0:
        return None
    return round(max(0.0, passed["busy"] - passed["own"]) / passed["all"], 3)


def machine():
    cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "")
    return {
        "cpu": cpu,
        "cpus": len(os.sched_getaffinity(0)),
        "kernel": f"Linux {platform.release()}",
        "libc": " ".join(platform.libc_ver()),
    }


def version(package):
    query = ["dpkg-query", "-W", "-f=${Version}", package]
    return subprocess.run(query, capture_output=True, text=True, check=False).stdout or None


def commit():
    here = pathlib.Path(__file__).parent
    answer = subprocess.run(
        ["git", "-C", here, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return answer.stdout.strip() or None


def lines(path):
    return path.read_text().splitlines() if path.exists() else []


def worst_lock(folder):
    """The lock that threads waited for longest, of the profile. None without a profile, or if no thread waited."""
    entries = [json.loads(line) for line in lines(folder / "profile/locks.jsonl")]
    locks = [entry for entry in entries if entry["type"] == "lock" and entry["wait"]["total"] > 0]
    if not locks:
        return None
    worst = max(locks, key=lambda lock: lock["wait"]["total"])
    all_wait = sum(lock["wait"]["total"] for lock in locks)
    return {
        "name": worst["name"],
        "kind": worst["kind"],
        "waits": worst["wait"]["count"],
        "wait_seconds": round(worst["wait"]["total"] / 1e9, 6),
        "longest_milliseconds": round(worst["wait"]["longest"] / 1e6, 3),
        "share_of_wait": round(worst["wait"]["total"] / all_wait, 3),
    }


def record(folder, given):
    samples = {side: [float(line) for line in lines(folder / f"rates.{side}")] for side in ("glibc", "ondeck")}
    passed = {side: lines(folder / f"passed.{side}") for side in samples}
    return {
        "schema": 1,
        "program": given.program,
        "title": given.title,
        "package": {"name": given.package, "version": version(given.package)},
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": commit(),
        "lock": given.lock,
        "machine": machine(),
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
        note(given.folder, given.when)
        return
    result = record(given.folder, given)
    say(result)
    if given.write:
        given.write.parent.mkdir(parents=True, exist_ok=True)
        given.write.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
