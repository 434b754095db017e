"""The goals of the mutex, and whether it reached them on a machine."""

from figures import table, time
from points import PEERS, geometric_mean, three, working
from tables_of_speed import longest, notified, work_in_words

EMPTY = (0, 0)
REACHED = {True: "reached", False: "**not reached**"}


def quotient(one, other):
    """The quotient of two medians, as a number and as text; none if one was not measured."""
    if one is None or not other:
        return None
    return one / other, f"{three(one)} / {three(other)} = {one / other:.2f}"


def at_most(words, measured, bound):
    """A row of the table: a quotient with an upper bound."""
    return measured and [words, measured[1], REACHED[measured[0] <= bound]]


def each(words, points, metric, bound):
    """A row of the table: the ratio to the best other at every point."""
    ratios = [(point, ratio) for point in points if (ratio := point.ratio(metric))]
    if not ratios:
        return None
    lacking = [point.threads for point, ratio in ratios if ratio.value < bound]
    text = ", ".join(f"{point.threads}: {ratio.value:.2f}" for point, ratio in ratios)
    if not lacking:
        return [words, text, REACHED[True]]
    if len(lacking) == len(ratios):
        return [words, text, REACHED[False]]
    return [words, text, f"{REACHED[False]} at {', '.join(map(str, lacking))}"]


def uncontended(machine):
    several = machine.point("uncontended", 1, process="multi-threaded")
    alone = machine.point("uncontended", 1, process="single-threaded")
    own, best = several.median("ondeck", "pair"), several.best("pair", min)
    yield at_most(
        "uncontended ≤ 1.10 × the spinlock", quotient(own, several.median("spinlock", "pair")), 1.1
    )
    yield at_most("uncontended ≤ 0.60 × the best other", quotient(own, best and best[0]), 0.6)
    yield at_most(
        "in a process of one thread ≤ glibc",
        quotient(alone.median("ondeck", "pair"), alone.median("glibc", "pair")),
        1,
    )
    points = machine.points("collision")
    if points:
        words = f"beside {points[-1].threads - 1:,} parked threads ≤ 1.25 × beside none"
        pairs = [points[place].median("ondeck", "pair") for place in (-1, 0)]
        yield at_most(words, quotient(*pairs), 1.25)


def programs(machine):
    for params, points in machine.situations("real", ["real"]):
        name = params["app"]
        yield each(f"program `{name}` ≥ the best other, by threads", points, "throughput", 1)
        yield each("its CPU time ≤ 1 / 1.67 of the best other's", points, "cpu_per_op", 1.67)
    for point in machine.points("long_hold"):
        own, glibc = (point.median(lock, "wait_mean") for lock in ("ondeck", "glibc"))
        words = f"mean wait behind holds of 300 µs, {point.threads} threads ≤ 1.1 × glibc's"
        yield at_most(words, quotient(own, glibc), 1.1)


def throughput(machine):
    empty = machine.points("throughput", **working(EMPTY))
    yield each("empty section ≥ 0.95 × the best other, by threads", empty, "throughput", 0.95)
    several = [point for point in empty if point.threads > 1]
    ratios = [ratio for point in several if (ratio := point.ratio("throughput", ["abseil"]))]
    mean = geometric_mean(ratio.value for ratio in ratios)
    if mean:
        words = "the same from 2 threads on, geometric mean ≥ 1.3 × abseil"
        yield [words, f"{mean:.2f}", REACHED[mean >= 1.3]]
    rates = {point.threads: point.median("ondeck", "throughput") for point in empty}
    kept = rates.get(64) and rates.get(4) and rates[64] / rates[4]
    if kept:
        words = "the same with 64 threads ≥ 0.9 × its own with 4"
        yield [words, f"{kept:.2f}", REACHED[kept >= 0.9]]
    for params, points in machine.situations("throughput"):
        if params != working(EMPTY):
            words = f"{work_in_words(params)} ≥ 0.97 × the best other, by threads"
            yield each(words, points, "throughput", 0.97)


