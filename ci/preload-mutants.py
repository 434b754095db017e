"""Puts each mistake of crates/ondeck-preload/tests/mutants into a copy of the project, and sees whether it is caught.

    preload-mutants.py [NAME...]

A file there says `hazard`, what goes wrong, in a sentence; `caught_by`, a conformance program or `symbols`; and edits:
each a `file`, a text `find` that is in it once, and the text `replace` that takes its place. The copy must build, and
what `caught_by` names must fail; without a mistake it must pass. Prints a line for each. Ends with 1 if one survives.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import time
import tomllib

FOLDER = pathlib.Path("crates/ondeck-preload/tests/mutants")
PROGRAMS = pathlib.Path("crates/ondeck-preload/tests/conformance")
# A program that hangs under a mistake is ended after so many seconds; without one the longest takes 20.
LIMIT = "60"


def load(name):
    table = tomllib.loads((FOLDER / f"{name}.toml").read_text())
    if set(table) != {"hazard", "caught_by", "edit"} or not table["hazard"].endswith("."):
        sys.exit(f"{name}: a file has `hazard`, a sentence, `caught_by` and edits, and nothing else")
    if table["caught_by"] != "symbols" and not list(PROGRAMS.glob(f"{table['caught_by']}.c*")):
        sys.exit(f"{name}: there is no conformance program {table['caught_by']}")
    return table


def changed(name, table):
    """The text of each file that the mistake changes."""
    texts = {}
    for edit in table["edit"]:
        path = edit["file"]
        text = texts.setdefault(path, pathlib.Path(path).read_text())
        if text.count(edit["find"]) != 1:
            sys.exit(f"{name}: {path} has this {text.count(edit['find'])} times, and not once:\n{edit['find']}")
        texts[path] = text.replace(edit["find"], edit["replace"])
    return texts


def run(tree, environment, command):
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)


def check(tree, environment, shim, what):
    """Whether the shim passes, and what was printed."""
    if what == "symbols":
        done = run(tree, environment, ["python3", "ci/preload-symbols.py", shim])
    else:
        done = run(tree, environment, [PROGRAMS / "run.sh", "--preload", shim, what])
    return done.returncode == 0, done.stdout + done.stderr


def main():
    names = sys.argv[1:] or sorted(path.stem for path in FOLDER.glob("*.toml"))
    tables = {name: load(name) for name in names}
    texts = {name: changed(name, table) for name, table in tables.items()}
    work = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target")).absolute() / "preload-mutants"
    tree = work / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    files = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True, capture_output=True, text=True
    ).stdout
    for file in filter(None, files.split("\0")):
        if pathlib.Path(file).exists():
            (tree / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, tree / file, follow_symlinks=False)
    environment = os.environ | {"CARGO_TARGET_DIR": str(work), "CONFORM_LIMIT": LIMIT}
    shim = str(work / "native/lib/libondeck_preload.so")
    link = ["crates/ondeck-preload/link.sh"]
    bad = 0

    done = run(tree, environment, link)
    if done.returncode:
        sys.exit(f"the shim does not build without a mistake:\n{done.stderr}")
    for what in sorted({table["caught_by"] for table in tables.values()}):
        passes, text = check(tree, environment, shim, what)
        print(f"{'without a mistake':36} {'passes' if passes else 'FAILS':16} {what}", flush=True)
        if not passes:
            print(text)
            bad = 1
    for name, table in tables.items():
        start = time.monotonic()
        for file, text in texts[name].items():
            (tree / file).write_text(text)
        done = run(tree, environment, link)
        if done.returncode:
            result = "DOES NOT COMPILE"
            print(done.stderr)
        else:
            passes, _ = check(tree, environment, shim, table["caught_by"])
            result = "SURVIVES" if passes else "caught"
        bad |= result != "caught"
        for file in texts[name]:
            shutil.copy(file, tree / file)
        print(f"{name:36} {result:16} {table['caught_by']}, {time.monotonic() - start:.0f} s", flush=True)
    sys.exit(bad)


if __name__ == "__main__":
    main()
