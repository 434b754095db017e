"""Writes the tables of docs/findings.md from docs/published/ and docs/results/findings/.

A table stands between `<!-- figures: NAME -->` and `<!-- end of figures -->`; prose around it is left alone.
`--check` writes nothing, and ends with 1 if the page and the data differ. `--data FOLDER` takes the reports
from there and prints the page instead.
"""

import argparse
import pathlib
import re
import sys

from figures import Published, Recorded, root, table, time, two
from verdicts import verdicts

PAGE = root() / "docs/findings.md"
MARK = re.compile(r"(<!-- figures: ([a-z_]+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)

# What C++ calls std::mutex is glibc's on Linux.
FIVE = ["glibc", "terrible_spinlock", "spinlock_amd", "spinlock", "ticket_spinlock"]
RUNS = [*FIVE, "std", "three_state_futex", "parking_lot", "ondeck"]
BESIDE = [*FIVE, "glibc_pi", "std", "three_state_futex", "go_spinbit", "parking_lot", "ondeck"]


def recorded(_, ours):
    reports = sorted(ours.reports.items(), key=lambda item: item[1]["started"])
    first = reports[0][1]
    machine, build = first["machine"], first["build"]
    facts = [machine["cpu"], f"{machine['cpus']} CPUs", machine["kernel"], machine["libc"], f"rustc {build['rustc']}"]
    if machine.get("slice_milliseconds"):
        facts.append(f"time slice {two(machine['slice_milliseconds'])} ms")
    seconds = sum(report["seconds"] for _, report in reports)
    text = f"Recorded on {first['started'][:10]} in {seconds:.0f} s: {', '.join(facts)}; load average before it {machine['load_average']:.1f}."
    if any(warning["code"] == "busy" for warning in first["warnings"]):
        text += " **Other programs ran: these are not the figures of a quiet machine.**"
    if any(report["settings"]["extent"] == "quick" for _, report in reports):
        text += " **With `--quick`: one round or run of each, to see that all of it works.**"
    links = ", ".join(f"[{name}](results/findings/{name}.json)" for name, _ in reports)
    return f"{text}\n\nThe reports: {links}."


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
                theirs = theirs_of(published.row("skarupke-ryzen7-1700", metric=metric, scheduler="linux-cfs", lock=name))
            made.append([lock, theirs, ours_of(ours, "runs-alone", metric, lock), ours_of(ours, "runs-16", metric, lock)])
        return table(["lock", "Skarupke, 16 threads on 16", f"here, {cpus} on {cpus}", f"here, 16 on {cpus}"], made)

    return rows


def single_waits(_, ours):
    made = []
    for lock in RUNS:
        series = ours.series("runs-16", "wait", lock)
        of = series and series["distribution"]
        parts = dict(map(tuple, of["percentiles"])) if of else {}
        cells = [of and of["min_ns"], *(parts.get(part) for part in (50, 99, 99.9, 99.99)), of and of["max_ns"]]
        made.append([lock, *map(time, cells), f"{of['count']:,}" if of else "-"])
    return table(["lock", "shortest", "median", "99 %", "99.9 %", "99.99 %", "longest", "waits"], made)


def schedulers(published, ours):
    kinds = ["linux-cfs", "linux-sched_rr", "linux-bmq", "muqss", "windows"]
    made = []
    for lock in FIVE:
        name = lock.replace("glibc", "std_mutex")
        cells = [two(float(published.row("skarupke-ryzen7-1700", metric="idle", scheduler=kind, lock=name)["top1_ms"])) for kind in kinds]
        for report in ("runs-alone", "runs-16", "runs-rr"):
            cells.append(two(next(iter(ours.longest(1, report, "idle", lock)), None)))
        made.append([lock, *cells])
    cpus = ours.cpus()
    heads = ["CFS", "CFS, SCHED_RR", "BMQ", "MuQSS", "Windows", f"here EEVDF, {cpus} on {cpus}", f"EEVDF, 16 on {cpus}", f"SCHED_RR, 16 on {cpus}"]
    return table(["longest idle, ms", *heads], made)


def conditions(published, ours):
    made = []
    for lock in ("glibc", "spinlock_amd", "spinlock"):
        name = lock.replace("glibc", "std_mutex")
        rows = [published.row("skarupke-ryzen7-1700", metric="idle", scheduler="linux-cfs", lock=name)]
        rows += [published.row("skarupke-conditions", metric="idle", condition=condition, lock=name) for condition in ("pinned", "granularity_and_latency_0.1ms")]
        cells = [f"{two(float(row['top1_ms']))}, {two(float(row['top2_ms']))}" for row in rows]
        for pin, slice_ in (("none", "default"), ("each", "default"), ("none", "100µs")):
            longest = ours.longest(2, "runs-conditions", "idle", lock, pin=pin, slice=slice_)
            cells.append(", ".join(map(two, longest)) or "-")
        made.append([lock, *cells])
    heads = ["theirs, default", "theirs, pinned", "theirs, 0.1 ms", "here, default", "here, pinned", "here, slice of 0.1 ms"]
    return table(["two longest idles, ms", *heads], made)


def throughput(_, ours):
    counts = (1, 2, 4, 8, 16, 32)
    locks = [*FIVE, "mcs", "glibc_pi", "std", "three_state_futex", "lockless_four_state", "go_spinbit", "parking_lot", "usync", "ondeck"]
    made = []
    for lock in locks:
        rates = [ours.median("throughput", "throughput", "throughput", lock, count) for count in counts]
        last = "throughput", "throughput", lock, counts[-1]
        sleeps = ours.median("voluntary_switches", *last)
        made.append([lock, *(two(rate and rate / 1e6) for rate in rates), time(ours.median("cpu_per_op", *last)), two(sleeps)])
    return table(["lock, M pairs/s", *map(str, counts), "CPU a pair at 32", "sleeps a pair at 32"], made)


def uncontended(_, ours):
    made = []
    for lock in ["none", *FIVE, "std", "three_state_futex", "parking_lot", "ondeck"]:
        pairs = [ours.median("pair", "locks", "uncontended", lock, process=process) for process in ("multi-threaded", "single-threaded")]
        theirs = {"spinlock": "7", "glibc": "14"}.get(lock, "-")
        made.append([lock, theirs, *map(two, pairs)])
    return table(["lock, ns a pair", "Skarupke, about", "here, threads exist", "here, one thread in the process"], made)


def handoff(_, ours):
    made = []
    for lock in BESIDE:
        cells = [time(ours.median("handoff", "locks", "handoff", lock, pattern=pattern)) for pattern in ("solo", "fast", "slow")]
        made.append([lock, *cells, time(ours.median("cpu_per_op", "locks", "handoff", lock, pattern="slow"))])
    return table(["lock", "solo", "fast", "slow", "CPU of a slow one"], made)


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
    heads = ["share, 32 threads", "longest without it, 8 threads", "windows of 50 ms without it", "in a row", "most that passed one by"]
    return table(["lock", *heads], made)


def bystander(_, ours):
    made = []
    for lock in BESIDE:
        beside, ground = ("company", "bystander", lock), ("company", "background", lock)
        cells = [ours.median("slowdown", *beside), ours.median("runnable", *beside), ours.median("filled", *ground), ours.median("kept", *ground)]
        longest = [ours.metric(name, *ground) for name in ("longest_alone", "longest")]
        made.append([lock, *map(two, cells), *(time(metric and metric["max"] * 1e6) for metric in longest)])
    heads = ["bystander's slowdown", "lock's threads that want a CPU", "gaps filled", "throughput kept", "longest wait without", "longest wait with"]
    return table(["lock", *heads], made)


def inversion(_, ours):
    made = []
    for lock in BESIDE:
        place = "priority", "mixed_priority", lock
        longest = ours.metric("longest", *place)
        cells = [two(ours.median(name, *place)) for name in ("inverted", "bursts", "rescued")]
        made.append([lock, *cells, time(longest and longest["median"] * 1e6)])
    return table(["lock", "trials in which the hog ran between", "its pieces, of 10", "trials ended from outside", "the waiter's longest wait"], made)


def costs(published, ours):
    operations = [("procyield_1", "PAUSE"), ("procyield_10", "PAUSE x10"), ("procyield_30", "PAUSE x30"), ("procyield_100", "PAUSE x100"), ("osyield", "sched_yield, nobody else to run")]
    machines = ["i7-13700H-p-core", "i7-13700H-e-core", "m1-macbook-air", "raspberry-pi-5"]
    made = []
    for theirs, operation in operations:
        cells = [time(float(published.row("go-yield-costs", machine=machine, operation=theirs)["ns"])) for machine in machines]
        made.append([operation, *cells, time(ours.cost(operation))])
    for operation in ("sched_yield, a busy thread on the CPU", "wake to run, same CPU", "wake to run, other CPU", "line to another CPU and back"):
        made.append([operation, *["-"] * 4, time(ours.cost(operation))])
    return table(["operation", "i7-13700H, P core", "i7-13700H, E core", "M1", "Raspberry Pi 5", "here"], made)


def chan(published, ours):
    names = {"three-state": "go_three_state", "spinbit": "go_spinbit"}
    made = []
    for threads in (1, 2, 3, 4, 6, 8, 12, 16, 20):
        theirs = [float(published.row("go-chancontended", machine="i7-13700H", lock=lock, threads=threads)["us_per_op"]) * 5 for lock in names]
        here = [ours.median("op", "chan", "chan", lock, threads) for lock in (*names.values(), "std", "parking_lot", "ondeck")]
        made.append([str(threads), *map(two, theirs), *map(two, here)])
    heads = ["i7-13700H: three-state", "spinbit", "here: go_three_state", "go_spinbit", "std", "parking_lot", "ondeck"]
    return table(["threads; ns a send or receive", *heads], made)


def condvar(published, ours):
    theirs = {"glibc": "glibc-default", "lockless_three_state": "three-state-futex + seq condvar", "lockless_four_state": "four-state-byte futex + seq condvar"}
    made = []
    for lock in ("glibc", "lockless_three_state", "lockless_four_state", "std", "parking_lot", "usync", "ondeck"):
        cell = "-"
        if lock in theirs:
            cell = two(float(published.row("lockless-tst-cond18", lock=theirs[lock])["wakeups_20s"]) / 20e3)
        place = "condvar", "condvar", lock
        loops, taken = ours.median("server_loops", *place), ours.median("throughput", *place)
        made.append([lock, cell, two(loops and loops / 1e3), two(taken and taken / 1e3), time(ours.median("cpu_per_op", *place))])
    return table(["lock", "Lockless, k loops/s", "here, k loops/s of the server", "here, k jobs/s taken", "CPU a job"], made)


TABLES = {
    "recorded": recorded,
    "verdicts": verdicts,
    "uncontended": uncontended,
    "throughput": throughput,
    "wait": runs("wait"),
    "single_waits": single_waits,
    "idle": runs("idle"),
    "schedulers": schedulers,
    "conditions": conditions,
    "handoff": handoff,
    "fairness": fairness,
    "bystander": bystander,
    "inversion": inversion,
    "costs": costs,
    "chan": chan,
    "condvar": condvar,
}


def written(page, published, ours):
    """The page with its tables as the data has them; names of tables that it lacks are an error."""
    missing = set(TABLES) - {match[2] for match in MARK.finditer(page)}
    if missing:
        raise SystemExit(f"{PAGE.name} has no place for {', '.join(sorted(missing))}")
    return MARK.sub(lambda match: f"{match[1]}{TABLES[match[2]](published, ours)}\n{match[3]}", page)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--check", action="store_true")
    options.add_argument("--data", type=pathlib.Path)
    chosen = options.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    own = root() / "docs/results/findings"
    fresh = written(page, Published(root() / "docs/published"), Recorded(chosen.data or own))
    if chosen.data and chosen.data.resolve() != own:
        print(fresh)
    elif chosen.check and fresh != page:
        print("docs/findings.md is not what its data says: run python3 ci/book/findings.py")
        return 1
    elif not chosen.check:
        PAGE.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
