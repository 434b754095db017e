"""Compares what was read of a recording of crates/ondeck-profile/tests/programs/truth.c with what the program says.

    truth.py PROFILE.jsonl KEEPER OTHERS FREE     the percentages that the program printed

Ends with 1 and a line for each that is wrong.
"""
import json
import pathlib
import sys

# Percent of all waiting time. Records are samples, and the program's own noting of moments is in its sections.
NEAR = 20


def main(profile, keeper, others, free):
    lines = [json.loads(line) for line in pathlib.Path(profile).read_text().splitlines()]
    lock = next(line for line in lines if line["type"] == "lock" and line["name"] == "lock")
    blame = {"keeper": 0.0, "victim": 0.0}
    for line in lines:
        if line["type"] == "stack" and line["role"] == "holder" and line["lock"] == lock["address"]:
            function = line["stack"][0]["frames"][0]["function"]
            blame[function] = blame.get(function, 0.0) + line["total"]
    held = sum(blame.values())
    part_free = 100 * lock["free"] / (lock["kept_waiting"] + lock["free"])
    part = 100 * blame["keeper"] / held
    true_part = 100 * keeper / (keeper + others)
    print(f"keeper {part:.1f} % of the holders' (it was {true_part:.1f}), free {part_free:.1f} % (it was {free:.1f})")
    wrong = []
    if abs(part - true_part) > NEAR:
        wrong.append("the wrong function is to blame")
    if true_part > 99 and part < 90:
        wrong.append("the keeper alone kept others waiting, and is not blamed for 90 %")
    if abs(part_free - free) > NEAR:
        wrong.append("the time in which the lock was free is wrong")
    if set(blame) != {"keeper", "victim"}:
        wrong.append(f"to blame are {sorted(blame)}")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(float, sys.argv[2:])))
