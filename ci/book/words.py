"""No comment and no page has a word that ci/words.txt retires, or a `who` for a thread; and the glossary has one
line for each term, which the HTML report can take.

Run from the project's root. Prints each place with what to say instead, and ends with 1 if there is one.
"""

import pathlib
import re
import sys

from pages import known_files

LIST, GLOSSARY = "ci/words.txt", "docs/glossary.md"
TERM = re.compile(r"\* \*\*([^*`]+)\*\*: [A-Z`].*\.$")
# `who` after one of these is a person; `ondeck who` is a command. `whose` after a noun is a relative clause of that noun; without one it is a thread's.
# A question may have either.
PERSONS = "he|she|person|people|(?:any|every|some)one|(?:reader|user|author|engineer|programmer|maintainer)s?"
WHO = rf"\b(?:(?P<person>{PERSONS})[,\s]+)?(?<!ondeck )whom?\b(?!\.md)"
WHOSE = r"(?:[.:;(]\s|\b(?:of|for|to|by|knows?|says?|tells?|see|than|about|decides?)\s)\s*whose\b"
NO_QUESTION = r"(?!(?:[^.?!|]|[.!](?!\s))*\?(?:\s|$))"

# Prose by the endings of names: lines of pages, comments, and strings of several words. What is matched outside of the
# groups is none: blocks of code, and the names of steps.
HASH = r'(?<!\S)#+(?: |$)([^\n]*)|"""(.*?)"""|^hazard = "([^\n]*)"$'
SLASHES = r"(?<!\S)//[/!]?(?:[ ]|$)([^\n]*)"
PROSE = {
    ".md": r"^ *(?P<fence>```+|~~~+).*?^ *(?P=fence) *$|([^\n]+)",
    ".rs": rf'^ *//[/!] *```.*?//[/!] *```|// (?:spec|step): [^\n]*|{SLASHES}|\'"\'|"[^"\\ ]*"|"((?:[^"\\]|\\.)*)"',
    ".c": rf"{SLASHES}|/\*(.*?)\*/",
    ".tla": r"(?<!\S)\\\* (?!models crates)([^\n]*)|\(\*(.*?)\*\)",
    ".sh": HASH,
}
PROSE |= {".cc": PROSE[".c"], ".cfg": PROSE[".tla"], **dict.fromkeys([".py", ".toml", ".txt"], HASH)}
# Code and quotations, which end with their paragraph at the latest, and targets of links.
QUOTED = re.compile(r"``[^`]+``|(`|\"|“)(?:(?!\1|”)[^\n·]|\n(?!\s*\n))*(?:\1|”)|\]\([^()\s]+\)")


def prose(kind, text):
    """The prose of a file in its lines: a gap of code between two pieces becomes a dot, marks of comments a blank."""
    made, done = "", 0
    # A block of text is prose as well.
    text = re.sub(r"(//[/!] *)```text\b(.*?//[/!] *)```", r"\1\2", text, flags=re.S)
    for match in re.finditer(PROSE[kind], text, re.M | re.S):
        at = match.lastindex if match.lastgroup != "fence" else None
        if at:
            gap = text[done : match.start(at)]
            made += ("·" if re.search(r"[\w(){};]", gap) else " ") + "\n" * gap.count("\n") + match[at]
            done = match.end(at)
    return QUOTED.sub(lambda quoted: "·" + "\n" * quoted[0].count("\n"), made)


def rules(text):
    """The list's rules, a pattern and what to say instead each; and the beginnings of paths that are never checked."""
    listed, never = re.sub(r"^#.*\n", "", text, flags=re.M).split("[never]")
    found = []
    for line in filter(None, listed.split("[words]")[1].split("\n")):
        pattern, instead = line.split(" => ")
        found.append((rf"(?<![\w-])(?:{pattern})(?!\w)".replace(" ", r"\s+"), instead))
    person = "a thread that, the thread that, which thread; `who` is a person"
    found += [(pattern + NO_QUESTION, person) for pattern in (WHO, WHOSE)]
    return [(re.compile(pattern, re.I | re.M), instead) for pattern, instead in found], tuple(never.split())


def findings(listed, never):
    """What is wrong: the place, the words, and what to say instead."""
    for path in sorted(known_files()):
        kind = ".sh" if path == ".ci/run" else pathlib.PurePath(path).suffix
        if kind not in PROSE or path.startswith(never):
            continue
        text = prose(kind, pathlib.Path(path).read_text(encoding="utf-8"))
        for pattern, instead in listed:
            for match in pattern.finditer(text):
                if not match.groupdict().get("person"):
                    line = 1 + text.count("\n", 0, match.end())
                    yield f"{path}:{line}: {' '.join(match[0].split())!r}; say: {instead}"


def glossary(text):
    """What is wrong with the glossary."""
    terms = set()
    for number, line in enumerate(text.split("\n"), 1):
        match = TERM.match(line)
        if line.startswith((" ", "*")) and (match is None or match[1] in terms):
            yield f"{GLOSSARY}:{number}: is not `* **term**: Definition.` in one line, of a term that no other line has"
        terms.add(match and match[1])


def main():
    found = [*findings(*rules(pathlib.Path(LIST).read_text())), *glossary(pathlib.Path(GLOSSARY).read_text())]
    print("\n".join(found) or "no retired word in comments and pages")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
