#!/usr/bin/env python3
"""Writes sample-report.json: invented numbers in the shape of real ones, for the tests of reports.

Medians are those that peers gave on a virtual machine with two CPUs; spread and histograms are
drawn at random with a fixed seed. Nothing here was measured by ondeck.
"""
import json
import math
import pathlib
import random

random.seed(18)
THREADS = [1, 2, 4, 8, 16, 32]
# name: origin, pair ns (second thread alive), M/s at 1..32 threads with an empty section, the same
# with 100 ns inside and 500 ns outside, share at 16, CPU ns per operation at 16, average run ms and
# longest ms of wait, of idle.
LOCKS = {
    "ondeck": ("sources", 6.3, [140, 36, 60, 66, 64, 62], [1.6, 3.6, 3.8, 3.9, 3.9, 3.9], .55, 31, 10, 3.1, 9.6, .12),
    "abseil": ("peer", 19.2, [52, 34, 53, 53, 53, 53], [1.6, 3.4, 3.5, 3.6, 3.9, 4.0], .004, 37, 11, 17, 10, .13),
    "parking_lot": ("peer", 13.7, [73, 18, 23, 22, 22, 22], [1.6, 3.6, 3.6, 3.6, 3.6, 3.7], .52, 88, 22, 6.1, 13, .56),
    "nsync": ("peer", 18.4, [54, 19, 28, 28, 28, 27], [1.5, 2.8, 2.3, 2.0, 2.0, 2.1], .01, 40, 14, 8.1, 14, .22),
    "usync": ("peer", 12.8, [78, 15, 16, 16, 16, 14], [1.6, 3.7, 3.8, 3.8, 4.0, 3.7], .34, 120, 48, 63, 32, .75),
    "glibc": ("peer", 15.8, [63, 13, 13, 13, 13, 14], [1.6, 3.6, 3.6, 3.6, 3.4, 3.6], .22, 150, 41, 43, 61, 1.7),
    "std": ("peer", 13.5, [74, 8, 8, 9, 9, 11], [1.6, 3.4, 3.6, 3.7, 3.8, 3.7], .08, 220, 47, 42, 42, 1.8),
    "glibc_pi": ("peer", 19.5, [51, .24, .09, .07, .08, .08], [1.5, .3, .1, .08, .08, .08], .9, 11000, 3100, 9.5, 3000, 4.1),
    "three_state_futex": ("sources", 10.8, [92, 18, 18, 20, 20, 19], [1.6, 3.5, 3.6, 3.6, 3.6, 3.5], .21, 97, 30, 38, 33, 1.2),
    "spinlock_yield": ("sources", 7.4, [135, 19, 19, 17, 18, 17], [1.6, 3.5, 3.4, 3.3, 3.3, 3.2], .05, 109, 12, 3.8, 12, .4),
    "spinlock_amd": ("sources", 7.2, [139, 18, 14, 9, 4, 2.2], [1.6, 3.5, 2.8, 2.0, 1.3, .8], .02, 480, 71, 152, 161, 62),
    "terrible_spinlock": ("sources", 7.7, [130, 18, 11, 5, 2, 1], [1.6, 3.5, 2.6, 1.8, 1.2, .7], .03, 990, 88, 240, 121, 60),
    "ticket_spinlock": ("sources", 8.4, [119, 17, 1.9, .8, .8, .9], [1.6, 2.9, .6, .4, .3, .1], .98, 2400, 449, 4.2, 440, 8.0),
}


def r(value):
    return float(f"{value:.5g}")


def metric(name, unit, better, centre, spread, n):
    samples = [r(centre * math.exp(random.gauss(0, spread))) for _ in range(n)]
    if unit == "ratio":
        samples = [min(1.0, s) for s in samples]
    return of_samples(name, unit, better, samples)


def of_samples(name, unit, better, samples):
    ordered = sorted(samples)
    at = lambda q: r(ordered[min(len(ordered) - 1, int(q * len(ordered)))])
    return dict(name=name, unit=unit, better=better, median=at(.5), p25=at(.25), p75=at(.75),
                min=ordered[0], max=ordered[-1], n=len(samples), samples=samples)


