"""Tables of what operations take: a pair, a handoff, a pause, a message, a job."""

from figures import BESIDE, FIVE, table, time, two


def uncontended(_, ours):
    made = []
    for lock in ["none", *FIVE, "std", "three_state_futex", "parking_lot", "ondeck"]:
        pairs = [
            ours.median("pair", "locks", "uncontended", lock, process=process)
            for process in ("multi-threaded", "single-threaded")
        ]
        theirs = {"spinlock": "7", "glibc": "14"}.get(lock, "-")
        made.append([lock, theirs, *map(two, pairs)])
    return table(
        [
            "lock, ns a pair",
            "Skarupke, about",
            "here, threads exist",
            "here, one thread in the process",
        ],
        made,
    )


def handoff(_, ours):
    made = []
    for lock in BESIDE:
        cells = [
            time(ours.median("handoff", "locks", "handoff", lock, pattern=pattern))
            for pattern in ("solo", "fast", "slow")
        ]
        made.append(
            [
                lock,
                *cells,
                time(ours.median("cpu_per_op", "locks", "handoff", lock, pattern="slow")),
            ]
        )
    return table(["lock", "solo", "fast", "slow", "CPU of a slow one"], made)


def costs(published, ours):
    operations = [
        ("procyield_1", "PAUSE"),
        ("procyield_10", "PAUSE x10"),
        ("procyield_30", "PAUSE x30"),
        ("procyield_100", "PAUSE x100"),
        ("osyield", "sched_yield, nobody else to run"),
    ]
    machines = ["i7-13700H-p-core", "i7-13700H-e-core", "m1-macbook-air", "raspberry-pi-5"]
    made = []
    for theirs, operation in operations:
        cells = [
            time(float(published.row("go-yield-costs", machine=machine, operation=theirs)["ns"]))
            for machine in machines
        ]
        made.append([operation, *cells, time(ours.cost(operation))])
    for operation in (
        "sched_yield, a busy thread on the CPU",
        "wake to run, same CPU",
        "wake to run, other CPU",
        "line to another CPU and back",
    ):
        made.append([operation, *["-"] * 4, time(ours.cost(operation))])
    return table(
        ["operation", "i7-13700H, P core", "i7-13700H, E core", "M1", "Raspberry Pi 5", "here"],
        made,
    )


def chan(published, ours):
    names = {"three-state": "go_three_state", "spinbit": "go_spinbit"}
    made = []
    for threads in (1, 2, 3, 4, 6, 8, 12, 16, 20):
        theirs = [
            float(
                published.row("go-chancontended", machine="i7-13700H", lock=lock, threads=threads)[
                    "us_per_op"
                ]
            )
            * 5
            for lock in names
        ]
        here = [
            ours.median("op", "chan", "chan", lock, threads)
            for lock in (*names.values(), "std", "parking_lot", "ondeck")
        ]
        made.append([str(threads), *map(two, theirs), *map(two, here)])
    heads = [
        "i7-13700H: three-state",
        "spinbit",
        "here: go_three_state",
        "go_spinbit",
        "std",
        "parking_lot",
        "ondeck",
    ]
    return table(["threads; ns a send or receive", *heads], made)


def condvar(published, ours):
    theirs = {
        "glibc": "glibc-default",
        "lockless_three_state": "three-state-futex + seq condvar",
        "lockless_four_state": "four-state-byte futex + seq condvar",
    }
    made = []
    for lock in (
        "glibc",
        "lockless_three_state",
        "lockless_four_state",
        "std",
        "parking_lot",
        "usync",
        "ondeck",
    ):
        cell = "-"
        if lock in theirs:
            cell = two(
                float(published.row("lockless-tst-cond18", lock=theirs[lock])["wakeups_20s"]) / 20e3
            )
        place = "condvar", "condvar", lock
        loops, taken = ours.median("server_loops", *place), ours.median("throughput", *place)
        made.append(
            [
                lock,
                cell,
                two(loops and loops / 1e3),
                two(taken and taken / 1e3),
                time(ours.median("cpu_per_op", *place)),
            ]
        )
    return table(
        [
            "lock",
            "Lockless, k loops/s",
            "here, k loops/s of the server",
            "here, k jobs/s taken",
            "CPU a job",
        ],
        made,
    )
