"""A preprocessor of mdBook: pages from outside of docs/ get a place in the book, and links follow.

A link to another page of the book leads to where that page is in the book. One to a file beside the pages,
which mdBook copies, stays. One to any other file of the project leads to `files` of the configuration, an
address to which the path is added; without it only the link's text is left, with the path to be seen under
the pointer.
"""

import html
import json
import posixpath
import sys

from pages import SUMMARY, is_elsewhere, resolve, with_links


def chapters(items):
    """All chapters of the book that are made of a file."""
    for item in items:
        chapter = item.get("Chapter") if isinstance(item, dict) else None
        if chapter:
            if chapter["path"]:
                yield chapter
            yield from chapters(chapter["sub_items"])


def move(items, source, files):
    """Gives pages from outside of the folder `source` a place, and makes links follow."""
    places = {}
    for chapter in chapters(items):
        page = posixpath.normpath(posixpath.join(source, chapter["source_path"]))
        places[page] = chapter["path"] = chapter["path"].replace("../", "")
    for page, chapter in zip(places, chapters(items)):

        def follow(label, target):
            path, anchor = resolve(page, target)
            hash_ = "#" + anchor if anchor else ""
            if is_elsewhere(target) or path == page:
                return f"{label}({target})"
            if path != SUMMARY and (path in places or path.startswith(source + "/")):
                place = places.get(path) or posixpath.relpath(path, source)
                return f"{label}({posixpath.relpath(place, posixpath.dirname(places[page]) or '.')}{hash_})"
            # The summary is the book's frame, and no page of it.
            if files and path != SUMMARY:
                return f"{label}({files}{path}{hash_})"
            return f'<span title="{html.escape(path)}">{label[1:-1]}</span>'

        chapter["content"] = with_links(chapter["content"], follow)


def main():
    # mdBook asks whether the output is one that it can serve; it can serve any.
    if sys.argv[1:2] == ["supports"]:
        return
    context, book = json.load(sys.stdin)
    config = context["config"]
    move(book["items"], config["book"]["src"], config["preprocessor"]["places"].get("files", ""))
    json.dump(book, sys.stdout)


if __name__ == "__main__":
    main()
