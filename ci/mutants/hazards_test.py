"""What is found, changed and refused."""

import unittest

import hazards
from hazards import FOLDER, TESTS, Wrong
from small_project import FILE, HEAD, LOCK, OTHER, PARK, InAProject, edit


class Applied(InAProject):
    def changed(self, old, new, *edits, count=1):
        """Asserts that the edits make this of the file and nothing else."""
        self.assertEqual(LOCK.count(old), count)
        self.assertEqual(self.texts(*edits), {FILE: LOCK.replace(old, new)})

    def test_a_step_leads_to_the_text(self):
        self.changed(
            "if byte.load(Ordering::Acquire)",
            "if byte.load(Ordering::Relaxed)",
            edit(
                step="Lock!Take",
                find="byte.load(Ordering::Acquire)",
                replace="byte.load(Ordering::Relaxed)",
            ),
        )

    def test_comments_and_white_space_do_not_count(self):
        self.changed(
            "== 0 && /* why */ self",
            "== 0 || self",
            edit(
                step="Lock!Take", find="== 0 // another reason\n  &&\tself", replace="== 0 || self"
            ),
        )

    def test_commas_of_broken_lines_do_not_count(self):
        broken = LOCK[LOCK.index("one(") : LOCK.index(";\n    }\n}\n", LOCK.index("one("))]
        self.changed(
            broken,
            "two()",
            edit(function="Guard::lock", find="one(first, Second::<A, B>::new())", replace="two()"),
        )

    def test_text_before_the_step_is_not_looked_at(self):
        self.changed(
            "fn inside(",
            "go(); fn inside(",
            edit(step="after the look", find="fn inside", replace="go(); fn inside"),
        )

    def test_a_function_is_a_scope_and_may_be_named_with_its_type(self):
        self.changed("wake(byte, 1)", "", edit(function="inside", find="wake(byte, 1)", replace=""))
        self.changed(
            "wake(self.byte, 1)",
            "",
            edit(function="Guard::lock", find="wake(self.byte, 1)", replace=""),
        )

    def test_a_function_tells_steps_of_one_name_apart(self):
        self.changed(
            "wake(self.byte, 1);",
            "",
            edit(step="Lock!Wake", function="Guard::lock", find="wake(self.byte, 1);", replace=""),
        )

    def test_without_a_scope_the_whole_file_is_looked_at(self):
        self.changed("use core::fmt;", "use core;", edit(find="core::fmt;", replace="core;"))

    def test_code_is_moved_by_two_edits_whose_order_does_not_count(self):
        edits = (
            edit(step="Lock!Take", find="if byte", replace="one(first); if byte"),
            edit(function="Guard::lock", find="wake(self.byte, 1);", replace=""),
        )
        moved = LOCK.replace("if byte", "one(first); if byte").replace("wake(self.byte, 1);", "")
        self.assertEqual(self.texts(*edits), {FILE: moved})
        self.assertEqual(self.texts(*reversed(edits)), {FILE: moved})

    def test_edits_see_the_text_as_it_was(self):
        self.changed(
            "if byte.load(Ordering::Acquire) == 0",
            "if byte.load(Ordering::Relaxed) == byte",
            edit(step="Lock!Take", find="Ordering::Acquire", replace="Ordering::Relaxed"),
            edit(step="Lock!Take", find="0", replace="byte"),
        )

    def test_several_files(self):
        texts = self.texts(
            edit(step="Lock!Take", find="Ordering::Acquire", replace="Ordering::Relaxed"),
            edit(file=OTHER, step="Park!Link", find="link(node);", replace=""),
        )
        self.assertEqual(set(texts), {FILE, OTHER})
        self.assertEqual(texts[OTHER], PARK.replace("link(node);", ""))


