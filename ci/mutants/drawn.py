"""Mutations that a seed chooses: small changes of the source of every crate, and the test that fails with each.

    drawn.py list                    those that are drawn, in their order
    drawn.py run                     tries those that have no verdict yet
    drawn.py page                    writes docs/data/mutations.md from the verdicts

All take the same draw: --seed N (1), --count N (150; 0 is all) of the files with a --file TEXT in their paths, and of the
kinds with a --kind TEXT in their names; both may be given more than once. `run` takes --shard K/N of it, --jobs N at a time,
and --again for those that no test has caught so far.

cargo-mutants lists changes of operators, conditions and results in the files of .cargo/mutants.toml. This script adds what
it has not: a weaker ordering, a statement that is left out, two statements in the other order, a number that is one
larger, a value that is read before a lock or a sleep and not after it, or the other way round, a value that is kept over the
turns of a loop, and a return before the end. A copy of the project gets all drawn mutations at once: each mutated function
has one body for each of them, and ONDECK_DRAWN says which one runs. So one build serves all of them, and a mutation takes
the time of its tests alone. A constant, and a function that is one, cannot be chosen at run time: they have no mutation. Nor
has a function of a feature or of a word size that no test is built with. A mutation of another crate than ondeck is tried with all tests of
that crate, those in C included, and with those of the crate that uses it in programs.

Everything is in target/drawn. A verdict is a line of verdicts.tsv there, and is written at once: name, verdict, what
failed, seconds. ci/mutants/equivalent.txt has those that no test can catch, with the reason: name and reason, with a tab.
"""

import argparse
import collections
import concurrent.futures
import datetime
import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time
import tomllib
import typing

from hazards import Source

TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target")).absolute()
WORK = TARGET / "drawn"
BUILD = os.environ | {"CARGO_TARGET_DIR": str(WORK / "build")}
LISTED, TREE, VERDICTS = WORK / "listed", WORK / "tree", WORK / "verdicts.tsv"
EQUIVALENT, PAGE = pathlib.Path("ci/mutants/equivalent.txt"), pathlib.Path("docs/data/mutations.md")
SOURCE = "locks/ondeck/src/"
# The test binaries in the order in which they are tried, and the seconds after which each of them hangs. Those of a lock
# alone come first, where the binary has a module of its name. Locks that no other is made of have no others of that binary.
STAGES = (("hooked", "", 60), ("plain", "", 30), ("api", "own", 60), ("loom", "own", 120))
STAGES += (("api", "", 150), ("loom", "", 240), ("stress", "", 60), ("ondeck", "", 30), ("deadlock", "", 60))
STAGES += (("stats", "", 60),)
ALONE = "barrier fair ipc is_held latch lock_all once owned pi poison rwlock semaphore".split()
# What only these binaries test. Those of the models are a program's tests, with shuttle and with loom.
ONLY = {"is_held": "api", "lock_all": "api stats", "model": "shuttle model", "name": "stats deadlock"}
ONLY |= {"observe": "ondeck stats", "owned": "api"}
# Test binaries that need a feature.
FEATURES = {"api": "arc_lock", "deadlock": "deadlock_detection", "stats": "stats"}
ALL_FEATURES = "internals,arc_lock,deadlock_detection,stats"
# The seconds after which a test binary of another crate hangs, and a script.
LONGEST = 600
QUICK = {"ONDECK_TEST_ROUNDS": "500", "LOOM_MAX_PREEMPTIONS": "3", "RUST_BACKTRACE": "0", "RUSTC_BOOTSTRAP": "1"}
WEAKER = {"Acquire": ["Relaxed"], "Release": ["Relaxed"], "AcqRel": ["Acquire", "Release"], "SeqCst": ["AcqRel"]}
KEPT = "let return break continue use const static type debug_assert assert if match for while loop else"
# The tests in C of a library: they build what they need again, one at a time.
SCRIPTS = {
    "ondeck-capi": """
        native=$CARGO_TARGET_DIR/native c=locks/ondeck-capi/tests/c
        export LD_LIBRARY_PATH=$native/lib
        for test in calls stress order family; do
            gcc -std=gnu11 -O2 -pthread -I"$native/include" -I$c $c/$test.c -o "$native/$test" -L"$native/lib" -londeck
            "$native/$test"
        done""",
    "ondeck-preload": """
        run="locks/ondeck-preload/tests/conformance/run.sh --preload $CARGO_TARGET_DIR/native/lib/libondeck_preload.so --alone"
        $run
        mkdir -p "$CARGO_TARGET_DIR/recordings"
        ONDECK_PROFILE=$CARGO_TARGET_DIR/recordings $run calls conditions""",
}
# The end of a text that ends in an implementation for machines of 32 bits.
OF_32_BITS = re.compile(r"^#\[cfg\(not\(target_pointer_width = \"64\"\)\)\]\nimpl\b(?!.*^\})", re.M | re.S)
ALONE_WITH_SCRIPTS = threading.Lock()
CHOICE = """
/// Which mutation runs.
#[doc(hidden)]
pub fn drawn() -> u32 {
    static DRAWN: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(u32::MAX);
    let drawn = DRAWN.load(core::sync::atomic::Ordering::Relaxed);
    if drawn != u32::MAX {
        return drawn;
    }
    unsafe extern "C" {
        fn getenv(name: *const core::ffi::c_char) -> *const core::ffi::c_char;
        fn atoi(text: *const core::ffi::c_char) -> core::ffi::c_int;
    }
    let text = unsafe { getenv(c"ONDECK_DRAWN".as_ptr()) };
    let read = if text.is_null() { 0 } else { unsafe { atoi(text) as u32 } };
    DRAWN.store(read, core::sync::atomic::Ordering::Relaxed);
    read
}
"""


