"""Checks the tables of docs/data/parity.md, which compare interfaces.

Which version has an item is read from what the replacements export, and an item of a version has to be named in the test
of that version, tests/every_item.rs, or in the one that both have in common; ci/dropin.sh compiles those tests against the
replacements and against the originals. What is said of std, abseil and nsync has to be named in parity/std.rs, abseil.cpp
and nsync.c; with --compile these are compiled and run, and what is said to be unstable is refused by the compiler as such.
With --original, what that root of an original crate exports has to be what the replacement exports.

    parity.py [--compile FOLDER] [--original PACKAGE-VERSION=LIB.RS]...
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent
LIBRARIES = {"std": "std.rs", "abseil": "abseil.cpp", "nsync": "nsync.c"}
VERSIONS = {"parking_lot": ("0.12", "0.13"), "parking_lot_core": ("0.9", "0.10")}
# What the headers of abseil and nsync would have if they had what the page says that both lack, and then each of them.
ABSENT = r"unlock_?fair|handoff|MutexUnlocker|Mapped|Guarded<|FairMutex|fair_mu|Fifo|Reentrant|Recursive|downgrade|upgrad"
ABSENT += r"|call_once_force|once_is_done|IsDone|shared_ptr|SharedLock|template ?<.*class \w*(MutexLock|CondVar)\b"
ABSENT += r"|futex_wait|park|requeue|SpinWait|spin_wait|SpinLoop|acquire_resource|RegisterLock"
HEADERS = {
    "abseil": (["absl/synchronization/*.h", "absl/base/call_once.h"], r"CondVar<|BasicCondVar"),
    "nsync": (["nsync*.h"], r"nsync_mu_r?lock_with|nsync_mu_timed|deadlock"),
}


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


def words(*files):
    """The words of the code of files."""
    return set(re.findall(r"\w+", without_comments("".join((ROOT / file).read_text() for file in files))))


def tested(package, version):
    """The words of the tests that use every item of a version."""
    common = {"parking_lot": "items.rs", "parking_lot_core": "core_items.rs"}[package]
    return words(f"shared/tests/{common}", f"{package}-{version}/tests/every_item.rs")


def table(head):
    """The rows of a table of the page, by the head of its first column: the cells of each."""
    page = (ROOT / "../docs/data/parity.md").read_text()
    lines = page.partition(f"\n| {head} |")[2].split("\n\n")[0].splitlines()[2:]
    return [line.strip("| ").split(" | ") for line in lines]


def names(cell):
    """The names in a cell; none if it has a reason instead, or what is unstable."""
    return [] if cell.startswith(("–", "unstable")) else re.findall(r"`([\w:]+)`", cell)


def versions(package):
    """Complaints about what the table says of a package's versions."""
    rows = table(f"item of {package}")
    all_items = set().union(*(exported(root_of(package, version)) for version in VERSIONS[package]))
    for at, version in enumerate(VERSIONS[package], 1):
        of, items, used = f"{package} {version}", exported(root_of(package, version)), tested(package, version)
        yield from (f"{of}: {name} has no row" for name in items - {name for row in rows for name in names(row[0])})
        yield from (f"{of}: no test uses {name}" for name in items - used)
        for row in rows:
            its = set(names(row[0]))
            # Of methods only the tests tell which version has them.
            have = its & (items if its & all_items else used)
            if have != (its if row[at] == "yes" else set()):
                yield f"{of}: has {sorted(have)} of the row {row[0]}, which says {row[at]}"


def libraries():
    """Names by library, as the tables have them."""
    found = {library: [] for library in LIBRARIES}
    for package in VERSIONS:
        for row in table(f"item of {package}"):
            for library, cell in zip(LIBRARIES, row[3:]):
                found[library] += names(cell)
    for there, _ in table("there"):
        found[there.split()[0]] += names(there)
    return found


def unused():
    """Complaints about names that no program uses, and about headers."""
    for library, its in libraries().items():
        used = words(f"parity/{LIBRARIES[library]}")
        yield from (f"{library}: {it} is not used in parity/{LIBRARIES[library]}" for it in its if last(it) not in used)
    used = words("parking_lot-0.12/tests/beyond.rs")
    yield from (f"{it} is not used in tests/beyond.rs" for _, here in table("there") for it in names(here) if last(it) not in used)
    for library, (patterns, pattern) in HEADERS.items():
        for path in (path for one in patterns for path in pathlib.Path("/usr/include").glob(one)):
            for found in re.finditer(f"{ABSENT}|{pattern}", without_comments(path.read_text()), re.I):
                yield f"{library}: {path} has {found[0]!r}, which the page says that it lacks"


def last(name):
    return name.split("::")[-1]


def differences(original):
    """Complaints about an original, `parking_lot-0.12=.../lib.rs`, that exports more or less than its replacement."""
    name, _, path = original.partition("=")
    theirs, ours = exported(pathlib.Path(path).read_text()), exported(root_of(*name.rsplit("-", 1)))
    return [f"{name}: only the original exports {it}" for it in theirs - ours] + [
        f"{name}: the original does not export {it}" for it in ours - theirs
    ]


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)


def compile_all(folder):
    """Compiles and runs the programs that use what the tables name; the complaints."""
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
    rows = table("item of parking_lot")
    unstable = [it for row in rows if row[3].startswith("unstable") for it in re.findall(r"`([\w:]+)`", row[3])]
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
    parser.add_argument("--compile", type=pathlib.Path, metavar="FOLDER", help="compile the programs into FOLDER")
    parser.add_argument("--original", action="append", default=[], metavar="PACKAGE-VERSION=LIB.RS")
    given = parser.parse_args()
    complaints = [it for package in VERSIONS for it in versions(package)] + list(unused())
    complaints += [it for original in given.original for it in differences(original)]
    if given.compile:
        complaints += compile_all(given.compile)
    print("\n".join(sorted(complaints)) or "the tables are complete")
    sys.exit(bool(complaints))


if __name__ == "__main__":
    main()