def crowd(machine):
    for params, points in machine.situations("throughput"):
        costs = points[-1].ratio("cpu_per_op")
        if costs:
            words = f"{work_in_words(params)}, {points[-1].threads} threads: CPU time within 5 % of the least"
            yield [words, costs.text(), REACHED[costs.value >= 0.95]]
    for threads in (8, 16):
        point = machine.shares(threads, EMPTY)
        share, ratio = point.median("ondeck", "share"), point.ratio("throughput", ["abseil"])
        if share is not None and ratio:
            words = f"empty section, {threads} threads ≥ 0.95 × abseil at a share ≥ 0.5"
            good = share >= 0.5 and ratio.value >= 0.95
            yield [words, f"{ratio.value:.2f} at a share of {share:.2f}", REACHED[good]]
    for point in machine.points("starve"):
        share, gap = point.median("ondeck", "share"), point.median("ondeck", "longest_gap")
        if share is not None and gap is not None:
            words = f"starve, {point.threads} threads: share ≥ 0.5, no gap over 50 ms"
            yield [words, f"{share:.2f}; {time(gap * 1e6)}", REACHED[share >= 0.5 and gap <= 50]]


def runs(machine):
    for point in machine.points("wait"):
        yield at_most(
            f"wait, {point.threads} threads: a run ≤ abseil's, ms",
            quotient(point.median("ondeck", "run"), point.median("abseil", "run")),
            1,
        )
        yield longest_of_all("wait: longest of all runs ≤ parking_lot's", point, ["parking_lot"])
    for point in machine.points("idle"):
        words = f"idle, {point.threads} threads: longest of all runs ≤ the best other's"
        yield longest_of_all(words, point, PEERS)


def longest_of_all(words, point, others):
    """A row of the longest time of all runs."""
    own = point.metric("ondeck", "longest")
    theirs = [metric for other in others if (metric := point.metric(other, "longest"))]
    if not own or not theirs:
        return None
    best = min(theirs, key=lambda metric: max(metric["samples"]))
    good = max(own["samples"]) <= max(best["samples"])
    return [words, f"{longest(own)} / {longest(best)}", REACHED[good]]


def waiting(machine):
    for params, points in machine.situations("condvar"):
        words = f"job server, notified {notified(params)} ≥ 1.1 × the best other, by threads"
        yield each(words, points, "throughput", 1.1)
    for params, points in machine.situations("producer_consumer"):
        words = f"buffer of {params['capacity']}, notified {notified(params)} ≥ the best other, by threads"
        yield each(words, points, "throughput", 1)
        point = points[-1]
        sleeps = [point.median(lock, "voluntary_switches") for lock in ("ondeck", "parking_lot")]
        if None not in sleeps:
            words = f"... sleeps an item, {point.threads} threads, no more than parking_lot's"
            good = sleeps[0] <= sleeps[1]
            yield [words, f"{three(sleeps[0])} / {three(sleeps[1])}", REACHED[good]]
    for _, points in machine.situations("recovery"):
        for point in points:
            part = point.median("ondeck", "recovered")
            if part is not None:
                words = (
                    f"buffer of 8, notified {notified(point.params)}, after a sleep ≥ 0.9 × before"
                )
                yield [words, f"{part:.2f}", REACHED[part >= 0.9]]


def beside(machine):
    for point in machine.points("bystander"):
        ratio = point.ratio("slowdown")
        if ratio:
            words = "slowdown of a bystander within 10 % of the least"
            yield [words, ratio.text(), REACHED[ratio.value >= 0.9]]


def wanted(machine):
    """The table of one machine; a row is left out where it was not measured."""
    parts = (uncontended, programs, throughput, crowd, runs, waiting, beside)
    rows = [row for part in parts for row in part(machine) if row]
    reached = sum(row[2] == REACHED[True] for row in rows)
    words = f"Reached: {reached} of {len(rows)}. In this table a ratio is what its row says; thread counts are of all roles together."
    return f"{words}\n\n{table(['goal', 'measured', ''], rows)}"
