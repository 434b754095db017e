"""Hazards: mistakes to be put into the source, one file each. docs/add-a-hazard.md describes them.

    hazards.py list [--quick] [NAME...]      name, test binary, test, "hang" or "-", and sentence of each
    hazards.py check [NAME...]               says which do not apply, and why; builds nothing
    hazards.py diff NAME...                  what each changes
    hazards.py apply NAME [--into TREE]      puts one in, and prints the files that it has changed

All read the project in the working directory, or in --root. With --into the changed files are written to
another copy of it; the project itself is only read.
"""

import argparse
import contextlib
import dataclasses
import difflib
import pathlib
import re
import sys
import tomllib

from rust import Source

FOLDER = pathlib.PurePath("crates/ondeck/tests/mutants")
TESTS = FOLDER.parent
SOURCES = pathlib.PurePath("crates/ondeck/src")


class Wrong(Exception):
    """A hazard is not of the form, or does not apply."""


@contextlib.contextmanager
def about(name):
    """What is wrong is said of this hazard."""
    try:
        yield
    except Wrong as wrong:
        raise Wrong(f"{name}: {wrong}") from None


@dataclasses.dataclass(frozen=True)
class Edit:
    file: str
    find: str
    replace: str
    step: str = ""
    function: str = ""

    def __str__(self):
        step = f", step {self.step}" if self.step else ""
        function = f", function {self.function}" if self.function else ""
        return f"{self.file}{step}{function}"


@dataclasses.dataclass(frozen=True)
class Hazard:
    name: str
    hazard: str
    binary: str
    test: str
    edits: tuple[Edit, ...]
    quick: bool = False
    hang: bool = False


def fields(table, needed, optional, what):
    """The table's values, which are all there and of these types, and no others are."""
    for key, value in table.items():
        kind = needed.get(key) or optional.get(key)
        if kind is None:
            raise Wrong(f"{what} has `{key}`, which is no key of a hazard")
        if type(value) is not kind:
            raise Wrong(f"`{key}` of {what} is no {kind.__name__}")
    for key in needed:
        if key not in table:
            raise Wrong(f"{what} has no `{key}`")
    return dict(table)


def parsed(name, text):
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Wrong(f"not TOML: {error}") from None
    table = fields(
        table, {"hazard": str, "test": str, "edit": list}, {"quick": bool, "hang": bool}, "the file"
    )
    if not re.fullmatch(r"\S[^\n\t]*\.", table["hazard"]):
        raise Wrong("`hazard` is no sentence in one line")
    if not (test := re.fullmatch(r"(\w+) (\w+(?:::\w+)*)", table.pop("test"))):
        raise Wrong("`test` is no test binary and the full name of a test")
    edits = []
    for number, edit in enumerate(table.pop("edit"), start=1):
        if type(edit) is not dict:
            raise Wrong(f"edit {number} is no table")
        texts = {"file": str, "find": str, "replace": str}
        edits.append(Edit(**fields(edit, texts, {"step": str, "function": str}, f"edit {number}")))
    if not edits:
        raise Wrong("the file has no edit")
    return Hazard(name=name, binary=test[1], test=test[2], edits=tuple(edits), **table)


