#!/usr/bin/env python3
"""Writes the checks and the rates of docs/data/real-programs.md from docs/results/real-programs/. --check writes nothing, and ends with 1 if the page
is not that of the records."""

import json
import pathlib
import re
import sys
from statistics import median

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDS = ROOT / "docs/results/real-programs"
PAGE = ROOT / "docs/data/real-programs.md"
SCRIPTS = "../../examples/real-programs"

# Above this share of other programs a machine is not called quiet.
QUIET = 0.2


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


def rates(all_records):
    lines = []
    for name in sorted({machine(record) for record in all_records}):
        these = [record for record in all_records if machine(record) == name]
        dates, commits, seconds = (sorted({str(it[key]) for it in these}) for key in ("date", "commit", "seconds"))
        lines += [f"Recorded on {', '.join(dates)}: {name}; `ondeck` at commit {', '.join(commits)}. "
                  f"A measurement took {' or '.join(seconds)} s, about.", ""]
        loud = sum((record["cpu_time_of_others"] or 0) > QUIET for record in these)
        if loud:
            lines += [f"**The machine was not quiet in {loud} of {len(these)} records.**", ""]
        lines.append("| program | rate | glibc | ondeck | ratio | 95 % interval | others | worst lock |")
        lines.append("|---|---|---:|---:|---:|---|---:|---|")
        lines += [*map(row, these), ""]
    return lines


def page(text):
    """The page with the checks and the rates of the records in their places."""
    found = [json.loads(path.read_text()) for path in sorted(RECORDS.glob("*.json"))]
    for part, lines in (("checks", sum(map(checks, found), [])), ("rates", rates(found))):
        pattern = f"(?<=<!-- {part}: begin -->\n).*(?=<!-- {part}: end -->\n)"
        text = re.sub(pattern, lambda _: "\n".join(["", *lines, ""]), text, flags=re.S)
    return text


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(f"unknown arguments {sys.argv[1:]}: only --check is known")
    text = page(PAGE.read_text())
    if not sys.argv[1:]:
        PAGE.write_text(text)
    elif PAGE.read_text() != text:
        sys.exit(f"{PAGE.relative_to(ROOT)} is not that of its records: run examples/real-programs/page.py")


if __name__ == "__main__":
    main()
