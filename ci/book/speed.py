"""Writes docs/data/speed.md from docs/results/speed/, and what README.md has of them: a table, the answer of a
bench, and docs/figures/ratios.svg.

A machine is a file there that `ci/speed.sh --record` wrote; on both pages all machines have the same weight. What stands above the
sections of docs/data/speed.md is written by hand. `--check` writes nothing, and ends with 1 if a file is not what the records
say. `--add FOLDER` first makes a record of a folder of reports, in the place of that of their machine: medians and quartiles, no
samples.

`policy` in a record is the version of the waiting policy that it was made with. If the policy is another one now, the pages say
so: see `policy.py`.
"""

import argparse
import json
import pathlib
import re
import sys
import textwrap

import policy
from ratio_figure import svg
from records import PEERS, ROOT, SHARES, Machine, condensed, in_words, more_rows, rows

RESULTS = ROOT / "docs/results/speed"
PAGE = ROOT / "docs/data/speed.md"
README = ROOT / "README.md"
NUMBERS, ANSWER = "mutex numbers", "bench answer"
FIGURE = "docs/figures/ratios.svg"

SECTIONS = "<!-- sections: ci/speed.sh -->\n"


def slug(machine):
    """The name of a machine's record: its CPU's name and the number of CPUs, in small letters."""
    name = re.sub(r"\((r|tm)\)|\b(processor|cpu)\b|@.*", " ", machine["cpu"].lower())
    words = re.findall(r"[a-z0-9]+", name) or ["unnamed"]
    return "-".join([*words, str(machine["cpus"])])


def heading(machine):
    """The heading of a section."""
    name = re.sub(r"\((R|TM)\)|\bProcessor\b", "", machine["cpu"]) or "an unnamed CPU"
    kind = ", virtual" if machine["virtualized"] else ""
    return f"{' '.join(name.split())}, {machine['cpus']} CPUs{kind}"


def version(machine):
    """The locks that were recorded, and whether they wait by the same policy as those of this tree."""
    words = f"`ondeck` at commit {machine.facts['build']['commit'] or 'unknown'}"
    return words if machine.policy == policy.here() else f"{words}; **the waiting policy has changed since**"


def recorded(machine):
    """When and where the record was made, and how quiet the machine was."""
    facts, build = machine.facts["machine"], machine.facts["build"]
    words = [facts["cpu"], f"{facts['cpus']} CPUs", facts["kernel"], facts["libc"], f"rustc {build['rustc']}"]
    reports = machine.reports.values()
    text = f"Recorded on {machine.facts['started'][:10]} in {sum(report['seconds'] for report in reports):.0f} s: "
    text += f"{', '.join(words)}; {version(machine)}. "
    known = [report["cpu_time"] for report in reports if "cpu_time" in report]
    own, others, host = (sum(cpu[f"{part}_seconds"] for cpu in known) for part in ("own", "others", "host"))
    if known:
        others, host = (f"{100 * part / (own + others + host):.1f} %" for part in (others, host))
        text += f"Of the CPU time that was wanted other programs had {others}, the host of the virtual machine {host}."
    # What a report lets not pass.
    loud = [name for name, report in machine.reports.items() if {"disturbed", "stolen"} & {*report["warnings"]}]
    if loud:
        text += f" **The machine was not quiet: {', '.join(loud)}.**"
    if build["profile"] != "release":
        text += " **A debug build, whose numbers say nothing about locks.**"
    return text


def table(header, lines):
    """A table in Markdown: the first column to the left, figures to the right."""
    head = ["| " + " | ".join(header) + " |", "|---|" + "---:|" * (len(header) - 1)]
    return "\n".join(head + ["| " + " | ".join(line) + " |" for line in lines])


def tables(found):
    """A table for each title: a row for each situation, a column for each number of threads."""
    titled = {}
    for row in found:
        titled.setdefault(row.title, []).append(row)
    # Rows that are alone with their title are one table.
    single = [row for title, (row, *others) in titled.items() if not others and row.words == title]
    made = []
    for title, its in titled.items():
        if its[0] in single:
            continue
        points = {head: point.threads for row in its for head, point in row.points.items()}
        heads = sorted(points, key=points.get)
        lines = [
            [row.words.removeprefix(f"{title}, "), *(row.ratios[head].text() if head in row.ratios else "-" for head in heads)]
            for row in its
        ]
        made.append(table([title, *heads], lines))
    lines = [[row.words, head, ratio.text()] for row in single for head, ratio in row.ratios.items()]
    return made + ([table(["times", "", "ratio"], lines)] if lines else [])


