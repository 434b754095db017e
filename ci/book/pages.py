"""The pages of the project, their links and headings: what the checks have in common."""

import posixpath
import re
import subprocess

SUMMARY = "docs/SUMMARY.md"

# Written by hand, and put into another page by a script.
INCLUDED = {"docs/data/speed-notes.md"}

# Code in a line is skipped; a link's text may have code and one pair of brackets in it.
CODE_OR_LINK = re.compile(
    r"(`+)(?!`).+?(?<!`)\1(?!`)|(\[(?:[^\[\]`]|`[^`]*`|\[[^\[\]]*\])*\])\(([^()\s]+)\)"
)
FENCE = re.compile(r" *(`{3,}|~{3,})")
HEADING = re.compile(r"#{1,6} +(.*?)[ #]*$")


def known_files():
    """Every file that git knows: what a code host shows."""
    return set(
        subprocess.run(
            ["git", "ls-files", "-z"], capture_output=True, check=True, text=True
        ).stdout.split("\0")[:-1]
    )


def prose(text):
    """The lines of a page, each with whether it is outside of a block of code."""
    fence = None
    for line in text.split("\n"):
        mark = FENCE.match(line)
        if fence is None and mark:
            fence = mark[1]
            yield line, False
        elif fence is not None:
            if mark and mark[1].startswith(fence) and line.strip() == mark[1]:
                fence = None
            yield line, False
        else:
            yield line, True


def with_links(text, change):
    """The page with each link's `[text]` and target replaced by what `change` makes of them."""

    def one(match):
        return match[0] if match[2] is None else change(match[2], match[3])

    # A link's text may go over the end of a line, so runs of prose are looked at as a whole.
    parts, run = [], []
    for line, is_prose in prose(text):
        if is_prose:
            run.append(line)
        else:
            if run:
                parts.append(CODE_OR_LINK.sub(one, "\n".join(run)))
                run = []
            parts.append(line)
    if run:
        parts.append(CODE_OR_LINK.sub(one, "\n".join(run)))
    return "\n".join(parts)


def links(text):
    """The targets of all links of a page."""
    found = []

    def note(label, target):
        found.append(target)
        return label

    with_links(text, note)
    return found


def is_elsewhere(target):
    """Whether a link leads out of the project."""
    return re.match(r"[a-z]+:", target) is not None


def resolve(page, target):
    """The path from the project's root that a link of a page means, and its anchor."""
    path, _, anchor = target.partition("#")
    return (
        posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
    ), anchor


def anchors(text):
    """The identifiers that code hosts give to a page's headings."""
    found = set()
    for line, is_prose in prose(text):
        heading = HEADING.match(line) if is_prose else None
        if heading:
            words = with_links(heading[1], lambda label, _: label).strip().lower()
            name = "".join(
                "-" if c.isspace() else c for c in words if c.isalnum() or c in "_-" or c.isspace()
            )
            numbered, count = name, 0
            while numbered in found:
                count += 1
                numbered = f"{name}-{count}"
            found.add(numbered)
    return found
