"""The pages state the constants of the mutex's policy as the source has them.

Run from the project's root; what it finds is printed, and the exit status is then 1.
"""

import pathlib
import re
import sys

SOURCE = "locks/ondeck/src/"
TURN = "({} of a|{}) millisecond"

# The constant, its file, how pages state it, and those that do.
STATED = [
    ("TURN_NANOS", "parking/history.rs", TURN, ["docs/waiting.md", "docs/glossary.md", "docs/mutex.md", "docs/limits.md"]),
    ("TURN_NANOS", "parking/history.rs", TURN, [f"{SOURCE}mutex/mod.rs", f"{SOURCE}mutex/api.rs"]),
    ("RECENT_TURNS", "parking/history.rs", "After {} turns without contention", ["docs/waiting.md"]),
    ("RECENT_TURNS", "parking/history.rs", "a condition within {} turns", ["docs/waiting.md"]),
    ("RESIGNED_TURNS", "parking/history.rs", "next {} turns", ["docs/waiting.md"]),
    ("CAPTURED", "parking/history.rs", "At {} the lock is captured", ["docs/waiting.md"]),
    ("START", "parking/history.rs", "has {} at once", ["docs/waiting.md"]),
    ("MOST", "parking/history.rs", "{} is the most", ["docs/waiting.md"]),
    ("LOCKED", "parking/history.rs", r"free \| \+ {}, - 1", ["docs/waiting.md"]),
    ("LOCKED_AMONG_MANY", "parking/history.rs", r"can run \| \+ {}, - 1", ["docs/waiting.md"]),
    ("LATE", "parking/history.rs", r"\+ 1, - {} ", ["docs/waiting.md"]),
    ("LOST_AFTER_NANOS", "mutex/roles.rs", "(for|after) {}", ["docs/waiting.md", "docs/limits.md"]),
    ("PASSED_OVER", "mutex/roles.rs", "Of the {} oldest", ["docs/waiting.md"]),
    ("WITHOUT_A_FENCE", "mutex/heir.rs", "a\\s+{}", ["docs/waiting.md", "ARCHITECTURE.md"]),
    ("HISTORIES", "parking/bucket.rs", "remembers {} mutexes", ["docs/waiting.md", "docs/limits.md"]),
    ("FIRST", "parking/sleep.rs", "after {} ms", ["docs/waiting.md", "docs/limits.md"]),
    ("LONGEST", "parking/sleep.rs", "every {} ms", ["docs/waiting.md", "docs/limits.md"]),
]

# What pages say in words.
WORDS = {
    "250_000": "quarter",
    "2": "two",
    "2 * TURN_NANOS": "two turns",
    "Duration::from_millis(1)": "millisecond",
}


def findings(read):
    """What is stated otherwise than the source has it, a line each; `read` gives a file's text."""
    for name, file, form, pages in STATED:
        known = re.search(rf"const {name}: \w+ = (?:Self::of_millis\((\d+)\)|(.*));", read(SOURCE + file))
        value = known and (known[1] or known[2])
        for page in pages:
            stated = form.replace("{}", WORDS.get(value, value or ""))
            if not (known and re.search(stated.replace(" ", r"[\s/]+"), read(page))):
                yield f"{page} does not have {name} as {file} has it: {value}, as in `{stated}`"


def main():
    found = [*findings(lambda name: pathlib.Path(name).read_text(encoding="utf-8"))]
    print("\n".join(found) or "the pages have the policy's constants")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
