"""One machine's records of docs/data/speed.md, and how far ondeck is ahead at a point of them."""

import json
import math

from figures import disturbed, two

# Those that ondeck is measured against: the best of them at each point.
PEERS = ["glibc", "std", "parking_lot", "usync", "abseil", "nsync"]
LOCKS = ["ondeck", "spinlock", *PEERS]

# Reports of other conditions, and of rounds that are as long as shares need.
VARIED = "varied-"
SHARES = "shares"
# Reports of situations that others have too, but for a busy program or for data.
BUSY = "real-busy"
WITH_DATA = "throughput-data-"


class Ratio:
    """How many times as good as the best other lock ondeck is: above 1 it leads."""

    def __init__(self, value, low, high, other):
        self.value, self.low, self.high, self.other = value, low, high, other

    def behind(self):
        """Whether another lock is ahead."""
        return self.value < 1

    def told(self):
        """Whether it is more than the rounds differ by."""
        return self.high < 1 or self.low > 1

    def text(self):
        """The ratio with its spread and the other lock; bold where ondeck is behind."""
        value = f"{self.value:.2f}"
        if self.behind():
            value = f"**{value}**"
        high = "∞" if math.isinf(self.high) else f"{self.high:.2f}"
        return f"{value} ({self.low:.2f}–{high}) {self.other}"


def ratio(own, others):
    """Of metrics by name of lock; none if nothing was measured that could be compared."""
    others = {name: metric for name, metric in others.items() if metric and metric["median"] > 0}
    if not own or own["median"] <= 0 or not others:
        return None
    if own["better"] == "higher":
        name = max(others, key=lambda name: others[name]["median"])
        above, below = own, others[name]
    else:
        name = min(others, key=lambda name: others[name]["median"])
        above, below = others[name], own

    def by(one, other):
        return one / other if other > 0 else math.inf

    return Ratio(
        above["median"] / below["median"],
        by(above["p25"], below["p75"]),
        by(above["p75"], below["p25"]),
        name,
    )


def geometric_mean(values):
    """Of numbers above 0; none if there are none."""
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


class Point:
    """A situation: a workload, its parameters, a number of threads."""

    def __init__(self, machine, workload, threads, params, reports):
        self.machine, self.workload, self.threads = machine, workload, threads
        self.params, self.reports = params, reports

    def metric(self, lock, name):
        """A metric of a lock here; none if it was not measured."""
        return self.machine.metric(
            self.reports, (self.workload, lock, self.threads, self.params), name
        )

    def median(self, lock, name):
        """Its median; none if it was not measured."""
        metric = self.metric(lock, name)
        return metric and metric["median"]

    def ratio(self, name, others=PEERS):
        """How far ondeck is ahead of the best of the others."""
        return ratio(
            self.metric("ondeck", name), {other: self.metric(other, name) for other in others}
        )

    def best(self, name, better=max):
        """The best other's median, and its name; none if there is none."""
        found = [(self.median(peer, name), peer) for peer in PEERS]
        found = [(median, peer) for median, peer in found if median is not None]
        return better(found) if found else None


class Machine:
    """The reports of one machine, by the names of their files."""

    def __init__(self, files):
        self.reports = {
            path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(files)
        }
        self.table = {}
        for report, document in self.reports.items():
            for series in document["series"]:
                if not series["partial"]:
                    key = (series["workload"], series["lock"], series["threads"])
                    params = frozenset(series["params"].items())
                    self.table[report, key, params] = series

    def main(self):
        """The names of the reports that have the tables' rates."""
        return [name for name in self.reports if not name.startswith((VARIED, WITH_DATA)) and name not in (SHARES, BUSY)]

    def with_data(self):
        """The names of the reports whose sections touch data."""
        return [name for name in self.reports if name.startswith(WITH_DATA)]

    def varied(self):
        """The names of the reports of other conditions."""
        return [name for name in self.reports if name.startswith(VARIED)]

    def metric(self, reports, key, name):
        """A metric of the first of the reports that has it."""
        workload, lock, threads, params = key
        for report in reports:
            series = self.table.get((report, (workload, lock, threads), frozenset(params.items())))
            for metric in series["metrics"] if series else ():
                # A metric without a sample, as a share of rounds that were too short, says nothing.
                if metric["name"] == name and metric["n"] > 0:
                    return metric
        return None

    def points(self, workload, reports=None, **params):
        """The points of a workload that have these parameters, in order of threads."""
        reports = self.main() if reports is None else reports
        found = {}
        for (report, (name, _, threads), its), series in self.table.items():
            if report in reports and name == workload and params.items() <= dict(its).items():
                found.setdefault((threads, tuple(sorted(its))), dict(series["params"]))
        return [
            Point(self, workload, threads, its, reports)
            for (threads, _), its in sorted(found.items(), key=lambda item: item[0])
        ]

    def situations(self, workload, reports=None):
        """The parameters of a workload that were measured, numbers in order, with their points."""
        groups = {}
        for point in self.points(workload, reports):
            groups.setdefault(tuple(sorted(point.params.items())), []).append(point)

        def order(item):
            params = dict(item[0])
            numbers = [
                int(params.get(name, 0)) for name in ("capacity", "section_ns", "outside_ns")
            ]
            # Inside, which is no parameter, before after.
            return numbers, params.get("notify", "")

        return [(dict(params), points) for params, points in sorted(groups.items(), key=order)]

    def point(self, workload, threads, **params):
        """One point of the main reports, measured or not."""
        return Point(self, workload, threads, params, self.main())

    def shares(self, threads, work):
        """A point of `throughput` whose rounds were as long as shares need."""
        params = working(work)
        # In older records all rounds were.
        reports = [name for name in self.reports if name == SHARES] or self.main()
        return Point(self, "throughput", threads, params, reports)

    def facts(self):
        """The first report's document, which names the machine."""
        return min(self.reports.values(), key=lambda report: report["started"])

    def loud(self):
        """The names of reports during which others had much of the CPU time."""
        return [name for name, report in self.reports.items() if disturbed(report)]


def working(work):
    """The parameters of a section and the work outside, in nanoseconds."""
    return {"section_ns": str(work[0]), "outside_ns": str(work[1])}


def per_second(value):
    """A rate with three digits or so, in millions or thousands."""
    if value is None:
        return "-"
    if value >= 999.5e3:
        return f"{three(value / 1e6)} M"
    return f"{three(value / 1e3)} k"


def three(value):
    """Three significant digits."""
    if value is None:
        return "-"
    if abs(value) >= 99.95:
        return f"{value:,.0f}"
    if abs(value) >= 9.995:
        return f"{value:.1f}"
    if abs(value) >= 0.9995:
        return f"{value:.2f}"
    return two(value) if abs(value) < 0.01 else f"{value:.3f}"
