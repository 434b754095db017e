"""The sources' claims as ratios, theirs and ours, and whether ours says the same.

A claim holds where the ratio is at least `CLEAR`; two runs of one binary differ by less. It is of another size
where ours and theirs differ by more than `SIZE`.
"""

from dataclasses import dataclass, field

from figures import table, two

CLEAR = 1.25
SIZE = 3.0


@dataclass
class Claim:
    """That the first figure is greater than the second, or `even`: not greater."""

    what: str
    unit: str
    theirs: tuple
    # Both figures with a CPU for each thread, and with more threads; none where that makes no sense.
    alone: tuple = None
    crowd: tuple = None
    even: bool = False

    def row(self):
        cells = [
            f"{written(pair, self.unit)}<br>{self.verdict(pair)}" if pair else ""
            for pair in (self.alone, self.crowd)
        ]
        return [self.what, written(self.theirs, self.unit), *cells]

    def verdict(self, pair):
        """What ours says of the claim."""
        first, second = pair
        theirs = self.theirs[0] / self.theirs[1]
        if first is None or not second:
            return "not recorded"
        if (first / second < CLEAR) != self.even:
            return "**does not come out**"
        if self.even or theirs / SIZE <= first / second <= theirs * SIZE:
            return "comes out"
        return "comes out, larger" if first / second > theirs else "comes out, smaller"


def written(pair, unit):
    first, second = pair
    if second == 1:
        return f"{two(first)} {unit}"
    ratio = first / second if first is not None and second else None
    return f"{two(first)} / {two(second)} {unit} = {two(ratio)}"


@dataclass
class Sources:
    """Both sides, and the claims that are made of them."""

    published: object
    recorded: object
    claims: list = field(default_factory=list)

    def runs(self, what, metric, over, under, longest=True):
        """A claim about two locks in Skarupke's runs; `longest`, else the length of runs."""
        column = "top1_ms" if longest else "avg_duration_ms"

        def theirs(lock):
            row = self.published.row(
                "skarupke-ryzen7-1700",
                metric=metric,
                scheduler="linux-cfs",
                lock=lock.replace("glibc", "std_mutex"),
            )
            return float(row[column])

        def ours(report, lock):
            if longest:
                return next(iter(self.recorded.longest(1, report, metric, lock)), None)
            return self.recorded.mean("run", report, metric, lock)

        alone, crowd = (
            (ours(report, over), ours(report, under)) for report in ("runs-alone", "runs-16")
        )
        self.claims.append(Claim(what, "ms", (theirs(over), theirs(under)), alone, crowd))

    def idle(self, what, lock, scheduler, condition, before, after):
        """A claim that a condition shortens the longest idle of a lock; both are reports' places."""

        def longest(place):
            report, params = place
            return next(iter(self.recorded.longest(1, report, "idle", lock, **params)), None)

        name = lock.replace("glibc", "std_mutex")
        default = self.published.row(
            "skarupke-ryzen7-1700", metric="idle", scheduler="linux-cfs", lock=name
        )
        if scheduler:
            other = self.published.row(
                "skarupke-ryzen7-1700", metric="idle", scheduler=scheduler, lock=name
            )
        else:
            other = self.published.row(
                "skarupke-conditions", metric="idle", condition=condition, lock=name
            )
        theirs = (float(default["top1_ms"]), float(other["top1_ms"]))
        self.claims.append(Claim(what, "ms", theirs, crowd=(longest(before), longest(after))))


