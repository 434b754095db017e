"""Tables of docs/data/speed.md: ratios point by point, and what was measured."""

from figures import table, time
from points import BUSY, LOCKS, VARIED, geometric_mean, per_second, three, working

# Threads at which shares and CPU time are shown: more than CPUs, and few enough for every lock.
CROWD = 16


def work_in_words(params):
    """A section and the work outside."""
    lines = f", {params['data_lines']} lines of data" if "data_lines" in params else ""
    if params["section_ns"] == params["outside_ns"] == "0":
        return f"empty section{lines}"
    return f"{int(params['section_ns']):,} ns inside, {int(params['outside_ns']):,} ns outside{lines}"


def notified(params):
    """At which place threads notify others."""
    return "after" if "notify" in params else "inside"


def mean_of(ratios):
    """The geometric mean of ratios, bold where it is below 1."""
    mean = geometric_mean(ratio.value for ratio in ratios if ratio)
    if mean is None:
        return "-"
    return f"**{mean:.2f}**" if mean < 1 else f"{mean:.2f}"


def shown(ratio):
    """A ratio, or a dash if it was not measured."""
    return ratio.text() if ratio else "-"


def across(what, rows, threads, columns, metric):
    """Ratios of situations by threads, with their mean; none without a situation."""
    made = []
    for words, points in rows:
        of = {point.threads: point.ratio(metric) for point in points}
        ratios = [of.get(count) for count in threads]
        if any(ratios):
            made.append([words, *map(shown, ratios), mean_of(ratios)])
    return [table([what, *columns, "mean"], made)] if made else []


def counts(rows):
    """The numbers of threads of some situations, in order."""
    return sorted({point.threads for _, points in rows for point in points})


def throughput_ratios(machine, reports=None):
    rows = [
        (work_in_words(params), points)
        for params, points in machine.situations("throughput", reports)
    ]
    threads = counts(rows)
    columns = ["1 thread" if count == 1 else f"{count} threads" for count in threads]
    return across("throughput", rows, threads, columns, "throughput")


def program_ratios(machine):
    """What programs do with a lock, alone and beside two busy threads: throughput, and CPU time of an operation."""
    made = []
    for report, where in (("real", ""), (BUSY, ", beside two busy threads")):
        rows = [
            (params["app"], points) for params, points in machine.situations("real", [report])
        ]
        threads = counts(rows)
        columns = [f"{count} threads" for count in threads]
        made += across(f"programs{where}", rows, threads, columns, "throughput")
        made += across(f"their CPU time{where}", rows, threads, columns, "cpu_per_op")
    return made


def plain_programs(machine):
    """The rates of every lock in programs."""
    rows = [(params["app"], points) for params, points in machine.situations("real", ["real"])]
    threads = counts(rows)
    return rates(rows, threads, [f"{count} thr." for count in threads], "operations/s")


def program_fairness(machine):
    """The share of the least served thread and the longest gap, with as many threads as there were at most."""
    lines = []
    for params, points in machine.situations("real", ["real"]):
        point = points[-1]
        for lock in LOCKS:
            share, gap = point.median(lock, "share"), point.median(lock, "operation_gap")
            if share is not None or gap is not None:
                lines.append([f"{params['app']}, {point.threads} threads", lock, three(share), three(gap)])
    return [table(["", "lock", "share", "longest gap, ms"], lines)] if lines else []


def condvar_ratios(machine, reports=None):
    rows = [
        (f"notified {notified(params)}", points)
        for params, points in machine.situations("condvar", reports)
    ]
    threads = counts(rows)
    columns = [f"{count - 1} worker{'s' if count > 2 else ''}" for count in threads]
    return across("job server, wakeups", rows, threads, columns, "throughput")


def buffer_ratios(machine, workload, what, reports=None):
    rows = [
        (f"capacity {params['capacity']}, notified {notified(params)}", points)
        for params, points in machine.situations(workload, reports)
    ]
    threads = counts(rows)
    columns = [f"{count // 2} × {count - count // 2}" for count in threads]
    return across(what, rows, threads, columns, "throughput")


def in_threads(point):
    return "1 thread" if point.threads == 1 else f"{point.threads} threads"


# Workloads with one figure: what it is, the workload, the metric, and what its points are called.
SINGLE = [
    ("uncontended pair", "uncontended", "pair", lambda point: f"{point.params['process']} process"),
    (
        "pair beside parked threads",
        "collision",
        "pair",
        lambda point: f"{point.threads - 1:,} parked",
    ),
    ("longest wait", "wait", "longest", in_threads),
    ("longest idle", "idle", "longest", in_threads),
    ("longest time without the lock", "starve", "longest_gap", in_threads),
    ("mean wait behind holds of 300 µs", "long_hold", "wait_mean", in_threads),
    ("slowdown of a bystander", "bystander", "slowdown", in_threads),
    ("longest wait under inversion", "mixed_priority", "longest", lambda _: "3 priorities"),
    ("channel", "chan", "throughput", in_threads),
]


