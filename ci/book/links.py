"""Every page of docs/ is in the summary, and every relative link and anchor of every page leads somewhere.

The walks of ARCHITECTURE.md name functions that are there: a step is a row of a table whose first cell is a link with the
text `file: function`. It leads to a file of that name in which that function is defined, and a walk has five files at most.

Run from the project's root; what it finds is printed, and the exit status is then 1.
"""

import pathlib
import posixpath
import re
import sys

from pages import SUMMARY, anchors, known_files, links, resolve

WALKS, STEP, FILES = "ARCHITECTURE.md", re.compile(r"^\| \[`([^`]*): ([^`]*)`\]\(([^()\s]+)\) \|", re.M), 5


def findings(files, read):
    """What is wrong with the pages among `files`, a line each; `read` gives a file's text."""
    folders = {str(folder) for name in files for folder in pathlib.PurePosixPath(name).parents}
    pages = sorted(name for name in files if name.endswith(".md"))
    for page in pages:
        for target in links(read(page)):
            if re.match(r"[a-z]+:", target):
                continue
            path, anchor = resolve(page, target)
            if target.startswith("/") or path.startswith(".."):
                yield f"{page} links to {target}, which is outside of the project"
            elif path not in files and path not in folders:
                yield f"{page} links to {target}, which is not there (or git does not know it)"
            elif anchor and path.endswith(".md") and anchor not in anchors(read(path)):
                yield f"{page} links to {target}, but {path} has no such heading"
    listed = [resolve(SUMMARY, target)[0] for target in links(read(SUMMARY))]
    for page in pages:
        if page.startswith("docs/") and page != SUMMARY and listed.count(page) != 1:
            yield f"{SUMMARY} has {page} {listed.count(page)} times, not once"


def wrong_steps(text, files, read):
    """What is wrong with the walks of a page, a line each."""
    walks = [steps for part in re.split(r"^#{2,3} ", text, flags=re.M) if (steps := STEP.findall(part))]
    if len(walks) != 4:
        yield f"{WALKS} has {len(walks)} walks, not 4"
    for steps in walks:
        for name, function, target in steps:
            if posixpath.basename(target) != name:
                yield f"{WALKS}: `{name}: {function}` links to {target}"
            elif target in files and not re.search(rf"\bfn {re.escape(function)}\b", read(target)):
                yield f"{WALKS}: {target} has no function {function}"
        if len({target for _, _, target in steps}) > FILES:
            yield f"{WALKS}: the walk of {steps[0][0]} has more than {FILES} files"


def main():
    def read(name):
        return pathlib.Path(name).read_text(encoding="utf-8")

    # A crate may have a page as a link to it, whose own links lead from the page's folder.
    files = {name for name in known_files() if not (name.endswith(".md") and pathlib.Path(name).is_symlink())}
    found = [*findings(files, read), *wrong_steps(read(WALKS), files, read)]
    print("\n".join(found) or "every link and step leads somewhere, every page is in the summary")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
