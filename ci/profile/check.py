"""Checks what was read of the recordings of tools/ondeck-profile/tests/programs/.

    check.py hot PROFILE.jsonl TOP.txt PROCESSES HOT.C    TOP.txt is the output of `go tool pprof -top`
    check.py truth PROFILE.jsonl KEEPER OTHERS FREE       the percentages that truth.c printed
    check.py guards PROFILE.jsonl NAME...                 functions of guards.cpp, without keep_, that some stack begins with
    check.py sleeps PROFILE.jsonl OBJECT FUNCTION         the kind of object, and a function that has to be in a stack there
    check.py hostile PROFILE.jsonl WHAT                   of hostile.c
    check.py keeper PROFILE.jsonl KIND WAITED HELD SUM    of a program in observed/: the kind of the lock, all waits
                                                          together, and how long others than the keeper have held it, in
                                                          nanoseconds; and by which part the sum of waits may be off

Ends with 1 and a line for each expectation that does not hold.
"""

import json
import pathlib
import re
import sys

# Percent of all waiting time. Records are samples, and the program's own noting of moments is in its sections.
NEAR = 20

# All waits of one hostile program together, in nanoseconds: far above what they are, far below what a number is that has
# passed below zero.
MUCH = 1e12


# The part of what is charged that goes to the keeper of a program in observed/, and the most threads that wait there at once.
KEEPER = 0.95
WAITING = 3


def of_type(lines, kind):
    return [line for line in lines if line["type"] == kind]


def first_functions(lines, role, lock):
    """The innermost functions of the stacks with this role at a lock."""
    stacks = [line for line in of_type(lines, "stack") if (line["role"], line["lock"]) == (role, lock["address"])]
    return [line["stack"][0]["frames"][0]["function"] for line in stacks]


def hot(expect, lines, top, processes, source):
    begins = [index for index, line in enumerate(lines) if line["type"] == "process"]
    expect(len(begins) == int(processes), f"{len(begins)} processes instead of {processes}")
    text = pathlib.Path(source).read_text().splitlines()
    declared = next(number for number, line in enumerate(text, 1) if line.startswith("} hot = "))
    for begin, end in zip(begins, [*begins[1:], len(lines)]):
        hot_process(expect, lines[begin:end], declared)
    top = pathlib.Path(top).read_text().splitlines()
    head = next((number for number, line in enumerate(top) if "flat%" in line), len(top) - 1)
    worst = top[head + 1] if head + 1 < len(top) else ""
    expect(worst.endswith(" hold_for_long"), f"pprof's worst holder is {worst!r}")


def hot_process(expect, lines, declared):
    pid, locks = lines[0]["pid"], of_type(lines, "lock")
    expect(locks, f"process {pid} has no lock")
    if not locks:
        return
    worst = locks[0]
    place, wait = worst["place"], worst["wait"]
    expect(worst["name"].startswith("hot+"), f"the worst lock of process {pid} is {worst['name']}")
    expect(place.get("line") == declared, f"it is declared in line {place.get('line')}, not {declared}")
    expect((place.get("file") or "").endswith("hot.c"), f"it is declared in {place.get('file')}")
    expect(worst["kind"] == "default", f"it is of kind {worst['kind']}")
    expect(worst["threads"] == 4, f"{worst['threads']} threads have taken part")
    expect((worst["acquisitions"] or 0) >= wait["count"] > 0, "more waits than acquisitions")
    expect(wait["longest"] >= wait["p99"] >= wait["p50"] > 0, "percentiles")
    expect(worst["hold"]["count"] > 0, "no hold was recorded")
    for role, function in (("holder", "hold_for_long"), ("waiter", "take_shortly")):
        found = first_functions(lines, role, worst)
        expect(found[:1] == [function], f"as {role} there are {found}")
    heap = [lock for lock in locks if lock["place"]["in"] in ("heap", "memory")]
    expect(heap, "the lock on the heap is not there")
    # Initialized in the child of a fork before its recording began, which the first wait does.
    created = {frame["frames"][0]["function"] for lock in heap for frame in lock["created"][:1]}
    expect(created <= {"initialize"}, f"locks on the heap were initialized by {created}")
    expect(worst["name"] != "innocent", "the innocent lock is first")