def skarupke(published, recorded):
    """Malte Skarupke's claims."""
    both = Sources(published, recorded)
    pair = [
        recorded.median("pair", "locks", "uncontended", lock, process="multi-threaded")
        for lock in ("glibc", "spinlock")
    ]
    both.claims.append(
        Claim(
            "a pair of the mutex takes longer than one of the spinlock, uncontended",
            "ns",
            (14, 7),
            alone=tuple(pair),
        )
    )
    both.runs(
        "runs take longer with terrible_spinlock than with the mutex",
        "wait",
        "terrible_spinlock",
        "glibc",
        longest=False,
    )
    both.runs(
        "runs take longer with ticket_spinlock than with the mutex",
        "wait",
        "ticket_spinlock",
        "glibc",
        longest=False,
    )
    both.runs("the longest wait: spinlock_amd, and the mutex", "wait", "spinlock_amd", "glibc")
    both.runs(
        "the longest wait: spinlock_amd, and the spinlock that yields",
        "wait",
        "spinlock_amd",
        "spinlock",
    )
    both.runs(
        "the longest wait: the mutex, and ticket_spinlock, which has an order",
        "wait",
        "glibc",
        "ticket_spinlock",
    )
    both.runs(
        "the longest idle: terrible_spinlock, and the mutex", "idle", "terrible_spinlock", "glibc"
    )
    both.runs("the longest idle: spinlock_amd, and the mutex", "idle", "spinlock_amd", "glibc")
    both.runs(
        "the longest idle: the spinlock that yields, and the mutex", "idle", "spinlock", "glibc"
    )
    yields = [
        next(iter(recorded.longest(1, report, "idle", "spinlock")), None)
        for report in ("runs-alone", "runs-16")
    ]
    both.claims.append(
        Claim(
            "the longest idle of the spinlock that yields is more than 1 ms",
            "ms",
            (1.4, 1),
            (yields[0], 1),
            (yields[1], 1),
        )
    )
    both.runs(
        "the longest idle: ticket_spinlock, and the mutex", "idle", "ticket_spinlock", "glibc"
    )
    default, realtime = ("runs-16", {}), ("runs-rr", {})
    both.idle(
        "the longest idle of spinlock_amd: by default, and under SCHED_RR",
        "spinlock_amd",
        "linux-sched_rr",
        None,
        default,
        realtime,
    )
    both.idle(
        "the longest idle of the mutex: by default, and under SCHED_RR",
        "glibc",
        "linux-sched_rr",
        None,
        default,
        realtime,
    )
    free, pinned, short = (
        ("runs-conditions", {"pin": pin, "slice": slice_})
        for pin, slice_ in (("none", "default"), ("each", "default"), ("none", "100µs"))
    )
    both.idle(
        "the longest idle of spinlock_amd: by default, and pinned",
        "spinlock_amd",
        None,
        "pinned",
        free,
        pinned,
    )
    both.idle(
        "the longest idle of the mutex: by default, and with slices of 0.1 ms",
        "glibc",
        None,
        "granularity_and_latency_0.1ms",
        free,
        short,
    )
    harm = recorded.median("slowdown", "company", "bystander", "terrible_spinlock")
    both.claims.append(
        Claim(
            "a thread that multiplies matrices is slower beside terrible_spinlock (AMD, cited by Skarupke)",
            "times",
            (10, 1),
            crowd=(harm, 1),
        )
    )
    return both.claims


def others(published, recorded):
    """The claims of Hiltner and of Lockless."""

    def chan(lock, threads):
        row = published.row("go-chancontended", machine="i7-13700H", lock=lock, threads=threads)
        # 100 sends and 100 receives are one of Go's operations.
        return float(row["us_per_op"]) * 1000 / 200

    def ours(lock, threads):
        return recorded.median("op", "chan", "chan", lock, threads)

    def channel(what, over, under, even=False):
        names = {"three-state": "go_three_state", "spinbit": "go_spinbit"}
        here = ours(names[over[0]], over[1]), ours(names[under[0]], under[1])
        return Claim(what, "ns", (chan(*over), chan(*under)), crowd=here, even=even)

    def cost(operation):
        return float(
            published.row("go-yield-costs", machine="i7-13700H-p-core", operation=operation)["ns"]
        )

    def loops(lock):
        return float(published.row("lockless-tst-cond18", lock=lock)["wakeups_20s"]) / 20e3

    def served(lock, figure="server_loops"):
        rate = recorded.median(figure, "condvar", "condvar", lock)
        return rate and rate / 1e3

    glibc, three, four = (
        "glibc-default",
        "three-state-futex + seq condvar",
        "four-state-byte futex + seq condvar",
    )
    return [
        channel(
            "a channel operation of the three-state lock: with 20 threads, and with 1 (Hiltner)",
            ("three-state", 20),
            ("three-state", 1),
        ),
        channel(
            "of spinbit, it levels off: with 20 threads, no more than with 3 (Hiltner)",
            ("spinbit", 20),
            ("spinbit", 3),
            even=True,
        ),
        channel(
            "with 20 threads: three-state, and spinbit (Hiltner)",
            ("three-state", 20),
            ("spinbit", 20),
        ),
        Claim(
            "30 PAUSE, and one sched_yield (Hiltner)",
            "ns",
            (cost("procyield_30"), cost("osyield")),
            alone=(recorded.cost("PAUSE x30"), recorded.cost("sched_yield, nobody else to run")),
        ),
        Claim(
            "thousand loops a second of tst-cond18: three states, and glibc (Lockless)",
            "k/s",
            (loops(three), loops(glibc)),
            crowd=(served("lockless_three_state"), served("glibc")),
        ),
        Claim(
            "the same: four states, and glibc (Lockless)",
            "k/s",
            (loops(four), loops(glibc)),
            crowd=(served("lockless_four_state"), served("glibc")),
        ),
        Claim(
            "the same: four states, and three (Lockless)",
            "k/s",
            (loops(four), loops(three)),
            crowd=(served("lockless_four_state"), served("lockless_three_state")),
        ),
        Claim(
            "four states, and glibc, by jobs taken instead of loops",
            "k/s",
            (loops(four), loops(glibc)),
            crowd=(served("lockless_four_state", "throughput"), served("glibc", "throughput")),
        ),
    ]


def verdicts(published, recorded):
    """The table of all claims."""
    claims = skarupke(published, recorded) + others(published, recorded)
    heads = [
        "claim: the first is greater",
        "theirs",
        "here, a CPU for each thread",
        "here, more threads than CPUs",
    ]
    return table(heads, [claim.row() for claim in claims])
