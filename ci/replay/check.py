#!/usr/bin/env python3
"""Predicts what programs do with more threads and another lock on the machine at hand, and then measures it.

    check.py ONDECK SHIM MACHINE [MINUTES]

ONDECK is the command, SHIM the preloaded library, MACHINE a machine file of this machine or a bundled machine that is
like it. Each program of programs.cc is recorded with two threads; then all are measured in turn for so many minutes.
A measurement counts only if just before and just after it two threads do together what two CPUs can: on a virtual
machine the other CPU may be another's, or of the same core. It is no test: it prints both numbers of each point, and how far
apart they are.
"""

import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAMS = ["cache", "parts", "seldom", "nested"]
THREADS = [1, 2, 4, 8, 16]
LOCKS = ["glibc_normal", "ondeck"]
# Twice what one thread does, nearly.
BOTH_CPUS = 1.75


def run(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def speed_of_two(programs):
    """What two threads that share nothing do together, of what one does."""
    one, two = (float(run(programs, "parts", str(count), "0.1")) for count in (1, 2))
    return two / one


def predicted(ondeck, recording, machine):
    """Acquisitions in a second, by lock and threads."""
    found, lock = {}, None
    counts = ",".join(map(str, THREADS))
    for line in run(ondeck, "sim", "--replay", recording, "--machine", machine, "--threads", counts).splitlines():
        if heading := re.fullmatch(r"simulated, (\w+):", line):
            lock = heading[1]
        elif line.startswith("simulated,"):
            lock = None
        elif lock and (row := re.match(r"\s*(\d+)\s+([\d.]+)\s", line)):
            found[lock, int(row[1])] = float(row[2]) * 1e6
    return found


def measured(programs, shim, minutes):
    """Medians by program, lock and threads; how many measurements did not count."""
    samples, left_out, end = {}, 0, time.monotonic() + 60 * minutes
    environment = {"glibc_normal": {}, "ondeck": {"LD_PRELOAD": shim}}
    before = speed_of_two(programs)
    while time.monotonic() < end:
        for name in PROGRAMS:
            for threads in THREADS:
                for lock in LOCKS:
                    rate = run(programs, name, str(threads), "0.3", env=os.environ | environment[lock])
                    after = speed_of_two(programs)
                    if min(before, after) >= BOTH_CPUS:
                        samples.setdefault((name, lock, threads), []).append(float(rate))
                    else:
                        left_out += 1
                    before = after
    return {key: statistics.median(rates) for key, rates in samples.items()}, left_out


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    ondeck, shim, machine = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as folder:
        programs, source = f"{folder}/programs", pathlib.Path(__file__).with_name("programs.cc")
        run("g++", "-O2", "-g", "-pthread", str(source), "-o", programs)
        predictions = {}
        for name in PROGRAMS:
            recording = f"{folder}/{name}.json"
            library = os.environ | {"ONDECK_PRELOAD_LIBRARY": shim}
            run(ondeck, "run", "--record", recording, "--", programs, name, "2", "2", env=library)
            for key, rate in predicted(ondeck, recording, machine).items():
                predictions[name, *key] = rate
        medians, left_out = measured(programs, shim, float((sys.argv + ["5"])[4]))
    factors = []
    for (name, lock, threads), rate in sorted(medians.items()):
        guess = predictions[name, lock, threads]
        print(f"{name:8} {lock:13} {threads:3} predicted {guess / 1e6:7.3f} measured {rate / 1e6:7.3f} M/s: {guess / rate:.2f}")
        if threads > 2:
            factors.append(max(guess / rate, rate / guess))
    factors.sort()
    print(f"{left_out} measurements did not count")
    if factors:
        tenth = factors[int(0.9 * (len(factors) - 1))]
        print(f"more than 2 threads, {len(factors)} points: median {statistics.median(factors):.2f}, 90 % {tenth:.2f}, worst {factors[-1]:.2f}")


main()
