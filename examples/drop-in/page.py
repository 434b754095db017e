#!/usr/bin/env python3
"""Writes the table of test suites in docs/drop-in.md from docs/results/drop-in/. --check writes nothing, and ends with
1 if the table is not that of the records."""

import json
import statistics
import sys

from sources import ROOT

RECORDS = ROOT / "docs/results/drop-in"
PAGE = ROOT / "docs/drop-in.md"
# So many times the original's seconds is too long.
LONGEST = 1.1
BEGIN, END = "<!-- test suites: begin -->\n", "<!-- test suites: end -->\n"
HEAD = """
| crate | version | `cargo test` | passed with the original | with ours | seconds with the original | with ours | ratio | fail with both | recorded on |
|---|---|---|---:|---:|---:|---:|---:|---|---|
"""


def records():
    return [json.loads(path.read_text()) for path in sorted(RECORDS.glob("*.json"))]


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


def machine(record):
    facts = record["machine"]
    return (
        f"{facts['cpu']}, {facts['cpus']} CPUs, {facts['kernel']}, {record['compiler'].split(' (')[0]}, "
        f"each side {'once' if record['rounds'] == 1 else str(record['rounds']) + ' times'} in turn, crate ondeck of commit {record['commit']}"
    )


def table():
    found = records()
    lines = [HEAD, *(row(record, run) for record in found for run in record["runs"])]
    machines = {}
    for record in found:
        machines.setdefault(machine(record), []).append(record["suite"])
    lines += [f"\n{name}: {', '.join(suites)}.\n" for name, suites in sorted(machines.items())]
    return "".join(lines) + "\n"


def with_table(text):
    before, begun, rest = text.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not begun or not ended:
        sys.exit(f"{PAGE.relative_to(ROOT)} lacks the line {BEGIN.strip()} or {END.strip()}")
    return f"{before}{BEGIN}{table()}{END}{after}"


def write():
    PAGE.write_text(with_table(PAGE.read_text()))


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(f"unknown arguments {sys.argv[1:]}: only --check is known")
    if not sys.argv[1:]:
        write()
    elif with_table(PAGE.read_text()) != PAGE.read_text():
        sys.exit(f"{PAGE.relative_to(ROOT)} is not that of its records: run examples/drop-in/page.py")


if __name__ == "__main__":
    main()
