"""Writes the tables of docs/data/scale.md from docs/results/scale/, whose reports `ci/scale.sh --record` simulates.

`--check` writes nothing, and ends with 1 if the page is not that of its reports. `--keep REPORT` leaves of a report of
`ondeck sim` what the page needs.
"""

import argparse
import json
import pathlib
import sys

from records import root

PAGE = root() / "docs/data/scale.md"
RESULTS = root() / "docs/results/scale"
BEGIN, END = "<!-- tables: ci/scale.sh -->\n", "<!-- end of tables -->\n"

MACHINES = ["epyc-9454p-64", "graviton3", "xeon-gold-6148x2", "future-256"]
WORKS = {
    "0-0-0": "empty sections, nothing outside",
    "100-500-0": "100 ns in the section, 500 ns outside",
    "100-500-16": "100 ns and 16 lines of data in the section, 500 ns outside",
    "1000-5000-0": "1 µs in the section, 5 µs outside",
}
METRICS = {
    "throughput": ["throughput", "cpu_per_op", "running"],
    "starve": ["longest_gap", "starved_windows", "share"],
    "bystander": ["slowdown", "runnable"],
}


def keep(path):
    """Leaves of a report what the page needs, in a file of one line for each series."""
    report = json.loads(path.read_text(encoding="utf-8"))
    series = [
        [one["workload"], one["lock"], one["threads"], *(f"{value(one, name):.6g}" for name in METRICS[one["workload"]])]
        for one in report["series"]
    ]
    head = {
        "simulated": report["simulated"],
        "command": report["settings"]["command"],
        "commit": report["build"]["commit"],
        "failures": report["failures"],
    }
    lines = ",\n".join(json.dumps(one) for one in series)
    columns = {name: ["workload", "lock", "threads", *METRICS[name]] for name in sorted({one[0] for one in series})}
    text = json.dumps(head)[:-1] + f', "columns": {json.dumps(columns)}'
    path.write_text(text + f', "series": [\n{lines}\n]}}\n', encoding="utf-8")


def value(series, name):
    """The median of a metric."""
    return next(metric["median"] for metric in series["metrics"] if metric["name"] == name)


class Report:
    """The rows of one machine, one work and one workload."""

    def __init__(self, path, workload="throughput"):
        self.head = json.loads(path.read_text(encoding="utf-8"))
        self.rows = {}
        for its, lock, threads, *values in self.head["series"]:
            if its == workload:
                self.rows.setdefault(lock, {})[threads] = [float(text) for text in values]
        self.threads = sorted({threads for row in self.rows.values() for threads in row})

    def at(self, lock, threads):
        """Values of the workload's metrics; None if the lock was cut."""
        return self.rows[lock].get(threads)

    def best(self, threads, among):
        """The lock of the highest throughput."""
        return max(among, key=lambda lock: (self.at(lock, threads) or [0])[0])


def rate(number):
    """Million pairs a second."""
    million = number / 1e6
    if million < 0.001:
        return "< 0.001"
    return f"{million:.3g}" if million < 10 else f"{million:.0f}"


def time(nanos):
    """A CPU time in a unit that fits."""
    return f"{nanos:.3g} ns" if nanos < 1000 else f"{nanos / 1000:.3g} µs"


def collapse(report, lock):
    """The first number of threads with less than half of the best throughput of fewer threads."""
    best = 0
    for threads in report.threads:
        values = report.at(lock, threads)
        if values is None or values[0] < best / 2:
            return str(threads)
        best = max(best, values[0])
    return "-"


def table(head, rows):
    """A table of Markdown."""
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def tables(report, cores):
    """All locks at each number of threads."""
    last = report.threads[-1]
    head = ["lock", *map(str, report.threads), "half at", f"CPU/op at {cores}", f"CPUs at {cores}", f"CPUs at {last}"]
    rows = []
    for lock in sorted(report.rows, key=lambda lock: -(report.at(lock, cores) or [0])[0]):
        cells = [report.at(lock, threads) for threads in report.threads]
        mid, end = report.at(lock, cores), report.at(lock, last)
        rows.append(
            [
                f"**{lock}**" if lock == "ondeck" else lock,
                *("-" if cell is None else rate(cell[0]) for cell in cells),
                collapse(report, lock),
                time(mid[1]) if mid else "-",
                f"{mid[2]:.0f}" if mid else "-",
                f"{end[2]:.0f}" if end else "-",
            ]
        )
    return table(head, rows)