def section(machine):
    """One machine: what it is, what the figure counts, and a table for each kind of workload."""
    found = rows(machine)
    head = [f"## {heading(machine.facts['machine'])}", recorded(machine), in_words(found)]
    return "\n\n".join([*head, *tables(found), *tables(more_rows(machine))])


def machines():
    """Every machine that has a record."""
    return [Machine(**json.loads(path.read_text(encoding="utf-8"))) for path in sorted(RESULTS.glob("*.json"))]


def three(value):
    """Three significant digits."""
    for least, digits in ((99.95, 0), (9.995, 1), (0.9995, 2)):
        if value >= least:
            return f"{value:,.{digits}f}"
    return f"{value:.3f}"


def two(value):
    """Two significant digits, for what differs more than that from round to round."""
    return f"{value:.0f}" if value >= 9.95 else f"{value:.2g}"


EMPTY, SHORTER, SHORT = (
    {"section_ns": section, "outside_ns": outside} for section, outside in (("0", "0"), ("30", "150"), ("100", "500"))
)

# A row of the README's table: its words, the workload and the report if it is not one of the main ones, the threads and
# parameters of its points, the metric, what that is divided by, how it is written. `{}` in the words are the spinlock's
# values.
RATE = ("throughput", 1e6, three)
README_ROWS = [
    ("uncontended pair, ns (spinlock {})", "uncontended", [(1, {"process": "multi-threaded"})], "pair", 1, three),
    ("empty section, M/s at 1 / 8 / 64 threads", "throughput", [(threads, EMPTY) for threads in (1, 8, 64)], *RATE),
    ("empty section, share of the least served of 16 threads", f"throughput {SHARES}", [(16, EMPTY)], "share", 1, two),
    ("30 ns section, 150 ns outside, M/s at 2 / 16 threads", "throughput", [(2, SHORTER), (16, SHORTER)], *RATE),
    ("100 ns section, 500 ns outside, M/s at 2 / 16 threads", "throughput", [(2, SHORT), (16, SHORT)], *RATE),
    ("longest wait of 16 threads, ms", "wait", [(16, {"pairs_per_thread": "16384"})], "longest", 1, two),
    ("job server, M wakeups/s with 1 / 4 / 16 workers", "condvar", [(threads, {}) for threads in (2, 5, 17)], *RATE),
    (
        "bounded buffer of 1 / 8, M items/s, 2 × 2 threads",
        "producer_consumer",
        [(4, {"capacity": capacity}) for capacity in ("1", "8")],
        *RATE,
    ),
    ("16 hash maps, 8 threads: CPU time of an operation, ns", "real", [(8, {"app": "hash_map"})], "cpu_per_op", 1, three),
    (
        "with a quota of one CPU, 8 threads: 100 ns section / LRU cache, M/s",
        "throughput varied-quota-1.0",
        [(8, SHORT), ("real real-quota-1.0", 8, {"app": "lru"})],
        *RATE,
    ),
    ("job server on one CPU, M wakeups/s with 15 workers", "condvar varied-one-cpu", [(16, {})], *RATE),
    ("bystander beside 3 threads of a lock, times slower", "bystander", [(4, EMPTY)], "slowdown", 1, three),
]


def value(place, lock, metric):
    """A lock's median. None if it was not measured."""
    found = place.metric(lock, metric)
    return found and found["median"]


def cells(points, metric, scale, digits):
    """The cells of a row: ondeck's values, and the best other's with their names; and of each point whether ondeck is the better
    one. Bold marks the better one; what reads the same is the same."""
    own, best, ahead = [], [], []
    for place in points:
        others = [(found, peer) for peer in PEERS if (found := value(place, peer, metric)) is not None]
        mine = value(place, "ondeck", metric)
        if mine is None or not others:
            own.append("-")
            best.append(("-", ""))
            continue
        better = max if place.metric("ondeck", metric)["better"] == "higher" else min
        other, name = better(others)
        texts = [digits(one / scale) for one in (mine, other)]
        if texts[0] != texts[1]:
            first = (mine, other).index(better(mine, other))
            texts[first] = f"**{texts[first]}**"
            ahead.append(first == 0)
        own.append(texts[0])
        best.append((texts[1], name))
    # A name stands behind the last of several values in a row that are the same lock's.
    named = [
        text if index + 1 < len(best) and best[index + 1][1] == name else f"{text} {name}".strip()
        for index, (text, name) in enumerate(best)
    ]
    return " / ".join(own), " / ".join(named), ahead


def point(machine, where, threads, params):
    """A point of the workload and the report that `where` has."""
    workload, _, report = where.partition(" ")
    return machine.point(workload, threads, params, report or None)


