"""What the checks of the pages must find, and what the book must do to them: each on a planted mistake."""

import pathlib
import tempfile
import unittest

import built
import links
import places
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


class Places(unittest.TestCase):
    def moved(self, files):
        def chapter(path, text):
            return {
                "Chapter": {
                    "path": path.replace("README", "index"),
                    "source_path": path,
                    "content": text,
                    "sub_items": [],
                }
            }

        book = [
            chapter("../README.md", SOUND["README.md"]),
            chapter("guide.md", SOUND["docs/guide.md"]),
        ]
        places.move(book, "docs", files)
        return {item["Chapter"]["path"]: item["Chapter"]["content"] for item in book}

    def test_pages_from_outside_get_a_place_and_links_follow(self):
        moved = self.moved("https://host/")
        self.assertIn("[guide](guide.md#the-second-part)", moved["index.md"])
        self.assertIn("[s](https://host/src/a.rs)", moved["guide.md"])

    def test_without_an_address_files_are_text_and_code_is_left_alone(self):
        guide = self.moved("")["guide.md"]
        self.assertIn('<span title="src/a.rs">s</span>', guide)
        self.assertIn("use a; // [x](nowhere.md)\n```\n`[y](nowhere.md)`", guide)

    def test_a_page_without_a_change_is_the_same_to_the_byte(self):
        for text in SOUND.values():
            self.assertEqual(with_links(text, lambda label, target: f"{label}({target})"), text)


class Built(unittest.TestCase):
    def test_dead_links_of_built_pages_are_found(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "a.html").write_text(
                '<h1 id="x"><a href="b.html#y">1</a><a href="c.html">2</a><a href="#x">3</a>'
            )
            (folder / "b.html").write_text(
                '<h1 id="z"><a href="a.html#x">1</a><a href="https://c/d">2</a>'
            )
            self.assertEqual(len(list(built.findings(folder))), 2)


if __name__ == "__main__":
    unittest.main()
