"""What docs/data/speed.md says of made records, and that it follows them."""

import json
import pathlib
import tempfile
import unittest

import speed
from points import LOCKS, Machine, geometric_mean, per_second, ratio, three
from tables_of_speed import behind, ratio_tables
from wanted import wanted


def metric(name, median, better="higher", spread=0.1):
    """A metric whose quartiles are so far from its median."""
    p25, p75 = median * (1 - spread), median * (1 + spread)
    return {
        "name": name,
        "median": median,
        "p25": p25,
        "p75": p75,
        "samples": [p25, median, p75],
        "n": 3,
        "better": better,
    }


def series(lock, value, threads=16, workload="throughput", params=None, **changes):
    """One of a report; of `throughput` with an empty section."""
    if params is None:
        params = {"section_ns": "0", "outside_ns": "0"}
    made = {
        "workload": workload,
        "lock": lock,
        "threads": threads,
        "params": params,
        "partial": False,
        "metrics": [metric("throughput", value), metric("share", 0.7)],
    }
    return {**made, **changes}


def report(rows, **machine):
    """A document with these series."""
    facts = {
        "cpu": "AMD EPYC",
        "cpus": 2,
        "kernel": "Linux 6",
        "libc": "glibc 2",
        "virtualized": None,
    }
    return {
        "machine": {**facts, **machine},
        "build": {"rustc": "1", "commit": "abc", "profile": "release"},
        "started": "2026-01-01T00:00:00Z",
        "seconds": 1.0,
        "warnings": [],
        "series": rows,
    }


