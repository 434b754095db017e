#!/usr/bin/env python3
"""Runs published crates' own test suites with the original parking_lot and with the locks of crate ondeck, in turn.

    crates.py [--rounds N] [--record] [NAME]...    all without a name
    crates.py --list                               their names
    crates.py --check                              ends with 1 if the table of docs/data/drop-in.md is not that of its records

A suite passes if no test fails with crate ondeck's locks that never fails with the original. A test that fails with
both is named in the record. --record writes docs/results/drop-in/NAME.json and the table of docs/data/drop-in.md.

The scratch folder is $DROPIN_SCRATCH, or /tmp/ondeck-drop-in: sources, logs and cargo's target folder, which
$CARGO_TARGET_DIR moves. What is in it is made anew each time, apart from the target folder. A run that takes longer
than $DROPIN_HUNG seconds, or an hour, has hung.
"""

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time

import own_tests
from sources import ROOT, published
from suite import compare

# Publishing removes development dependencies that are known by path only. This one is published, too.
TRACING_MOCK = """
[dev-dependencies.tracing-mock]
version = "=0.1.0-beta.3"
features = ["tracing-subscriber"]
"""

# Without the examples of the documentation, which are compiled while they run.
TESTS = ["--lib", "--tests"]

# The version, and the arguments of `cargo test`, one list a run.
CRATES = {
    "dashmap": ("6.1.0", [["--features", "serde,rayon", *TESTS]]),
    "string_cache": ("0.8.9", [TESTS]),
    "r2d2": ("0.8.10", [TESTS]),
    # Without the features `gen`, which needs protoc, and `push`, which needs a client of HTTP.
    "prometheus": ("0.14.0", [["--features", "process", *TESTS]]),
    "tracing-subscriber": (
        "0.3.23",
        [["--features", "parking_lot,env-filter,json,time,local-time", *TESTS]],
    ),
    # What waits: locks, channels, semaphores, and the runtime, whose parking they are.
    "tokio": ("1.54.1", [["--features", "full,test-util", "--lib", "--test", "sync_*", "--test", "rt_*"]]),
    "moka": ("0.12.16", [["--features", "sync,future", *TESTS]]),
    "quick_cache": ("0.7.0", [["--features", "parking_lot", "--lib"]]),
    "flurry": ("0.5.2", [["--features", "serde,rayon", *TESTS]]),
    # Over parking_lot_core. One of its tests runs an example.
    "once_cell": ("1.21.4", [["--features", "parking_lot", *TESTS, "--examples"]]),
    # Users of lock_api: these wrap its raw locks, dashmap above has its own beside them.
    "tracing-mutex": ("0.3.3", [["--features", "parkinglot", "--lib"]]),
    "futures-intrusive": ("0.5.0", [TESTS]),
    # A database: a program's worth of code over the locks, with guards that own their lock. All tests of its trees
    # together had not ended after nine minutes on two busy CPUs.
    "sled": (
        "1.0.0-alpha.124",
        [["--test", "concurrent_batch_atomicity", "--test", "test_tree", "--", "atomicity", "tree_pops"]],
    ),
}
MORE_DEPENDENCIES = {"tracing-subscriber": TRACING_MOCK}
MEMBERS = {"tracing-subscriber"}

SUITES = {**CRATES, **own_tests.SUITES}


RECORDS = ROOT / "docs/results/drop-in"
PAGE = ROOT / "docs/data/drop-in.md"
# So many times the original's seconds is too long.
LONGEST = 1.1
BEGIN, END = "<!-- test suites: begin -->\n", "<!-- test suites: end -->\n"
HEAD = """
| crate | version | `cargo test` | passed with the original | with ours | seconds with the original | with ours | ratio | fail with both | recorded on |
|---|---|---|---:|---:|---:|---:|---:|---|---|
"""


def spread(counts):
    """One number, or the least and the most of all rounds."""
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"


def medians(run):
    """The seconds of each side: the median of the rounds."""
    return [statistics.median(run["seconds"][side]) for side in ("original", "ondeck")]


def times(run):
    """The seconds of each side and their ratio, which is bold if it is too long. Dashes if they were not recorded, and for
    the ratio of less than a tenth of a second."""
    if "seconds" not in run:
        return ["–"] * 3
    original, ours = medians(run)
    ratio = f"{ours / original:.2f}" if original >= 0.1 else "–"
    return [f"{original:.2f}", f"{ours:.2f}", f"**{ratio}**" if is_slower(original, ours) else ratio]


