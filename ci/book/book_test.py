"""What the checks of the pages must find, each on a planted mistake."""

import pathlib
import re
import unittest

import constants
import links
from pages import anchors

SOUND = {
    "README.md": "# One\n[guide](docs/guide.md#the-second-part) and [folder](src)\n",
    "docs/SUMMARY.md": "- [What it is](../README.md)\n- [Guide](guide.md)\n",
    "docs/guide.md": "# Guide\n## The *second* `part`\n```rust\nuse a; // [x](nowhere.md)\n```\n`[y](nowhere.md)` [s](../src/a.rs)\n",
    "src/a.rs": "fn lock() {}",
}
STEPS = [f"## Walk\n| [`a.rs: lock`](src/a.rs) | {walk} |\n" for walk in range(4)]


def complaints(**changes):
    files = {**SOUND, **{name.replace("__", "/") + ".md": text for name, text in changes.items()}}
    return list(links.findings(set(files), files.__getitem__))


class Links(unittest.TestCase):
    def test_sound_pages_pass_and_code_is_no_link(self):
        self.assertEqual(complaints(), [])

    def test_each_kind_of_dead_link_is_found(self):
        for target in ("nowhere.md", "../src/b.rs", "/docs/guide.md", "../../x.md", "guide.md#no-such-part", "#none"):
            found = complaints(docs__guide=SOUND["docs/guide.md"] + f"[a\nb]({target})\n")
            self.assertEqual(len(found), 1, (target, found))
            self.assertIn(target, found[0])

    def test_a_page_outside_of_the_summary_is_found(self):
        self.assertEqual(complaints(docs__other="# Other\n"), ["docs/SUMMARY.md has docs/other.md 0 times, not once"])

    def test_headings_of_the_same_words_are_numbered(self):
        found = anchors("# A b\n## A b\n```\n# c\n```\n# [D](x.md), `e_f`")
        self.assertEqual(found, {"a-b", "a-b-1", "d-e_f"})


class Steps(unittest.TestCase):
    def wrong(self, text):
        return list(links.wrong_steps(text, SOUND.keys(), SOUND.__getitem__))

    def test_each_wrong_step_is_found(self):
        self.assertEqual(self.wrong("".join(STEPS)), [])
        self.assertIn("3 walks", self.wrong("".join(STEPS[1:]))[0])
        for old, new, words in (("lock`", "unlock`", "no function unlock"), ("a.rs:", "b.rs:", "links to src/a.rs")):
            (found,) = self.wrong("".join(STEPS).replace(old, new, 1))
            self.assertIn(words, found)
        files = "".join(f"| [`{name}.rs: lock`](src/{name}.rs) | |\n" for name in "bcdef")
        self.assertIn("more than 5 files", self.wrong("".join(STEPS) + files)[0])


class Constants(unittest.TestCase):
    def test_each_constant_that_changes_is_found_on_each_page(self):
        def read(path):
            return pathlib.Path(path).read_text(encoding="utf-8")

        self.assertEqual(list(constants.findings(read)), [])
        for name, file, _, pages in constants.STATED:
            other = re.sub(rf"(const {name}: \w+ =).*;", r"\1 77;", read(constants.SOURCE + file))
            found = list(constants.findings(lambda path: other if path == constants.SOURCE + file else read(path)))
            self.assertTrue(all(any(page in line and name in line for line in found) for page in pages), name)


if __name__ == "__main__":
    unittest.main()
