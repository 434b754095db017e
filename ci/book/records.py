"""One machine's records in docs/results/, and how far ondeck is ahead at a point of them."""

import json
import math
import pathlib

# Those that ondeck is measured against: the best of them at each point.
PEERS = ["glibc", "std", "parking_lot", "usync", "abseil", "nsync"]

# Reports of other conditions, of rounds that are as long as shares need, beside a busy program, and with data.
VARIED, SHARES, BUSY, WITH_DATA = "varied-", "shares", "real-busy", "throughput-data-"


def root():
    """The project's root."""
    return pathlib.Path(__file__).resolve().parents[2]


def cpu_shares(reports):
    """What other programs and the host had of the CPU time that was wanted, 0 to 1 each; none if not known."""
    known = [report["cpu_time"] for report in reports if "cpu_time" in report]
    own, others, host = (sum(cpu[f"{part}_seconds"] for cpu in known) for part in ("own", "others", "host"))
    wanted = own + others + host
    return (others / wanted, host / wanted) if wanted else None


def disturbed(report):
    """Whether they had more than a report lets pass."""
    return bool({warning["code"] for warning in report["warnings"]} & {"disturbed", "stolen"})


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
        """The ratio with the other lock; bold where ondeck is behind by more than the rounds differ."""
        value = f"{self.value:.2f}"
        return f"**{value}** {self.other}" if self.behind() and self.told() else f"{value} {self.other}"


def ratio(own, others):
    """Of metrics by name of lock; none if nothing was measured that could be compared."""
    others = {name: metric for name, metric in others.items() if metric and metric["median"] > 0}
    if not own or own["median"] <= 0 or not others:
        return None
    higher = own["better"] == "higher"
    name = (max if higher else min)(others, key=lambda name: others[name]["median"])
    above, below = (own, others[name]) if higher else (others[name], own)

    def by(one, other):
        return one / other if other > 0 else math.inf

    return Ratio(
        above["median"] / below["median"],
        by(above["p25"], below["p75"]),
        by(above["p75"], below["p25"]),
        name,
    )


class Point:
    """A situation: a workload, its parameters, a number of threads."""

    def __init__(self, machine, workload, threads, params, reports):
        self.machine, self.workload, self.threads = machine, workload, threads
        self.params, self.reports = params, reports

    def metric(self, lock, name):
        """A metric of a lock here; none if it was not measured."""
        return self.machine.metric(self.reports, (self.workload, lock, self.threads, self.params), name)

    def ratio(self, name):
        """How far ondeck is ahead of the best of the others."""
        return ratio(self.metric("ondeck", name), {other: self.metric(other, name) for other in PEERS})


class Machine:
    """The reports of one machine, by the names of their files."""

    def __init__(self, files):
        self.reports = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(files)}
        self.table = {}
        for report, document in self.reports.items():
            for series in document["series"]:
                if not series["partial"]:
                    key = (series["workload"], series["lock"], series["threads"])
                    self.table[report, key, frozenset(series["params"].items())] = series

    def main(self):
        """The names of the reports that are under no other conditions."""
        others = (VARIED, WITH_DATA)
        return [name for name in self.reports if not name.startswith(others) and name not in (SHARES, BUSY)]

    def named(self, beginning):
        """The names of the reports with this beginning."""
        return [name for name in self.reports if name.startswith(beginning)]

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

    def points(self, workload, reports=None):
        """The points of a workload, in order of threads."""
        reports = self.main() if reports is None else reports
        found = {}
        for (report, (name, _, threads), its), series in self.table.items():
            if report in reports and name == workload:
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
            numbers = [int(params.get(name, 0)) for name in ("capacity", "section_ns", "outside_ns")]
            # Inside, which is no parameter, before after.
            return numbers, params.get("notify", "")

        return [(dict(params), points) for params, points in sorted(groups.items(), key=order)]

    def point(self, workload, threads, params):
        """One point of the main reports, measured or not; of `shares` that of the rounds that are long enough."""
        if workload == SHARES:
            # In older records all rounds were.
            reports = [name for name in self.reports if name == SHARES] or self.main()
            return Point(self, "throughput", threads, params, reports)
        return Point(self, workload, threads, params, self.main())

    def facts(self):
        """The first report's document, which names the machine."""
        return min(self.reports.values(), key=lambda report: report["started"])


