"""Modules of a crate that need each other in a circle.

Siblings, at every depth: a module stands for all that is in it, and an edge is a path in its code (`crate::`,
`super::`, `self::`, or that of a child), followed through re-exports to where the item is. What a parent defines for its
children is no edge, nor is what tests use. The source is read as rustfmt leaves it.

    python3 ci/cycles.py                 every crate
    python3 ci/cycles.py locks/ondeck   one
"""

import graphlib
import pathlib
import re
import sys

IGNORED = re.compile(
    r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\'\\])\'', re.S
)
TESTS = re.compile(r"^( *)#\[cfg\((?:test|all\(test\b[^\]]*)\)\]\n(?:[^\n]*;$|.*?^\1\}$)", re.M | re.S)
USE = re.compile(r"(?<![\w$])(pub(?:\([^)]*\))? )?use ([^;]+);")
PATH = re.compile(r"(?<![\w:])\$?(?:crate|super|self)(?:\s*::\s*\w+)+")


def blank(found):
    """What is left out, as white space with the same lines."""
    return re.sub(r"[^\n]", " ", found[0])


def leaves(tree):
    """The paths of a use tree, each with its name."""
    tree = re.sub(r"\s+", " ", tree)
    while inner := re.search(r"([\w:$]*)\{([^{}]*)\}", tree):
        paths = (inner[1] + part.strip() for part in inner[2].split(",") if part.strip())
        tree = tree[: inner.start()] + ", ".join(paths) + tree[inner.end() :]
    for leaf in tree.split(","):
        path, _, alias = leaf.strip().partition(" as ")
        parts = path.removesuffix("::self").split("::")
        yield parts, alias or parts[-1]


class Crate:
    """The code of each module and the names that it re-exports, by the module's path."""

    def __init__(self, source):
        self.files, self.code, self.renamed, tests = {}, {}, {}, set()
        for file in sorted(source.rglob("*.rs")):
            path = file.relative_to(source).with_suffix("").parts
            path = path[:-1] if path[-1] in ("mod", "lib", "main") else path
            self.files[path], text = file, IGNORED.sub(blank, file.read_text())
            self.code[path] = TESTS.sub(blank, text)
            tests |= {(*path, name) for found in TESTS.finditer(text) for name in re.findall(r"\bmod (\w+);", found[0])}
        for path in tests & self.code.keys():
            del self.code[path]
        for path, text in self.code.items():
            for public, tree in USE.findall(text):
                self.renamed |= {(*path, name): parts for parts, name in leaves(tree) if public and parts != [name]}

    def resolved(self, here, parts, depth=0):
        """The module that a path leads to; none if it is no path of this crate."""
        at, parts = here, list(parts)
        if parts[0].lstrip("$") == "crate":
            at, parts = (), parts[1:]
        elif parts[0] in ("self", "super"):
            while parts and parts[0] in ("self", "super"):
                at = at[:-1] if parts.pop(0) == "super" else at
        elif (*here, parts[0]) not in self.code and (*here, parts[0]) not in self.renamed:
            return None
        while parts and (*at, parts[0]) in self.code:
            at, parts = (*at, parts[0]), parts[1:]
        target = self.renamed.get((*at, *parts[:1]))
        if target and depth < 8:
            return self.resolved(at, target + parts[1:], depth + 1) or at
        return at

    def edges(self):
        """For each parent: from a child to a child, with the first place that says so."""
        graphs = {}
        for path, text in self.code.items():
            found = [(use.start(), parts) for use in USE.finditer(text) if not use[1] for parts, _ in leaves(use[2])]
            found += [(one.start(), re.sub(r"\s", "", one[0]).split("::")) for one in PATH.finditer(text)]
            for start, parts in found:
                target = self.resolved(path, parts) or ()
                depth = next((at for at, (one, other) in enumerate(zip(path, target)) if one != other), None)
                if depth is not None:
                    place = f"{self.files[path]}:{1 + text.count(chr(10), 0, start)}"
                    graph = graphs.setdefault(path[:depth], {})
                    graph.setdefault(path[depth], {}).setdefault(target[depth], place)
        return graphs


def check(folder):
    """What is wrong with a crate, in lines."""
    for parent, graph in sorted(Crate(folder / "src").edges().items()):
        try:
            graphlib.TopologicalSorter(graph).prepare()
        except graphlib.CycleError as error:
            way = error.args[1][::-1]
            yield f"{'::'.join((folder.name, *parent))}: a circle of {len(way) - 1}"
            yield from (f"  {one} needs {other}: {graph[one][other]}" for one, other in zip(way, way[1:]))


if __name__ == "__main__":
    folders = sys.argv[1:] or sorted(path.parent for path in pathlib.Path(__file__).parent.parent.glob("*/*/src"))
    lines = [line for folder in folders for line in check(pathlib.Path(folder))]
    sys.exit("\n".join(lines) or None)