class Refused(InAProject):
    def test_text_that_is_not_there(self):
        self.refused(
            ["Lock!Take", FILE, "`nowhere()` is found 0 times there", "nowhere else"],
            edit(step="Lock!Take", find="nowhere()", replace=""),
        )

    def test_text_that_is_there_twice(self):
        self.refused(
            ["is found 2 times there, not once", "(lines 13, 18)"],
            edit(step="after the look", find="wait(word);", replace=""),
        )

    def test_text_outside_of_the_scope(self):
        self.refused(
            ["0 times", "but elsewhere in the file (line 30)"],
            edit(step="Lock!Take", find="self.byte", replace=""),
        )

    def test_text_in_comments_and_parts_of_words(self):
        self.refused(["0 times"], edit(step="Lock!Take", find="why", replace=""))
        self.refused(["0 times"], edit(step="Lock!Take", find="ait(word)", replace=""))
        self.refused(["0 times"], edit(step="Lock!Take", find="= 0", replace=""))

    def test_a_step_that_is_not_there_or_in_another_file(self):
        self.refused(["no such step"], edit(step="Lock!Gone", find="wait", replace=""))
        self.refused(
            ["no such step", f"there is one in {OTHER}"],
            edit(step="Park!Link", find="link", replace=""),
        )

    def test_a_step_of_two_functions(self):
        self.refused(
            ["the step is there 2 times", "(lines 15, 29)", "`function`"],
            edit(step="Lock!Wake", find="1", replace=""),
        )
        self.refused(
            ["the step is there 0 times"],
            edit(step="Lock!Take", function="inside", find="1", replace=""),
        )

    def test_a_step_in_no_function(self):
        self.write(FILE, "// step: outside\n" + LOCK)
        self.refused(["in no function", "(line 1)"], edit(step="outside", find="core", replace=""))

    def test_a_function_that_is_not_there_or_in_another_file(self):
        self.refused(["no such function"], edit(function="unlock", find="wait", replace=""))
        self.refused(
            ["no such function", f"there is one in {OTHER}"],
            edit(function="park", find="link", replace=""),
        )

    def test_a_function_of_two_types(self):
        self.refused(
            ["2 times", "(lines 6, 28)", "Type::function"],
            edit(function="lock", find="Acquire", replace=""),
        )

    def test_a_file_that_is_not_there(self):
        self.refused(["there is no src/x.rs"], edit(file="src/x.rs", find="1", replace=""))

    def test_edits_that_overlap(self):
        self.refused(
            ["overlap in line 30"],
            edit(function="Guard::lock", find="wake(self.byte, 1)", replace=""),
            edit(function="Guard::lock", find="self.byte", replace=""),
        )

    def test_an_edit_of_nothing_and_to_nothing_else(self):
        self.refused(["nothing to find"], edit(step="Lock!Take", find="// why", replace="x"))
        self.refused(
            ["change nothing"],
            edit(step="Lock!Take", find="Acquire", replace="/* the same */ Acquire"),
        )

    def test_a_file_of_another_form(self):
        for says, text in (
            ("not TOML", "hazard ="),
            ("no `test`", 'hazard = "A."\n' + edit(find="a", replace="")),
            ("no `edit`", HEAD),
            ("no edit", HEAD + "edit = []\n"),
            ("edit 1 is no table", HEAD + "edit = [1]\n"),
            ("edit 1 has no `replace`", HEAD + edit(find="a")),
            ("`slow`, which is no key", HEAD + "slow = true\n" + edit(find="a", replace="")),
            ("edit 1 has `steps`", HEAD + edit(find="a", replace="", steps="b")),
            ("`quick` of the file is no bool", HEAD + "quick = 1\n" + edit(find="a", replace="")),
            ("no sentence", HEAD.replace("early.", "early") + edit(find="a", replace="")),
            ("no test binary", HEAD.replace("loom ", "") + edit(find="a", replace="")),
        ):
            with self.subTest(says), self.assertRaisesRegex(Wrong, says):
                hazards.parsed("early", text)


class Commands(InAProject):
    sound = edit(step="Lock!Take", find="Ordering::Acquire", replace="Ordering::Relaxed")

    def test_list_has_all_or_those_named_or_the_quick_ones(self):
        self.hazard(self.sound)
        self.hazard(self.sound, name="late", head=HEAD + "quick = true\nhang = true\n")
        early, late = (
            f"{name}\tloom\tlock::two_threads\t{hang}\tA look comes too early.\n"
            for name, hang in (("early", "-"), ("late", "hang"))
        )
        self.assertEqual(self.run_with("list"), (0, early + late))
        self.assertEqual(self.run_with("list", "--quick"), (0, late))
        self.assertEqual(self.run_with("list", "late", "early"), (0, late + early))
        with self.assertRaisesRegex(Wrong, "gone: there is no .*/gone.toml"):
            self.run_with("list", "gone")

    def test_check_says_all_that_is_wrong(self):
        self.hazard(self.sound)
        self.assertEqual(self.run_with("check"), (0, "1 hazards, 0 complaints\n"))
        self.hazard(edit(step="Lock!Gone", find="a", replace=""), name="gone")
        self.hazard(self.sound, name="of_no_test", head=HEAD.replace("two_threads", "three"))
        self.hazard(self.sound, name="of_no_binary", head=HEAD.replace("loom", "shuttle"))
        self.write(FOLDER / "old.patch", "")
        status, said = self.run_with("check")
        self.assertEqual(status, 1)
        for part in (
            f"DOES NOT APPLY: gone: {FILE}, step Lock!Gone: there is no such step",
            f"DOES NOT APPLY: of_no_test: no file of {TESTS} has its test lock::three",
            f"DOES NOT APPLY: of_no_binary: there is no {TESTS}/shuttle.rs",
            "old.patch is no hazard",
            "4 hazards, 4 complaints",
        ):
            self.assertIn(part, said)

    def test_apply_changes_the_tree_or_a_copy_of_it(self):
        self.hazard(self.sound)
        copy = self.root / "copy"
        self.write(copy / FILE, "")
        self.assertEqual(self.run_with("apply", "early", "--into", str(copy)), (0, f"{FILE}\n"))
        self.assertEqual((self.root / FILE).read_text(), LOCK)
        changed = LOCK.replace("if byte.load(Ordering::Acquire)", "if byte.load(Ordering::Relaxed)")
        self.assertEqual((copy / FILE).read_text(), changed)
        self.run_with("apply", "early")
        self.assertEqual((self.root / FILE).read_text(), changed)

    def test_half_a_hazard_is_not_applied(self):
        self.hazard(self.sound, edit(file=OTHER, find="gone", replace=""))
        with self.assertRaises(Wrong):
            self.run_with("apply", "early")
        self.assertEqual((self.root / FILE).read_text(), LOCK)

    def test_diff_shows_the_lines(self):
        self.hazard(self.sound)
        _, said = self.run_with("diff", "early")
        self.assertIn(f"+++ b/{FILE}\n", said)
        self.assertEqual(
            [line[:11] for line in said.splitlines() if line[0] in "+-" and line[1:3] == "  "],
            ["-        if", "+        if"],
        )


if __name__ == "__main__":
    unittest.main()