class Edit(typing.NamedTuple):
    file: str
    start: int
    end: int
    replacement: str


class Mutation(typing.NamedTuple):
    name: str
    kind: str
    edit: Edit


def crate(file):
    return pathlib.PurePath(file).parts[1]


def folder(package):
    return next(path.parent for path in TREE.glob(f"*/{package}/Cargo.toml"))


def sources():
    globs = tomllib.loads(pathlib.Path(".cargo/mutants.toml").read_text())["examine_globs"]
    return {str(path): Source(path.read_text()) for glob in globs for path in sorted(pathlib.Path().glob(glob))}


def lock_of(file):
    """The folder or file in the source of ondeck, without its end."""
    return pathlib.PurePath(file.removeprefix(SOURCE)).parts[0].removesuffix(".rs")


def body(source, start, end):
    """The outermost function around a place, if a mutation of it can be chosen at run time: name, start and end."""
    tests = re.search(r"#\[cfg\(test\)\]\s+[a-z() ]*mod \w+ \{", source.code)
    for _, name, first, last in sorted(source.functions, key=lambda each: each[2]):
        if first < start and end < last and not (tests and tests.start() < first):
            begin = max(source.code.rfind(mark, 0, source.code.rfind(f"fn {name}", 0, first)) for mark in (";", "{\n", "}\n"))
            head = source.code[begin:first]
            is_left_out = re.search(r"\bconst (unsafe )?fn\b|\bcfg\(feature = \"profile\"\)", head)
            return None if is_left_out or OF_32_BITS.search(source.code[:first]) else (name, first, last)
    return None


def statements(code, first, last):
    """Start and end of each statement of a function that calls or assigns, and is no item, jump or check."""
    for head in re.finditer(r"(?<=[{};])\s*\n\s*(?=[A-Za-z*(])", code[first:last]):
        at = start = first + head.end()
        depth = 0
        while at < last and (depth or code[at] != ";"):
            depth += (code[at] in "([{") - (code[at] in ")]}")
            at = last if depth < 0 else at + 1
        text = code[start : at + 1]
        if at < last and re.match(r"[\w:.*]*", text)[0] not in KEPT.split() and re.search(r"[(=]", text):
            yield start, at + 1


