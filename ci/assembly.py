"""The instructions of docs/data/assembly.md, and whether they are those of the compiler.

    assembly.py PAGE COMPILER TARGET=FILE...            writes the page's instructions; keeps the sentences beside them
    assembly.py --check PAGE COMPILER TARGET=FILE...    says where they differ, and ends with 1 if they do

A file is what `rustc --emit asm` writes for crates/ondeck/examples/assembly.rs. A row of the page is an
instruction and a sentence. A row keeps its sentence while its section has such an instruction; a new one is written
with none, and the check fails until it has one.
"""

import pathlib
import re
import sys

FUNCTIONS = ["lock", "unlock"]
COMPILER = re.compile(r"^Compiler: `rustc ([^`]*)`\.$", re.MULTILINE)
MANGLED = re.compile(r"_ZN([\w$.]+)E")
FENCE = "(compiler fence)"


def instructions(text, function):
    """The instructions of a function, its labels and the names of other functions made plain."""
    body = re.search(rf"^{function}:\n(.*?)^\.Lfunc_end", text, re.MULTILINE | re.DOTALL)
    if body is None:
        raise SystemExit(f"{function} is not in the assembly")
    found, label = [], ""
    for line in body[1].splitlines():
        line = line.strip()
        if re.match(r"(#|//)\s*MEMBARRIER", line):
            line = FENCE
        line = re.split(r"\s*//|\s+#(?![-\w:])", line)[0]
        if re.fullmatch(r"\.L\w+:", line):
            label += line + " "
        elif line and not line.startswith((".", "#")):
            found.append(label + re.sub(r"\s+", " ", MANGLED.sub(short, line)))
            label = ""
    return numbered(found)


def short(mangled):
    """The last part of a mangled name before its hash. Each part has its length before it."""
    parts, rest = [], mangled[1]
    while rest:
        length = re.match(r"\d+", rest)[0]
        rest = rest[len(length):]
        parts.append(rest[:int(length)])
        rest = rest[int(length):]
    return parts[-2]


def numbered(lines):
    """Labels in the order in which they stand: L1, L2."""
    names = {}
    for line in lines:
        for name in re.findall(r"(\.L\w+):", line):
            names.setdefault(name, f"L{len(names) + 1}")
    return [re.sub(r"\.L\w+", lambda m: names.get(m[0], "constant"), line) for line in lines]


def rows(page, target, function):
    """The rows of a section, and where they stand in the page."""
    head = f"## {target}: {function}\n"
    start = page.find(head)
    if start < 0:
        raise SystemExit(f"the page has no section {head.strip()!r}")
    table = re.compile(r"\| instruction \| what it does \|\n\|---\|---\|\n((?:\|.*\n)*)").search(page, start)
    if table is None:
        raise SystemExit(f"the section {head.strip()!r} has no table")
    found = []
    for row in table[1].splitlines():
        cell, sentence = re.fullmatch(r"\| `([^`]*)` \|(.*)\|", row).groups()
        found.append((cell, sentence.strip()))
    return found, table.span(1)


def main(arguments):
    check = arguments[:1] == ["--check"]
    path, compiler, *files = arguments[check:]
    page = pathlib.Path(path).read_text()
    wrong = []
    for item in files:
        target, file = item.split("=", 1)
        text = pathlib.Path(file).read_text()
        for function in FUNCTIONS:
            expected = instructions(text, function)
            have, (start, end) = rows(page, target, function)
            left = list(have)
            table = ""
            for line in expected:
                at = next((i for i, row in enumerate(left) if row[0] == line), None)
                sentence = left.pop(at)[1] if at is not None else ""
                if not sentence:
                    wrong.append(f"{target}, {function}: `{line}` has no sentence")
                table += f"| `{line}` | {sentence} |\n"
            if [cell for cell, _ in have] != expected:
                wrong.append(f"{target}, {function}: the compiler makes\n    " + "\n    ".join(expected))
            page = page[:start] + table + page[end:]
    if not check:
        pathlib.Path(path).write_text(COMPILER.sub(f"Compiler: `rustc {compiler}`.", page))
        wrong = [line for line in wrong if "no sentence" in line]
    if wrong:
        print("\n".join(wrong))
        print("docs/data/assembly.md: write it by ci/assembly.sh, and a sentence for each instruction that has none")
        raise SystemExit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
