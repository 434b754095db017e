"""Runs every command of README.md and of the user's book, as a reader who copies them does; `ci/also.sh commands`.

    commands.py [PAGE...]     the pages, else all of them

A command is one of a block that is marked `sh`. A page's commands are one script: those of the project run in its root,
those of a package in a package beside it, the others in a folder with the programs that pages name. What is not run as
it stands is in CHANGES, with the reason. Run from the project's root. The command is installed into a home of its own, by
the command of README.md.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from pages import SUMMARY, links, resolve

# By page: a piece of a command, what is run instead, and why. Without a replacement the command is left out.
CHANGES = {
    "README.md": [("who PID", "who $$", "a process that runs")],
    "docs/advise.md": [("./program;", "./orders;", "the same program by another name")],
    "docs/compare.md": [
        ("--rounds 10 --json", "--rounds 10 -l std,ondeck -d 5ms --json", "nine minutes"),
    ],
    "docs/preload.md": [("redis-server", "$PROGRAMS/orders", "a program that ends")],
    "docs/profile.md": [("bpftrace -p", None, "needs the kernel's tracing")],
    "docs/run.md": [
        ("attach $! ", "attach $! --for 1s ", "instead of Ctrl-C"),
        ("4711 --for 30s", "$! --for 1s", "the server that runs"),
    ],
    "docs/who.md": [("who 4711", "who $$", "a process that runs")],
}

# Before a page's commands, in the folder with the programs.
BEFORE = {
    "docs/deadlock.md": "(cd ../ondeck && cargo build -q -p locks --features deadlock_detection --example deadlock)\n"
    "cp \"$CARGO_TARGET_DIR/debug/examples/deadlock\" program",
    "docs/json.md": "ondeck bench -l std -w throughput -r 1 -d 5ms --json r.json",
    "docs/profile.md": "ondeck run --profile p.jsonl -- ./orders",
}

# Where a command is run, by its first words: the project's root, the package beside it. Others: with the programs.
IN_ROOT = re.compile(r"cargo run|cargo build|cargo test|packaging/|locks/|tools/|examples/|target/|c(c|\+\+) .* locks/|tools/|LD_PRELOAD=\$PWD")
IN_PACKAGE = re.compile(r"cargo (add|tree|update)")

# An exit code of 1 says that something was not measured or is worse, or that no lock is better than the others.
MAY_END_WITH_1 = re.compile(r"(ondeck|--) (bench|advise|compare)")


def blocks(text):
    """The blocks of a page that are marked `sh`."""
    return [block[1] for block in re.finditer(r"^```sh\n(.*?)^```$", text, flags=re.M | re.S)]


def commands(block):
    """The commands of a block: lines that the shell takes as a whole."""
    command = ""
    for line in block.splitlines(keepends=True):
        command += line
        whole = not line.endswith("\\\n") and subprocess.run(
            ["bash", "-n"], input=command, text=True, capture_output=True, check=False
        ).returncode == 0
        if whole:
            if command.strip() and not re.fullmatch(r"\s*#.*\s*", command):
                yield command
            command = ""
    if command:
        raise ValueError(f"no whole command: {command}")


def changed(page, command, used):
    """What is run for a command, or none; `used` collects the changes that apply."""
    for change in CHANGES.get(page, []):
        piece, instead, _ = change
        if piece in command:
            used.add(change)
            if instead is None:
                return None
            command = command.replace(piece, instead)
    return command


def script(page, text):
    """The script of a page's commands, and what is left out of it."""
    used, left_out = set(), []
    lines = [BEFORE.get(page, "")]
    for block in blocks(text):
        for command in commands(block):
            run = changed(page, command, used)
            if run is None:
                left_out.append(command.strip().splitlines()[0])
                continue
            where = "$ROOT" if IN_ROOT.match(run) else "$PACKAGE" if IN_PACKAGE.match(run) else "$PROGRAMS"
            lines.append(f'cd "{where}"; echo; echo {shlex.quote("$ " + run.strip())}')
            if "attach $!" in run:
                lines.append("sleep 1 # as long as it takes to type the next")
            lines.append(run.rstrip("\n"))
            if MAY_END_WITH_1.search(run):
                lines[-1] = f"{{ {lines[-1]}\n}} || [ $? -eq 1 ]"
    for change in CHANGES.get(page, []):
        if change not in used:
            raise ValueError(f"{page} has no command with {change[0]!r}")
    return "set -euo pipefail\n" + "\n".join(lines) + "\n", left_out