def numbers(machines):
    """What stands between the marks of README.md: a figure of all points, and a table of some."""
    names = [heading(machine.facts["machine"]) for machine in machines]
    others = f"{', '.join(PEERS[:-1])} and {PEERS[-1]}"
    parts = [
        f"![How many times as good as the best other lock ondeck is at each point of {' and '.join(names)}]({FIGURE})",
        wrapped(
            f"Medians of interleaved runs. The best other is the best of {others} at each point; bold marks the better one."
        ),
    ]
    made = [
        f"* **{name}**, recorded on {machine.facts['started'][:10]}, {version(machine)}. {in_words(rows(machine))}"
        for name, machine in zip(names, machines)
    ]
    parts.append("\n".join(wrapped(line, "  ") for line in made))
    makes = [name.partition(",")[0] for name in names]
    heads = makes if len(set(makes)) == len(makes) else names
    lines = ["| |" + "".join(f" {head} | best other |" for head in heads), "|---" * (1 + 2 * len(names)) + "|"]
    groups = {}
    for words, workload, places, metric, scale, digits in README_ROWS:
        places = [(place if len(place) > 2 else (workload, *place)) for place in places]
        at = [[point(machine, *place) for place in places] for machine in machines]
        spinlocks = [value(points[0], "spinlock", metric) for points in at]
        words = words.format(" and ".join("-" if one is None else digits(one / scale) for one in spinlocks))
        found = [cells(points, metric, scale, digits) for points in at]
        ahead = [one for *_, its in found for one in its]
        group = "either" if len({*ahead}) != 1 else "you gain" if ahead[0] else "you lose"
        found = [cell for *its, _ in found for cell in its]
        if any(cell.strip("-/ ") for cell in found):
            groups.setdefault(group, []).append(" | ".join([f"| {words}", *found]) + " |")
    for group in ("you gain", "either", "you lose"):
        if group in groups:
            lines += [f"| **{group}** |" + " |" * 2 * len(names), *groups[group]]
    return "\n\n".join([*parts, "\n".join(lines)])


def wrapped(text, indent=""):
    """A paragraph in lines of 100 characters."""
    return textwrap.fill(text, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def answer():
    """The answer of `ondeck bench` in a terminal, without what follows it: of the first machine that has one."""
    text = min(RESULTS.glob("*.txt")).read_text(encoding="utf-8")
    return f"```text\n{text.partition('all numbers:')[0].strip()}\n```"


def with_part(page, name, text):
    """The page with another text between the marks of that name."""
    begin, end = (f"<!-- {name}: {mark} -->" for mark in ("begin", "end"))
    before, rest = page.split(begin + "\n")
    _, after = rest.split("\n" + end)
    return f"{before}{begin}\n{text}\n{end}{after}"


def files():
    """Every file that is made of the records, with its text."""
    found = machines()
    made = [section(machine) for machine in found]
    readme = with_part(README.read_text(encoding="utf-8"), NUMBERS, numbers(found))
    return {
        PAGE: PAGE.read_text(encoding="utf-8").partition(SECTIONS)[0] + "\n\n".join([SECTIONS.strip(), *made]) + "\n",
        README: with_part(readme, ANSWER, answer()),
        ROOT / FIGURE: svg([(heading(machine.facts["machine"]), rows(machine)) for machine in found]),
    }


def add(folder):
    """Makes a record of the reports of a folder, in the place of that of their machine."""
    reports = {path.stem: condensed(json.loads(path.read_text(encoding="utf-8"))) for path in sorted(folder.glob("*.json"))}
    machine, build = (next(iter(reports.values()))[part] for part in ("machine", "build"))
    RESULTS.mkdir(parents=True, exist_ok=True)
    record = {"policy": policy.at(build["commit"]), "reports": reports}
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":")).replace('{"workload"', '\n{"workload"')
    (RESULTS / f"{slug(machine)}.json").write_text(f"{text}\n", encoding="utf-8")
    if (text := folder / "answer.txt").exists():
        text = f"ondeck at commit {build['commit']}\n\n{text.read_text(encoding='utf-8')}"
        (RESULTS / f"{slug(machine)}.txt").write_text(text, encoding="utf-8")


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--check", action="store_true")
    options.add_argument("--add", type=pathlib.Path)
    chosen = options.parse_args()
    if chosen.add:
        add(chosen.add)
    wrong = 0
    for path, fresh in files().items():
        if not chosen.check:
            path.write_text(fresh, encoding="utf-8")
        elif fresh != path.read_text(encoding="utf-8"):
            print(f"{path.relative_to(ROOT)} is not what the records say: run ci/speed.sh")
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
