"""Writes the tables of docs/data/findings.md from docs/published/ and docs/results/findings/.

A table stands between `<!-- figures: NAME -->` and `<!-- end of figures -->`; prose around it is left alone.
`--check` writes nothing, and ends with 1 if the page and the data differ. `--data FOLDER` takes the reports
from there and prints the page instead.
"""

import argparse
import pathlib
import re
import sys

from figures import Published, Recorded, cpu_time, disturbed, root, two
from tables_of_company import bystander, fairness, inversion, throughput
from tables_of_costs import chan, condvar, costs, handoff, uncontended
from tables_of_runs import conditions, runs, schedulers, single_waits

PAGE = root() / "docs/data/findings.md"
MARK = re.compile(r"(<!-- figures: ([a-z_]+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)


def recorded(_, ours):
    reports = sorted(ours.reports.items(), key=lambda item: item[1]["started"])
    first = reports[0][1]
    machine, build = first["machine"], first["build"]
    facts = [
        machine["cpu"],
        f"{machine['cpus']} CPUs",
        machine["kernel"],
        machine["libc"],
        f"rustc {build['rustc']}",
    ]
    if machine.get("slice_milliseconds"):
        facts.append(f"time slice {two(machine['slice_milliseconds'])} ms")
    seconds = sum(report["seconds"] for _, report in reports)
    text = f"Recorded on {first['started'][:10]} in {seconds:.0f} s: {', '.join(facts)}. "
    text += cpu_time(report for _, report in reports)
    loud = [name for name, report in reports if disturbed(report)]
    if loud:
        text += f" **Not of a quiet machine: {', '.join(loud)}.**"
    if any(report["settings"]["extent"] == "quick" for _, report in reports):
        text += " **With `--quick`: one round or run of each, to see that all of it works.**"
    links = ", ".join(f"[{name}](../results/findings/{name}.json)" for name, _ in reports)
    return f"{text}\n\nThe reports: {links}."


TABLES = {
    "recorded": recorded,
    "uncontended": uncontended,
    "throughput": throughput,
    "wait": runs("wait"),
    "single_waits": single_waits,
    "idle": runs("idle"),
    "schedulers": schedulers,
    "conditions": conditions,
    "handoff": handoff,
    "fairness": fairness,
    "bystander": bystander,
    "inversion": inversion,
    "costs": costs,
    "chan": chan,
    "condvar": condvar,
}


def written(page, published, ours):
    """The page with its tables as the data has them; names of tables that it lacks are an error."""
    missing = set(TABLES) - {match[2] for match in MARK.finditer(page)}
    if missing:
        raise SystemExit(f"{PAGE.name} has no place for {', '.join(sorted(missing))}")
    return MARK.sub(
        lambda match: f"{match[1]}{TABLES[match[2]](published, ours)}\n{match[3]}", page
    )


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--check", action="store_true")
    options.add_argument("--data", type=pathlib.Path)
    chosen = options.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    own = root() / "docs/results/findings"
    fresh = written(page, Published(root() / "docs/published"), Recorded(chosen.data or own))
    if chosen.data and chosen.data.resolve() != own:
        print(fresh)
    elif chosen.check and fresh != page:
        print("docs/data/findings.md is not what its data says: run python3 ci/book/findings.py")
        return 1
    elif not chosen.check:
        PAGE.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
