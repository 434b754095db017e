"""Writes the tables of docs/data/parity.md that compare interfaces; --check writes nothing, and complains instead.

The rows are in parity/rows.toml. Which version has an item is read from what the replacements export, and an item of a
version has to be named in the test of that version, tests/every_item.rs, or in the one that both have in common;
ci/dropin.sh compiles those tests against the replacements and against the originals. What is said of std, abseil and
nsync has to be named in parity/std.rs, abseil.cpp and nsync.c; with --compile these are compiled and run, and what is
said to be unstable is refused by the compiler as such. With --original, what that root of an original crate exports
has to be what the replacement exports.

    parity.py [--check] [--compile FOLDER] [--original PACKAGE-VERSION=LIB.RS]...
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent
PAGE = ROOT / "../docs/data/parity.md"
LIBRARIES = {"std": "std.rs", "abseil": "abseil.cpp", "nsync": "nsync.c"}
HEADERS = {
    "abseil": ["absl/synchronization/*.h", "absl/base/call_once.h"],
    "nsync": ["nsync*.h"],
}
VERSIONS = {"parity": ("parking_lot", ("0.12", "0.13")), "core": ("parking_lot_core", ("0.9", "0.10"))}


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


def root_of(package, version):
    """A replacement's root, and what that includes."""
    if package == "parking_lot_core":
        return (ROOT / "shared/core/lib.rs").read_text()
    return "".join(path.read_text() for path in (ROOT / f"{package}-{version}/src/lib.rs", ROOT / "shared/common.rs"))


def exported(text):
    """The names that the root of a crate exports."""
    names = set(re.findall(r"^pub mod (\w+);", text, re.M))
    for used in re.findall(r"^pub use ([^;]*);", text, re.M):
        inner = re.search(r"\{(.*)\}", used, re.S)
        names.update(re.findall(r"\w+", inner[1]) if inner else [used.split("::")[-1].strip()])
    return names


def tested(package, version):
    """The words of the tests that use every item of a version."""
    common = {"parking_lot": "items.rs", "parking_lot_core": "core_items.rs"}[package]
    files = (ROOT / "shared/tests" / common, ROOT / f"{package}-{version}/tests/every_item.rs")
    return set(re.findall(r"\w+", without_comments("".join(path.read_text() for path in files))))


def last(name):
    return name.split("::")[-1]


class Tables:
    def __init__(self):
        self.rows = tomllib.loads((ROOT / "parity/rows.toml").read_text())
        self.complaints = []
        self.used = {
            library: set(re.findall(r"\w+", without_comments((ROOT / "parity" / file).read_text())))
            for library, file in LIBRARIES.items()
        }
        self.unstable = []

    def versions(self, table):
        """The cells of each row that say which version has its items. Complains of items without a row or a test."""
        package, versions = VERSIONS[table]
        cells = [[] for _ in self.rows[table]]
        for version in versions:
            items, words = exported(root_of(package, version)), tested(package, version)
            of = f"{package} {version}"
            listed = {name for row in self.rows[table] for name in row.get("items", [])}
            self.complaints += [f"{of}: {name} has no row in parity/rows.toml" for name in items - listed]
            self.complaints += [f"{of}: no test uses {name}" for name in items - words]
            for row, cell in zip(self.rows[table], cells):
                names = set(row.get("items", row.get("methods")))
                have = names & (items if "items" in row else words)
                if have and have != names:
                    self.complaints.append(f"{of}: has {sorted(have)} and not {sorted(names - have)}, of one row")
                cell.append("yes" if have else "–")
        for row, cell in zip(self.rows[table], cells):
            if "yes" not in cell:
                self.complaints.append(f"{package}: no version has {row.get('items', row.get('methods'))}")
        return cells

    def names(self, library, names):
        self.complaints += [
            f"{library}: {name} is not used in parity/{LIBRARIES[library]}"
            for name in names
            if last(name) not in self.used[library]
        ]
        return ", ".join(f"`{name}`" for name in names)

    def cell(self, row, library):
        """What a library has in place of a row's items, or why it has nothing."""
        value = row[library]
        if isinstance(value, list):
            return self.names(library, value)
        if isinstance(value, dict):
            self.unstable += value["unstable"]
            return "unstable: " + ", ".join(f"`{name}`" for name in value["unstable"])
        if library in HEADERS and (found := re.search(row["absent"], headers(library), re.I)):
            self.complaints.append(f"{library}: its headers have {found[0]!r}, but a row says: {value}")
        return f"– ({value})"

    def interface(self, table):
        package, versions = VERSIONS[table]
        lines = [f"| item of {package} | {' | '.join(versions)} | std | abseil | nsync |", "|---|---|---|---|---|---|"]
        for row, have in zip(self.rows[table], self.versions(table)):
            names = ", ".join(f"`{it}`" for it in row.get("items", row.get("methods")))
            cells = [names, *have, *(self.cell(row, library) for library in LIBRARIES)]
            lines.append(f"| {' | '.join(cells)} |")
        return lines

    def beyond(self):
        text = (ROOT / "parking_lot-0.12/tests/beyond.rs").read_text()
        words = set(re.findall(r"\w+", without_comments(text)))
        lines = ["| there | here |", "|---|---|"]
        for row in self.rows["beyond"]:
            here = row["here"]
            if isinstance(here, list):
                self.complaints += [
                    f"here: {it} is not used in tests/beyond.rs" for it in here if last(it) not in words
                ]
                here = ", ".join(f"`{it}`" for it in here)
            lines.append(f"| {row['there']} {self.names(row['there'], row['names'])} | {here} |")
        return lines

    def all(self):
        return {name: self.interface(name) for name in VERSIONS} | {"beyond": self.beyond()}


