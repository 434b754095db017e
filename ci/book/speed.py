"""Writes docs/data/speed.md from docs/results/, and what README.md has of them: a table and docs/figures/ratios.svg.

A section is one machine: a folder of docs/results/ that `ci/speed.sh --record` wrote. docs/data/speed-notes.md, which is
written by hand, has its place below the sections' heads. `--check` writes nothing, and ends with 1 if a file is not
what the records say. `--data FOLDER` takes one machine's records from there and prints the page instead.
`--slug REPORT` prints what the folder of the report's machine is called, and `--latest` what that of the record is
called that README.md shows.
"""

import argparse
import json
import pathlib
import re
import sys

from figures import cpu_time, root
from points import Machine
from ratio_figure import rows, svg
from readme import FIGURE, numbers, with_numbers
from tables_of_speed import plain_tables, ratio_tables
from wanted import wanted

RESULTS = root() / "docs/results"
PAGE = root() / "docs/data/speed.md"
NOTES = root() / "docs/data/speed-notes.md"
README = root() / "README.md"

# Folders of docs/results/ that are no machine of this page.
OTHERS = {"drop-in", "findings", "real-programs", "scale"}

# Records that were made before there was a folder for each machine.
EARLIER = "two-cpus-*.json"
EARLIER_NOTE = (
    "Recorded with an earlier version of `ondeck`, commits {commits}, before the mutex was last changed and before "
    "the laboratory had all of the situations. Situations that were not measured are missing here."
)

HEAD = """# Speed

The costs of the mutex and its condition variable beside other locks, where they lead and where they do
not. This page is written by `ci/speed.sh` from the documents in [results](../results), which have
every sample; `ci/speed.sh --record` adds the machine that it runs on, in about 12 minutes. All
locks of a document were interleaved round by round in one run, with the C and C++ peers of Debian.

A **ratio** says how many times as good as another lock `ondeck` is: 2 is twice the rate, or half
the time; below 1 `ondeck` is worse, and the ratio is **bold**. It is the ratio of two medians. In
brackets are the ratios of the worse quartile of one lock to the better quartile of the other, both
ways round. The *best other* is the best of glibc, std, parking_lot, usync, abseil and nsync at that
very point, and is named after the ratio. The best of six locks is partly so by chance, so a lock
that is their equal is slightly below 1.
"""


def slug(machine):
    """The name of a machine's folder: its CPU's name and the number of CPUs, in small letters."""
    name = re.sub(r"\((r|tm)\)|\b(processor|cpu)\b|@.*", " ", machine["cpu"].lower())
    words = re.findall(r"[a-z0-9]+", name) or ["unnamed"]
    return "-".join([*words, str(machine["cpus"])])


def heading(machine):
    """The heading of a section."""
    name = re.sub(r"\((R|TM)\)|\bProcessor\b", "", machine["cpu"]) or "an unnamed CPU"
    kind = ", virtual" if machine["virtualized"] else ""
    return f"{' '.join(name.split())}, {machine['cpus']} CPUs{kind}"


def recorded(machine, links):
    """When and where the records were made, and how quiet the machine was."""
    first = machine.facts()
    facts = first["machine"]
    words = [facts["cpu"], f"{facts['cpus']} CPUs", facts["kernel"], facts["libc"]]
    words.append(f"rustc {first['build']['rustc']}")
    seconds = sum(report["seconds"] for report in machine.reports.values())
    text = f"Recorded on {first['started'][:10]} in {seconds:.0f} s: {', '.join(words)}; "
    text += f"`ondeck` at commit {first['build']['commit'] or 'unknown'}. "
    text += cpu_time(machine.reports.values())
    loud = machine.loud()
    if loud:
        text += f" **The machine was not quiet: {', '.join(loud)}.**"
    if first["build"]["profile"] != "release":
        text += " **A debug build, whose numbers say nothing about locks.**"
    listed = ", ".join(f"[{name}]({link})" for name, link in links.items())
    return f"{text}\n\nThe documents: {listed}."


def section(machine, links, note=None):
    """One machine: goals, ratios, and the plain tables."""
    parts = [f"## {heading(machine.facts()['machine'])}{' (earlier)' if note else ''}"]
    if note:
        commits = sorted({report["build"]["commit"] for report in machine.reports.values()})
        parts.append(note.format(commits=" and ".join(commits)))
    parts.append(recorded(machine, links))
    parts += ["### Compared with the goals", wanted(machine)]
    parts += ["### Point by point", *ratio_tables(machine)]
    parts += ["### The tables", *plain_tables(machine)]
    # Headings of several machines are the same words, and an anchor has to lead to one.
    return "\n\n".join(parts)


def machines(results):
    """Every machine that has records, the latest first, by the name of its folder."""
    found = []
    for folder in sorted(path for path in results.iterdir() if path.is_dir()):
        files = list(folder.glob("*.json"))
        if folder.name not in OTHERS and files:
            machine = Machine(files)
            found.append((machine.facts()["started"], folder.name, machine))
    return {name: machine for _, name, machine in sorted(found, reverse=True)}


def sections(results):
    """The sections of every machine that has records; earlier records last."""
    made = []
    for folder, machine in machines(results).items():
        links = {name: f"../results/{folder}/{name}.json" for name in machine.reports}
        made.append(section(machine, links))
    earlier = list(results.glob(EARLIER))
    if earlier:
        machine = Machine(earlier)
        links = {name: f"../results/{name}.json" for name in machine.reports}
        made.append(section(machine, links, EARLIER_NOTE))
    return made


def written(made, notes):
    """The page of these sections and the notes, which are written by hand."""
    parts = [HEAD.strip(), notes.strip(), *made]
    return "\n\n".join(parts) + "\n"


def files():
    """Every file that is made of the records, with its text."""
    latest = next(iter(machines(RESULTS).values()))
    name = heading(latest.facts()["machine"])
    readme = with_numbers(README.read_text(encoding="utf-8"), numbers(latest, name))
    return {
        PAGE: written(sections(RESULTS), NOTES.read_text(encoding="utf-8")),
        README: readme,
        root() / FIGURE: svg(rows(latest), name),
    }


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--check", action="store_true")
    options.add_argument("--data", type=pathlib.Path)
    options.add_argument("--slug", type=pathlib.Path)
    options.add_argument("--latest", action="store_true")
    chosen = options.parse_args()
    if chosen.slug:
        print(slug(json.loads(chosen.slug.read_text(encoding="utf-8"))["machine"]))
        return 0
    if chosen.latest:
        print(next(iter(machines(RESULTS))))
        return 0
    if chosen.data:
        machine = Machine(chosen.data.glob("*.json"))
        links = {name: str(chosen.data / f"{name}.json") for name in machine.reports}
        notes = NOTES.read_text(encoding="utf-8")
        print(written([section(machine, links)], notes), end="")
        return 0
    wrong = 0
    for path, fresh in files().items():
        if not chosen.check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(fresh, encoding="utf-8")
        elif not path.exists() or fresh != path.read_text(encoding="utf-8"):
            print(f"{path.relative_to(root())} is not what the records say: run ci/speed.sh")
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