def is_slower(original, ours):
    """Whether a suite takes too long with the replacement. The harness tells hundredths of a second, and starting a test
    binary takes some."""
    return ours > LONGEST * original and ours - original > 0.1


def row(record, run):
    defects = [f"**only with ours: {it}**" for it in run["defects"]]
    both = sorted(set(run["failed"]["original"]) & set(run["failed"]["ondeck"]))
    failed = ", ".join([f"`{it.strip('`')}`" for it in both] + defects) or "none"
    arguments = f"`{run['arguments']}`" if run["arguments"] else ""
    passed = (spread(run["passed"][side]) for side in ("original", "ondeck"))
    cells = [record["suite"], record["version"], arguments, *passed, *times(run), failed, record["date"]]
    return f"| {' | '.join(cells)} |\n"


def machine_of(record):
    facts = record["machine"]
    return (
        f"{facts['cpu']}, {facts['cpus']} CPUs, {facts['kernel']}, {record['compiler'].split(' (')[0]}, "
        f"each side {'once' if record['rounds'] == 1 else str(record['rounds']) + ' times'} in turn, crate ondeck of commit {record['commit']}"
    )


def table():
    found = [json.loads(path.read_text()) for path in sorted(RECORDS.glob("*.json"))]
    lines = [HEAD, *(row(record, run) for record in found for run in record["runs"])]
    machines = {}
    for record in found:
        machines.setdefault(machine_of(record), []).append(record["suite"])
    lines += [f"\n{name}: {', '.join(suites)}.\n" for name, suites in sorted(machines.items())]
    return "".join(lines) + "\n"


def page():
    """The page as it is, and with the table of the records."""
    text = PAGE.read_text()
    return text, re.sub(f"(?<={BEGIN}).*(?={END})", lambda _: table(), text, flags=re.S)


def sides_of(name):
    """The version of a suite, its two folders, and its runs."""
    if name in CRATES:
        version, runs = CRATES[name]
        return version, published(name, version, MORE_DEPENDENCIES.get(name, ""), name in MEMBERS), runs
    return own_tests.sides_of(name)


def machine():
    names = (line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
    return {
        "cpu": next(names, ""),
        "cpus": len(os.sched_getaffinity(0)),
        "kernel": f"Linux {platform.release()}",
    }


def output_of(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


def write(name, version, record):
    record = {
        "suite": name,
        "version": version,
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": output_of("git", "log", "-1", "--format=%h", "--", "locks/ondeck"),
        "compiler": output_of("rustc", "--version"),
        "machine": machine(),
        **record,
    }
    (RECORDS / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")
    PAGE.write_text(page()[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="how often each side runs (3)")
    parser.add_argument("--record", action="store_true", help="write the record and the table")
    parser.add_argument("--list", action="store_true", help="print the names and end")
    parser.add_argument("--check", action="store_true", help="compare the table with its records and end")
    parser.add_argument("names", nargs="*", metavar="NAME")
    given = parser.parse_args()
    unknown = sorted(set(given.names) - SUITES.keys())
    if unknown:
        parser.error(f"unknown suite {unknown[0]}: one of {', '.join(SUITES)}")
    if given.rounds < 1:
        parser.error(f"--rounds {given.rounds}: at least 1")
    if given.check:
        text, written = page()
        sys.exit(None if text == written else "docs/data/drop-in.md is not that of docs/results/drop-in: see --record")
    if given.list:
        print("\n".join(SUITES))
        return
    wrong = []
    for name in given.names or SUITES:
        version, sides, runs = sides_of(name)
        record = compare(name, sides, runs, given.rounds)
        defects = [it for run in record["runs"] for it in run["defects"]]
        for run in record["runs"]:
            original, ours = medians(run)
            if is_slower(original, ours):
                print(f"{name} {version}: cargo test {run['arguments']}: {ours} s, {original} s with the original")
        wrong += [f"{name} {version}: fails with crate ondeck's locks only: {it}" for it in defects]
        if given.record:
            write(name, version, record)
    print("\n".join(wrong) or "no test fails with crate ondeck's locks only")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
