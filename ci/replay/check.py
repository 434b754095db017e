#!/usr/bin/env python3
"""Predicts what programs do with more threads and another lock on the machine at hand, and then measures it.

    check.py FOLDER record ONDECK SHIM       records each program of programs.cc with two threads, and profiles it
                                             with eight
    check.py FOLDER predict ONDECK MACHINE   predicts from the recordings
    check.py FOLDER measure SHIM MINUTES     measures all programs in turn; more measurements each time
    check.py FOLDER print                    prints a table of both, and how far apart they are

ONDECK is the command, SHIM the preloaded library, MACHINE a machine file of this machine or a bundled machine that is
like it. A measurement counts only if just before and just after it two threads do together what two CPUs can, and if
the host took no CPU away meanwhile: on a virtual machine the other CPU may be another's, or of the same core. It is compared
with a recording that was made while a cache line moved as fast: hosts have states in which it takes four times as long.
"""

import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

PROGRAMS = ["cache", "parts", "seldom", "nested", "queue", "table", "accounts", "journal", "growing", "shelf", "yielding",
            "index"]
# Threads of these do different things.
UNLIKE = {"queue", "shelf", "yielding"}
RECORDED = [2]
PROFILED = 8
THREADS = [1, 2, 4, 8, 16]
LOCKS = ["glibc_normal", "ondeck"]
# Threads, M/s, × recorded, MVA, two parts, the busiest lock.
ROW = re.compile(r"\s*(\d+)\s+([\d.]+)\s+[\d.]+\s+([\d.]+)\s.*%\s+(.*?) (\d+) %$")
# Twice what one thread does, nearly.
BOTH_CPUS = 1.75
# The part of the CPUs' time that the host may take away.
STOLEN = 0.03
# A line that takes this many times as long is another state of the host.
STATES = 2
# Rates that differ by less than this factor have no order.
EQUAL = 1.1


def has(program, threads):
    """One thread alone is only one half of these."""
    return threads > 1 or program not in UNLIKE