def around_calls(source, first, last):
    """Values that are read on the other side of a lock or a sleep, or once before a loop; returns before the end."""
    code, text = source.code, source.text
    let = re.compile(r"(?<=[{};])\s*\n( *)let [^;{}]*?(?:\.load\(|\bnow\(|ticks\(|status\()[^;{}]*;")
    other = r"[^;{}]*?(?:\.lock\(|\block\w*\(|drop\(\w*guard|sleep\w*\(|wait\w*\()[^;{}]*;"
    for read in let.finditer(code, first, last):
        start, end = read.start(1), read.end()
        # The statement before, and the one after.
        before = re.compile(rf"(?<=[{{}};])\s*\n({read[1]}\S{other})\s*$").search(code, first, start)
        if before and ";" not in before[1][:-1]:
            moved = text[start:end] + "\n" + text[before.start(1) : start]
            yield before.start(1), end, moved, "load moved", "before the call before it"
        after = re.compile(rf"\s*\n{read[1]}\S{other}").match(code, end, last)
        if after:
            moved = text[end : after.end()] + "\n" + text[start:end]
            yield start, after.end(), moved, "load moved", "after the call after it"
        loop = re.compile(r"\n( *)(?:loop|while [^{};]*|for [^{};]*) \{\s*$").search(code, first, start + 1)
        if loop and code[loop.end() :].lstrip().startswith("let "):
            moved = text[start:end] + text[loop.start() : start]
            yield loop.start() + 1, end, moved, "value kept", "once before the loop"
    head = code[code.rfind("fn ", 0, first) : first]
    result = "return false;" if head.rstrip().endswith("-> bool") else "return;" if "->" not in head else None
    if result:
        for start, _ in list(statements(code, first, last))[1:]:
            yield start, start, f"if true {{ {result} }} ", "early return", "returns before it"


def own(source):
    """The changes that cargo-mutants has not: start, end, replacement, kind and description."""
    code = source.code
    for _, _, first, last in source.functions:
        yield from around_calls(source, first, last)
    for word in re.finditer(r"(?<=Ordering::)(\w+)|(?<![\w.\"])(\d+)(?=[\s,;)\]])", code):
        for weaker in WEAKER.get(word[1], []):
            yield *word.span(), weaker, "weaker ordering", f"{word[1]} becomes {weaker}"
        if word[2]:
            yield *word.span(), str(int(word[2]) + 1), "one more", f"{word[2]} becomes {int(word[2]) + 1}"
    found = {}
    for _, _, first, last in source.functions:
        found |= dict(statements(code, first, last))
    for start, end in sorted(found.items()):
        yield start, end, "", "statement left out", "left out"
        after = end + len(code[end:]) - len(code[end:].lstrip())
        if after in found:
            other = source.text[after : found[after]] + code[end:after] + source.text[start:end]
            yield start, found[after], other, "statements swapped", "after the next"


def of_cargo_mutants(texts):
    """The same of cargo-mutants, in the copy. It does not look into macros, in which most modules are declared."""
    copy(LISTED)
    library = LISTED / SOURCE / "lib.rs"
    library.write_text("\n".join(sorted(set(re.findall(r"\bmod \w+;", library.read_text())))))
    listed = subprocess.run(["cargo", "mutants", "--list", "--json"], cwd=LISTED, capture_output=True, check=True, text=True)
    for each in json.loads(listed.stdout):
        if each["file"] not in texts:
            continue
        lines = texts[each["file"]].text.splitlines(keepends=True)
        start, end = (
            sum(map(len, lines[: at["line"] - 1])) + at["column"] - 1 for at in (each["span"]["start"], each["span"]["end"])
        )
        what = re.sub(r"^.*?:\d+:\d+: | in \S+$", "", each["name"])
        yield each["file"], (start, end, each["replacement"], f"{each['genre']} of cargo-mutants", what)


def all_mutations():
    texts, seen = sources(), collections.Counter()
    found = list(of_cargo_mutants(texts))
    found += [(file, change) for file, source in texts.items() for change in own(source)]
    for file, (start, end, replacement, kind, what) in sorted(found):
        source = texts[file]
        if around := body(source, start, end):
            line = source.text[source.text.rfind("\n", 0, start) + 1 :].split("\n")[0].strip()
            name = f"{file.removeprefix(SOURCE)} | {around[0]} | {line} | {what}"
            seen[name] += 1
            name += f" ({seen[name]})" if seen[name] > 1 else ""
            yield Mutation(name, kind, Edit(file, start, end, replacement))


