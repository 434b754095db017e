"""A step whose function has another name or another file is found."""

import unittest

from steps import findings, walks

PAGE = """## Walks

### One

| step | what |
|---|---|
| [`a.rs: go`](src/a.rs) | It goes. |
| [`b.rs: stop`](src/b.rs) | It stops. |

### Other

| place | what |
|---|---|
| [`src/`](src/a.rs) | a folder |
"""
FILES = {"src/a.rs": "pub fn go() {}", "src/b.rs": "fn stop<T>() {}", "src/c.rs": "fn c() {}"}


class Steps(unittest.TestCase):
    def test_a_table_of_steps_is_a_walk_and_another_table_is_none(self):
        self.assertEqual(
            walks(PAGE), {"One": [("a.rs: go", "src/a.rs"), ("b.rs: stop", "src/b.rs")]}
        )
        self.assertEqual(list(findings(PAGE, FILES.get)), [])

    def test_a_function_that_was_renamed_is_found(self):
        for code in ("pub fn went() {}", "pub fn go_on() {}", "go();"):
            found = list(findings(PAGE, {**FILES, "src/a.rs": code}.get))
            self.assertEqual(found, ["One: src/a.rs has no function go"])

    def test_a_file_that_was_moved_is_found(self):
        moved = PAGE.replace("(src/b.rs)", "(src/gone.rs)")
        self.assertEqual(list(findings(moved, FILES.get)), ["One: src/gone.rs is not there"])
        other = PAGE.replace("(src/b.rs)", "(src/c.rs)")
        self.assertEqual(list(findings(other, FILES.get)), ["One: `b.rs: stop` links to src/c.rs"])

    def test_a_walk_of_four_files_is_too_long(self):
        more = "".join(f"| [`{name}.rs: {name}`](src/{name}.rs) | |\n" for name in "cde")
        files = {**FILES, **{f"src/{name}.rs": f"fn {name}() {{}}" for name in "de"}}
        page = PAGE.replace("\n### Other", more + "\n### Other").replace("stops. |\n\n", "stops. |\n")
        self.assertEqual(list(findings(page, files.get)), ["One: 5 files, not 3"])


if __name__ == "__main__":
    unittest.main()
