"""The pages of the project, their links and headings: what the checks have in common."""

import posixpath
import re
import subprocess

SUMMARY = "docs/SUMMARY.md"

FENCED = re.compile(r"^ *(?P<fence>```+|~~~+).*?^ *(?P=fence) *$", re.M | re.S)
# Code in a line is skipped; a link's text may have code and one pair of brackets in it, and go over the end of a line.
CODE_OR_LINK = re.compile(
    r"(`+)(?!`).+?(?<!`)\1(?!`)|(\[(?:[^\[\]`]|`[^`]*`|\[[^\[\]]*\])*\])\(([^()\s]+)\)"
)
HEADING = re.compile(r"^#{1,6} +(.*?)[ #]*$", re.M)


def known_files():
    """Every file that git knows: what a code host shows."""
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, check=True, text=True)
    return set(listed.stdout.split("\0")[:-1])


def links(text):
    """The targets of all links of a page, outside of blocks of code."""
    return [found[3] for found in CODE_OR_LINK.finditer(FENCED.sub("", text)) if found[3]]


def resolve(page, target):
    """The path from the project's root that a link of a page means, and its anchor."""
    path, _, anchor = target.partition("#")
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page, anchor


def anchors(text):
    """The identifiers that code hosts give to a page's headings."""
    found = set()
    for heading in HEADING.findall(FENCED.sub("", text)):
        words = CODE_OR_LINK.sub(lambda link: link[2] or link[0], heading).strip().lower()
        name = numbered = re.sub(r"[^\w\s-]", "", words).translate({ord(blank): "-" for blank in " \t"})
        count = 0
        while numbered in found:
            count += 1
            numbered = f"{name}-{count}"
        found.add(numbered)
    return found