def single_ratios(machine):
    made = []
    for what, workload, metric, words in SINGLE:
        for point in machine.points(workload):
            ratio = point.ratio(metric)
            if ratio:
                made.append([what, words(point), ratio.text()])
    return [table(["", "", "ratio"], made)] if made else []


def behind(machine):
    """Where another lock is ahead, counted and named."""
    workloads = ("throughput", "condvar", "producer_consumer", "recovery")
    of = [(point, "throughput") for name in workloads for point in machine.points(name)]
    of += [(point, metric) for _, name, metric, _ in SINGLE for point in machine.points(name)]
    ratios = [ratio for point, metric in of if (ratio := point.ratio(metric))]
    late = [ratio for ratio in ratios if ratio.behind()]
    told = [ratio for ratio in late if ratio.told()]
    return (
        f"Of {len(ratios)} points `ondeck` is behind the best other lock at {len(late)}, at {len(told)} of them by more "
        "than the quartiles are apart."
    )


def varied_ratios(machine):
    """The same under other conditions of the machine, a row for each."""
    made = []
    for report in machine.varied():
        for workload in ("throughput", "condvar", "producer_consumer"):
            for params, points in machine.situations(workload, [report]):
                of = [point.ratio("throughput") for point in points]
                if workload == "throughput":
                    words = work_in_words(params)
                elif workload == "condvar":
                    words = "job server"
                else:
                    words = f"buffer of {params['capacity']}"
                name = report.removeprefix(VARIED).replace("-", " ")
                cells = {point.threads: shown(ratio) for point, ratio in zip(points, of)}
                made.append([name, words, cells.get(4, "-"), cells.get(16, "-"), mean_of(of)])
    if not made:
        return []
    words = (
        "The same under other conditions: every thread pinned to a CPU in turn, time slices of 0.1 and 3 "
        "ms, SCHED_BATCH, a busy thread besides, one CPU for all."
    )
    return [words, table(["condition", "", "4 threads", "16 threads", "mean"], made)]


def crowd(machine):
    """What rates do not show: which threads were served, and what that cost, with the most threads that have shares."""
    made = []
    for params, _ in machine.situations("throughput"):
        work = (int(params["section_ns"]), int(params["outside_ns"]))
        shares = machine.shares(CROWD, work)
        rate = machine.point("throughput", CROWD, **working(work))
        for what, values in (
            ("share", [three(shares.median(lock, "share")) for lock in LOCKS]),
            ("CPU time an operation", [time(rate.median(lock, "cpu_per_op")) for lock in LOCKS]),
            ("CPUs busy", [three(rate.median(lock, "running")) for lock in LOCKS]),
        ):
            if set(values) != {"-"}:
                made.append([work_in_words(params), what, *values])
    if not made:
        return []
    words = (
        f"With {CROWD} threads: the least served thread's operations divided by the most served one's, CPU time, and how many CPUs "
        "the lock's threads kept busy."
    )
    return [words, table(["", "", *LOCKS], made)]


def ratio_tables(machine):
    """All ratios of a machine."""
    return [
        behind(machine),
        *program_ratios(machine),
        *throughput_ratios(machine),
        *throughput_ratios(machine, machine.with_data()),
        *condvar_ratios(machine),
        *buffer_ratios(machine, "producer_consumer", "bounded buffer, items"),
        *buffer_ratios(machine, "recovery", "the same after a sleep"),
        *single_ratios(machine),
        *crowd(machine),
        *varied_ratios(machine),
    ]


def rates(rows, threads, columns, what):
    """Rates of every lock in every situation, a table for each."""
    made = []
    for words, points in rows:
        of = {point.threads: point for point in points}
        lines = []
        for lock in LOCKS:
            cells = [
                count in of and of[count].median(lock, "throughput") or None for count in threads
            ]
            busy = of[max(of)].median(lock, "running")
            if any(cells):
                lines.append([lock, *map(per_second, cells), three(busy)])
        heads = [f"{what}, {words}", *columns, "CPUs busy, last"]
        # Reports of earlier versions do not have it.
        if all(line[-1] == "-" for line in lines):
            heads, lines = heads[:-1], [line[:-1] for line in lines]
        made.append(table(heads, lines))
    return made


