"""Checks what was read of the recordings of crates/ondeck-profile/tests/programs/hot.c.

    check.py OUT PROCESSES HOT.C     OUT has profile.jsonl and the output of `go tool pprof -top` in top.txt

Ends with 1 and a line for each expectation that does not hold.
"""
import json
import pathlib
import sys


def main(out, processes, source):
    wrong = []

    def expect(holds, what):
        if not holds:
            wrong.append(what)

    lines = [json.loads(line) for line in pathlib.Path(out, "profile.jsonl").read_text().splitlines()]
    found = [line for line in lines if line["type"] == "process"]
    expect(len(found) == processes, f"{len(found)} processes instead of {processes}")
    text = pathlib.Path(source).read_text().splitlines()
    declared = next(number for number, line in enumerate(text, 1) if line.startswith("} hot = "))
    order = [index for index, line in enumerate(lines) if line["type"] == "process"] + [len(lines)]
    for begin, end in zip(order, order[1:]):
        check_process(lines[begin:end], declared, expect)
    top = pathlib.Path(out, "top.txt").read_text().splitlines()
    head = next((number for number, line in enumerate(top) if "flat%" in line), len(top) - 1)
    worst = top[head + 1] if head + 1 < len(top) else ""
    expect(worst.endswith(" hold_for_long"), f"pprof's worst holder is {worst!r}")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


def check_process(lines, declared, expect):
    pid = lines[0]["pid"]
    locks = [line for line in lines if line["type"] == "lock"]
    expect(locks, f"process {pid} has no lock")
    if not locks:
        return
    worst = locks[0]
    place = worst["place"]
    expect(worst["name"].startswith("hot+"), f"the worst lock of process {pid} is {worst['name']}")
    expect(place.get("line") == declared, f"it is declared in line {place.get('line')}, not {declared}")
    expect((place.get("file") or "").endswith("hot.c"), f"it is declared in {place.get('file')}")
    expect(worst["kind"] == "default", f"it is of kind {worst['kind']}")
    expect(worst["threads"] == 4, f"{worst['threads']} threads have taken part")
    expect((worst["acquisitions"] or 0) >= worst["wait"]["count"] > 0, "more waits than acquisitions")
    expect(worst["wait"]["longest"] >= worst["wait"]["p99"] >= worst["wait"]["p50"] > 0, "percentiles")
    expect(worst["hold"]["count"] > 0, "no hold was recorded")

    def functions(role, lock):
        stacks = [line for line in lines if line["type"] == "stack" and line["role"] == role]
        stacks = [line for line in stacks if line["lock"] == lock["address"]]
        return [line["stack"][0]["frames"][0]["function"] for line in stacks]

    holders = functions("holder", worst)
    expect(holders[:1] == ["hold_for_long"], f"to blame are {holders}")
    waiters = functions("waiter", worst)
    expect(waiters[:1] == ["take_shortly"], f"the threads that waited were in {waiters}")
    heap = [lock for lock in locks if lock["place"]["in"] in ("heap", "memory")]
    expect(heap, "the lock on the heap is not there")
    # Initialized in the child of a fork before its recording began, which the first wait does.
    created = [frame["frames"][0]["function"] for lock in heap for frame in lock["created"][:1]]
    expect(set(created) <= {"initialize"}, f"locks on the heap were initialized by {created}")
    names = [lock["name"] for lock in locks]
    expect(not names.count("innocent") or names.index("innocent") > 0, "the innocent lock is first")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
