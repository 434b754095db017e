"""Tables of Skarupke's runs: how long threads wait, and how long the lock is idle."""

from figures import FIVE, RUNS, table, time, two


def theirs_of(row):
    tops = ", ".join(two(float(row[f"top{place}_ms"])) for place in (1, 2, 3, 4))
    return f"{row['avg_duration_ms']} ms; {tops}"


def ours_of(ours, report, metric, lock, **params):
    mean = ours.mean("run", report, metric, lock, **params)
    if mean is None:
        return "-"
    cut = ">" if ours.series(report, metric, lock, **params)["cut_runs"] else ""
    tops = ", ".join(two(longest) for longest in ours.longest(4, report, metric, lock, **params))
    runs = len(ours.metric("run", report, metric, lock, **params)["samples"])
    return f"{cut}{two(mean)} ms; {tops}; {runs}"


def runs(metric):
    def rows(published, ours):
        cpus = ours.cpus()
        made = []
        for lock in RUNS:
            theirs = "-"
            if lock in FIVE:
                name = lock.replace("glibc", "std_mutex")
                theirs = theirs_of(
                    published.row(
                        "skarupke-ryzen7-1700", metric=metric, scheduler="linux-cfs", lock=name
                    )
                )
            made.append(
                [
                    lock,
                    theirs,
                    ours_of(ours, "runs-alone", metric, lock),
                    ours_of(ours, "runs-16", metric, lock),
                ]
            )
        return table(
            [
                "lock",
                "Skarupke, 16 threads on 16",
                f"here, {cpus} on {cpus}",
                f"here, 16 on {cpus}",
            ],
            made,
        )

    return rows


def single_waits(_, ours):
    made = []
    for lock in RUNS:
        series = ours.series("runs-16", "wait", lock)
        of = series and series["distribution"]
        parts = dict(map(tuple, of["percentiles"])) if of else {}
        cells = [
            of and of["min_ns"],
            *(parts.get(part) for part in (50, 99, 99.9, 99.99)),
            of and of["max_ns"],
        ]
        made.append([lock, *map(time, cells), f"{of['count']:,}" if of else "-"])
    return table(
        ["lock", "shortest", "median", "99 %", "99.9 %", "99.99 %", "longest", "waits"], made
    )


def schedulers(published, ours):
    kinds = ["linux-cfs", "linux-sched_rr", "linux-bmq", "muqss", "windows"]
    made = []
    for lock in FIVE:
        name = lock.replace("glibc", "std_mutex")
        cells = [
            two(
                float(
                    published.row("skarupke-ryzen7-1700", metric="idle", scheduler=kind, lock=name)[
                        "top1_ms"
                    ]
                )
            )
            for kind in kinds
        ]
        for report in ("runs-alone", "runs-16", "runs-rr"):
            cells.append(two(next(iter(ours.longest(1, report, "idle", lock)), None)))
        made.append([lock, *cells])
    cpus = ours.cpus()
    heads = [
        "CFS",
        "CFS, SCHED_RR",
        "BMQ",
        "MuQSS",
        "Windows",
        f"here EEVDF, {cpus} on {cpus}",
        f"EEVDF, 16 on {cpus}",
        f"SCHED_RR, 16 on {cpus}",
    ]
    return table(["longest idle, ms", *heads], made)


def conditions(published, ours):
    made = []
    for lock in ("glibc", "spinlock_amd", "spinlock"):
        name = lock.replace("glibc", "std_mutex")
        rows = [
            published.row("skarupke-ryzen7-1700", metric="idle", scheduler="linux-cfs", lock=name)
        ]
        rows += [
            published.row("skarupke-conditions", metric="idle", condition=condition, lock=name)
            for condition in ("pinned", "granularity_and_latency_0.1ms")
        ]
        cells = [f"{two(float(row['top1_ms']))}, {two(float(row['top2_ms']))}" for row in rows]
        for pin, slice_ in (("none", "default"), ("each", "default"), ("none", "100µs")):
            longest = ours.longest(2, "runs-conditions", "idle", lock, pin=pin, slice=slice_)
            cells.append(", ".join(map(two, longest)) or "-")
        made.append([lock, *cells])
    heads = [
        "theirs, default",
        "theirs, pinned",
        "theirs, 0.1 ms",
        "here, default",
        "here, pinned",
        "here, slice of 0.1 ms",
    ]
    return table(["two longest idles, ms", *heads], made)