def users_book():
    """The README, and the pages of the user's book."""
    summary = pathlib.Path(SUMMARY).read_text(encoding="utf-8")
    book = summary.split("# The user's book")[1].split("# The engineer's book")[0]
    pages = ["README.md"] + [resolve(SUMMARY, target)[0] for target in links(book)]
    return [page for page in pages if page.endswith(".md") and blocks(pathlib.Path(page).read_text(encoding="utf-8"))]


def prepare(place):
    """A home, a package and a folder of programs beside a link to the project: the environment of all commands.

    They are outside of the project: cargo would make the package a member of its workspace."""
    programs, package, home = place / "programs", place / "mine", place / "home"
    for folder in (programs, home):
        folder.mkdir(parents=True)
    root = pathlib.Path.cwd()
    (place / "ondeck").symlink_to(root)
    (programs / "docs").symlink_to(root / "docs")
    environment = dict(os.environ)
    # What the other home has of cargo and rustup.
    for variable, folder in (("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")):
        environment.setdefault(variable, str(pathlib.Path.home() / folder))
    environment.update(
        HOME=str(home), ROOT=str(root), PACKAGE=str(package), PROGRAMS=str(programs),
        CARGO_TARGET_DIR=os.environ.get("CARGO_TARGET_DIR", str(root / "target")),
        PATH=f"{home}/.local/bin:{os.environ['PATH']}",
    )
    subprocess.run(["cargo", "new", "-q", "--vcs", "none", str(package)], check=True, env=environment)
    with open(package / "Cargo.toml", "a", encoding="utf-8") as manifest:
        manifest.write('parking_lot = "0.12"\n')
        patch = re.search(r"```toml\n(\[patch.*?)```", (root / "docs/drop-in.md").read_text(), flags=re.S)[1]
        manifest.write("\n" + patch.replace('"ondeck/', '"../ondeck/'))
    compile_c = ["cc", "-O1", "-g", "-pthread", str(root / "ci/package/hot_lock.c"), "-o"]
    subprocess.run([*compile_c, str(programs / "orders")], check=True)
    shutil.copy(programs / "orders", programs / "app")
    page = (root / "docs/c.md").read_text(encoding="utf-8")
    for language, suffix in (("c", "c"), ("cpp", "cpp")):
        example = re.search(rf"^```{language}\n(.*?)^```$", page, flags=re.M | re.S)[1]
        (programs / f"program.{suffix}").write_text(example, encoding="utf-8")
    executable(programs / "server", "#!/bin/sh\nfor _ in 1 2 3 4 5 6 7 8 9 10; do ./orders; done\n")
    return environment


def executable(path, text):
    path.write_text(text)
    path.chmod(0o755)


def main(pages):
    with tempfile.TemporaryDirectory() as place:
        return run(pages or users_book(), prepare(pathlib.Path(place)))


def run(pages, environment):
    """Runs the commands of pages; 1 if one has failed."""
    install = ["packaging/install.sh", "--prefix", environment["HOME"] + "/.local"]
    subprocess.run(install, check=True, env=environment)
    wrong = []
    for page in pages:
        text, left_out = script(page, pathlib.Path(page).read_text(encoding="utf-8"))
        print(f"\n== {page}", *(f"left out: {command}" for command in left_out), sep="\n", flush=True)
        ended = subprocess.run(["bash", "-c", text], env=environment, cwd=environment["PROGRAMS"], check=False)
        if ended.returncode:
            wrong.append(f"{page}: its last command ended with {ended.returncode}")
    print("\n".join(wrong) or "every command that is not left out works")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
