"""What was measured, the sources' and ours, and how figures are written."""

import csv
import json
import pathlib

# What C++ calls std::mutex is glibc's on Linux.
FIVE = ["glibc", "terrible_spinlock", "spinlock_amd", "spinlock", "ticket_spinlock"]
RUNS = [*FIVE, "std", "three_state_futex", "parking_lot", "ondeck"]
BESIDE = [*FIVE, "glibc_pi", "std", "three_state_futex", "go_spinbit", "parking_lot", "ondeck"]


class Published:
    """The sources' figures: docs/published/*.csv."""

    def __init__(self, folder):
        self.rows = {}
        for path in folder.glob("*.csv"):
            lines = [
                line
                for line in path.read_text(encoding="utf-8").splitlines()
                if not line.startswith("#")
            ]
            self.rows[path.stem] = list(csv.DictReader(lines))

    def row(self, table, **where):
        """The one row that has these values; an error if there is none."""
        (found,) = [
            row
            for row in self.rows[table]
            if all(row[key] == str(value) for key, value in where.items())
        ]
        return found


def shares(reports):
    """What other programs and the host had of the CPU time that was wanted, 0 to 1 each; none if not known."""
    known = [report["cpu_time"] for report in reports if "cpu_time" in report]
    own, others, host = (
        sum(cpu[f"{part}_seconds"] for cpu in known) for part in ("own", "others", "host")
    )
    wanted = own + others + host
    return (others / wanted, host / wanted) if wanted else None


def taken(report):
    """The share of both together during a report."""
    return sum(shares([report]) or (0, 0))


def disturbed(report):
    """Whether they had more than a report lets pass."""
    return bool({warning["code"] for warning in report["warnings"]} & {"disturbed", "stolen"})


def cpu_time(reports):
    """Which share of the CPU time other programs and the host had, as a sentence."""
    known = shares(reports)
    if known is None:
        return "The kernel did not tell which programs had the CPUs."
    others, host = known
    return (
        f"Of the CPU time that was wanted other programs had {100 * others:.1f} %, "
        f"the host of the virtual machine {100 * host:.1f} %."
    )


class Recorded:
    """Our reports: docs/results/findings/*.json, as `ondeck bench --json` wrote them."""

    def __init__(self, folder):
        self.reports = {
            path.stem: json.loads(path.read_text(encoding="utf-8"))
            for path in sorted(folder.glob("*.json"))
        }
        # Where realtime was refused, the run went on without it.
        if (
            self.reports.get("runs-rr", {"settings": {"policy": "rr"}})["settings"]["policy"]
            != "rr"
        ):
            del self.reports["runs-rr"]

    def cpus(self):
        """How many CPUs the machine has."""
        return next(iter(self.reports.values()))["machine"]["cpus"]

    def series(self, report, workload, lock, threads=None, **params):
        """The series of a lock in a situation; none if the report does not have it."""
        for series in self.reports.get(report, {"series": []})["series"]:
            here = (series["workload"], series["lock"]) == (workload, lock) and threads in (
                None,
                series["threads"],
            )
            if here and all(series["params"].get(key) == value for key, value in params.items()):
                return series
        return None

    def metric(self, name, *where, **params):
        """A metric of a series: median, samples and so on."""
        series = self.series(*where, **params)
        found = [
            metric for metric in (series or {"metrics": []})["metrics"] if metric["name"] == name
        ]
        return found[0] if found else None

    def median(self, name, *where, **params):
        """The median of a metric over rounds; none if it was not measured."""
        metric = self.metric(name, *where, **params)
        return metric and metric["median"]

    def mean(self, name, *where, **params):
        """The mean, as Skarupke gives it of the lengths of runs."""
        metric = self.metric(name, *where, **params)
        return metric and sum(metric["samples"]) / len(metric["samples"])

    def longest(self, count, *where, **params):
        """The longest times of so many runs, in milliseconds, longest first."""
        metric = self.metric("longest", *where, **params)
        return sorted(metric["samples"], reverse=True)[:count] if metric else []

    def cost(self, operation):
        """What an operation costs, in nanoseconds."""
        for cost in self.reports.get("costs", {"costs": []})["costs"]:
            if cost["operation"] == operation and not cost["refused"]:
                return cost["median"]
        return None


def two(value):
    """Two significant digits, or all digits before the point; `-` for what was not measured."""
    if value is None:
        return "-"
    if value == 0:
        return "0"
    if abs(value) < 0.001:
        return "<0.001"
    if abs(value) >= 9.95:
        return f"{value:,.0f}"
    return f"{float(f'{value:.2g}'):.4f}".rstrip("0").rstrip(".")


def time(nanos):
    """A time with the unit in which it has few digits."""
    if nanos is None:
        return "-"
    for unit, size in (("ns", 1), ("µs", 1e3), ("ms", 1e6)):
        if nanos < 999.5 * size:
            return f"{two(nanos / size)} {unit}"
    return f"{two(nanos / 1e9)} s"


def table(header, rows):
    """A table in Markdown: the first column to the left, figures to the right."""
    lines = ["| " + " | ".join(header) + " |", "|---|" + "---:|" * (len(header) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def root():
    """The project's root."""
    return pathlib.Path(__file__).resolve().parents[2]
