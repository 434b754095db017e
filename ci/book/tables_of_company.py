"""Tables of locks among many threads, other work and priorities."""

from figures import BESIDE, FIVE, table, time, two


def throughput(_, ours):
    counts = (1, 2, 4, 8, 16, 32)
    locks = [
        *FIVE,
        "mcs",
        "glibc_pi",
        "std",
        "three_state_futex",
        "lockless_four_state",
        "go_spinbit",
        "parking_lot",
        "usync",
        "ondeck",
    ]
    made = []
    for lock in locks:
        rates = [
            ours.median("throughput", "throughput", "throughput", lock, count) for count in counts
        ]
        last = "throughput", "throughput", lock, counts[-1]
        sleeps = ours.median("voluntary_switches", *last)
        made.append(
            [
                lock,
                *(two(rate and rate / 1e6) for rate in rates),
                time(ours.median("cpu_per_op", *last)),
                two(sleeps),
            ]
        )
    return table(
        ["lock, M pairs/s", *map(str, counts), "CPU a pair at 32", "sleeps a pair at 32"], made
    )


def fairness(_, ours):
    made = []
    for lock in BESIDE:
        gap = ours.metric("longest_gap", "fairness", "starve", lock)
        made.append(
            [
                lock,
                two(ours.median("share", "throughput", "throughput", lock, 32)),
                time(gap and gap["max"] * 1e6),
                two(ours.median("starved_windows", "fairness", "starve", lock)),
                two(ours.median("streak_mean", "fairness", "capture", lock)),
                two(ours.median("passed_max", "fairness", "capture", lock)),
            ]
        )
    heads = [
        "share, 32 threads",
        "longest without it, 8 threads",
        "windows of 50 ms without it",
        "in a row",
        "most that passed a thread over",
    ]
    return table(["lock", *heads], made)


def bystander(_, ours):
    made = []
    for lock in BESIDE:
        beside, ground = ("company", "bystander", lock), ("company", "background", lock)
        cells = [
            ours.median("slowdown", *beside),
            ours.median("runnable", *beside),
            ours.median("filled", *ground),
            ours.median("kept", *ground),
        ]
        longest = [ours.metric(name, *ground) for name in ("longest_alone", "longest")]
        made.append(
            [lock, *map(two, cells), *(time(metric and metric["max"] * 1e6) for metric in longest)]
        )
    heads = [
        "bystander's slowdown",
        "lock's threads that want a CPU",
        "gaps filled",
        "throughput kept",
        "longest wait without",
        "longest wait with",
    ]
    return table(["lock", *heads], made)


def inversion(_, ours):
    made = []
    for lock in BESIDE:
        place = "priority", "mixed_priority", lock
        longest = ours.metric("longest", *place)
        cells = [two(ours.median(name, *place)) for name in ("inverted", "bursts", "rescued")]
        made.append([lock, *cells, time(longest and longest["median"] * 1e6)])
    return table(
        [
            "lock",
            "trials in which the hog ran between",
            "its pieces, of 10",
            "trials ended from outside",
            "the waiter's longest wait",
        ],
        made,
    )
