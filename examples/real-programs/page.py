#!/usr/bin/env python3
"""Writes docs/data/real-programs.md from docs/results/real-programs/. --check writes nothing, and ends with 1 if the page
is not that of the records."""

import json
import pathlib
import sys
from statistics import median

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDS = ROOT / "docs/results/real-programs"
PAGE = ROOT / "docs/data/real-programs.md"
SCRIPTS = "../../examples/real-programs"

HEAD = """# Real programs

Programs of Debian's packages, unmodified, with glibc's locks and with those of `libondeck_preload.so`.
This page is written by `examples/real-programs/page.py` from the records in
[results/real-programs](../results/real-programs), which have every measurement. A script for each program
installs it, runs its own checks and tests on both sides, and measures:

```sh
crates/ondeck-preload/link.sh
examples/real-programs/redis.sh --quick
examples/real-programs/all.sh --record
```

`examples/real-programs/redis.sh --help` has the options. Servers listen on Unix sockets, or on the
loopback device where a program or its load generator has no other way. All data is in a temporary folder.
"""

CHECKS = """## Checks

What must be so with glibc's locks, and is then asked with this project's. A script fails if a check
passes on one side only, if a program crashes, also at its end, or if it does not end in time.

Not every program leans on `pthread_mutex_t`. PostgreSQL's processes and Go have locks of their own, OpenSSL's are
`pthread_rwlock_t`, and CPython's are semaphores, apart from that of the interpreter. There the checks say that the
shim does no harm. A shim whose mutexes do nothing fails the checks of RocksDB, zstd, the JVM, Go, MariaDB and
memcached; one that loses a signal in fifty fails those of pigz.
"""

RATES = """## Rates

A **ratio** above 1 says that the program does more in a second with this project's locks than with
glibc's. It is the median of the ratios of each measurement of one side to each of the other. The interval
has all ratios that a two-sided Mann-Whitney test at 5 % does not refuse; a ratio is **bold** if its
interval leaves out 1. The measurements of the two sides alternated, and the first of each was thrown away.
*Others* is the share of the machine's CPU time that other programs had in the meantime: if it is not small, a
ratio says little. The worst lock is the one that threads waited for longest, by `ondeck run --profile` in
one more run.
"""


# Above this share of other programs a machine is not called quiet.
QUIET = 0.2

NOTES = """## What is known

* **Programs that hand turns to each other by condition variables on a busy machine**, as the JVM's threads here do:
  each wait polls for 4 to 9 µs of CPU time before it parks. While other programs have the CPUs, 97 % of the waits park
  all the same, and the polling is in vain (commit f8f9538, load average 15 on 2 CPUs). A ring of 8 threads had 0.5 µs
  of user time a turn with glibc, 5.5 to 9 µs with the shim, and 1 µs with the shim and `ONDECK_SPIN=0`.
* Mutexes of memory from `malloc` have no name in the profile, but an address.
"""


def records():
    return [json.loads(path.read_text()) for path in sorted(RECORDS.glob("*.json"))]


def number(value):
    """Three digits that count, and groups of three."""
    if value < 100:
        return f"{value:.3g}"
    digits = len(str(int(value)))
    return f"{round(value, 3 - digits):,.0f}"


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def link(record):
    return f"[{cell(record['title'])}]({SCRIPTS}/{record['program']}.sh)"


def checks(record):
    lines = [f"**{link(record)}**, `{record['package']['name']}` {record['package']['version']}", ""]
    for check in record["checks"]:
        passed = check in record["passed"]["ondeck"]
        lines.append(f"- {check}" if passed else f"- **fails with this project's locks**: {check}")
    lines += [f"- **failed**: {' '.join(record['failed'])}"] if record["failed"] else []
    return [*lines, ""]


def ratio(record):
    compared = record["comparison"]
    if not compared:
        return "-", "-"
    low, high = compared["interval"]
    text = f"{compared['ratio']:.2f}"
    return (text if low <= 1 <= high else f"**{text}**"), f"{low:.2f} to {high:.2f}"


def worst(record):
    lock = record["worst_lock"]
    if not record["profiled"]:
        return "not recorded"
    if not lock:
        return "no thread waited"
    return f"`{cell(lock['name'])}`, {lock['waits']:,} waits, {lock['wait_seconds']:.2g} s in all"


def row(record):
    samples = record["samples"]
    if not samples["glibc"] or not samples["ondeck"]:
        return f"| {link(record)} | {record['unit']} | not measured | | | | | {worst(record)} |"
    medians = [number(median(samples[side])) for side in ("glibc", "ondeck")]
    value, interval = ratio(record)
    others = f"{record['cpu_time_of_others']:.0%}"
    cells = [link(record), record["unit"], *medians, value, interval, others, worst(record)]
    return f"| {' | '.join(cells)} |"


def machine(record):
    facts = record["machine"]
    name = " ".join(facts["cpu"].replace("(R)", "").replace("(TM)", "").split()) or "an unnamed CPU"
    return f"{name}, {facts['cpus']} CPUs, {facts['kernel']}, {facts['libc']}"


def page(all_records):
    if not all_records:
        return HEAD + "\nNothing is recorded yet.\n"
    lines = [HEAD, CHECKS]
    for record in all_records:
        lines += checks(record)
    lines.append(RATES)
    for name in sorted({machine(record) for record in all_records}):
        these = [record for record in all_records if machine(record) == name]
        dates = sorted({record["date"] for record in these})
        commits = sorted({str(record["commit"]) for record in these})
        short = sorted({record["seconds"] for record in these})
        lines += [f"Recorded on {', '.join(dates)}: {name}; `ondeck` at commit {', '.join(commits)}. "
                  f"A measurement took {' or '.join(map(str, short))} s, about.", ""]
        loud = sum((record["cpu_time_of_others"] or 0) > QUIET for record in these)
        if loud:
            lines += [f"**The machine was not quiet in {loud} of {len(these)} records.**", ""]
        lines.append("| program | rate | glibc | ondeck | ratio | 95 % interval | others | worst lock |")
        lines.append("|---|---|---:|---:|---:|---|---:|---|")
        lines += [row(record) for record in these]
        lines.append("")
    return "\n".join([*lines, NOTES])


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(f"unknown arguments {sys.argv[1:]}: only --check is known")
    text = page(records())
    if not sys.argv[1:]:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        sys.exit(f"{PAGE.relative_to(ROOT)} is not that of its records: run examples/real-programs/page.py")


if __name__ == "__main__":
    main()