def plain_throughput(machine):
    rows = [(work_in_words(params), points) for params, points in machine.situations("throughput")]
    threads = counts(rows)
    return rates(rows, threads, [f"{count} thr." for count in threads], "pairs/s")


def plain_condvar(machine):
    rows = [
        (f"notified {notified(params)}", points) for params, points in machine.situations("condvar")
    ]
    threads = counts(rows)
    return rates(rows, threads, [f"{count - 1} w." for count in threads], "wakeups/s")


def plain_buffer(machine):
    rows = [
        (f"capacity {params['capacity']}, notified {notified(params)}", points)
        for params, points in machine.situations("producer_consumer")
    ]
    threads = counts(rows)
    return rates(
        rows, threads, [f"{count // 2} × {count - count // 2}" for count in threads], "items/s"
    )


def plain_channel(machine):
    points = machine.points("chan")
    threads = [point.threads for point in points]
    rows = [("numbers sent and received", points)] if points else []
    return rates(rows, threads, [f"{count} thr." for count in threads], "channel")


def plain_handoff(machine):
    """The time from one thread's unlock to another's acquisition."""
    points = machine.points("handoff")
    patterns = [point.params["pattern"] for point in points]
    lines = [[lock, *(time(point.median(lock, "handoff")) for point in points)] for lock in LOCKS]
    return [table(["handoff", *patterns], lines)] if points else []


def plain_pairs(machine):
    """A pair alone, and beside parked threads."""
    points = machine.points("uncontended") + machine.points("collision")
    columns = [
        (
            f"{point.params['process']} process"
            if point.workload == "uncontended"
            else f"{point.threads - 1:,} parked"
        )
        for point in points
    ]
    lines = [[lock, *(three(point.median(lock, "pair")) for point in points)] for lock in LOCKS]
    return [table(["ns a pair", *columns], lines)] if points else []


def longest(metric):
    """The longest of all runs, from milliseconds."""
    return time(max(metric["samples"]) * 1e6) if metric else "-"


def plain_runs(machine):
    """The longest wait and idle of all runs, and how long a run is."""
    lines = []
    points = [point for name in ("wait", "idle") for point in machine.points(name)]
    for lock in LOCKS:
        cells = []
        for point in points:
            run = point.metric(lock, "run")
            mean = run and sum(run["samples"]) / len(run["samples"]) * 1e6
            cells += [time(mean), longest(point.metric(lock, "longest"))]
        lines.append([lock, *cells])
    columns = [
        f"{point.workload}, {point.threads} threads: {what}"
        for point in points
        for what in ("a run", "longest of all")
    ]
    return [table(["", *columns], lines)] if points else []


# The rest: the workload, and what is shown of each lock.
OTHERS = [
    ("capture", [("streak_mean", "capture: streak, mean"), ("passed_max", "most passed over")]),
    ("starve", [("longest_gap", "starve: longest gap, ms"), ("share", "its share")]),
    ("bystander", [("slowdown", "bystander: slowdown"), ("runnable", "its runnable threads")]),
    ("mixed_priority", [("longest", "priority: longest wait, ms"), ("inverted", "inverted")]),
]


def plain_others(machine):
    columns, cells = [], {lock: [] for lock in LOCKS}
    for workload, metrics in OTHERS:
        for point in machine.points(workload):
            for name, words in metrics:
                columns.append(f"{words}, {point.threads} threads")
                for lock in LOCKS:
                    cells[lock].append(three(point.median(lock, name)))
    return [table(["", *columns], [[lock, *cells[lock]] for lock in LOCKS])] if columns else []


def plain_recovery(machine):
    columns, cells = [], {lock: [] for lock in LOCKS}
    for params, points in machine.situations("recovery"):
        for point in points:
            words = f"{point.threads // 2} × {point.threads - point.threads // 2}, notified {notified(params)}"
            columns += [f"{words}: before", "after", "ratio"]
            for lock in LOCKS:
                cells[lock] += [
                    per_second(point.median(lock, "fresh")),
                    per_second(point.median(lock, "throughput")),
                    three(point.median(lock, "recovered")),
                ]
    heads = ["items/s before and after all threads slept", *columns]
    return [table(heads, [[lock, *cells[lock]] for lock in LOCKS])] if columns else []


def plain_tables(machine):
    """All medians of a machine."""
    return [
        *plain_pairs(machine),
        *plain_programs(machine),
        *program_fairness(machine),
        *plain_throughput(machine),
        *plain_condvar(machine),
        *plain_buffer(machine),
        *plain_recovery(machine),
        *plain_channel(machine),
        *plain_handoff(machine),
        *plain_runs(machine),
        *plain_others(machine),
    ]
