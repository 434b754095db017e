"""What is read of Rust, and that its layout is none of it."""

import unittest

import hazards
from rust import Source
from small_project import FILE, LOCK, InAProject, edit

LONG = """fn take(first: Option<u8>) -> bool {
    let Some(value) = first else {
        return false;
    };
    match value {
        0 => {
            called(|each| {
                each(value)
            })
        }
        1 => {
            return true;
        }
        _ => {
            wait(value);
            true
        }
    }
}
"""
SHORT = """fn take(first: Option<u8>) -> bool {
    let Some(value) = first else { return false };
    match value {
        0 => called(|each| each(value)),
        1 => return true,
        _ => {
            wait(value);
            true
        }
    }
}
"""


def without_layout(text):
    """The words but for what rustfmt writes around broken lines, and without commas."""
    source = Source(text)
    return [word for at, word in enumerate(source.words) if at not in source.layout and word != ","]


class Layout(InAProject):
    """What rustfmt writes around code that it breaks is no part of it."""

    def becomes(self, before, find, replace, old, new):
        self.write(FILE, before)
        self.assertEqual(before.count(old), 1)
        texts = self.texts(edit(function="take", find=find, replace=replace))
        self.assertEqual(texts, {FILE: before.replace(old, new)})

    def test_either_form_finds_the_other(self):
        for find in (LONG, SHORT):
            body = find[find.index("let") : -3]
            for before in (LONG, SHORT):
                self.becomes(before, body, "false", before[before.index("let") : -3], "false")

    def test_a_semicolon_may_be_there(self):
        for before in (LONG, SHORT):
            its = before[before.index("else") : before.index("match")]
            self.becomes(
                before,
                "else { return false };",
                "else { todo!() };",
                its.strip(),
                "else { todo!() };",
            )

    def test_a_brace_goes_with_its_partner(self):
        first, second = "0 => called(|each| each(value))", "1 => return true"
        for find, replace in (
            (first, "0 => {}"),
            (second, "1 => {}"),
            ("1 => return", "1 => !"),
            ("each(value)), 1", "each), 1"),
        ):
            self.hazard(edit(function="take", find=find, replace=replace))
            made = []
            for before in (LONG, SHORT):
                self.write(FILE, before)
                project = hazards.Project(self.root)
                made.append(project.with_hazard(project.hazard("early"))[FILE])
            self.assertEqual(without_layout(made[0]), without_layout(made[1]), find)

    def test_an_arm_that_loses_its_braces_gets_a_comma(self):
        self.write(FILE, LONG)
        texts = self.texts(edit(function="take", find="1 => return", replace="1 => !"))
        self.assertIn("1 => ! true,\n        _", texts[FILE])

    def test_what_is_in_braces_is_found_without_them(self):
        self.becomes(LONG, "each(value)", "each(0)", "each(value)", "each(0)")
        self.becomes(LONG, "return true", "return false", "return true", "return false")

    def test_braces_of_statements_count(self):
        self.refused(
            ["0 times"],
            edit(step="Lock!Take", find='self.taken(\'"\', "} // {") wait(word);', replace=""),
        )
        self.write(FILE, SHORT)
        self.refused(["0 times"], edit(function="take", find="_ => wait(value)", replace=""))


class Rust(unittest.TestCase):
    def words(self, text, *words):
        self.assertEqual(Source(text).words, list(words), text)

    def test_literals_and_comments(self):
        self.words(
            r"""a('"', "\"//", '\'', b'\x00')""",
            "a",
            "(",
            "'\"'",
            ",",
            r'"\"//"',
            ",",
            r"'\''",
            ",",
            r"b'\x00'",
            ")",
        )
        self.words("""r#"a " // b"# 'a 'b' r#fn""", """r#"a " // b"#""", "'a", "'b'", "r#fn")
        self.words("a /* b /* c */ d */ e // f\ng /* h", "a", "e", "g")
        self.words("0..1 1.5 x.0 1_u32", "0", "..", "1", "1.5", "x", ".", "0", "1_u32")

    def test_operators_are_whole(self):
        self.words(
            "a>=b&&c=>d::e..=f->g",
            "a",
            ">=",
            "b",
            "&&",
            "c",
            "=>",
            "d",
            "::",
            "e",
            "..=",
            "f",
            "->",
            "g",
        )

    def test_functions_have_owners_and_ends(self):
        found = {
            (each.owner, each.name): LOCK[each.end - 8 : each.end]
            for each in Source(LOCK).functions
        }
        self.assertEqual(set(found), {("Lock", "lock"), ("Lock", "inside"), ("Guard", "lock")})
        modules = Source(
            "mod a { trait B { fn c() {} } fn d() {} } fn e() {} unsafe impl X for &'a f::G<H> { fn i() {} }"
        )
        self.assertEqual(
            [(each.owner, each.name) for each in modules.functions],
            [("B", "c"), ("a", "d"), ("", "e"), ("G", "i")],
        )

    def test_a_place_is_in_the_innermost_function(self):
        source = Source(LOCK)
        for text, name in (("wait(word)", "lock"), ("wake(byte", "inside"), ("core", None)):
            around = source.function_around(LOCK.index(text))
            self.assertEqual(around and around.name, name)

    def test_steps_are_plain_comments_with_a_name(self):
        steps = Source(
            '// spec: A!B\n/// step: no\n//step: c d \nx(); // step: e\n// steps: f\n"// step: g"'
        ).steps
        self.assertEqual([step.name for step in steps], ["A!B", "c d", "e"])


if __name__ == "__main__":
    unittest.main()