def headers(library):
    """A library's public headers without their comments; nothing where it is not installed."""
    paths = (path for pattern in HEADERS[library] for path in pathlib.Path("/usr/include").glob(pattern))
    return without_comments("".join(path.read_text() for path in paths))


def with_tables(text, tables):
    """The page with its tables, each between two comments that name it."""
    for name, lines in tables.items():
        pattern = re.compile(rf"(<!-- {name}: begin -->\n).*?(<!-- {name}: end -->\n)", re.S)
        if not pattern.search(text):
            sys.exit(f"docs/data/parity.md lacks the comments `<!-- {name}: begin -->` and `<!-- {name}: end -->`")
        text = pattern.sub(lambda found: "\n".join([found[1], *lines, "", found[2]]), text)
    return text


def differences(original):
    """Complaints about an original, `parking_lot-0.12=.../lib.rs`, that exports more or less than its replacement."""
    name, _, path = original.partition("=")
    theirs, ours = exported(pathlib.Path(path).read_text()), exported(root_of(*name.rsplit("-", 1)))
    return [f"{name}: only the original exports {it}" for it in theirs - ours] + [
        f"{name}: the original does not export {it}" for it in ours - theirs
    ]


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)


def compile_all(folder, unstable):
    """Compiles and runs the programs that use what rows.toml names; the complaints."""
    folder.mkdir(parents=True, exist_ok=True)
    strict = ["-Wall", "-Wextra", "-Werror", "-pthread"]
    parity = ROOT / "parity"
    flags = run("pkg-config", "--cflags", "--libs", "absl_synchronization", "absl_time").stdout.split()
    commands = {
        "std": ["rustc", "-D", "warnings", "--edition", "2024", "--test", parity / "std.rs", "-o", folder / "std"],
        "abseil": ["g++", "-std=c++17", *strict, parity / "abseil.cpp", *flags, "-o", folder / "abseil"],
        "nsync": ["gcc", "-std=c11", *strict, parity / "nsync.c", "-lnsync", "-o", folder / "nsync"],
    }
    complaints = []
    for library, command in commands.items():
        for step in (command, [folder / library]):
            done = run(*step)
            if done.returncode:
                complaints.append(f"parity/{LIBRARIES[library]}: ends with {done.returncode}\n{done.stderr}{done.stdout}")
                break
    uses = folder / "unstable.rs"
    uses.write_text("".join(f"use std::{name};\n" for name in unstable) + "fn main() {}\n")
    said = run("rustc", "--edition", "2024", "--error-format=short", "--out-dir", folder, uses).stderr
    refused = set(re.findall(r"unstable\.rs:(\d+):\d+: error\[E0658\]", said))
    complaints += [
        f"std: {name} is not refused as unstable" for line, name in enumerate(unstable, 1) if str(line) not in refused
    ]
    return complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; complain if the page has other tables")
    parser.add_argument("--compile", type=pathlib.Path, metavar="FOLDER", help="compile the programs into FOLDER")
    parser.add_argument("--original", action="append", default=[], metavar="PACKAGE-VERSION=LIB.RS")
    given = parser.parse_args()
    tables = Tables()
    text = PAGE.read_text()
    new = with_tables(text, tables.all())
    complaints = tables.complaints + [it for original in given.original for it in differences(original)]
    if given.compile:
        complaints += compile_all(given.compile, tables.unstable)
    if not given.check:
        PAGE.write_text(new)
    elif new != text:
        complaints.append("the tables of docs/data/parity.md are not those of parity/rows.toml: run drop-in/parity.py")
    print("\n".join(sorted(complaints)) or "the tables are complete")
    sys.exit(bool(complaints))


if __name__ == "__main__":
    main()
