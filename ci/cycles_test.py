"""The search for circles of modules finds those that there are."""

import tempfile
import unittest
from pathlib import Path

from cycles import check


class Cycles(unittest.TestCase):
    def lines(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = Path(folder) / "src" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check(folder)

    def circle(self, one, other, root=""):
        return self.lines({"lib.rs": f"mod a; mod b; {root}", "a.rs": one, "b.rs": other})

    def test_a_circle_is_told_with_its_places(self):
        lines = self.circle("use crate::b::B;", "fn f() -> u8 { crate::a::f() }")
        self.assertIn("a circle of 2: a, b", lines[0])
        self.assertTrue(any("b.rs:1" in line for line in lines), lines)

    def test_one_direction_is_none(self):
        self.assertEqual(self.circle("use crate::b::B;", "struct B;"), [])

    def test_groups_are_taken_apart(self):
        self.assertTrue(self.circle("use crate::{b::{self, B}, C};", "use super::a;"))

    def test_a_re_export_leads_to_where_the_item_is(self):
        self.assertTrue(self.circle("use crate::B;", "use crate::a::A;", "pub use b::B;"))
        self.assertEqual(self.circle("use crate::B;", "use crate::a::A;", "struct B;"), [])

    def test_what_tests_and_comments_say_is_no_need(self):
        for other in ["// use crate::a::A;\n", "#[cfg(test)] mod tests { use crate::a::A; }", 'const X: &str = "crate::a";']:
            self.assertEqual(self.circle("use crate::b::B;", other), [], other)

    def test_circles_are_found_below_the_root(self):
        lines = self.lines(
            {
                "lib.rs": "mod m;",
                "m/mod.rs": "mod a; mod b;",
                "m/a.rs": "use super::b::B;",
                "m/b.rs": "use crate::m::a::A;",
            }
        )
        self.assertIn("::m: a circle", lines[0])


if __name__ == "__main__":
    unittest.main()
