"""Measures what recording costs, and prints the table of docs/data/costs.md.

    cost.py PROGRAM SHIM [--turns N] [--window MILLISECONDS] [--cases 1:0,2:0,2:500,...]

PROGRAM is what ci/profile/cost.c becomes, SHIM the preloaded library. A case is THREADS:SECTION in nanoseconds. One
process measures with recording off and on in turn; the cost is the median of the ratios of the turns, and its
interval is of 2,000 resamplings of them. Nothing else may run meanwhile.
"""
import argparse
import os
import pathlib
import random
import statistics
import subprocess
import tempfile

CASES = "1:0,1:100,2:0,2:100,2:500,2:1000,2:5000,4:0,4:100,4:500,4:1000,4:5000,8:0,8:100,8:500,8:1000,8:5000"


def run(options, case):
    threads, section = case.split(":")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        page = pathlib.Path(folder, "page")
        page.write_bytes(b"ondeckCP" + bytes(4088))
        environment = {**os.environ, "LD_PRELOAD": options.shim, "ONDECK_CONTROL": str(page),
                       "ONDECK_COST_FOLDER": folder}
        command = [options.program, threads, section, str(options.window), str(options.turns)]
        output = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    return [tuple(map(float, line.split())) for line in output.splitlines()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("shim")
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--window", type=int, default=20)
    parser.add_argument("--cases", default=CASES)
    options = parser.parse_args()
    print("| threads | section | pairs a second | cost | 95 % |")
    print("|--:|--:|--:|--:|--:|")
    for case in options.cases.split(","):
        threads, section = case.split(":")
        turns = run(options, case)
        # A window in which no thread ran says nothing.
        costs = [100 * (off / on - 1) for off, on in turns if off and on] or [0.0]
        medians = sorted(statistics.median(random.choices(costs, k=len(costs))) for _ in range(2000))
        rate = statistics.median(off for off, _ in turns) / 1e6
        print(f"| {threads} | {section} ns | {rate:.2f} M | {statistics.median(costs):.1f} % "
              f"| {medians[50]:.1f} to {medians[-51]:.1f} % |", flush=True)


if __name__ == "__main__":
    main()
