"""Runs a test suite with the original parking_lot and with the replacement, and compares what passed."""

import itertools
import os
import re
import signal
import subprocess
import sys

from sources import ENVIRONMENT, SIDES, cargo

# Seconds after which a run has hung: more than the compiler and the longest suite need on two busy CPUs.
HUNG = int(os.environ.get("DROPIN_HUNG", "3600"))

RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;.*?(?:finished in ([\d.]+)s)?$", re.M)
# The second list of failures of a test binary: names alone.
FAILURES = re.compile(r"^failures:\n((?:    \S.*\n)+)", re.M)
# Tests without the usual harness, and those that a signal has ended, say nothing. Cargo names their target.
TARGETS = re.compile(r"^error: \d+ targets? failed:\n((?:    `.*`\n?)+)", re.M)


class Outcome:
    """What a run of a suite printed: how many tests passed, how many were ignored, and which targets and tests failed."""

    def __init__(self, output, status):
        counts = [tuple(map(int, found[:3])) for found in RESULT.findall(output)]
        self.passed = sum(passed for passed, _, _ in counts)
        self.ignored = sum(ignored for _, _, ignored in counts)
        self.seconds = round(sum(float(found[3] or 0) for found in RESULT.findall(output)), 2)
        tests, targets = FAILURES.findall(output), "".join(TARGETS.findall(output)).splitlines()
        # The target of a test that says its name need not be named, too.
        blocks = tests if len(tests) == len(targets) else [*tests, "\n".join(targets)]
        self.failed = {line.strip() for block in blocks for line in block.splitlines()}
        if status and not self.failed:
            self.failed = {f"cargo ended with {status}"}

    def __str__(self):
        return f"{self.passed} passed, {self.ignored} ignored, failed: {', '.join(sorted(self.failed)) or 'none'}"


def run(folder, config, arguments, log):
    """One run; its output goes to `log`."""
    command = ["cargo", "--config", str(config), "test", "--no-fail-fast", *arguments]
    with log.open("w") as output:
        child = subprocess.Popen(
            command,
            cwd=folder,
            env=ENVIRONMENT,
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            status = child.wait(HUNG)
        except BaseException as error:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            status = f"nothing after {HUNG} s"
    return Outcome(log.read_text(errors="replace"), status)


def build(folder, config, arguments):
    """Compiles what a run needs, so that no compiler is at work in its first round."""
    of_cargo = itertools.takewhile(lambda it: it != "--", arguments)
    cargo(folder, "--config", str(config), "test", "-q", "--no-run", *of_cargo)


def compare(name, sides, runs, rounds):
    """Runs each of `runs`, lists of arguments of `cargo test`, on both sides in turn.

    Returns the record of the suite: how many tests passed in each round and in which time, and what failed in any of them. What failed
    with the replacement and never with the original is in `"defects"`.
    """
    record = {"rounds": rounds, "runs": []}
    for number, arguments in enumerate(runs):
        outcomes = {side: [] for side in SIDES}
        for side in SIDES:
            build(*sides[side], arguments)
        for turn in range(rounds):
            for side in SIDES:
                log = sides[side][0].parent / f"{name}-{number}-{turn}.log"
                outcome = run(*sides[side], arguments, log)
                outcomes[side].append(outcome)
                print(f"{name}: cargo test {' '.join(arguments)}: {side}: {outcome} ({outcome.seconds} s)", flush=True)
                if outcome.failed:
                    print(f"  see {log}", flush=True)
                if side == "original" and not outcome.passed:
                    sys.exit(f"{name}: with the original no test of `cargo test {' '.join(arguments)}` passes: see {log}")
        failed = {side: set().union(*(it.failed for it in outcomes[side])) for side in SIDES}
        record["runs"].append(
            {
                "arguments": " ".join(arguments),
                "passed": {side: [it.passed for it in outcomes[side]] for side in SIDES},
                "seconds": {side: [it.seconds for it in outcomes[side]] for side in SIDES},
                "failed": {side: sorted(failed[side]) for side in SIDES},
                "ignored": max(it.ignored for it in outcomes["original"]),
                "defects": sorted(failed["ondeck"] - failed["original"]),
            }
        )
    return record
