"""One machine's record in docs/results/speed/, and how far ondeck is ahead at a point of it."""

import dataclasses
import math
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The metrics that the pages have, and those of them that are better if they are higher.
METRICS = {"throughput", "share", "pair", "cpu_per_op", "longest", "longest_gap", "wait_mean", "slowdown"}
HIGHER = {"throughput", "share"}
QUARTILES = ("median", "p25", "p75")

# Those that ondeck is measured against: the best of them at each point.
PEERS = ["glibc", "std", "parking_lot", "usync", "abseil", "nsync"]

# Reports of other conditions, also with programs, and with data; of rounds that are as long as shares need.
VARIED, PROGRAMS, WITH_DATA, SHARES = "varied-", "real-", "throughput-data-", "shares"

# The conditions of the reports with programs, in words.
CONDITIONS = {
    "": "",
    "busy": ", beside two busy threads",
    "one-cpu": ", on one CPU",
    "quota-1.0": ", with a quota of one CPU",
}


@dataclasses.dataclass
class Ratio:
    """How many times as good as the best other lock ondeck is: above 1 it leads. The quartiles make it low or high."""

    value: float
    low: float
    high: float
    other: str

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
    parts = (("median", "median"), ("p25", "p75"), ("p75", "p25"))
    return Ratio(*(above[one] / below[other] if below[other] > 0 else math.inf for one, other in parts), name)


@dataclasses.dataclass
class Point:
    """A situation: a number of threads, parameters, and each lock that was measured there with its metrics by name."""

    threads: int
    params: dict
    locks: dict

    def metric(self, lock, name):
        """A metric of a lock here; none if it was not measured, or has no sample, as a share of rounds that were too short."""
        found = self.locks.get(lock, {}).get(name)
        return found and dict(zip(QUARTILES, found), better="higher" if name in HIGHER else "lower")

    def ratio(self, name):
        """How far ondeck is ahead of the best of the others."""
        return ratio(self.metric("ondeck", name), {other: self.metric(other, name) for other in PEERS})


def condensed(report):
    """What the pages need of a report of `ondeck bench`: facts, and of each point the quartiles of the metrics of `METRICS`."""
    points = {}
    for series in report["series"]:
        metrics = {
            metric["name"]: [float(f"{metric[part]:.6g}") for part in QUARTILES]
            for metric in series["metrics"]
            if metric["name"] in METRICS and metric["n"] > 0
        }
        if metrics and not series["partial"]:
            key = series["workload"], series["threads"], tuple(sorted(series["params"].items()))
            points.setdefault(key, {})[series["lock"]] = metrics
    made = {key: report[key] for key in ("started", "seconds", "cpu_time") if key in report}
    made["machine"] = {key: report["machine"][key] for key in ("cpu", "cpus", "kernel", "libc", "virtualized")}
    made["build"] = {key: report["build"][key] for key in ("rustc", "commit", "profile")}
    made["warnings"] = [warning["code"] for warning in report["warnings"]]
    made["points"] = [
        {"workload": workload, "threads": threads, "params": dict(params), "locks": locks}
        for (workload, threads, params), locks in points.items()
    ]
    return made


