"""Hazards: mistakes to be put into the source, one file each. docs/add-a-hazard.md describes them.

    hazards.py list [--quick] [NAME...]      name, package, test binary, test, "hang" or "-", and sentence of each
    hazards.py check [NAME...]               prints which do not apply, and why; builds nothing. Without a name also
                                             the steps that only the source or only a specification names
    hazards.py diff NAME...                  what each changes
    hazards.py apply NAME [--into TREE]      puts one in, and prints the files that it has changed
    hazards.py page                          writes the table of docs/data/hazards.md, which `check` compares

All read the project in the working directory, or in --root. With --into the changed files are written to
another copy of it; the project itself is only read.

The source is read as rustfmt leaves it: the body of a function ends at a brace as far from the margin as its head.
"""

import argparse
import collections
import difflib
import functools
import pathlib
import re
import sys
import tomllib

FOLDER = pathlib.PurePath("locks/ondeck/tests/mutants")
PAGE = "docs/data/hazards.md"
KEYS = {"hazard": str, "package": str, "test": str, "edit": list, "quick": bool, "hang": bool}
EDIT_KEYS = {"file", "find", "replace", "step", "function"}
LITERAL = r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\''
COMMENT = re.compile(rf"({LITERAL})|//[^\n]*|/\*.*?\*/", re.S)
TOKEN = re.compile(rf"{LITERAL}|\w+|::|->|=>|\.\.=?|[-+*/%^&|=!<>]=|&&|\|\||\S", re.S)
STEP = re.compile(r"//\s*(?:spec|step):\s*(\S.*?)\s*$", re.M)
OWNER = re.compile(r"^( *)(?:pub(?:\([^)]*\))? )?(?:unsafe )?(?:impl\b|trait |mod ).*", re.M)


class Wrong(Exception):
    """A hazard is not of the form, or does not apply."""


def parsed(name, text):
    """The hazard of a file as a dictionary, with the test's binary and name apart."""
    hazard = {"package": "ondeck", "quick": False, "hang": False, **tomllib.loads(text)}
    if unknown := hazard.keys() - KEYS.keys():
        raise Wrong(f"`{unknown.pop()}` is no key of a hazard")
    for key, kind in KEYS.items():
        if type(hazard.get(key)) is not kind:
            raise Wrong(f"`{key}` is missing, or no {kind.__name__}")
    if not re.fullmatch(r"\S[^\n\t]*\.", hazard["hazard"]):
        raise Wrong("`hazard` is no sentence in one line")
    if not (test := re.fullmatch(r"(\w+) (\w+(?:::\w+)*)", hazard["test"])):
        raise Wrong("`test` is no test binary and the full name of a test")
    for edit in hazard["edit"]:
        if not {"file", "find", "replace"} <= edit.keys() <= EDIT_KEYS:
            raise Wrong("an edit has `file`, `find`, `replace`, and `step` or `function`")
    return hazard | {"name": name, "binary": test[1], "test": test[2]}


def pattern(find):
    """What finds this code, whatever the white space, and with or without a comma before a closing bracket."""
    parts, words = [], TOKEN.findall(find)
    for at, word in enumerate(words):
        closes = word in ")]}>"
        if word in ",;" and at + 1 < len(words) and words[at + 1] in ")]}>":
            continue
        token = re.escape(word)
        if re.match(r"\w", word):
            token = rf"(?<!\w){token}(?!\w)"
        elif len(word) == 1 and word in "=<>!&|.:-+*/%^":
            token = rf"(?<![-+*/%^&|=!<>.:]){token}(?![=>.:])" if word in "=.:" else rf"{token}(?!=)"
        parts.append((r"[,;]?\s*" if closes and at else "") + token)
    return re.compile(r"\s*".join(parts))