class Records(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def machine(self, **reports):
        """The machine of these reports."""
        for name, rows in reports.items():
            path = self.folder / f"{name.replace('_', '-')}.json"
            path.write_text(json.dumps(report(rows)), encoding="utf-8")
        return Machine(self.folder.glob("*.json"))

    def rows(self, own, best, **more):
        """Every lock at one point: ondeck, the best other, and others behind that."""
        values = {"ondeck": own, "spinlock": 100 * best, "usync": best}
        return [series(lock, values.get(lock, best / 2), **more) for lock in LOCKS]

    def test_the_best_other_lock_is_named_and_a_spinlock_is_none(self):
        (point,) = self.machine(throughput=self.rows(3e6, 2e6)).points("throughput")
        found = point.ratio("throughput")
        self.assertEqual((found.other, found.text()), ("usync", "1.50 (1.23–1.83) usync"))

    def test_where_ondeck_is_behind_is_marked_and_counted(self):
        machine = self.machine(throughput=self.rows(1e6, 2e6))
        page = "\n".join(ratio_tables(machine))
        self.assertIn("**0.50** (0.41–0.61) usync", page)
        self.assertIn("behind the best other lock at 1, at 1 of them", behind(machine))
        near = self.machine(throughput=self.rows(1.9e6, 2e6))
        self.assertIn("behind the best other lock at 1, at 0 of them", behind(near))

    def test_what_was_wanted_is_judged_by_the_ratio(self):
        def row(own):
            page = wanted(self.machine(throughput=self.rows(own, 2e6)))
            (line,) = [line for line in page.split("\n") if "0.95 × the best other" in line]
            return line

        self.assertIn("| reached |", row(1.95e6))
        self.assertIn("**not reached**", row(1.8e6))

    def test_shares_are_of_the_rounds_that_are_long_enough(self):
        short = [series(lock, 1e6, metrics=[metric("throughput", 1e6)]) for lock in LOCKS]
        machine = self.machine(throughput=short, shares=self.rows(9e6, 1e6))
        self.assertIn("| empty section | share | 0.700 |", "\n".join(ratio_tables(machine)))
        # Their rates are not those of the tables.
        (point,) = machine.points("throughput")
        self.assertEqual(point.ratio("throughput").value, 1)

    def test_other_conditions_are_a_table_of_their_own(self):
        machine = self.machine(
            throughput=self.rows(3e6, 2e6), varied_slice_3=self.rows(1e6, 2e6, threads=4)
        )
        page = "\n".join(ratio_tables(machine))
        self.assertIn("| slice 3 | empty section | **0.50** (0.41–0.61) usync | - |", page)
        self.assertEqual([point.threads for point in machine.points("throughput")], [16])

    def test_notifying_after_the_unlock_is_a_situation_of_its_own(self):
        inside = self.rows(3e6, 2e6, workload="condvar", params={})
        after = self.rows(1e6, 2e6, workload="condvar", params={"notify": "after"})
        page = "\n".join(ratio_tables(self.machine(condvar=inside + after)))
        self.assertIn("| notified inside | 1.50 (1.23–1.83) usync | 1.50 |", page)
        self.assertIn("| notified after | **0.50** (0.41–0.61) usync | **0.50** |", page)

    def test_partial_series_and_what_was_not_measured_are_left_out(self):
        rows = [series(lock, 1e6, partial=True) for lock in LOCKS]
        machine = self.machine(throughput=rows)
        self.assertEqual(machine.points("throughput"), [])
        self.assertIn("Reached: 0 of 0", wanted(machine))

    def test_every_folder_is_a_section_but_those_of_other_pages(self):
        for name in ("amd-epyc-2", "findings", "empty"):
            (self.folder / name).mkdir()
        for name in ("amd-epyc-2", "findings"):
            path = self.folder / name / "throughput.json"
            path.write_text(json.dumps(report(self.rows(3e6, 2e6))), encoding="utf-8")
        earlier = report(self.rows(3e6, 2e6), cpu="Old")
        (self.folder / "two-cpus-throughput.json").write_text(json.dumps(earlier))
        made = speed.sections(self.folder)
        self.assertEqual(
            [text.split("\n")[0] for text in made],
            ["## AMD EPYC, 2 CPUs", "## Old, 2 CPUs (earlier)"],
        )
        self.assertIn("earlier version of `ondeck`, commits abc", made[1])
        page = speed.written(made, "## Notes\n\nBy hand.\n")
        self.assertIn("\n\n## Notes\n\nBy hand.\n\n## AMD EPYC, 2 CPUs\n\n", page)


class Figures(unittest.TestCase):
    def test_a_ratio_above_one_is_ahead_whichever_direction_is_better(self):
        for better, own, other, value in (
            ("higher", 4, 2, 2),
            ("higher", 1, 2, 0.5),
            ("lower", 1, 2, 2),
            ("lower", 4, 2, 0.5),
        ):
            found = ratio(metric("m", own, better), {"std": metric("m", other, better)})
            self.assertEqual((found.value, found.behind()), (value, value < 1))
            self.assertLess(found.low, found.value)
            self.assertLess(found.value, found.high)

    def test_the_best_of_several_is_compared_with(self):
        others = {"std": metric("m", 3, "lower"), "glibc": metric("m", 2, "lower"), "usync": None}
        self.assertEqual(ratio(metric("m", 1, "lower"), others).other, "glibc")

    def test_a_difference_within_the_quartiles_is_not_told(self):
        self.assertFalse(ratio(metric("m", 1), {"std": metric("m", 1.1)}).told())
        self.assertTrue(ratio(metric("m", 1), {"std": metric("m", 2)}).told())

    def test_nothing_measured_is_no_ratio(self):
        self.assertIsNone(ratio(None, {"std": metric("m", 1)}))
        self.assertIsNone(ratio(metric("m", 1), {"std": None}))
        self.assertIsNone(ratio(metric("m", 0), {"std": metric("m", 1)}))
        self.assertIsNone(geometric_mean([]))
        self.assertAlmostEqual(geometric_mean([1, 4]), 2)
        noisy = metric("m", 1, spread=1)
        self.assertIn("–∞)", ratio(metric("m", 1), {"std": noisy}).text())

    def test_numbers_have_three_digits(self):
        self.assertEqual(
            [three(value) for value in (None, 0.0004, 0.5, 1.234, 12.34, 1234.5)],
            ["-", "<0.001", "0.500", "1.23", "12.3", "1,234"],
        )
        self.assertEqual(
            [per_second(value) for value in (None, 1234, 999_900, 12.34e6)],
            ["-", "1.23 k", "1.00 M", "12.3 M"],
        )

    def test_a_machine_s_folder_is_its_cpu_s_name_in_small_letters(self):
        for cpu, name in (
            ("AMD EPYC", "amd-epyc-2"),
            ("Intel(R) Xeon(R) Processor", "intel-xeon-2"),
            ("Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz", "intel-core-i7-8650u-2"),
            ("", "unnamed-2"),
        ):
            self.assertEqual(speed.slug({"cpu": cpu, "cpus": 2}), name)


class Page(unittest.TestCase):
    def test_the_page_is_made_of_its_records_and_notes(self):
        notes = speed.NOTES.read_text(encoding="utf-8")
        page = speed.written(speed.sections(speed.RESULTS), notes)
        self.assertEqual(page, speed.PAGE.read_text(encoding="utf-8"))
        self.assertIn(notes.strip(), page)


if __name__ == "__main__":
    unittest.main()
