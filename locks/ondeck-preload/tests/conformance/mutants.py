#!/usr/bin/env python3
"""Puts each mistake of mutants.toml into a copy of the project, builds the shim, and runs the program that is to
catch it.

    mutants.py                  all of them; 10 minutes
    mutants.py NAME...          some
    mutants.py --list           their names, programs and sentences
    mutants.py --check          whether all of them have their places in the source; builds nothing

A mutant is caught if the program fails or hangs under the shim that has it, and passes under the shim without and
with plain glibc. A mutant is an edit: a file of locks/ondeck-preload, a text that is there once, and another one for
it. `also` has further edits. The program `symbols` is symbols.py.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parents[3]
CRATE = pathlib.PurePath("locks/ondeck-preload")
# A program that has not ended after this many seconds hangs. Without a mutant each takes a few, on a machine that is not
# busy with much else.
LIMIT = os.environ.get("CONFORM_LIMIT", "120")


class DoesNotApply(Exception):
    """The text is not there, or not once."""


def edits(mutant):
    return [(mutant["file"], mutant["find"], mutant["replace"]), *mutant.get("also", [])]


def apply(mutant, root):
    """The changed files, by path."""
    changed = {}
    for file, find, replace in edits(mutant):
        path = (root / CRATE / file).resolve()
        text = changed.get(path) or path.read_text()
        if text.count(find) != 1:
            raise DoesNotApply(f"{mutant['name']}: {file} has {text.count(find)} times: {find.strip().splitlines()[0]}")
        changed[path] = text.replace(find, replace)
    return changed


def run(command, tree, log):
    with log.open("w") as output:
        return subprocess.run(command, cwd=tree, stdout=output, stderr=subprocess.STDOUT, check=False).returncode


def build(tree, target):
    return run(["bash", str(CRATE / "link.sh")], tree, target / "build.log") == 0


def conforms(program, tree, target):
    folder = CRATE / "tests/conformance"
    shim = target / "native/lib/libondeck_preload.so"
    if program == "symbols":
        return run(["python3", str(CRATE / "symbols.py"), str(shim)], tree, target / "run.log") == 0
    return run(["bash", str(folder / "run.sh"), "--alone", "--preload", str(shim), program], tree, target / "run.log") == 0


def reason(target):
    """The first two lines of what the runner had to say."""
    lines = [line for line in (target / "run.log").read_text().splitlines() if "FAILED" in line or "/tests/" in line]
    return " | ".join(line.rpartition("/")[2][:70] for line in lines[:2])


def copy(tree):
    shutil.rmtree(tree, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=PROJECT, check=True, capture_output=True
    )
    for name in listed.stdout.decode().split("\0"):
        source = PROJECT / name
        if name and source.is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, tree / name)


def try_all(mutants):
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", PROJECT / "target")).resolve() / "preload-mutants"
    target.mkdir(parents=True, exist_ok=True)
    tree = target / "tree"
    copy(tree)
    os.environ |= {"CARGO_TARGET_DIR": str(target), "CONFORM_LIMIT": LIMIT}
    if not build(tree, target):
        sys.exit(f"the shim does not build: {target / 'build.log'}")
    for program in sorted({mutant["program"] for mutant in mutants}):
        print(f"without a mutant: {program}", flush=True)
        if not conforms(program, tree, target):
            sys.exit(f"{program} fails without a mutant: {target / 'run.log'}")
    survived = []
    for mutant in mutants:
        changed = apply(mutant, tree)
        before = {path: path.read_text() for path in changed}
        for path, text in changed.items():
            path.write_text(text)
        if not build(tree, target):
            result = "DOES NOT BUILD"
            print((target / "build.log").read_text()[-2000:])
        elif conforms(mutant["program"], tree, target):
            result = "SURVIVES"
        elif f"FAILED {mutant['program']}.plain:" in (target / "run.log").read_text():
            result = "PLAIN FAILS"
        else:
            result = "caught"
        for path, text in before.items():
            path.write_text(text)
        print(f"{mutant['name']:34} {result:14} {mutant['program']:14} {reason(target)}", flush=True)
        if result != "caught":
            survived.append(mutant["name"])
    if survived:
        sys.exit(f"not caught: {', '.join(survived)}")
    print(f"{len(mutants)} mutants, all caught")


def main(arguments):
    mutants = tomllib.loads((HERE / "mutants.toml").read_text())["mutant"]
    names = [argument for argument in arguments if not argument.startswith("-")]
    unknown = set(names) - {mutant["name"] for mutant in mutants}
    if unknown:
        sys.exit(f"mutants.py: no mutant {', '.join(sorted(unknown))}; see --list")
    mutants = [mutant for mutant in mutants if not names or mutant["name"] in names]
    options = [argument for argument in arguments if argument.startswith("-")]
    if options == ["--list"]:
        for mutant in mutants:
            print(f"{mutant['name']:34} {mutant['program']:14} {mutant['mistake']}")
    elif options == ["--check"]:
        for mutant in mutants:
            apply(mutant, PROJECT)
    elif options:
        sys.exit(f"mutants.py: no option {' '.join(options)}; there are --list and --check")
    else:
        try_all(mutants)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except DoesNotApply as wrong:
        sys.exit(str(wrong))