class Source:
    """A Rust file. `code` is its text with blanks for comments."""

    def __init__(self, text):
        self.text = text
        self.code = COMMENT.sub(lambda found: found[1] or re.sub(r"[^\n]", " ", found[0]), text)

    @functools.cached_property
    def functions(self):
        """Owner, name, start and end of each function that has a body."""
        found = []
        for head in re.finditer(r"^( *)[^\n/]*?\bfn (\w+)", self.code, re.M):
            indent = head[1]
            body = re.compile(r"[{;]").search(self.code, head.end())
            if not body or body[0] == ";":
                continue
            line_end = self.code.index("\n", body.start())
            end = line_end
            if self.code[body.start() : line_end].rstrip()[-1] != "}":
                closing = re.compile(rf"^{indent}\}}", re.M).search(self.code, line_end)
                end = closing.end() if closing else len(self.code)
            owners = [o[0] for o in OWNER.finditer(self.code, 0, head.start()) if len(o[1]) < len(indent)]
            found.append((owners[-1] if owners else "", head[2], body.start(), end))
        return found

    def scopes(self, edit):
        """The parts of the file in which an edit may be: starts and ends."""
        owner, _, name = edit.get("function", "").rpartition("::")
        functions = [
            (start, end)
            for its_owner, its_name, start, end in self.functions
            if name in ("", its_name) and (not owner or re.search(rf"\b{owner}\b", its_owner))
        ]
        if "step" not in edit:
            return functions if name else [(0, len(self.text))]
        steps = [step.start() for step in STEP.finditer(self.text) if step[1] == edit["step"]]
        around = ([part for part in functions if part[0] < step < part[1]] for step in steps)
        return [(step, max(parts)[1]) for step, parts in zip(steps, around) if parts]


class Project:
    """A copy of the project, of which files are read once."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.source = functools.cache(lambda file: Source((self.root / file).read_text()))

    def names(self):
        return sorted(path.stem for path in (self.root / FOLDER).glob("*.toml"))

    def hazard(self, name):
        try:
            return parsed(name, (self.root / FOLDER / f"{name}.toml").read_text())
        except (Wrong, OSError, tomllib.TOMLDecodeError) as wrong:
            raise Wrong(f"{name}: {wrong}") from None

    def with_hazard(self, hazard):
        """The text of each file that the hazard changes."""
        texts = {}
        for edit in hazard["edit"]:
            texts.setdefault(edit["file"], []).append((*self.place(hazard, edit), edit["replace"]))
        for file, edits in texts.items():
            texts[file] = self.source(file).text
            for start, end, replacement in sorted(edits, reverse=True):
                texts[file] = texts[file][:start] + replacement + texts[file][end:]
        return texts

    def place(self, hazard, edit):
        """Where the edit's text is, once, in its scope."""
        what = " ".join(edit[key] for key in ("file", "step", "function") if key in edit)
        try:
            source = self.source(edit["file"])
        except OSError as wrong:
            raise Wrong(f"{hazard['name']}: {wrong}") from None
        scopes = source.scopes(edit)
        if len(scopes) != 1:
            raise Wrong(f"{hazard['name']}: {what}: there are {len(scopes)} such places, not one")
        found = list(pattern(edit["find"]).finditer(source.code, *scopes[0]))
        if len(found) != 1:
            raise Wrong(f"{hazard['name']}: {what}: {edit['find']!r} is found {len(found)} times there, not once")
        return found[0].span()

    def look_for_test(self, hazard):
        """The test must be among the files of its module. That it runs is seen when it does."""
        package = next(self.root.glob(f"*/{hazard['package']}"), self.root)
        folder = package / "src" if hazard["binary"] == "lib" else package / "tests" / hazard["binary"]
        module, _, name = hazard["test"].rpartition("::")
        name = re.compile(rf"\bfn {name}\b")
        folder = folder / module.partition("::")[0]
        files = [folder.with_suffix(".rs"), *folder.rglob("*.rs")]
        if not any(path.exists() and name.search(path.read_text()) for path in files):
            raise Wrong(f"{hazard['name']}: no file of {hazard['binary']} has its test {hazard['test']}")

    def named_steps(self):
        """Path, function and `Module!Action` of each step that the source names: `// spec: Module!Action`."""
        for path in sorted(self.root.glob("*/*/src/**/*.rs")):
            file = str(path.relative_to(self.root))
            for step in re.finditer(r"^ *// spec: (\S+)$", self.source(file).text, re.M):
                functions = self.source(file).functions
                around = [(start, name) for _, name, start, end in functions if start < step.start() < end]
                yield file, max(around)[1] if around else "no function", step[1]

    def modelled_steps(self):
        """The same of the specifications: `\\* models PATH FUNCTION` above an action, a definition or a label.

        An action that models nothing has `\\* models nothing: REASON`.
        """
        for path in sorted(self.root.glob("spec/**/*.tla")):
            pending = []
            for line in map(str.strip, path.read_text().splitlines()):
                if line.startswith("\\* models "):
                    words = line.split()[2:]
                    if len(words) != 2 and words[0] != "nothing:":
                        raise Wrong(f"{path}: neither a path and a function nor a reason: {line}")
                    pending += [words] if words[0] != "nothing:" else []
                elif pending and not line.startswith("\\*"):
                    if not (action := re.match(r"(\w+)(\(.*?\))? *(==|:(?!=))", line)):
                        raise Wrong(f"{path}: no action follows `models`, but: {line}")
                    yield from ((*words, f"{path.stem}!{action[1]}") for words in pending)
                    pending = []


    def page(self):
        """The page of all hazards, as it is and as it would be written: a row for each sentence, with what finds it."""
        found = collections.defaultdict(list)
        for hazard in map(self.hazard, self.names()):
            name, binary, test = (hazard[key] for key in ("name", "binary", "test"))
            tool, test = ("loom", test) if binary == "loom" else ("real threads", f"{binary}::{test}")
            tool = tool if hazard["package"] == "ondeck" else hazard["package"]
            found[hazard["hazard"]].append((tool, name, f"[`{name}`](../../{FOLDER}/{name}.toml), `{test}`"))
        for path in self.root.glob("spec/*/*.cfg"):
            heads = dict(re.findall(r"^\\\* (Hazard|Expect): (.*)$", path.read_text(), re.M))
            if "Hazard" in heads:
                file, what = str(path.relative_to(self.root)), heads["Expect"].removeprefix("violation of ")
                found[heads["Hazard"]].append(("TLC", file, f"[`{path.stem}`](../../{file}), {what}"))
        rows = (
            f"| {hazard} | {'<br>'.join(f'{tool}: {entry}' for tool, _, entry in sorted(entries))} |\n"
            for hazard, entries in sorted(found.items())
        )
        table = "".join(rows) + f"\n{len(found)} hazards, put in at {sum(map(len, found.values()))} places"
        text = (self.root / PAGE).read_text()
        start, end = text.index("|---|---|\n") + len("|---|---|\n"), re.search(r"^\d+ hazards, put in at \d+ places", text, re.M).end()
        return text, text[:start] + table + text[end:]