def usual(throughput, cpu, share, threads, n):
    contended = min(1.0, (threads - 1) / 3)
    return [
        metric("throughput", "ops/s", "higher", throughput, .03, n),
        metric("cpu_per_op", "ns", "lower", cpu, .03, n),
        metric("voluntary_switches", "1/op", "lower", .002 * contended + 1e-6, .2, n),
        metric("involuntary_switches", "1/op", "lower", 1e-5, .3, n),
        metric("share", "ratio", "higher", share if threads > 1 else 1.0, .08 if threads > 1 else 0, n),
    ]


def series(workload, lock, threads, params, metrics, distribution=None):
    return dict(workload=workload, lock=lock, threads=threads, params=params, partial=False,
                metrics=metrics, distribution=distribution)


def bucket(ns):
    """Upper bound of the bucket with eight steps between powers of two."""
    power = 2 ** math.floor(math.log2(max(ns, 1)))
    step = max(1, power // 8)
    return int((ns // step) * step + step)


def distribution(what, longest_ns, typical_ns, tail):
    """Most times short, a tail up to the longest."""
    count = 16 * 16384 * 100
    drawn = []
    n = 6000
    for _ in range(n):
        drawn.append((25 * math.exp(abs(random.gauss(0, .5))), .86))
    for _ in range(n // 2):
        drawn.append((typical_ns * math.exp(random.gauss(0, .6)), .14 * 2))
    weight_all = sum(w for _, w in drawn)
    counts = {}
    for ns, w in drawn:
        ns = min(ns, longest_ns)
        counts[bucket(ns)] = counts.get(bucket(ns), 0) + w / weight_all * count
    for _ in range(300):
        ns = longest_ns * math.exp(-abs(random.expovariate(1 / tail)))
        counts[bucket(ns)] = counts.get(bucket(ns), 0) + random.choice([1, 1, 2, 5, 30])
    counts[bucket(longest_ns)] = max(1, counts.get(bucket(longest_ns), 1))
    buckets = [[b, max(1, round(c))] for b, c in sorted(counts.items())]
    total = sum(c for _, c in buckets)
    percentiles = []
    for p in [50.0, 90.0, 99.0, 99.9, 99.99]:
        run = 0
        for b, c in buckets:
            run += c
            if run >= p / 100 * total:
                percentiles.append([p, b])
                break
    return dict(what=what, count=total, min_ns=21, max_ns=int(longest_ns), percentiles=percentiles,
                buckets=buckets)


all_series = []
for lock, (_, pair, empty, busy, share, cpu, wait_run, wait_max, idle_run, idle_max) in LOCKS.items():
    for process in ["single-threaded", "multi-threaded"]:
        ns = pair
        if process == "single-threaded":
            ns = {"glibc": 3.1, "glibc_pi": 9.0, "ondeck": 3.3}.get(lock, pair * .99)
        all_series.append(series("uncontended", lock, 1, {"process": process}, [
            metric("pair", "ns", "lower", ns, .015, 11),
            metric("cpu_per_op", "ns", "lower", ns, .015, 11),
            metric("voluntary_switches", "1/op", "lower", 1e-9, .1, 11),
            metric("involuntary_switches", "1/op", "lower", 2e-8, .4, 11),
            metric("share", "ratio", "higher", 1.0, 0, 11)]))
    for inside, outside, rates in [("0", "0", empty), ("100", "500", busy)]:
        for threads, rate in zip(THREADS, rates):
            grown = cpu if inside == "0" else 300 + cpu
            if threads == 1:
                per_op = 1e3 / rate
            else:
                per_op = max(1e3 / rate, min(2e3 / rate, grown * (threads / 16) ** .3))
            even = share ** ((threads / 16) ** .5)
            all_series.append(series("throughput", lock, threads,
                                     {"section_ns": inside, "outside_ns": outside},
                                     usual(rate * 1e6, per_op, even, threads, 9)))
    for workload, run, longest, runs in [("wait", wait_run, wait_max, 100), ("idle", idle_run, idle_max, 200)]:
        runs_ms = metric("run", "ms", "lower", run, .08, runs)
        samples = [r(longest * math.exp(-abs(random.expovariate(1.6)))) for _ in range(runs - 1)] + [longest]
        random.shuffle(samples)
        typical = run * 1e6 / 16384 * (2 if workload == "wait" else .3)
        ops = 16 * 16384 / (run / 1e3)
        all_series.append(series(workload, lock, 16, {}, [runs_ms, of_samples("longest", "ms", "lower", samples)]
                                 + usual(ops, cpu, share, 16, 9),
                                 distribution(workload, longest * 1e6, min(typical, longest * 3e5), 1.6)))

costs = []
for group, operation, ns in [
    ("atomics", "exchange", 4.2), ("atomics", "compare-exchange", 4.8), ("atomics", "fetch-add", 4.2),
    ("fences", "mfence", 9.6), ("waiting", "PAUSE", 9.7), ("waiting", "sched_yield alone", 157),
    ("waiting", "sched_yield against a hog", 1.4e6), ("clocks", "rdtsc", 7.2), ("clocks", "clock_gettime", 16),
    ("futex", "bare system call", 76), ("futex", "wake without a waiter", 94), ("futex", "wait refused", 136),
    ("futex", "context switch", 465), ("futex", "wake to run, same core", 1190),
    ("futex", "wake to run, other core", 24000), ("membarrier", "private expedited, siblings running", 10500),
    ("membarrier", "private expedited, siblings asleep", 640), ("cache", "cache line round trip", 190)]:
    costs.append(dict(group=group, operation=operation, median=ns, p25=r(ns * .97), p75=r(ns * (1.05 if ns < 1e3 else 1.5)), n=15, refused=None))
costs.append(dict(group="waiting", operation="UMWAIT", median=0.0, p25=0.0, p75=0.0, n=0, refused="this CPU has no WAITPKG"))

facts = {
    "ondeck": ("spins in time, then sleeps in a table", "may overtake, bounded to 1 ms", 1, 0),
    "ticket_spinlock": ("spins, then yields", "first come, first served", 8, 0),
}
locks = []
for lock, row in LOCKS.items():
    waiting, fairness, size, context = facts.get(lock, ("sleeps in a futex" if row[0] == "peer" else "spins", "none", 4, 0))
    locks.append(dict(name=lock, origin=row[0], waiting=waiting, fairness=fairness, size_bytes=size, context_bytes=context,
                      touches_after_release=lock in ("glibc_pi",), source="Skarupke, Measuring Mutexes" if row[0] == "sources" else "its own library",
                      teaches="what a lock costs when a waiter does nothing clever"))

report = dict(
    schema=1, evidence="measured", started="2026-11-20T21:04:05Z", seconds=2461.0, partial=False,
    machine=dict(cpu="Intel(R) Xeon(R) Processor @ 2.60GHz", architecture="x86_64", cpus=2, cores=1, smt=True, usable_cpus=2,
                 numa_nodes=1, caches=["L1d 48 KiB", "L1i 32 KiB", "L2 2 MiB", "L3 260 MiB"], memory_bytes=8 << 30,
                 kernel="Linux 6.18.5", libc="glibc 2.36", scheduler="SCHED_OTHER", virtualized="KVM",
                 clock="TSC (invariant)", clock_source="kvm-clock", governor=None, load_average=.08),
    build=dict(version="0.1.0", rustc="rustc 1.95.0", profile="release", opt_level="3", rustflags="", target="x86_64-unknown-linux-gnu", target_features="", commit="1f6f4d7-dirty"),
    settings=dict(command="ondeck bench --workloads uncontended,throughput,wait,idle --threads 1,2,4,8,16,32 --rounds 9 --html report.html", rounds=9,
                  round_milliseconds=200.0, extent="suite", work=None, stall_limit_seconds=10.0, pinning="none", policy="other", seed=18),
    warnings=[
        dict(code="virtual_machine", message="This is a virtual machine (KVM): another guest may take the CPU at any moment.",
             fix="Trust ratios and medians, not single numbers; repeat the run on bare metal before you choose."),
        dict(code="oversubscribed", message="Up to 32 threads shared 2 CPUs.",
             fix="Read rows above 2 threads as a test of scheduling; --threads 1,2 avoids it."),
    ],
    failures=[dict(workload="throughput", lock="mcs_spin", threads=32, kind="deadlock",
                   message="No thread made progress for 5 s.",
                   thread_states=["thread 0: running, holds the lock, not scheduled for 4.8 s", "thread 1: spinning in mcs::lock (mcs.rs:88)"])],
    locks=locks, series=all_series, costs=costs)
here = pathlib.Path(__file__).parent
(here / "sample-report.json").write_text(json.dumps(report, separators=(",", ":"), ensure_ascii=False).replace('{"workload"', '\n{"workload"') + "\n")
