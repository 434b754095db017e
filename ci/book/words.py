"""No comment and no page has a word that ci/words.txt retires, or a `who` for a thread; and the glossary has one
line for each term, which the HTML report can take.

Run from the project's root. Prints each place with what to say instead, and ends with 1 if there is one.
"""

import collections
import pathlib
import re
import sys

from pages import known_files, prose

LIST = "ci/words.txt"
GLOSSARY = "docs/glossary.md"
TERM = re.compile(r"\* \*\*([^*`]+)\*\*: [A-Z`].*\.$")

# The target of a link is a name, too.
QUOTED = re.compile(r"``[^`]+``|`[^`]*`|\"[^\"]*\"|“[^”]*”|\]\([^()\s]+\)")
WHO = re.compile(r"\b(who|whom)\b", re.IGNORECASE)
# `whose` after a noun is a relative clause of that noun. Without one it is a thread's.
WHOSE = re.compile(
    r"(?:^|[.:;(]\s+|\b(?:of|for|to|by|know|knows|say|says|tell|tells|see|than|about|decides?)\s+)whose\b",
    re.IGNORECASE,
)
PERSON_INSTEAD = "a thread that, the thread that, which thread; `who` is a person"

STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
COMMENT = {
    ".rs": re.compile(r"(?:^|\s)//[/!]?(?: |$)(.*)"),
    ".c": re.compile(r"(?:^|\s)(?://|/\*|\*)(?: |$)(.*)"),
    ".sh": re.compile(r"(?:^|\s)#(?: |$)(.*)"),
    ".tla": re.compile(r"(?:^|\s)(?:\\\*|\(\*)(?: |$)(.*)"),
}
KIND = {
    ".cc": ".c",
    ".py": ".sh",
    ".toml": ".sh",
    ".txt": ".sh",
    ".cfg": ".tla",
    "": ".sh",
}


class Words:
    """The list: rules, persons, and files never checked."""

    def __init__(self, text):
        sections = collections.defaultdict(list)
        name = None
        for line in text.split("\n"):
            line = line.strip()
            if re.fullmatch(r"\[\w+\]", line):
                name = line[1:-1]
            elif line and not line.startswith("#"):
                sections[name].append(line)
        self.rules = []
        for line in sections["words"]:
            pattern, arrow, instead = line.partition(" => ")
            if not arrow:
                raise ValueError(f"{LIST}: no => in {line}")
            pattern = pattern.replace(" ", r"\s+")
            self.rules.append((re.compile(rf"\b(?:{pattern})(?!\w)", re.IGNORECASE), instead))
        self.persons = set(" ".join(sections["persons"]).split())
        self.never = tuple(sections["never"])

    def findings(self, text):
        """Where a run of prose has what, and what to say instead: the offset, the words, the replacement."""
        plain = QUOTED.sub(lambda quoted: re.sub(r"[^\n]", "·", quoted[0]), text)
        for pattern, instead in self.rules:
            for match in pattern.finditer(plain):
                yield match.start(), match[0], instead
        for match in WHO.finditer(plain):
            if not self.is_person(plain, match):
                yield match.start(), match[0], PERSON_INSTEAD
        for match in WHOSE.finditer(plain):
            if not is_question(plain, match):
                yield match.end() - len("whose"), "whose", PERSON_INSTEAD

    def is_person(self, text, match):
        before = re.findall(r"[\w'-]+", text[: match.start()])
        return bool(before) and before[-1].lower() in self.persons or is_question(text, match)


def is_question(text, match):
    """Whether the sentence around a match ends as a question."""
    end = re.search(r"[.?!](?:\s|$)|\n\s*\n|\|", text[match.end() :])
    return end is not None and end[0].startswith("?")


def runs(path, text):
    """The runs of prose of a file: the number of the first line, and the text."""
    suffix = pathlib.PurePath(path).suffix
    first, lines = 0, []
    for number, line in enumerate(pieces(suffix, text), 1):
        if line is None:
            if lines:
                yield first, "\n".join(lines)
            lines = []
        else:
            if not lines:
                first = number
            lines.append(line)
    if lines:
        yield first, "\n".join(lines)


def pieces(suffix, text):
    """Line by line the prose in it, or None."""
    if suffix == ".md":
        for line, is_prose in prose(text):
            yield line if is_prose else None
        return
    kind = KIND.get(suffix, suffix)
    comment = COMMENT[kind]
    fence, block = None, False
    for line in text.split("\n"):
        # Blocks: a docstring of Python, a comment of TLA+.
        if suffix == ".py" and line.count('"""') == 1:
            block = not block
            yield line.replace('"""', "   ")
            continue
        if kind == ".tla" and (block or "(*" in line):
            block = "*)" not in line[max(line.rfind("(*"), 0) :]
            yield re.sub(r"\(\*|\*\)", "  ", line)
            continue
        if block:
            yield line
            continue
        match = comment.search(line)
        # Two slashes in a string are no comment.
        found = match[1] if match and line[: match.start()].count('"') % 2 == 0 else None
        if found is not None and kind == ".rs":
            mark = re.match(r"\s*```(\w*)", found)
            if mark:
                fence = None if fence is not None else mark[1]
                yield None
                continue
            if fence is not None and fence != "text":
                yield None
                continue
        else:
            fence = fence if found is not None else None
        if found is not None and re.match(r"(spec|step): ", found):
            found = ""
        if found is None and kind == ".rs":
            strings = [one for one in STRING.findall(line) if " " in one.strip()]
            found = " · ".join(strings) or None
        if found is None and suffix == ".toml" and line.startswith("hazard = "):
            found = line[len('hazard = "') : -1]
        yield found


def checked(files, words):
    """The files with prose, sorted."""
    for path in sorted(files):
        suffix = pathlib.PurePath(path).suffix
        known = suffix == ".md" or KIND.get(suffix, suffix) in COMMENT
        if suffix == "" and path != ".ci/run":
            continue
        if known and not path.startswith(words.never):
            yield path


def findings(files, read, words):
    """What is wrong: path, line, words, replacement."""
    for path in checked(files, words):
        for first, text in runs(path, read(path)):
            for start, found, instead in sorted(words.findings(text)):
                yield path, first + text.count("\n", 0, start), " ".join(found.split()), instead


def glossary(text):
    """What is wrong with the glossary: the line, and what."""
    terms = set()
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("*"):
            match = TERM.match(line)
            if match is None:
                yield number, "is not `* **term**: Definition.`"
            elif match[1] in terms:
                yield number, f"has {match[1]} again"
            else:
                terms.add(match[1])
        elif line.startswith(" "):
            yield number, "goes on with the line before"


def main():
    def read(name):
        return pathlib.Path(name).read_text(encoding="utf-8")

    words = Words(read(LIST))
    found = list(findings(known_files(), read, words))
    for path, line, word, instead in found:
        print(f"{path}:{line}: {word!r}; say: {instead}")
    wrong = [f"{GLOSSARY}:{number}: {what}" for number, what in glossary(read(GLOSSARY))]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{len(found)} retired words" if found else "no retired word in comments and pages")
    return 1 if found or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