def copy(tree, but=()):
    """Copies the project, except these files."""
    files = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, check=True, text=True,
    )
    for file in filter(None, files.stdout.split("\0")):
        if file not in but and pathlib.Path(file).is_file():
            write(tree / file, pathlib.Path(file).read_bytes())
            (tree / file).chmod(pathlib.Path(file).stat().st_mode)


def write(path, data):
    """What has not changed is not built again."""
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def put_in(numbered):
    """Writes the mutated files into the copy. Returns the lines of each mutation: file, first line, last line, number."""
    texts, places = sources(), []
    files = collections.defaultdict(lambda: collections.defaultdict(dict))
    for number, mutation in numbered.items():
        edit = mutation.edit
        files[edit.file][body(texts[edit.file], edit.start, edit.end)[1:]][number] = edit
    for file, source in texts.items():
        out, done = "", 0
        for (first, last), numbers in sorted(files[file].items(), key=lambda each: each[0]):
            out += source.text[done:first] + "{ match crate::drawn() {\n"
            for number, edit in numbers.items():
                begin = out.count("\n") + 1
                out += f"{number} => {source.text[first : edit.start]}{edit.replacement}{source.text[edit.end : last]}\n"
                places.append((file, begin, out.count("\n"), number))
            out, done = out + f"_ => {source.text[first:last]}\n}} }}", last
        write(TREE / file, (out + source.text[done:] + CHOICE * file.endswith("src/lib.rs")).encode())
    library = SOURCE + "lib.rs"
    write(TREE / library, (pathlib.Path(library).read_text() + CHOICE).encode())
    return places


def cargo(crates, *arguments, environment=BUILD):
    """The messages of cargo in the copy."""
    of = [word for each in crates for word in ("-p", each)]
    run = subprocess.run(
        ["cargo", *arguments, "--locked", *of, "--message-format", "json"], cwd=TREE, capture_output=True, text=True, env=environment
    )
    return run, [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]


def executables(messages):
    """The stages that test binaries are."""
    found = [message for message in messages if message.get("executable") and message["profile"]["test"]]
    return [(message["executable"], message["target"]["name"], "", LONGEST) for message in found]


def models():
    """The stages of a program's tests with the models, under shuttle and under loom."""
    of_loom = BUILD | {"RUSTFLAGS": "--cfg loom", "CARGO_TARGET_DIR": str(WORK / "build" / "loom")}
    stages = []
    for name, features, environment in (("shuttle", ["--features=shuttle"], BUILD), ("model", [], of_loom)):
        run, messages = cargo(["tested"], "test", "--no-run", *features, environment=environment)
        if run.returncode:
            raise SystemExit(run.stderr[-5000:])
        stages += [(executable, name, "", 240) for executable, *_ in executables(messages)]
    return stages