class Machine:
    """The condensed reports of one machine by name, and the version of the policy that they were recorded with."""

    def __init__(self, reports, policy=None):
        self.reports, self.policy = dict(sorted(reports.items())), policy
        self.facts = min(self.reports.values(), key=lambda report: report["started"])
        # Those that are under no other conditions.
        others = (VARIED, PROGRAMS, WITH_DATA, SHARES)
        self.main = [name for name in self.reports if not name.startswith(others)]

    def points(self, workload, reports=None):
        """The points of a workload in the main reports, or in others, in order of threads."""
        found = {}
        for report in self.main if reports is None else reports:
            for one in self.reports.get(report, {"points": []})["points"]:
                if one["workload"] == workload:
                    key = one["threads"], tuple(sorted(one["params"].items()))
                    found.setdefault(key, Point(one["threads"], one["params"], {})).locks.update(one["locks"])
        return [found[key] for key in sorted(found)]

    def situations(self, workload, reports=None):
        """The parameters of a workload that were measured, numbers in order, with their points."""
        groups = {}
        for point in self.points(workload, reports):
            groups.setdefault(tuple(sorted(point.params.items())), []).append(point)

        def order(points):
            params = points[0].params
            numbers = [int(params.get(name, 0)) for name in ("capacity", "section_ns", "outside_ns")]
            # Inside, which is no parameter, before after.
            return numbers, params.get("notify", "")

        return [(points[0].params, points) for points in sorted(groups.values(), key=order)]

    def point(self, workload, threads, params, report=None):
        """One point of the main reports or of another one, measured or not."""
        points = self.points(workload, [report] if report else None)
        wanted = (point for point in points if (point.threads, point.params) == (threads, params))
        return next(wanted, Point(threads, params, {}))


class Row:
    """A row of the speed page's tables and of the README's figure: a situation, its points, the metric that counts."""

    def __init__(self, title, words, points, metric, cell=None):
        self.title, self.words = title, words
        # A word for each point heads its column.
        self.points = {(cell or in_threads)(point): point for point in points}
        assert len(self.points) == len(points), f"two points of {words} have one name"
        found = {head: point.ratio(metric) for head, point in self.points.items()}
        self.ratios = {head: ratio for head, ratio in found.items() if ratio}


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
    """The threads and the work outside of a point's sections, in words."""
    return f"{in_threads(point)}, {int(point.params['outside_ns']) / 1000:,g} µs outside"


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
    ("mean wait behind holds of 300 µs", "long_hold", "wait_mean", outside),
    ("slowdown of a bystander", "bystander", "slowdown", None),
    ("longest wait under inversion", "mixed_priority", "longest", lambda _: "3 priorities"),
    ("channel", "chan", "throughput", None),
]


def rows(machine):
    """The rows of the figure, which are the speed page's first."""
    made = []
    for title, workload, words in (
        ("throughput", "throughput", work_in_words),
        ("job server", "condvar", lambda params: f"job server, notified {notified(params)}"),
        ("bounded buffer", "producer_consumer", lambda params: f"buffer of {params['capacity']}, {notified(params)}"),
        ("bounded buffer", "recovery", lambda params: f"after a sleep, buffer of {params['capacity']}, {notified(params)}"),
    ):
        made += [Row(title, words(params), points, "throughput") for params, points in machine.situations(workload)]
    made += [Row(words, words, machine.points(workload), metric, cell) for words, workload, metric, cell in SINGLE]
    return [row for row in made if row.ratios]


def more_rows(machine):
    """The rows of the speed page that are not in the figure: programs, data, and other conditions."""
    made = []
    for condition, where in CONDITIONS.items():
        for params, points in machine.situations("real", [f"{PROGRAMS}{condition}".removesuffix("-")]):
            made.append(Row("programs", f"`{params['app']}`{where}", points, "throughput"))
            made.append(Row("CPU time of programs", f"`{params['app']}`{where}", points, "cpu_per_op"))
    with_data = [name for name in machine.reports if name.startswith(WITH_DATA)]
    for params, points in machine.situations("throughput", with_data):
        made.append(Row("sections with data", work_in_words(params), points, "throughput"))
    for report in (name for name in machine.reports if name.startswith(VARIED)):
        condition = report.removeprefix(VARIED).replace("-", " ")
        for workload, words in (("throughput", None), ("condvar", "job server"), ("producer_consumer", "buffer of 8")):
            for params, points in machine.situations(workload, [report]):
                words_here = f"{condition}: {words or work_in_words(params)}"
                made.append(Row("other conditions", words_here, points, "throughput"))
                made.append(Row("CPU time under other conditions", words_here, points, "cpu_per_op"))
    return [row for row in made if row.ratios]


def counted(found):
    """How many points the rows have; at how many ondeck is ahead and behind by more than the quartiles."""
    ratios = [ratio for row in found for ratio in row.ratios.values()]
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
