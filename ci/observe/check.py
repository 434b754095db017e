"""Compares a profile with what a program of tools/ondeck-profile/tests/programs/observed/ knows of itself.

    check.py PROFILE.jsonl KIND WAITED HELD [SUM]   the kind of the lock, all waits together, and how long others than the
                                                    keeper have held it, in nanoseconds

At least 95 % of what is charged goes to the keeper, less what the others may have kept waiting: a thread that loses its
CPU with the lock keeps it for long. The sum of waits is within SUM of the program's own, which is 5 % unless it is given. A
program in Go knows of waits of its goroutines, and the profile of waits of threads: there only the lock itself is looked at, and
no sum is compared. Ends with 1 and a line for each that does not hold.
"""

import json
import pathlib
import sys

KEEPER = 0.95
SUM = 0.05
# The most threads that wait at once.
WAITING = 3


def main(profile, kind, waited, held, most=SUM):
    lines = [json.loads(line) for line in pathlib.Path(profile).read_text().splitlines()]
    locks = [line for line in lines if line["type"] in ("lock", "notice")]
    its = [lock for lock in locks if lock["kind"] == kind]
    if kind == "go":
        its = [lock for lock in its if lock["type"] == "lock"]
        locks = its
    # The end of a thread is no lock.
    locks = [lock for lock in locks if kind != "musl" or lock["type"] == "lock"]
    # A lock that is made of a condition variable has a mutex, whose waits are the program's also.
    recorded = sum(lock["wait"]["total"] for lock in locks)
    addresses = {lock["address"] for lock in locks}
    blame = {True: 0.0, False: 0.0}
    for line in lines:
        if line["type"] == "stack" and line["role"] == "holder" and line["lock"] in addresses:
            functions = [frame["function"] for location in line["stack"] for frame in location["frames"]]
            blame[any("keeper_long" in name for name in functions)] += line["total"]
    part = blame[True] / max(sum(blame.values()), 1.0)
    more = recorded / float(waited) - 1
    free = sum(lock["free"] for lock in locks) / max(recorded, 1.0)
    others = WAITING * float(held) / float(waited)
    print(f"{kind:15} keeper {100 * part:5.1f} % (others at most {100 * others:.1f} %), sum {100 * more:+5.1f} %, free {100 * free:4.1f} %")
    wrong = []
    if not its:
        wrong.append(f"there are {[lock['kind'] for lock in locks]}, and no {kind}")
    if part < KEEPER - others:
        wrong.append(f"{100 * part:.1f} % went to the keeper")
    if kind != "go" and abs(more) > float(most):
        wrong.append(f"all waits were {float(waited) / 1e6:.1f} ms, and {recorded / 1e6:.1f} ms were recorded")
    for text in wrong:
        print(f"  {text}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