def check(project, names):
    """Prints a line for each hazard that does not apply; the exit status."""
    complaints = 0
    for name in names or project.names():
        try:
            hazard = project.hazard(name)
            project.with_hazard(hazard)
            project.look_for_test(hazard)
        except Wrong as wrong:
            complaints += 1
            print(f"DOES NOT APPLY: {wrong}")
    if not names:
        named, modelled = set(project.named_steps()), set(project.modelled_steps())
        for file, function, action in sorted(named ^ modelled):
            complaints += 1
            side = "the source" if (file, function, action) in named else "the specification"
            print(f"ONLY {side} says: {action} is in {function} of {file}")
        page, written = project.page()
        if page != written:
            complaints += 1
            sys.stdout.writelines(difflib.unified_diff(*(text.splitlines(keepends=True) for text in (page, written)), PAGE, PAGE, n=0))
            print(f"{PAGE} is not the table of what there is: run ci/mutants/hazards.py page")
        print(f"{len(named & modelled)} steps that the source and a specification name")
    print(f"{len(names or project.names())} hazards, {complaints} complaints")
    return 1 if complaints else 0


def main():
    parser = argparse.ArgumentParser(description="Mistakes to be put into the source.")
    parser.add_argument("--root", default=".", help="the project; the working directory otherwise")
    parser.add_argument("command", choices=["list", "check", "diff", "apply", "page"])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--quick", action="store_true", help="list only those that the gate tries")
    parser.add_argument("--into", help="the copy of the project to write to; --root otherwise")
    options = parser.parse_args()
    project = Project(options.root)
    if options.command == "check":
        return check(project, options.names)
    if options.command == "page":
        (project.root / PAGE).write_text(project.page()[1])
        return 0
    for hazard in map(project.hazard, options.names or project.names()):
        if options.command == "list":
            if hazard["quick"] or not options.quick:
                hang = "hang" if hazard["hang"] else "-"
                print(*(hazard[key] for key in ("name", "package", "binary", "test")), hang, hazard["hazard"], sep="\t")
            continue
        for file, text in project.with_hazard(hazard).items():
            if options.command == "diff":
                before = project.source(file).text.splitlines(keepends=True)
                sys.stdout.writelines(difflib.unified_diff(before, text.splitlines(keepends=True), file, file))
            else:
                (pathlib.Path(options.into or options.root) / file).write_text(text)
                print(file)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Wrong as wrong:
        sys.exit(str(wrong))