def ratios(reports):
    """The mutex beside the best of the others."""
    head = ["machine", "ns, lines", "threads", "M/s", "best other", "ratio", "own at 4", "CPU/op", "least"]
    rows = []
    for (machine, work), report in reports.items():
        for threads in report.threads[2:]:
            own, four = report.at("ondeck", threads), report.at("ondeck", 4)
            others = [lock for lock in report.rows if lock != "ondeck" and report.at(lock, threads)]
            best = report.best(threads, others)
            least = min(others, key=lambda lock: report.at(lock, threads)[1])
            rows.append(
                [
                    machine,
                    "{}/{}, {}".format(*work.split("-")),
                    str(threads),
                    rate(own[0]),
                    f"{best} {rate(report.at(best, threads)[0])}",
                    f"{own[0] / report.at(best, threads)[0]:.2f}",
                    f"{own[0] / four[0]:.2f}",
                    time(own[1]),
                    f"{least} {time(report.at(least, threads)[1])}",
                ]
            )
    return table(head, rows)


def all_locks():
    """Every lock on one machine with 64 CPUs."""
    report = Report(RESULTS / "all-locks.json")
    note = "Million pairs a second by threads, `epyc-9454p-64`, 100 ns in the section, 500 outside; simulated, seed 1.\n"
    return ["\n### All locks on 64 cores\n", note, tables(report, 64)]


def beside():
    """What locks do to threads that wait, and to one that does not."""
    path = RESULTS / "beside.json"
    starve, bystander = Report(path, "starve"), Report(path, "bystander")
    counts = starve.threads
    gap = [f"longest, ms, {threads}" for threads in counts]
    slow = [f"bystander, {threads}" for threads in counts]
    head = ["lock", *gap, f"share, {counts[-1]}", *slow, f"runnable, {counts[-1]}"]
    last = counts[-1]
    rows = []
    for lock in sorted(starve.rows, key=lambda lock: (starve.at(lock, last) or [float("inf")])[0]):
        gaps = [starve.at(lock, threads) for threads in counts]
        slower = [bystander.rows.get(lock, {}).get(threads) for threads in counts]
        rows.append(
            [
                f"**{lock}**" if lock == "ondeck" else lock,
                *("-" if cell is None else f"{cell[0]:.3g}" for cell in gaps),
                "-" if gaps[-1] is None else f"{gaps[-1][2]:.2g}",
                *("-" if cell is None else f"{cell[0]:.2f}" for cell in slower),
                "-" if slower[-1] is None else f"{slower[-1][1]:.0f}",
            ]
        )
    note = (
        "`epyc-9454p-64`, 100 ns in the section, 500 outside, 200 ms: the longest time that one thread went without the "
        "lock, in milliseconds, by threads; the pairs of the least served thread divided by those of the most served; how "
        "many times slower a thread was that does not use the lock; threads that wanted a CPU. Simulated, seed 1.\n"
    )
    return ["\n### Longest waits, and a bystander\n", note, table(head, rows)]


def page(text):
    """The page with the tables of the reports."""
    reports = {
        (machine, work): Report(RESULTS / f"{machine}-{work}.json")
        for machine in MACHINES
        for work in WORKS
        if (RESULTS / f"{machine}-{work}.json").exists()
    }
    parts = ["\n### ondeck beside the best\n", ratios(reports), *all_locks(), *beside()]
    for (machine, work), report in reports.items():
        cores = report.threads[-1] // 4
        parts.append(f"\n### {machine}, {WORKS[work]}\n")
        parts.append("Million pairs a second by threads; simulated, the median of three seeds.\n")
        parts.append(tables(report, cores))
        cut = sorted({f"{one['lock']} with {one['threads']} threads" for one in report.head["failures"]})
        if cut:
            parts.append(f"Stuck for 50 ms of virtual time: {', '.join(cut)}.\n")
    before, rest = text.split(BEGIN)
    return before + BEGIN + "\n".join(parts) + "\n" + END + rest.split(END)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    if options.keep:
        keep(options.keep)
        return 0
    text = PAGE.read_text(encoding="utf-8")
    written = page(text)
    if not options.check:
        PAGE.write_text(written, encoding="utf-8")
    elif written != text:
        print("docs/data/scale.md is not the page of its reports: run ci/scale.sh")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
