"""Modules of a crate that need each other in a circle.

Siblings, at every depth: a module stands for all that is in it, and an edge is a path in its code (`crate::`,
`super::`, `self::`), followed through re-exports to where the item is. What a parent defines for its children is
no edge, nor is what tests use.

    python3 ci/cycles.py                 every crate
    python3 ci/cycles.py crates/ondeck   one
"""

import re
import sys
from pathlib import Path


def stripped(text):
    """The code: comments and literals blanked out, so that lines stay where they are."""
    token = re.compile(
        r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\'\\])\'', re.S
    )
    return token.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def block_end(text, start):
    """Behind the brace that closes the one at `start`."""
    depth = 0
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    return len(text)


def without_tests(text):
    """The code without items under `#[cfg(test)]`, and the files of such modules."""
    files = set()
    while found := re.search(r"#\[cfg\((?:test|all\(test\b[^\]]*)\)\]", text):
        end = re.compile(r"[;{]").search(text, found.end())
        stop = len(text) if end is None else end.end()
        if end and end.group() == "{":
            stop = block_end(text, end.start())
        files.update(re.findall(r"\bmod\s+(\w+)\s*;", text[found.start() : stop]))
        text = text[: found.start()] + re.sub(r"[^\n]", " ", text[found.start() : stop]) + text[stop:]
    return text, files


class Module:
    def __init__(self, name, path, text):
        self.name, self.path, self.text = name, path, text
        self.children = {}
        self.renamed = {}


def load(file, name, folder):
    """The module of a file, and those below it."""
    text, tests = without_tests(stripped(file.read_text()))
    module = Module(name, file, text)
    # A list of modules may be in a macro, so that what lies in the folder is asked.
    if folder.is_dir():
        for path in sorted(folder.iterdir()):
            child = path.stem if path.is_file() else path.name
            if path.suffix not in ("", ".rs") or child in ("mod", "lib", "main") or child in tests:
                continue
            own = folder / f"{child}.rs"
            own = own if own.exists() else folder / child / "mod.rs"
            if own.exists():
                module.children[child] = load(own, f"{name}::{child}", folder / child)
    return module


def leaves(tree):
    """The paths of a use tree, with the name that each is given."""
    tree = tree.strip()
    brace = tree.find("{")
    if brace < 0:
        path, _, alias = re.sub(r"\s+", " ", tree).partition(" as ")
        parts = [part.strip() for part in path.split("::") if part.strip()]
        if parts and parts[-1] == "self" and len(parts) > 1:
            parts.pop()
        return [(parts, alias.strip() or (parts[-1] if parts else ""))]
    before, inside = tree[:brace], tree[brace + 1 : tree.rfind("}")]
    found, depth, start = [], 0, 0
    for place, letter in enumerate(inside + ","):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            part = inside[start:place].strip()
            start = place + 1
            if part == "self":
                part = ""
            for parts, name in leaves(part):
                head = [word.strip() for word in before.split("::") if word.strip()]
                found.append((head + parts, name or head[-1]))
    return found


USE = re.compile(r"(?<![\w$])use\s+([^;]+);", re.S)
PATH = re.compile(r"(?<![\w:])\$?(?:crate|super|self)(?:\s*::\s*\w+)+")


def resolved(root, parents, parts, depth=0):
    """The module that a path leads to, as a list from the root; None if it is no path of this crate."""
    here = list(parents)
    parts = list(parts)
    if parts[0] in ("crate", "$crate"):
        here, parts = [root], parts[1:]
    elif parts[0] in ("self", "super"):
        while parts and parts[0] in ("self", "super"):
            if parts.pop(0) == "super":
                here.pop()
            if not here:
                return None
    elif parts[0] not in here[-1].children and parts[0] not in here[-1].renamed:
        return None
    while parts:
        child = here[-1].children.get(parts[0])
        if child is not None:
            here.append(child)
            parts.pop(0)
            continue
        target = here[-1].renamed.get(parts[0])
        if target is not None and depth < 8:
            return resolved(root, here, target + parts[1:], depth + 1) or here
        break
    return here


def every(module, parents=()):
    parents = [*parents, module]
    yield parents
    for child in module.children.values():
        yield from every(child, parents)


def edges(root):
    """For each parent: from a child to a child, with the first place that says so."""
    for parents in every(root):
        for found in re.finditer(r"\bpub(?:\([^)]*\))?\s+use\s+([^;]+);", parents[-1].text, re.S):
            for parts, name in leaves(found.group(1)):
                if parts and name not in parents[-1].children and parts != [name]:
                    parents[-1].renamed[name] = parts
    graphs = {}
    for parents in every(root):
        text = parents[-1].text
        paths = []
        for found in USE.finditer(text):
            if not re.search(r"\bpub(\([^)]*\))?\s+$", text[: found.start()]):
                paths += [(found.start(), parts) for parts, _ in leaves(found.group(1)) if parts]
        paths += [
            (found.start(), [part.strip() for part in found.group().lstrip("$").split("::")])
            for found in PATH.finditer(text)
        ]
        for start, parts in paths:
            target = resolved(root, parents, parts)
            if target is None:
                continue
            for depth, (one, other) in enumerate(zip(parents[1:], target[1:])):
                if one is not other:
                    graph = graphs.setdefault(parents[depth].name, {})
                    line = text.count("\n", 0, start) + 1
                    place = f"{parents[-1].path}:{line}"
                    graph.setdefault(one.name, {}).setdefault(other.name, place)
                    break
    return graphs


def circle(graph):
    """The shortest way from a module back to itself; none if there is no circle."""
    best = None
    for start in graph:
        ways, seen = [[start]], {start}
        while ways:
            way = ways.pop(0)
            for other in graph.get(way[-1], {}):
                if other == start and (best is None or len(way) < len(best)):
                    best = way
                if other not in seen:
                    seen.add(other)
                    ways.append([*way, other])
    return best


def check(crate):
    """What is wrong with a crate, in lines."""
    source = Path(crate) / "src"
    entry = next(file for file in (source / "lib.rs", source / "main.rs") if file.exists())
    root = load(entry, Path(crate).name, source)
    lines = []
    for parent, graph in sorted(edges(root).items()):
        way = circle(graph)
        if way:
            lines.append(f"{parent}: a circle of {len(way)}")
            for one, other in zip(way, [*way[1:], way[0]]):
                lines.append(f"  {one} needs {other}: {graph[one][other]}")
    return lines


def main(crates):
    lines = [line for crate in crates for line in check(crate)]
    for line in lines:
        print(line)
    return 1 if lines else 0


if __name__ == "__main__":
    folder = Path(__file__).parent.parent / "crates"
    sys.exit(main(sys.argv[1:] or sorted(folder.iterdir())))