def build(numbered):
    """Builds with all mutations that compile; the stages of each crate: its test binaries. The others get their verdict."""
    crates = {crate(mutation.edit.file) for mutation in numbered.values()} | {"ondeck"}
    copy(TREE, {*sources(), SOURCE + "lib.rs"})
    locks = {lock_of(mutation.edit.file) for mutation in numbered.values() if crate(mutation.edit.file) == "ondeck"}
    checks = [(crates, "check", "--lib", f"--features={ALL_FEATURES}")]
    if "model" in locks:
        checks.append((["ondeck"], "check", "--lib", "--features=shuttle,arc_lock"))
    while True:
        places = put_in(numbered)
        checked = [cargo(*check) for check in checks]
        run = next((run for run, _ in checked if run.returncode), checked[0][0])
        messages = [message for _, messages in checked for message in messages]
        wrong = set()
        for message in messages:
            if message["reason"] == "compiler-message" and message["message"]["level"] == "error":
                for span in message["message"]["spans"]:
                    at = span["line_start"]
                    wrong |= {n for file, begin, end, n in places if span["file_name"] == file and begin <= at <= end}
        if run.returncode == 0:
            break
        if not wrong:
            raise SystemExit(run.stderr[-3000:] + "".join(m["message"]["rendered"] for m in messages if "message" in m)[-9000:])
        for number in wrong:
            record(numbered.pop(number).name, "does not compile", "", 0)
    # If all mutations are of pieces in ONLY, the other binaries are not built.
    of_pieces = {binary for lock in locks for binary in ONLY.get(lock, "every").split()}
    binaries = dict.fromkeys(stage[0] for stage in STAGES)
    if crates == {"ondeck"} and "every" not in of_pieces:
        binaries = dict.fromkeys(binary for binary in binaries if binary in of_pieces)
    for feature in sorted({FEATURES.get(binary, "") for binary in binaries}):
        of = [binary for binary in binaries if FEATURES.get(binary, "") == feature]
        tests = ["--lib" if binary == "ondeck" else f"--test={binary}" for binary in of]
        run, messages = cargo(["ondeck"], "test", "--no-run", f"--features={feature}", *tests)
        for message in messages:
            if message.get("executable") and message["profile"]["test"] and message["target"]["name"] in of:
                binaries[message["target"]["name"]] = message["executable"]
        if not all(binaries[binary] for binary in of):
            raise SystemExit(run.stderr[-5000:])
    stages = {"ondeck": [(binaries[stage[0]], *stage) for stage in STAGES if stage[0] in binaries]}
    if "model" in locks:
        stages["ondeck"] += models()
    for other in sorted(crates - {"ondeck"}):
        tests = folder(other) / "tests"
        has_tests = any(path for form in ("*.rs", "*/main.rs") for path in tests.glob(form))
        run, messages = cargo([other], "test", "--no-run", "--lib", *["--test=*"] * has_tests)
        if run.returncode:
            raise SystemExit(run.stderr[-5000:])
        stages[other] = executables(messages)
    if "ondeck-record" in crates:
        stages["ondeck-record"] += executables(cargo(["ondeck-profile"], "test", "--no-run", "--test=profiles")[1])
    if "ondeck-deadlock" in crates:
        stages["ondeck-deadlock"].append((binaries["deadlock"], "deadlock", "", LONGEST))
    for other, script in SCRIPTS.items():
        if other in crates:
            subprocess.run(["bash", str(folder(other) / "link.sh")], cwd=TREE, env=BUILD, check=True, stdout=subprocess.DEVNULL)
            stages[other].append((script, "in C", "script", LONGEST))
    return stages


def record(*verdict):
    with VERDICTS.open("a") as table:
        print(*verdict, sep="\t", file=table)
    print(*verdict, sep="  ", flush=True)


def verdicts():
    lines = VERDICTS.read_text().splitlines() if VERDICTS.exists() else []
    return {line.split("\t")[0]: line.split("\t")[1:] for line in lines}


def ended(command, limit, log, environment, here):
    """The status of a test; None if it hangs."""
    with log.open("w") as out:
        test = subprocess.Popen(
            command, cwd=here, env=environment, stdout=out, stderr=out, start_new_session=True
        )
        try:
            return test.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(test.pid, signal.SIGKILL)
            test.wait()
            return None


def judge(number, mutation, stages):
    """Tries the stages until one fails: verdict, what failed, and seconds."""
    begin = time.monotonic()
    lock, package = lock_of(mutation.edit.file), crate(mutation.edit.file)
    for executable, binary, which, limit in stages[package]:
        if which == "own" and not (TREE / f"locks/ondeck/tests/{binary}/{lock}.rs").exists():
            continue
        if package == "ondeck" and which == "" and lock in ALONE and binary in ("api", "loom"):
            continue
        if package == "ondeck" and binary not in ONLY.get(lock, " ".join(each[0] for each in STAGES[:-1])).split():
            continue
        # No other lock is in the locks for shared memory.
        skipped = ["--skip", "ipc", "--skip", "pi_steps"] if package == "ondeck" and lock not in ("ipc", "pi") else []
        names = ([lock, "timed"] if which == "own" else []) + skipped
        log = WORK / f"{number}.log"
        command = [executable, "-Zunstable-options", "--fail-fast", "--test-threads", "2", *names]
        environment, here = BUILD | QUICK | {"ONDECK_DRAWN": str(number)}, folder(package)
        if which == "script":
            with ALONE_WITH_SCRIPTS:
                status = ended(["bash", "-euc", executable], limit, log, environment, TREE)
        else:
            status = ended(command, limit, log, environment, here)
        if status != 0:
            failed = re.search(r"(\S+) \.\.\. FAILED|panicked at (\S+?):?\n", log.read_text(errors="replace"))
            what = "hangs" if status is None else failed and (failed[1] or failed[2]) or "aborts"
            return "caught", f"{binary} {what}", round(time.monotonic() - begin)
        log.unlink()
    return "open", "", round(time.monotonic() - begin)


