"""Mutations that are not thought of one by one: each small change of the locks' source, and the test that notices it.

    drawn.py list                    all, in the order in which they are tried
    drawn.py run [--seconds N]       tries those that have no verdict yet

Both: --seed N draws another order, --shard K/N takes a part, --file TEXT takes the files with that in their paths.
The order is drawn, so that each beginning of it is a sample.

The changes of operators, conditions and results are those of cargo-mutants. This script adds what it has not: a weaker
ordering, and a statement that is left out.

It runs in a copy of the project, which it changes. A verdict is a line of --verdicts, written at once, so that a run may
be ended at any time and goes on where it was: a hash of the file without the mutation, file, line, change, verdict,
what noticed it, and after how many seconds, with tabs in between.
"""

import argparse
import collections
import dataclasses
import hashlib
import json
import pathlib
import random
import re
import subprocess
import sys
import time
import tomllib

from rust import Source

# The test binaries in their order, and the CPU seconds that each may use. A lock with tests of its own is tested by
# these; what all locks are made of, by all.
BINARIES = (("hooked", 60), ("loom", 600), ("lib", 60), ("api", 120))
ALONE = ("barrier", "biased", "combining", "event", "fair", "ipc", "latch", "once", "parker", "pi")
ALONE += ("rwlock", "semaphore")
# What orders less. A weakened ordering of one that is both is two mutations.
WEAKER = {
    "Acquire": ["Relaxed"],
    "Release": ["Relaxed"],
    "AcqRel": ["Acquire", "Release"],
    "SeqCst": ["AcqRel"],
}
# What a statement that can be left out does not begin with.
KEPT = {"let", "return", "break", "continue", "use", "const", "static", "type", "debug_assert", "assert"}


@dataclasses.dataclass(frozen=True)
class Mutation:
    file: str
    start: int
    end: int
    replacement: str
    # The line that it is in, so that it keeps its name when lines are added above.
    line: str
    change: str

    @property
    def name(self):
        return f"{self.file} | {self.line} | {self.change}"

    def applied(self, text):
        return text[: self.start] + self.replacement + text[self.end :]


def line_around(text, place):
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    return text[start : None if end < 0 else end].strip()


def place(text, at):
    """Of a line and a column, both from 1."""
    lines = text.split("\n")
    return sum(len(line) + 1 for line in lines[: at["line"] - 1]) + at["column"] - 1


def of_cargo_mutants(texts):
    """What cargo-mutants lists of these files."""
    command = ["cargo", "mutants", "--list", "--json"]
    listed = subprocess.run(command, capture_output=True, check=True, text=True)
    for each in json.loads(listed.stdout):
        text = texts[each["file"]]
        start, end = place(text, each["span"]["start"]), place(text, each["span"]["end"])
        change = re.sub(r"^.*?:\d+:\d+: ", "", each["name"])
        line = line_around(text, start)
        yield Mutation(each["file"], start, end, each["replacement"], line, change)


def of_this_script(file, text):
    """Weaker orderings, and statements that are left out."""
    source = Source(text)
    words, tokens = source.words, source.tokens
    tests = text.find("#[cfg(test)]")
    for at, word in enumerate(words):
        token = tokens[at]
        if 0 <= tests < token.start:
            return
        line = line_around(text, token.start)
        if word in WEAKER and words[at - 2 : at] == ["Ordering", "::"]:
            for weaker in WEAKER[word]:
                yield Mutation(file, token.start, token.end, weaker, line, f"{word} becomes {weaker}")
        if at and words[at - 1] in ("{", "}", ";") and (end := statement(source, at)):
            last = tokens[end].end
            # A statement of several lines: the first has to do for a name.
            yield Mutation(file, token.start, last, "", line, "left out")


def statement(source, at):
    """The semicolon of the statement that begins with this token in a function; None if it is to be kept."""
    words = source.words
    if not re.match(r"[^\W\d]", words[at]) or words[at] in KEPT:
        return None
    if not source.function_around(source.tokens[at].start):
        return None
    calls = False
    while at < len(words) and words[at] not in ("{", "}", "=>"):
        if words[at] == ";":
            return at if calls else None
        calls |= words[at] == "(" or words[at] == "="
        at = source.partners.get(at, at) + 1
    return None


