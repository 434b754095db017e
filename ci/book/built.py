"""Every link of the built book leads to a page, a file or a heading of it. Takes the book's folder."""

import pathlib
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links and identifiers of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.names = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.names.update(attrs[name] for name in ("id", "name") if attrs.get(name))
        self.links += [attrs[name] for name in ("href", "src") if attrs.get(name)]


def findings(folder):
    """What is wrong with the pages in a folder, a line each."""
    pages = {
        path.resolve(): Page(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.html"))
    }
    for path, page in pages.items():
        # What is shown where a page is missing, and so at any depth, and the frame of the summary.
        if path.name in ("404.html", "toc.html"):
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                yield f"{path.name} links to {link}, which is not in the book"
            elif (
                parts.fragment
                and target in pages
                and unquote(parts.fragment) not in pages[target].names
            ):
                yield f"{path.name} links to {link}, but there is no such heading"


def main():
    found = list(findings(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "every link of the book leads somewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