class Row:
    """A row of the speed page's tables and of the README's figure: a situation, its points, the metric that counts."""

    def __init__(self, title, words, points, metric, cell=None):
        self.title, self.words, self.metric = title, words, metric
        # A word for each point, which heads its column.
        self.points = {(cell or in_threads)(point): point for point in points}
        assert len(self.points) == len(points), f"two points of {words} have one name"

    def ratios(self):
        """The ratio at each point that has one, by the head of its column."""
        found = {head: point.ratio(self.metric) for head, point in self.points.items()}
        return {head: ratio for head, ratio in found.items() if ratio}


def in_threads(point):
    """The number of threads in words."""
    return "1 thread" if point.threads == 1 else f"{point.threads:,} threads"


def work_in_words(params):
    """A section and the work outside."""
    lines = f", {params['data_lines']} lines of data" if "data_lines" in params else ""
    if params["section_ns"] == params["outside_ns"] == "0":
        return f"empty section{lines}"
    return f"{int(params['section_ns']):,} ns inside, {int(params['outside_ns']):,} ns outside{lines}"


def outside(point):
    """The work outside of a point's sections, in words."""
    return f"{int(point.params['outside_ns']) / 1000:,g} µs outside"


def notified(params):
    """At which place threads notify others."""
    return "after" if "notify" in params else "inside"


# Workloads with one figure: what it is, the workload, the metric, and what its points are called.
SINGLE = [
    ("uncontended pair", "uncontended", "pair", lambda point: f"{point.params['process']} process"),
    ("pair beside parked threads", "collision", "pair", lambda point: f"{point.threads - 1:,} parked"),
    ("longest wait", "wait", "longest", None),
    ("longest idle", "idle", "longest", None),
    ("longest time without the lock", "starve", "longest_gap", None),
    ("mean wait behind holds of 300 µs", "long_hold", "wait_mean", lambda point: f"{in_threads(point)}, {outside(point)}"),
    ("slowdown of a bystander", "bystander", "slowdown", None),
    ("longest wait under inversion", "mixed_priority", "longest", lambda _: "3 priorities"),
    ("channel", "chan", "throughput", None),
]


def rows(machine):
    """The rows of the figure, which are the speed page's first."""
    made = []
    for params, points in machine.situations("throughput"):
        made.append(Row("throughput", work_in_words(params), points, "throughput"))
    for params, points in machine.situations("condvar"):
        made.append(Row("job server", f"job server, notified {notified(params)}", points, "throughput"))
    for workload, title, words in (
        ("producer_consumer", "bounded buffer", "buffer of"),
        ("recovery", "bounded buffer", "after a sleep, buffer of"),
    ):
        for params, points in machine.situations(workload):
            made.append(Row(title, f"{words} {params['capacity']}, {notified(params)}", points, "throughput"))
    for words, workload, metric, cell in SINGLE:
        made.append(Row(words, words, machine.points(workload), metric, cell))
    return [row for row in made if row.ratios()]


def more_rows(machine):
    """The rows of the speed page that are not in the figure: programs, data, and other conditions."""
    made = []
    for report, where in (("real", ""), (BUSY, ", beside two busy threads")):
        for params, points in machine.situations("real", [report]):
            made.append(Row("programs", f"`{params['app']}`{where}", points, "throughput"))
            made.append(Row("CPU time of programs", f"`{params['app']}`{where}", points, "cpu_per_op"))
    for params, points in machine.situations("throughput", machine.named(WITH_DATA)):
        made.append(Row("sections with data", work_in_words(params), points, "throughput"))
    for report in machine.named(VARIED):
        condition = report.removeprefix(VARIED).replace("-", " ")
        for workload in ("throughput", "condvar", "producer_consumer"):
            for params, points in machine.situations(workload, [report]):
                words = {"condvar": "job server", "producer_consumer": "buffer of 8"}.get(workload)
                words = f"{condition}: {words or work_in_words(params)}"
                made.append(Row("other conditions", words, points, "throughput"))
    return [row for row in made if row.ratios()]


def counted(found):
    """How many points the rows have; at how many ondeck is ahead and behind by more than the quartiles."""
    ratios = [ratio for row in found for ratio in row.ratios().values()]
    told = [ratio for ratio in ratios if ratio.told()]
    late = sum(ratio.behind() for ratio in told)
    return len(ratios), len(told) - late, late


def in_words(found):
    """What the rows show, in a sentence."""
    points, ahead, behind = counted(found)
    return (
        f"Of {points} points ondeck is ahead of the best other lock at {ahead} and behind it at {behind} by more than "
        f"the quartiles are apart; at {points - ahead - behind} neither."
    )