def all_mutations():
    globs = tomllib.loads(pathlib.Path(".cargo/mutants.toml").read_text())["examine_globs"]
    texts = {str(path): path.read_text() for glob in globs for path in pathlib.Path().glob(glob)}
    found = list(of_cargo_mutants(texts))
    for file, text in texts.items():
        found += of_this_script(file, text)
    # Two of one name: the later ones have a number.
    seen = collections.Counter()
    for each in sorted(found, key=lambda each: (each.file, each.start, each.change)):
        seen[each.name] += 1
        number = f" ({seen[each.name]})" if seen[each.name] > 1 else ""
        yield dataclasses.replace(each, change=each.change + number)


def drawn(mutations, seed, shard, file):
    mutations = [each for each in mutations if file in each.file]
    random.Random(seed).shuffle(mutations)
    number, count = map(int, shard.split("/"))
    return mutations[number::count]


def own_tests(file):
    """The filter for a file's tests; empty if all are."""
    parts = pathlib.PurePath(file.removesuffix(".rs")).parts
    return next((name for name in ALONE if name in parts), "")


def built(binary):
    """The path of a test binary; None if it does not compile."""
    which = ["--lib"] if binary == "lib" else ["--test", binary]
    command = ["cargo", "test", "--locked", "-q", "-p", "ondeck", *which, "--no-run"]
    command += ["--message-format", "json"]
    build = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    for line in build.stdout.splitlines():
        artifact = json.loads(line)
        if artifact.get("executable") and artifact["profile"]["test"]:
            return artifact["executable"]
    return None


def noticed(binary, seconds, names):
    """What notices: the test that fails, or that hangs; None if all pass."""
    executable = built(binary)
    if executable is None:
        return "does not compile"
    command = ["ci/until-hung.sh", str(seconds), executable, "-Zunstable-options", "--fail-fast"]
    command += ["--test-threads", "1", "--skip", "the_suite_passes"] + ([names] if names else [])
    run = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    if run.returncode == 0:
        return None
    ends = "hangs" if run.returncode == 124 else "fails"
    # The last one that was begun: there are no later ones after a failure.
    begun = re.findall(r"^test ([\w:]+) \.\.\.", run.stdout, re.MULTILINE)
    return f"{binary} {begun[-1] if begun else ''} {ends}"


def verdict(mutation):
    begin = time.monotonic()
    names = own_tests(mutation.file)
    for binary, seconds in BINARIES:
        by = noticed(binary, seconds, names)
        if by == "does not compile":
            return by, "", time.monotonic() - begin
        if by:
            return "caught", by, time.monotonic() - begin
    return "missed", "", time.monotonic() - begin


def run(mutations, path, limit):
    verdicts = {}
    if path.exists():
        for line in path.read_text().splitlines():
            hash_, file, text, change, *rest = line.split("\t")
            verdicts[hash_, f"{file} | {text} | {change}"] = rest
    begin = time.monotonic()
    for mutation in mutations:
        file = pathlib.Path(mutation.file)
        text = file.read_text()
        key = hashlib.sha256(text.encode()).hexdigest()[:12], mutation.name
        if key in verdicts:
            continue
        if limit and time.monotonic() - begin > limit:
            print("the time is over")
            break
        try:
            file.write_text(mutation.applied(text))
            result, by, seconds = verdict(mutation)
        finally:
            file.write_text(text)
        verdicts[key] = [result, by, f"{seconds:.0f}"]
        row = "\t".join([key[0], mutation.file, mutation.line, mutation.change, *verdicts[key]])
        with path.open("a") as table:
            table.write(row + "\n")
        print(f"{result:18} {seconds:4.0f} s  {mutation.name}  {by}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("command", choices=("list", "run"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shard", default="0/1")
    parser.add_argument("--file", default="")
    parser.add_argument("--seconds", type=int)
    parser.add_argument("--verdicts", type=pathlib.Path, default=pathlib.Path("verdicts.tsv"))
    options = parser.parse_args()
    mutations = drawn(all_mutations(), options.seed, options.shard, options.file)
    if options.command == "list":
        print("\n".join(each.name for each in mutations))
        return
    run(mutations, options.verdicts, options.seconds)


if __name__ == "__main__":
    main()
