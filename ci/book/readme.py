"""What README.md shows of a record: a figure of all points, and a table of some.

The text between the two marks is written by `speed.py`, the rest by hand.
"""

import textwrap

from points import PEERS, Point, three, working
from ratio_figure import in_words, rows

BEGIN, END = "<!-- mutex numbers: begin -->", "<!-- mutex numbers: end -->"
FIGURE = "docs/figures/ratios.svg"


def digits(value):
    """Two significant digits, for what differs more than that from round to round."""
    return f"{value:.0f}" if value >= 9.95 else f"{value:.2g}"


# A row: its words, the places (workload, threads, parameters), the metric, what it is divided by, how it is
# written. `{}` in the words is the spinlock's value.
ROWS = [
    ("uncontended pair, ns (spinlock {})", [("uncontended", 1, {"process": "multi-threaded"})], "pair", 1, three),
    (
        "empty section, M/s at 1 / 8 / 64 threads",
        [("throughput", threads, working((0, 0))) for threads in (1, 8, 64)],
        "throughput",
        1e6,
        three,
    ),
    (
        "share of the least served thread there, 16 threads",
        [("shares", 16, working((0, 0)))],
        "share",
        1,
        digits,
    ),
    (
        "100 ns section, 500 ns outside, M/s at 2 / 16 threads",
        [("throughput", threads, working((100, 500))) for threads in (2, 16)],
        "throughput",
        1e6,
        three,
    ),
    (
        "longest wait of 16 threads, ms",
        [("wait", 16, {"pairs_per_thread": "16384"})],
        "longest",
        1,
        digits,
    ),
    (
        "job server, M wakeups/s with 1 / 4 / 16 workers",
        [("condvar", threads, {}) for threads in (2, 5, 17)],
        "throughput",
        1e6,
        three,
    ),
    (
        "bounded buffer of 1 / 8, M items/s, 2 × 2 threads",
        [("producer_consumer", 4, {"capacity": capacity}) for capacity in ("1", "8")],
        "throughput",
        1e6,
        three,
    ),
    (
        "bystander beside 3 threads of a lock, times slower",
        [("bystander", 4, working((0, 0)))],
        "slowdown",
        1,
        three,
    ),
]


def point(machine, workload, threads, params):
    """A point of the main reports, or of the one whose rounds are as long as shares need."""
    if workload == "shares":
        return machine.shares(threads, (int(params["section_ns"]), int(params["outside_ns"])))
    return Point(machine, workload, threads, params, machine.main())


def value(place, lock, metric):
    """A lock's median; of the longest wait the longest of all runs. None if it was not measured."""
    found = place.metric(lock, metric)
    if found is None:
        return None
    return max(found["samples"]) if metric == "longest" else found["median"]


def best_other(place, metric):
    """The best other's value and name; none if there is none."""
    others = [(found, peer) for peer in PEERS if (found := value(place, peer, metric)) is not None]
    own = place.metric("ondeck", metric)
    if own is None or not others:
        return None
    better = max if own["better"] == "higher" else min
    return better(others)


def cells(points, metric, scale, written):
    """The cells of a row: ondeck's values, and the best other's with their names. Bold marks the better one."""
    own, best = [], []
    for place in points:
        other = best_other(place, metric)
        if other is None:
            own.append("-")
            best.append(("-", ""))
            continue
        both = [value(place, "ondeck", metric), other[0]]
        texts = [written(one / scale) for one in both]
        better = max if place.metric("ondeck", metric)["better"] == "higher" else min
        # What reads the same is the same.
        if texts[0] != texts[1]:
            first = both.index(better(both))
            texts[first] = f"**{texts[first]}**"
        own.append(texts[0])
        best.append((texts[1], other[1]))
    # A name stands behind the last of several values in a row that are the same lock's.
    named = [
        text if index + 1 < len(best) and best[index + 1][1] == name else f"{text} {name}".strip()
        for index, (text, name) in enumerate(best)
    ]
    return " / ".join(own), " / ".join(named)


def table(machine):
    """The table of some points."""
    lines = ["| | ondeck | best other |", "|---|---|---|"]
    for words, places, metric, scale, written in ROWS:
        points = [point(machine, *place) for place in places]
        own, best = cells(points, metric, scale, written)
        spinlock = value(points[0], "spinlock", metric)
        words = words.format("-" if spinlock is None else written(spinlock / scale))
        lines.append(f"| {words} | {own} | {best} |")
    return "\n".join(lines)


def numbers(machine, name):
    """What stands between the marks; `name` are the words for the machine."""
    found = rows(machine)
    others = f"{', '.join(PEERS[:-1])} and {PEERS[-1]}"
    alt = f"How many times as good as the best other lock ondeck is at each point, {name}"
    words = (
        f"{name}: medians of interleaved runs. The best other is the best of {others} at each point; bold marks the "
        f"better one. {in_words(found)}"
    )
    words = "\n".join(textwrap.wrap(words, 100))
    return "\n\n".join([f"![{alt}]({FIGURE})", words, table(machine)])


def with_numbers(page, text):
    """The page with another text between its marks."""
    before, rest = page.split(BEGIN + "\n")
    _, after = rest.split("\n" + END)
    return f"{before}{BEGIN}\n{text}\n{END}{after}"
