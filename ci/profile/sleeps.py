"""Checks that a profile has the sleeps of a program whose locks are not recorded.

    sleeps.py PROFILE.jsonl OBJECT FUNCTION     the kind of object, and a function that has to be in a stack there

Ends with 1 if no such sleep was found.
"""
import json
import pathlib
import sys


def main(profile, kind, function):
    lines = [json.loads(line) for line in pathlib.Path(profile).read_text().splitlines()]
    sleeps = [line for line in lines if line["type"] == "futex"]
    for sleep in sleeps:
        functions = [frame["function"] for location in sleep["stack"] for frame in location["frames"]]
        print(sleep["samples"], sleep["object"], sleep["name"], " < ".join(functions))
        if sleep["object"] == kind and any(function in name for name in functions):
            return 0
    print(f"no thread was found asleep at a {kind} in {function}")
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
