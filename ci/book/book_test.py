"""What the checks of the pages must find, and what the book must do to them: each on a planted mistake."""

import json
import pathlib
import tempfile
import unittest

import built
import findings
import links
import places
from figures import Published, Recorded, root, time, two
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


class Findings(unittest.TestCase):
    def setUp(self):
        self.page = findings.PAGE.read_text(encoding="utf-8")
        self.published = Published(root() / "docs/published")
        self.recorded = Recorded(root() / "docs/results/findings")

    def test_another_figure_in_the_data_or_the_page_is_a_difference(self):
        self.assertEqual(findings.written(self.page, self.published, self.recorded), self.page)
        typed = self.page.replace("| 2.9, 2.8,", "| 3.9, 2.8,").replace("62 ms; 2.9", "61 ms; 2.9")
        self.assertNotEqual(typed, self.page)
        self.assertEqual(findings.written(typed, self.published, self.recorded), self.page)
        for series in self.recorded.reports["runs-16"]["series"]:
            for metric in series["metrics"]:
                metric["samples"] = [3 * sample for sample in metric["samples"]]
        self.assertNotEqual(findings.written(self.page, self.published, self.recorded), self.page)

    def test_what_was_not_recorded_is_a_dash(self):
        del self.recorded.reports["costs"]
        page = findings.written(self.page, self.published, self.recorded)
        self.assertIn("| PAUSE | 83 ns | 27 ns | 2.2 ns | 3 ns | - |", page)

    def test_a_run_that_was_refused_realtime_is_not_one_under_it(self):
        with tempfile.TemporaryDirectory() as name:
            for policy, reports in (("rr", {"runs-rr"}), ("other", set())):
                (pathlib.Path(name) / "runs-rr.json").write_text(
                    json.dumps({"settings": {"policy": policy}})
                )
                self.assertEqual(set(Recorded(pathlib.Path(name)).reports), reports)

    def test_a_table_without_a_place_is_an_error(self):
        with self.assertRaises(SystemExit):
            findings.written(
                self.page.replace("<!-- figures: chan -->", ""), self.published, self.recorded
            )

    def test_figures_have_two_digits(self):
        self.assertEqual(
            [two(value) for value in (None, 0, 0.0004, 0.0123, 1.449, 9.96, 1234.5)],
            ["-", "0", "<0.001", "0.012", "1.4", "10", "1,234"],
        )
        self.assertEqual(
            [time(value) for value in (None, 26, 1449, 44e6, 1.04e9)],
            ["-", "26 ns", "1.4 µs", "44 ms", "1 s"],
        )


if __name__ == "__main__":
    unittest.main()
