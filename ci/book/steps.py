"""The walks of ARCHITECTURE.md name functions that are there.

A step is a row of a table whose first cell is a link with the text `file: function`. The link has to lead to a file of
that name in which that function is defined, and a walk, which is a table, has five files at most. Run from the
project's root; what it finds is printed, and the exit status is then 1.
"""

import pathlib
import re
import sys

PAGE = "ARCHITECTURE.md"
STEP = re.compile(r"^\| \[`([^`]*)`\]\(([^()\s]+)\) \|", re.M)
FILES = 5


def walks(text):
    """The steps of each section that has any: the words of the link, and its target."""
    found = {}
    for part in re.split(r"^(?=#{2,3} )", text, flags=re.M):
        steps = [step for step in STEP.findall(part) if ": " in step[0]]
        if steps:
            found[part.split("\n")[0].lstrip("# ")] = steps
    return found


def findings(text, read):
    """What is wrong with the walks of a page, a line each; `read` gives a file's text, or none."""
    for walk, steps in walks(text).items():
        for words, target in steps:
            name, _, function = words.partition(": ")
            code = read(target)
            if code is None:
                yield f"{walk}: {target} is not there"
            elif pathlib.PurePosixPath(target).name != name:
                yield f"{walk}: `{words}` links to {target}"
            elif not re.search(rf"\bfn {re.escape(function)}\b", code):
                yield f"{walk}: {target} has no function {function}"
        files = {target for _, target in steps}
        if len(files) > FILES:
            yield f"{walk}: {len(files)} files, not {FILES}"


def main():
    def read(name):
        path = pathlib.Path(name)
        return path.read_text(encoding="utf-8") if path.is_file() else None

    text = read(PAGE)
    found = list(findings(text, read))
    count = len(walks(text))
    if count != 4:
        found.append(f"{PAGE} has {count} walks, not 4")
    print("\n".join(found) or "every step of the walks is a function that is there")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