def truth(expect, lines, *percentages):
    keeper, others, free = map(float, percentages)
    lock = next(line for line in of_type(lines, "lock") if line["name"] == "lock")
    blame = {"keeper": 0.0, "victim": 0.0}
    for line in of_type(lines, "stack"):
        if line["role"] == "holder" and line["lock"] == lock["address"]:
            function = line["stack"][0]["frames"][0]["function"]
            blame[function] = blame.get(function, 0.0) + line["total"]
    part_free = 100 * lock["free"] / (lock["kept_waiting"] + lock["free"])
    part = 100 * blame["keeper"] / sum(blame.values())
    true_part = 100 * keeper / (keeper + others)
    print(f"keeper {part:.1f} % of the holders' (it was {true_part:.1f}), free {part_free:.1f} % (it was {free:.1f})")
    expect(abs(part - true_part) <= NEAR, "the wrong function is to blame")
    expect(true_part <= 99 or part >= 90, "the keeper alone kept others waiting, and is not blamed for 90 %")
    expect(abs(part_free - free) <= NEAR, "the time in which the lock was free is wrong")
    expect(set(blame) == {"keeper", "victim"}, f"to blame are {sorted(blame)}")


def guards(expect, lines, *names):
    first = {line["stack"][0]["frames"][0]["function"] for line in of_type(lines, "stack")}
    own = {match[1] for name in first if (match := re.match(r"Guards::keep_(\w+)\(\)$", name))}
    for name in sorted(first):
        # The lock of libc++abi for local statics, which several threads of libc++ initialize at the same moment.
        expect(name.startswith(("Guards::keep_", "__cxa_guard_")), f"a stack begins with {name}")
    for name in names:
        expect(name in own, f"no stack begins with keep_{name}")


def sleeps(expect, lines, kind, function):
    found = False
    for sleep in of_type(lines, "futex"):
        functions = [frame["function"] for location in sleep["stack"] for frame in location["frames"]]
        print(sleep["samples"], sleep["object"], sleep["name"], " < ".join(functions))
        found |= sleep["object"] == kind and any(function in name for name in functions)
    expect(found, f"no thread was found asleep at a {kind} in {function}")


def hostile(expect, lines, what):
    locks = of_type(lines, "lock")
    expect(locks, "no lock was recorded")
    for lock in locks:
        expect(0 <= lock["kept_waiting"] < MUCH, f"{lock['name']} kept others waiting for {lock['kept_waiting']} ns")
        expect(lock["waiting"] == 0, f"{lock['waiting']} threads wait for {lock['name']}")
    names = {lock["name"]: lock for lock in locks}
    waits = names.get("crowded", {"wait": {"count": 0}})["wait"]["count"]
    if what == "switch":
        expect(waits == 5, f"{waits} waits instead of the 5 that began in this recording")
    if what == "stack":
        expect("crowded" in names, "the child's lock is not there")
    if what == "relock":
        # A notified thread that gets no CPU until the mutex is free has nothing to wait for: not each of them waits.
        expect(1 <= waits <= 5, f"{waits} waits, not 1 to 5, that began at a notification")
    if what == "reuse":
        # Each of ten was acquired 104 times, and once to be destroyed.
        lock = names.get("slot", {"reused": 0, "acquisitions": 0})
        expect(lock["reused"] == 9, f"{lock['reused']} locks in place of another, not 9")
        expect(1030 < (lock["acquisitions"] or 0) <= 1050, f"{lock['acquisitions']} acquisitions, not about 1,050")


def keeper(expect, lines, kind, waited, held, most):
    """KEEPER is less what the others may have kept waiting: a thread that loses its CPU with the lock keeps it for long.

    A program in Go knows of waits of its goroutines, and the profile of waits of threads: there only the lock itself is
    looked at, and no sum is compared.
    """
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
    for line in of_type(lines, "stack"):
        if line["role"] == "holder" and line["lock"] in addresses:
            functions = [frame["function"] for location in line["stack"] for frame in location["frames"]]
            blame[any("keeper_long" in name for name in functions)] += line["total"]
    part = blame[True] / max(sum(blame.values()), 1.0)
    more = recorded / float(waited) - 1
    free = sum(lock["free"] for lock in locks) / max(recorded, 1.0)
    others = WAITING * float(held) / float(waited)
    print(f"{kind:15} keeper {100 * part:5.1f} % (others at most {100 * others:.1f} %), sum {100 * more:+5.1f} %, free {100 * free:4.1f} %")
    expect(its, f"there are {[lock['kind'] for lock in locks]}, and no {kind}")
    expect(part >= KEEPER - others, f"{100 * part:.1f} % went to the keeper")
    expect(kind == "go" or abs(more) <= float(most), f"all waits were {float(waited) / 1e6:.1f} ms, and {recorded / 1e6:.1f} ms were recorded")


def main(what, profile, *arguments):
    wrong = []

    def expect(holds, text):
        if not holds:
            wrong.append(text)

    checks = {"hot": hot, "truth": truth, "guards": guards, "sleeps": sleeps, "hostile": hostile, "keeper": keeper}
    lines = [json.loads(line) for line in pathlib.Path(profile).read_text().splitlines()]
    checks[what](expect, lines, *arguments)
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
