"""Checks what was read of the recordings of crates/ondeck-profile/tests/programs/hostile.c.

    hostile.py WHAT PROFILE.jsonl

Ends with 1 and a line for each expectation that does not hold.
"""
import json
import pathlib
import sys

# All waits of one of these programs together, in nanoseconds: far above what they are, far below what a
# number is that has passed below zero.
MUCH = 1e12


def main(what, profile):
    wrong = []

    def expect(holds, text):
        if not holds:
            wrong.append(text)

    lines = [json.loads(line) for line in pathlib.Path(profile).read_text().splitlines()]
    locks = [line for line in lines if line["type"] == "lock"]
    expect(locks, "no lock was recorded")
    for lock in locks:
        expect(0 <= lock["kept_waiting"] < MUCH, f"{lock['name']} kept others waiting for {lock['kept_waiting']} ns")
        expect(lock["waiting"] == 0, f"{lock['waiting']} threads wait for {lock['name']}")
    names = {lock["name"]: lock for lock in locks}
    if what == "switch":
        lock = names.get("crowded", {"wait": {"count": 0}})
        expect(lock["wait"]["count"] == 5, f"{lock['wait']['count']} waits instead of the 5 that began in this recording")
    if what == "stack":
        expect("crowded" in names, "the child's lock is not there")
    if what == "relock":
        lock = names.get("crowded", {"wait": {"count": 0}})
        # A notified thread that gets no CPU until the mutex is free has nothing to wait for: not each of them waits.
        waits = lock["wait"]["count"]
        expect(1 <= waits <= 5, f"{waits} waits, not 1 to 5, that began at a notification")
    if what == "reuse":
        # Each of ten was acquired 104 times, and once to be destroyed.
        lock = names.get("slot", {"reused": 0, "acquisitions": 0})
        expect(lock["reused"] == 9, f"{lock['reused']} locks in place of another, not 9")
        expect(1030 < (lock["acquisitions"] or 0) <= 1050, f"{lock['acquisitions']} acquisitions, not about 1,050")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
