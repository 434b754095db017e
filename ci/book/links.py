"""Every page of docs/ is in the summary, and every relative link and anchor of every page leads somewhere.

Run from the project's root; what it finds is printed, and the exit status is then 1.
"""

import os.path
import posixpath
import sys

from pages import INCLUDED, SUMMARY, anchors, is_elsewhere, known_files, links, resolve


def findings(files, read):
    """What is wrong with the pages among `files`, a line each; `read` gives a file's text."""
    folders = {"."}
    for name in files:
        while (name := posixpath.dirname(name)) and name not in folders:
            folders.add(name)
    pages = sorted(name for name in files if name.endswith(".md"))
    headings = {}
    for page in pages:
        for target in links(read(page)):
            if is_elsewhere(target):
                continue
            path, anchor = resolve(page, target)
            if target.startswith("/") or path.startswith(".."):
                yield f"{page} links to {target}, which is outside of the project"
            elif path not in files and path not in folders:
                yield f"{page} links to {target}, which is not there (or git does not know it)"
            elif anchor and path.endswith(".md"):
                if path not in headings:
                    headings[path] = anchors(read(path))
                if anchor not in headings[path]:
                    yield f"{page} links to {target}, but {path} has no such heading"
    listed = [resolve(SUMMARY, target)[0] for target in links(read(SUMMARY))]
    for page in pages:
        if page in INCLUDED and page in listed:
            yield f"{SUMMARY} has {page}, which is a part of another page"
        elif (
            page.startswith("docs/")
            and page not in {SUMMARY, *INCLUDED}
            and listed.count(page) != 1
        ):
            yield f"{SUMMARY} has {page} {listed.count(page)} times, not once"


def main():
    def read(name):
        with open(name, encoding="utf-8") as file:
            return file.read()

    # A crate may have a page as a link to it, whose own links lead from the page's folder.
    files = {name for name in known_files() if not (name.endswith(".md") and os.path.islink(name))}
    found = list(findings(files, read))
    print("\n".join(found) or "every link leads somewhere, every page is in the summary")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
