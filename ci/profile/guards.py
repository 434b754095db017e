"""Checks that what was read of a recording of crates/ondeck-profile/tests/programs/guards.cpp names its own functions.

    guards.py PROFILE.jsonl NAME ...     functions, without keep_, that some stack begins with

Ends with 1 and a line for each stack that begins with another function than the program's, and for each that is missing.
"""
import json
import pathlib
import re
import sys


def main(profile, *names):
    lines = [json.loads(line) for line in pathlib.Path(profile).read_text().splitlines()]
    stacks = [line for line in lines if line["type"] == "stack"]
    first = {line["stack"][0]["frames"][0]["function"] for line in stacks}
    own = {match[1] for name in first if (match := re.match(r"Guards::(keep_\w+)\(\)$", name))}
    # The lock of libc++abi for local statics, which several threads of libc++ initialize at the same moment.
    statics = "__cxa_guard_"
    wrong = sorted(name for name in first if not name.startswith(("Guards::keep_", statics)))
    missing = {f"keep_{name}" for name in names} - own
    for name in wrong:
        print(f"a stack begins with {name}")
    for name in sorted(missing):
        print(f"no stack begins with {name}")
    return 1 if wrong or missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