class Project:
    """A copy of the project, of which files are read once."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.sources = {}

    def hazard(self, name):
        with about(name):
            try:
                return parsed(name, (self.root / FOLDER / f"{name}.toml").read_text())
            except FileNotFoundError:
                raise Wrong(f"there is no {FOLDER / name}.toml") from None

    def names(self):
        return sorted(path.stem for path in (self.root / FOLDER).glob("*.toml"))

    def source(self, file):
        if file not in self.sources:
            try:
                self.sources[file] = Source((self.root / file).read_text())
            except (FileNotFoundError, IsADirectoryError):
                raise Wrong(f"there is no {file}") from None
        return self.sources[file]

    def with_hazard(self, hazard):
        """The text of each file that the hazard changes."""
        with about(hazard.name):
            changes = {}
            for edit in hazard.edits:
                changes.setdefault(edit.file, []).extend(self._places(edit))
            return {file: self._changed(file, edits) for file, edits in changes.items()}

    def look_for_test(self, hazard):
        """Its binary and its name must be in the tests. That it runs is seen when it does."""
        with about(hazard.name):
            folder = self.root / TESTS
            if not (folder / f"{hazard.binary}.rs").exists():
                raise Wrong(f"there is no {TESTS / hazard.binary}.rs for its test")
            name = re.compile(rf"\bfn {hazard.test.rpartition('::')[2]}\b")
            if not any(name.search(path.read_text()) for path in folder.rglob("*.rs")):
                raise Wrong(f"no file of {TESTS} has its test {hazard.test}")

    def _changed(self, file, edits):
        """Edits are places in the text as it was; so the last is made first."""
        text, after = self.source(file).text, None
        for start, end, replacement in sorted(edits, reverse=True):
            if after is not None and end > after:
                raise Wrong(f"{file}: two edits overlap in line {self.source(file).line(after)}")
            text, after = text[:start] + replacement + text[end:], start
        if Source(text).words == self.source(file).words:
            raise Wrong(f"{file}: the edits change nothing")
        return text

    def _places(self, edit):
        """Where the edit's text is, once, in its scope: start, end, and what is to stand there instead."""
        source = self.source(edit.file)
        wanted = Source(edit.find)
        if not wanted.words:
            raise Wrong(f"{edit}: nothing to find")
        found = source.matches(wanted, *self._scope(edit, source))
        if len(found) == 1:
            return [(found[0].start, found[0].end, edit.replace), *found[0].rest]
        say = f"{edit}: {shown(edit.find)} is found {len(found)} times there, not once"
        if not found:
            found = source.matches(wanted, 0, len(source.text))
            say += ", but elsewhere in the file" if found else ", and nowhere else in the file"
        raise Wrong(f"{say}{lines(source, [match.start for match in found])}")

    def _scope(self, edit, source):
        """The part of the file in which the edit is looked for: its start and end."""
        if not edit.step and not edit.function:
            return 0, len(source.text)
        functions = [each for each in source.functions if each.is_called(edit.function)]
        if edit.function and not functions:
            raise Wrong(f"{edit}: there is no such function{self._elsewhere(edit)}")
        if edit.step:
            step, function = self._step(edit, source, functions)
            return step.start, function.end
        if len(functions) > 1:
            more = "" if "::" in edit.function else ", unless named as `Type::function`"
            place = lines(source, [each.start for each in functions])
            raise Wrong(
                f"{edit}: the function is there {len(functions)} times, not once{more}{place}"
            )
        return functions[0].start, functions[0].end

    def _step(self, edit, source, functions):
        """The step that is meant, and the function around it, which is one of these if it is named."""
        steps = [step for step in source.steps if step.name == edit.step]
        if not steps:
            raise Wrong(f"{edit}: there is no such step{self._elsewhere(edit)}")
        place = lines(source, [step.start for step in steps])
        around = [(step, source.function_around(step.start)) for step in steps]
        if edit.function:
            around = [pair for pair in around if pair[1] in functions]
        if len(around) != 1:
            more = "" if edit.function else ", unless `function` says which"
            raise Wrong(f"{edit}: the step is there {len(around)} times, not once{more}{place}")
        if around[0][1] is None:
            raise Wrong(f"{edit}: the step is in no function's body{place}")
        return around[0]

    def _elsewhere(self, edit):
        """In which other files a missing step is, or the function if no step is named."""
        has = []
        for path in sorted((self.root / SOURCES).rglob("*.rs")):
            file = path.relative_to(self.root).as_posix()
            source = self.source(file)
            if any(step.name == edit.step for step in source.steps) or (
                not edit.step and any(each.is_called(edit.function) for each in source.functions)
            ):
                has.append(file)
        return f"; there is one in {' and '.join(has)}" if has else ""


def shown(find):
    """A text in one line, shortened."""
    line = " ".join(find.split())
    return f"`{line if len(line) <= 60 else line[:57] + '...'}`"


def lines(source, places):
    numbers = ", ".join(str(source.line(place)) for place in places)
    return f" (line{'s' * (len(places) > 1)} {numbers})" if places else ""


def chosen(project, names, quick=False):
    hazards = [project.hazard(name) for name in names or project.names()]
    return [hazard for hazard in hazards if hazard.quick or not quick]


def checked(project, names):
    """A line for each hazard that does not apply, and for each file that is none."""
    for name in names or project.names():
        try:
            hazard = project.hazard(name)
            project.with_hazard(hazard)
            project.look_for_test(hazard)
        except Wrong as wrong:
            yield f"DOES NOT APPLY: {wrong}"
    for path in sorted((project.root / FOLDER).iterdir()):
        if path.suffix != ".toml":
            yield f"{FOLDER / path.name} is no hazard"


def differences(project, hazard):
    for file, text in project.with_hazard(hazard).items():
        before = project.source(file).text
        yield from difflib.unified_diff(
            before.splitlines(keepends=True),
            text.splitlines(keepends=True),
            f"a/{file}",
            f"b/{file}",
        )


def arguments(words):
    parser = argparse.ArgumentParser(
        prog="hazards.py", description="Mistakes to be put into the source."
    )
    parser.add_argument("--root", default=".", help="the project; the working directory otherwise")
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser(
        "list", help="name, test binary, test, hang or -, sentence: with tabs between"
    )
    listing.add_argument("--quick", action="store_true", help="only those that the gate tries")
    listing.add_argument("names", nargs="*")
    commands.add_parser("check", help="says which do not apply").add_argument("names", nargs="*")
    commands.add_parser("diff", help="what each changes").add_argument("names", nargs="+")
    apply = commands.add_parser("apply", help="puts one in; prints the files that it has changed")
    apply.add_argument("name")
    apply.add_argument("--into", help="the copy of the project to write to; --root otherwise")
    return parser.parse_args(words)


def main(words):
    options = arguments(words)
    project = Project(options.root)
    match options.command:
        case "list":
            for each in chosen(project, options.names, options.quick):
                print(
                    each.name,
                    each.binary,
                    each.test,
                    "hang" if each.hang else "-",
                    each.hazard,
                    sep="\t",
                )
        case "check":
            complaints = list(checked(project, options.names))
            print(*complaints, sep="\n", end="\n" * bool(complaints))
            print(f"{len(options.names or project.names())} hazards, {len(complaints)} complaints")
            return 1 if complaints else 0
        case "diff":
            for each in chosen(project, options.names):
                sys.stdout.writelines(differences(project, each))
        case "apply":
            # All texts are made before any is written: half a hazard is none.
            texts = project.with_hazard(project.hazard(options.name))
            for file, text in texts.items():
                (pathlib.Path(options.into or options.root) / file).write_text(text)
                print(file)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Wrong as wrong:
        sys.exit(str(wrong))
