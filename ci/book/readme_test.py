"""The table and the figure of README.md follow the record."""

import json
import pathlib
import tempfile
import unittest
import xml.etree.ElementTree

import speed
from points import Machine
from ratio_figure import counted, in_words, rows, svg
from readme import BEGIN, END, best_other, cells, digits, numbers, table, with_numbers
from speed_test import report, series
from tables_of_speed import behind

SVG = "{http://www.w3.org/2000/svg}"


class Record(unittest.TestCase):
    def machine(self, found):
        """A machine whose one report has these series."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / "throughput.json"
        path.write_text(json.dumps(report(found)), encoding="utf-8")
        return Machine([path])

    def rates(self, own, best, threads=(1, 8, 64)):
        """ondeck and two others with an empty section, rates by threads."""
        found = []
        for count, mine, other in zip(threads, own, best):
            values = {"ondeck": mine, "usync": other, "std": other / 2}
            found += [series(lock, value, threads=count) for lock, value in values.items()]
        return self.machine(found)


class Table(Record):
    def row(self, own, best):
        """The row of an empty section."""
        (line,) = [line for line in table(self.rates(own, best)).split("\n") if "empty section" in line]
        return line.split(" | ")[1:]

    def test_bold_marks_the_better_one_at_each_point(self):
        own, best = self.row((3e6, 1e6, 2e6), (2e6, 4e6, 2e6))
        self.assertEqual(own, "**3.00** / 1.00 / 2.00")
        self.assertEqual(best, "2.00 / **4.00** / 2.00 usync |")

    def test_what_was_not_measured_is_a_dash(self):
        own, best = self.row((3e6,), (2e6,))
        self.assertEqual((own, best), ("**3.00** / - / -", "2.00 usync / - / - |"))

    def test_a_name_stands_behind_its_values(self):
        found = [
            series(lock, rate, threads=count)
            for count, other in ((1, "std"), (8, "usync"))
            for lock, rate in (("ondeck", 1e6), (other, 2e6))
        ]
        points = self.machine(found).points("throughput")
        self.assertEqual(cells(points, "throughput", 1e6, digits)[1], "**2** std / **2** usync")

    def test_of_the_longest_wait_it_is_the_longest_of_all_runs(self):
        def waits(lock, samples):
            metric = {"name": "longest", "better": "lower", "n": 3, "samples": samples}
            metric |= {"median": sorted(samples)[1], "p25": samples[0], "p75": samples[2]}
            return series(lock, 1, workload="wait", params={}, metrics=[metric])

        machine = self.machine([waits("ondeck", [1, 1, 9]), waits("std", [2, 3, 4])])
        (point,) = machine.points("wait")
        self.assertEqual(best_other(point, "longest"), (4, "std"))
        self.assertEqual(cells([point], "longest", 1, digits), ("9", "**4** std"))

    def test_only_what_is_between_the_marks_changes(self):
        page = f"before\n{BEGIN}\nold\n{END}\nafter\n"
        self.assertEqual(with_numbers(page, "new"), f"before\n{BEGIN}\nnew\n{END}\nafter\n")


class Figure(Record):
    def drawing(self, machine):
        return xml.etree.ElementTree.fromstring(svg(rows(machine), "A & B"))

    def test_a_dot_is_right_of_one_where_ondeck_leads(self):
        drawing = self.drawing(self.rates((4e6, 1e6, 1e6), (1e6, 4e6, 1e6)))
        one = float(drawing.find(f"{SVG}path[@class='one']").get("d")[1:].split(" ")[0])
        dots = [(dot.get("class"), float(dot.get("cx"))) for dot in drawing.iter(f"{SVG}circle")]
        self.assertEqual([kind for kind, _ in dots], ["ahead", "behind", "ahead equal"])
        self.assertGreater(dots[0][1], one)
        self.assertLess(dots[1][1], one)
        # On a logarithmic axis four times as good is as far from 1 as four times as bad.
        self.assertAlmostEqual(dots[0][1] - one, one - dots[1][1], delta=0.2)
        self.assertEqual(dots[2][1], one)

    def test_the_words_count_the_dots(self):
        machine = self.rates((4e6, 1e6, 1e6), (1e6, 4e6, 1e6))
        self.assertEqual(counted(rows(machine)), (3, 1, 1))
        self.assertIn("Of 3 points", in_words(rows(machine)))
        self.assertIn("A &amp; B", svg(rows(machine), "A & B"))
        self.assertIn(in_words(rows(machine)), numbers(machine, "A").replace("\n", " "))

    def test_the_points_are_those_of_the_speed_page(self):
        machine = next(iter(speed.machines(speed.RESULTS).values()))
        points, _, late = counted(rows(machine))
        words = behind(machine)
        self.assertIn(f"Of {points} points ", words)
        self.assertIn(f", at {late} of them", words)


class Files(unittest.TestCase):
    def test_the_files_are_those_of_the_records(self):
        for path, text in speed.files().items():
            self.assertEqual(text, path.read_text(encoding="utf-8"), path)

    def test_the_figure_has_no_text_that_is_wider_than_the_drawing(self):
        machine = next(iter(speed.machines(speed.RESULTS).values()))
        drawing = xml.etree.ElementTree.fromstring(svg(rows(machine), "A CPU"))
        labels = [text for text in drawing.iter(f"{SVG}text") if text.get("class") == "end"]
        for label in labels:
            self.assertLess(len(label.text) * 6.6, float(label.get("x")), label.text)


if __name__ == "__main__":
    unittest.main()