def run(mutations, options):
    known = verdicts()
    numbered = {n: m for n, m in enumerate(mutations, 1) if known.get(m.name, [""])[0] != "does not compile"}
    stages = build(numbered)
    for package, mutation in {crate(mutation.edit.file): mutation for mutation in mutations}.items():
        if known.get(f"no mutation of {package}", [""])[0] != "open":
            result, by, seconds = judge(0, mutation, stages)
            record(f"no mutation of {package}", result, by, seconds)
            if result != "open":
                raise SystemExit(f"{by} fails without a mutation")
    shard, shards = map(int, options.shard.split("/"))
    again = ["", "open"] if options.again else [""]
    tried = [n for n, m in numbered.items() if n % shards == shard and known.get(m.name, [""])[0] in again]
    print(f"{len(tried)} to try", flush=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(lambda n: record(numbered[n].name, *judge(n, numbered[n], stages)), tried))


def page(mutations, options):
    known = verdicts()
    reasons = dict(line.split("\t") for line in EQUIVALENT.read_text().splitlines())
    rows, tests, listed = collections.defaultdict(collections.Counter), collections.Counter(), []
    for mutation in mutations:
        verdict, by, *_ = known.get(mutation.name, ["not tried", ""])
        if verdict == "open" and mutation.name in reasons:
            verdict = "equivalent"
        rows[mutation.kind][verdict] += 1
        rows["all"][verdict] += 1
        if verdict == "caught":
            tests[by.split()[0] + ", which hangs" * by.endswith(" hangs")] += 1
        if verdict in ("equivalent", "open"):
            reason = reasons.get(mutation.name, "").replace("|", "\\|")
            listed.append(f"* {verdict}: `{mutation.name}`" + (f"  \n  {reason}" if reason else ""))
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    columns = ["caught", "equivalent", "open", "not tried", "does not compile"]
    table = [f"| {kind} | {' | '.join(str(row[c]) for c in columns)} |" for kind, row in sorted(rows.items(), key=lambda r: (r[0] == "all", r[0]))]
    PAGE.write_text(HEAD.format(
        count=len(mutations), seed=options.seed, total=options.total, day=datetime.date.today(), commit=commit,
        columns=" | ".join(["mutation", *columns]), rule="|---" + "|---:" * len(columns) + "|", table="\n".join(table), tests="\n".join(f"| {t} | {n} |" for t, n in tests.most_common() if n), listed="\n".join(listed),
    ))


HEAD = """\
# Drawn mutations

Small changes of the source that a seed chooses, and what the tests make of them. Written by
[`ci/mutants/drawn.py`](../../ci/mutants/drawn.py): {count} of {total}, drawn by seed {seed}, on {day} at commit {commit}.

| {columns} |
{rule}
{table}

A mutation is caught by the first test program that fails or does not end. No test can fail with an equivalent one: the lock
keeps its promises, for the reason given. What does not compile is a mutation of no program. Functions that only builds
with the feature `profile` have are not drawn: none of these tests is built with it.

| first caught by | mutations |
|---|---:|
{tests}

## Not caught

{listed}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("command", choices=["list", "run", "page"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--file", action="append", default=[])
    parser.add_argument("--kind", action="append", default=[])
    parser.add_argument("--shard", default="0/1")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    mutations = [
        each for each in all_mutations()
        if any(file in each.edit.file for file in options.file or [""]) and any(kind in each.kind for kind in options.kind or [""])
    ]
    # An order that each mutation keeps, whatever others there are.
    mutations.sort(key=lambda each: hashlib.sha256(f"{options.seed} {each.name}".encode()).digest())
    options.total, mutations = len(mutations), mutations[: options.count or None]
    if options.command == "list":
        print("\n".join(each.name for each in mutations))
    else:
        {"run": run, "page": page}[options.command](mutations, options)


if __name__ == "__main__":
    main()