def run(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def compile_programs(folder):
    programs = folder / "programs"
    run("g++", "-O2", "-g", "-pthread", str(pathlib.Path(__file__).with_name("programs.cc")), "-o", str(programs))
    return programs


def record(folder, ondeck, shim):
    programs, library = compile_programs(folder), os.environ | {"ONDECK_PRELOAD_LIBRARY": shim}
    for name in PROGRAMS:
        for threads in filter(lambda threads: has(name, threads), RECORDED):
            file = folder / f"{name}.{threads}.json"
            run(ondeck, "run", "--record", str(file), "--", str(programs), name, str(threads), "1", env=library)
        profile = folder / f"{name}.jsonl"
        run(ondeck, "run", "--lock", "ondeck", "--profile", str(profile), "--", str(programs), name, str(PROFILED), "1", env=library)


def most_waited(profile):
    """The lock for which threads waited longest, and for which part of their time."""
    lines = [json.loads(line) for line in profile.read_text().splitlines()]
    process = next(line for line in lines if line["type"] == "process")
    lock = max((line for line in lines if line["type"] == "lock"), key=lambda lock: lock["wait"]["total"])
    return lock["name"], lock["wait"]["total"] / (PROFILED * 1e9 * process["seconds"])


def predict(folder, ondeck, machine):
    """Acquisitions in a second, those of the queueing network and the busiest lock, by what was recorded, lock and threads;
    and the self-checks."""
    found, checks, counts = [], [], ",".join(map(str, THREADS))
    for file in sorted(folder.glob("*.2.json")):
        name, recorded = file.name.split(".")[:2]
        output, lock = run(ondeck, "sim", "--replay", str(file), "--machine", machine, "--threads", counts), None
        for line in output.splitlines():
            if heading := re.fullmatch(r"simulated, (.+):", line):
                lock = heading[1]
            elif lock in LOCKS and (row := ROW.match(line)):
                found.append([name, int(recorded), lock, int(row[1]), float(row[2]) * 1e6, float(row[3]) * 1e6, f"{row[4]} {row[5]} %"])
        words = " ".join(output.split())
        check = re.search(r"rates are scaled by ([\d.]+)\.", words)
        checks.append([name, int(recorded), float(check[1]), "cannot be predicted" not in words])
        print(name, recorded, *checks[-1][2:], words.split("Simulated:")[-1])
    (folder / "predicted").write_text(json.dumps([found, checks]))


def speed_of_two(programs):
    """What two threads that share nothing do together, of what one does."""
    one, two = (float(run(programs, "nothing", str(count), "0.05")) for count in (1, 2))
    return two / one


def stolen():
    return int(pathlib.Path("/proc/stat").read_text().split()[8]) / os.sysconf("SC_CLK_TCK")


def measure(folder, shim, minutes):
    programs, left_out, end = compile_programs(folder), 0, time.monotonic() + 60 * float(minutes)
    environment = {"glibc_normal": {}, "ondeck": {"LD_PRELOAD": shim}}
    keys = [
        (name, lock, threads)
        for threads in THREADS
        for name in PROGRAMS
        if has(name, threads)
        for lock in LOCKS
    ]
    with open(folder / "measured", "a") as samples:
        before = speed_of_two(programs)
        while time.monotonic() < end:
            for name, lock, threads in keys:
                since, lost = time.monotonic(), stolen()
                rate = run(programs, name, str(threads), "0.2", env=os.environ | environment[lock])
                lost = (stolen() - lost) / (time.monotonic() - since) / os.cpu_count()
                after, moved = speed_of_two(programs), 1e9 / float(run(programs, "line", "2", "0.02"))
                if min(before, after) >= BOTH_CPUS and lost <= STOLEN:
                    samples.write(json.dumps([name, lock, threads, moved, float(rate)]) + "\n")
                else:
                    left_out += 1
                before = after
    print(f"{left_out} measurements did not count")


def ranks(values):
    """Ranks, of equal values their mean."""
    order = sorted(values)
    return [order.index(value) + (order.count(value) - 1) / 2 for value in values]


def spearman(pairs):
    sides = [ranks(side) for side in zip(*pairs)]
    # Equal values have no order to be wrong about.
    return statistics.correlation(*sides) if all(len(set(side)) > 1 for side in sides) else 1.0


def summary(words, factors):
    factors = sorted(max(factor, 1 / factor) for factor in factors)
    tenth = factors[int(0.9 * (len(factors) - 1))]
    print(f"{words}: {len(factors)} points, median {statistics.median(factors):.2f}, "
          f"90 % within {tenth:.2f}, worst {factors[-1]:.2f}")


def show(folder):
    samples, there, recorded_rate = {}, {}, {}
    for name in PROGRAMS:
        recording = json.loads((folder / f"{name}.2.json").read_text())
        there[name] = recording["transfer"]
        recorded_rate[name] = sum(thread["acquisitions"] for thread in recording["threads"]) / recording["seconds"]
    for name, lock, threads, moved, rate in map(json.loads, (folder / "measured").read_text().splitlines()):
        if max(moved / there[name], there[name] / moved) < STATES:
            samples.setdefault((name, lock, threads), []).append(rate)
    medians = {key: statistics.median(rates) for key, rates in samples.items()}
    predicted, network, busiest = {}, {}, {}
    found, checks = json.loads((folder / "predicted").read_text())
    for name, recorded, lock, threads, *its in found:
        key = name, recorded, lock, threads
        predicted[key], network[key], busiest[key] = its
    checks = {(name, recorded): its for name, recorded, *its in checks}
    fewest = min(map(len, samples.values()))
    print(f"a point is the median of {fewest} measurements or more; predicted / measured:")
    for recorded in RECORDED:
        factors, copied, of_network, refused, orders, right, decided, always = [], [], [], [], [], 0, 0, 0
        for name in filter(lambda name: has(name, recorded), PROGRAMS):
            points = {}
            for lock in LOCKS:
                for threads in THREADS:
                    guess, rate = (it.get(key) for it, key in
                                   ((predicted, (name, recorded, lock, threads)), (medians, (name, lock, threads))))
                    if guess and rate:
                        points[lock, threads] = (guess, rate)
            more = {key: pair for key, pair in points.items() if key[1] > max(RECORDED)}
            words = {
                lock: ", ".join(f"{points[lock, threads][0] / points[lock, threads][1]:.2f}"
                                if (lock, threads) in points else "-" for threads in THREADS)
                for lock in LOCKS
            }
            orders.append(spearman(points.values()))
            ratio, is_predicted = checks[name, recorded]
            (factors if is_predicted else refused).extend(guess / rate for guess, rate in more.values())
            if is_predicted:
                copied += [recorded_rate[name] / rate for _, rate in more.values()]
                of_network += [network[(name, recorded) + key] / rate for key, (_, rate) in more.items()]
            changes = []
            for threads in THREADS:
                if all((lock, threads) in points for lock in LOCKS):
                    guess, rate = (points["ondeck", threads][side] / points["glibc_normal", threads][side]
                                   for side in (0, 1))
                    changes.append(f"{guess:.2f} {rate:.2f}")
                    if (lock, threads) in more and max(rate, 1 / rate) >= EQUAL:
                        decided += 1
                        right += (guess > 1) == (rate > 1)
                        always += rate > 1
            print(f"recorded {recorded}  {name:8} self-check {ratio:.2f}{'' if is_predicted else ', not predicted'}  " + "  ".join(f"{lock} {words[lock]}" for lock in LOCKS)
                  + f"  ondeck/glibc {', '.join(changes)}  rank {orders[-1]:.2f}")
        if factors:
            summary(f"recorded with {recorded}, more than 2 threads", factors)
            summary("  the recorded rate copied", copied)
            summary("  a queueing network, anchored", of_network)
            if refused:
                summary("  of programs that are not predicted", refused)
            print(f"rank of locks and threads, mean of programs {statistics.mean(orders):.2f}; "
                  f"the better lock: {right} of {decided} right, always ondeck {always}")
            for name in filter(lambda name: has(name, recorded), PROGRAMS):
                lock, part = most_waited(folder / f"{name}.jsonl")
                print(f"  {name:8} with {PROFILED} threads: the busiest lock as predicted is "
                      f"{busiest.get((name, recorded, 'ondeck', PROFILED))}, threads waited most for {lock}, "
                      f"{100 * part:.0f} % of their time")


def main():
    commands = {"record": (record, 2), "predict": (predict, 2), "measure": (measure, 2), "print": (show, 0)}
    function, count = commands.get(sys.argv[2] if len(sys.argv) > 2 else "", (None, 0))
    if function is None or len(sys.argv) != 3 + count:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    function(folder, *sys.argv[3:])


main()
