"""What the checks of the pages must find, each on a planted mistake."""

import unittest

import links
from pages import anchors, with_links

SOUND = {
    "README.md": "# One\n[guide](docs/guide.md#the-second-part) and [folder](src)\n",
    "docs/SUMMARY.md": "- [What it is](../README.md)\n- [Guide](guide.md)\n",
    "docs/guide.md": "# Guide\n## The *second* `part`\n```rust\nuse a; // [x](nowhere.md)\n```\n`[y](nowhere.md)` [s](../src/a.rs)\n",
    "src/a.rs": "",
}


def complaints(**changes):
    files = {**SOUND, **{name.replace("__", "/") + ".md": text for name, text in changes.items()}}
    return list(links.findings(set(files), files.__getitem__))


class Links(unittest.TestCase):
    def test_sound_pages_pass_and_code_is_no_link(self):
        self.assertEqual(complaints(), [])

    def test_each_kind_of_dead_link_is_found(self):
        for target in (
            "nowhere.md",
            "../src/b.rs",
            "/docs/guide.md",
            "../../x.md",
            "guide.md#no-such-part",
            "#none",
        ):
            found = complaints(docs__guide=SOUND["docs/guide.md"] + f"[a\nb]({target})\n")
            self.assertEqual(len(found), 1, (target, found))
            self.assertIn(target, found[0])

    def test_a_page_outside_of_the_summary_is_found(self):
        self.assertEqual(
            complaints(docs__other="# Other\n"),
            ["docs/SUMMARY.md has docs/other.md 0 times, not once"],
        )

    def test_a_part_of_another_page_is_not_in_the_summary(self):
        part = {"docs__data__speed-notes": "# Notes\n"}
        self.assertEqual(complaints(**part), [])
        summary = SOUND["docs/SUMMARY.md"] + "- [Notes](data/speed-notes.md)\n"
        self.assertEqual(
            complaints(**part, docs__SUMMARY=summary),
            ["docs/SUMMARY.md has docs/data/speed-notes.md, which is a part of another page"],
        )

    def test_headings_of_the_same_words_are_numbered(self):
        self.assertEqual(
            anchors("# A b\n## A b\n```\n# c\n```\n# [D](x.md), `e_f`"), {"a-b", "a-b-1", "d-e_f"}
        )


class Pages(unittest.TestCase):
    def test_a_page_without_a_change_is_the_same_to_the_byte(self):
        for text in SOUND.values():
            self.assertEqual(with_links(text, lambda label, target: f"{label}({target})"), text)


if __name__ == "__main__":
    unittest.main()
