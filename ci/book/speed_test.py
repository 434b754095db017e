"""What docs/data/speed.md, the table of README.md and its figure say of made records, and that they follow the records."""

import unittest
import xml.etree.ElementTree

import policy
import speed
from ratio_figure import label, svg
from records import PEERS, Machine, Ratio, condensed, counted, in_words, more_rows, ratio, rows

SVG = "{http://www.w3.org/2000/svg}"


def metric(name, median, better="higher", spread=0.1):
    """A metric whose quartiles are so far from its median."""
    p25, p75 = median * (1 - spread), median * (1 + spread)
    samples = [p25, median, p75]
    return {"name": name, "median": median, "p25": p25, "p75": p75, "samples": samples, "n": 3, "better": better}


def series(lock, value, threads=16, workload="throughput", params=None, **changes):
    """One of a report; of `throughput` with an empty section."""
    params = {"section_ns": "0", "outside_ns": "0"} if params is None else params
    made = {"workload": workload, "lock": lock, "threads": threads, "params": params, "partial": False}
    return {**made, "metrics": [metric("throughput", value), metric("share", 0.7)], **changes}


def report(found):
    """A document with these series."""
    machine = {"cpu": "AMD EPYC", "cpus": 2, "kernel": "Linux 6", "libc": "glibc 2", "virtualized": None}
    build = {"rustc": "1", "commit": "abc", "profile": "release"}
    started = "2026-01-01T00:00:00Z"
    return {"machine": machine, "build": build, "started": started, "seconds": 1.0, "warnings": [], "series": found}


class Records(unittest.TestCase):
    def machine(self, **reports):
        """The machine of these reports."""
        return Machine({name.replace("_", "-"): condensed(report(found)) for name, found in reports.items()})

    def locks(self, own, best, **more):
        """Every lock at one point: ondeck, the best other, a spinlock, and others behind that."""
        values = {"ondeck": own, "spinlock": 100 * best, **dict.fromkeys(PEERS, best / 2), "usync": best}
        return [series(lock, value, **more) for lock, value in values.items()]

    def rates(self, own, best):
        """ondeck and the best other with an empty section and 1, 8 and 64 threads."""
        points = zip((1, 8, 64), own, best)
        return self.machine(throughput=[one for count, *both in points for one in self.locks(*both, threads=count)])

    def page(self, machine):
        return speed.section(machine)

    def test_the_best_other_lock_is_named_and_a_spinlock_is_none(self):
        self.assertIn("| empty section | 1.50 usync |", self.page(self.machine(throughput=self.locks(3e6, 2e6))))

    def test_where_ondeck_is_behind_by_more_than_the_quartiles_is_bold_and_counted(self):
        for own, cell, words in (
            (1e6, "**0.50** usync", "at 0 and behind it at 1 by"),
            (1.9e6, "0.95 usync", "at 0 and behind it at 0 by"),
            (4e6, "2.00 usync", "at 1 and behind it at 0 by"),
        ):
            page = self.page(self.machine(throughput=self.locks(own, 2e6)))
            self.assertIn(f"| {cell} |", page)
            self.assertIn(words, page)

    def test_other_conditions_and_notifying_after_the_unlock_are_rows_of_their_own(self):
        inside = self.locks(3e6, 2e6, workload="condvar", params={})
        after = self.locks(1e6, 2e6, workload="condvar", params={"notify": "after"})
        slices = self.locks(1e6, 2e6, threads=4)
        machine = self.machine(condvar=inside + after, varied_slice_3=slices)
        page = self.page(machine)
        for line in ("notified inside | 1.50 usync", "notified after | **0.50** usync"):
            self.assertIn(f"| {line} |", page)
        self.assertIn("| slice 3: empty section | **0.50** usync |", page)
        self.assertEqual((counted(rows(machine))[0], counted(more_rows(machine))[0]), (2, 1))

    def test_partial_series_are_left_out(self):
        self.assertEqual(rows(self.machine(throughput=self.locks(1, 2, partial=True))), [])

    def test_shares_are_of_the_rounds_that_are_long_enough(self):
        short = [series(lock, 1e6, metrics=[metric("throughput", 1e6)]) for lock in ("ondeck", "std")]
        machine = self.machine(throughput=short, shares=self.locks(9e6, 1e6))
        self.assertEqual(speed.value(speed.point(machine, "throughput shares", 16, speed.EMPTY), "ondeck", "share"), 0.7)
        self.assertEqual(speed.value(machine.point("throughput", 16, speed.EMPTY), "ondeck", "throughput"), 1e6)

    def readme_row(self, machine):
        (line,) = [line for line in speed.numbers([machine, machine]).split("\n") if "empty section" in line]
        cells = line.removesuffix(" |").split(" | ")[1:]
        self.assertEqual(cells[:2], cells[2:])
        return cells[:2]

    def test_in_the_readme_bold_marks_the_better_one_and_a_name_stands_behind_its_values(self):
        own, best = self.readme_row(self.rates((3e6, 1e6, 2e6), (2e6, 4e6, 2e6)))
        self.assertEqual((own, best), ("**3.00** / 1.00 / 2.00", "2.00 / **4.00** / 2.00 usync"))
        own, best = self.readme_row(self.rates((3e6,), (2e6,)))
        self.assertEqual((own, best), ("**3.00** / - / -", "2.00 usync / - / -"))

    def test_a_row_is_a_gain_or_a_loss_if_it_is_one_everywhere(self):
        for rates, group in (((3e6, 3e6), "you gain"), ((1e6, 1e6), "you lose"), ((3e6, 1e6), "either"), ((2e6, 3e6), "you gain")):
            lines = speed.numbers([self.rates((rate,), (2e6,)) for rate in rates]).split("\n")
            (at,) = [index for index, line in enumerate(lines) if "empty section" in line]
            self.assertIn(group, lines[at - 1])

    def test_of_the_longest_wait_too_it_is_the_median(self):
        def waits(lock, samples):
            longest = metric("longest", sorted(samples)[1], "lower") | {"samples": samples}
            return series(lock, 1, workload="wait", params={}, metrics=[longest])

        (point,) = self.machine(wait=[waits("ondeck", [1, 1, 9]), waits("std", [2, 3, 4])]).points("wait")
        self.assertEqual(speed.cells([point], "longest", 1, speed.two), ("**1**", "3 std", [True]))

    def test_a_record_of_another_policy_says_so(self):
        machine = self.rates((1,), (1,))
        for version, changed in ((policy.here(), False), ("another", True), (None, True)):
            machine.policy = version
            for text in (self.page(machine), speed.numbers([machine]).replace("\n  ", " ")):
                self.assertIn("at commit abc", text)
                self.assertEqual("**the waiting policy has changed since**" in text, changed)

    def test_a_dot_is_right_of_one_where_ondeck_leads(self):
        machine = self.rates((4e6, 1e6, 1e6), (1e6, 4e6, 1e6))
        drawing = xml.etree.ElementTree.fromstring(svg([("A & B", rows(machine)), ("C", rows(machine))]))
        one, other = (float(path.get("d")[1:].split(" ")[0]) for path in drawing.iterfind(f"{SVG}path[@class='one']"))
        dots = [(dot.get("class"), float(dot.get("cx"))) for dot in drawing.iter(f"{SVG}circle")]
        # The panels of two machines are alike.
        dots, others = dots[:3], dots[3:]
        for (kind, at), (other_kind, other_at) in zip(dots, others, strict=True):
            self.assertEqual(kind, other_kind)
            self.assertAlmostEqual(other_at - at, other - one, delta=0.2)
        self.assertEqual([kind for kind, _ in dots], ["ahead", "behind", "ahead equal"])
        # On a logarithmic axis four times as good is as far from 1 as four times as bad.
        self.assertGreater(dots[0][1], one)
        self.assertAlmostEqual(dots[0][1] - one, one - dots[1][1], delta=0.2)
        self.assertEqual(dots[2][1], one)
        self.assertEqual(counted(rows(machine)), (3, 1, 1))


class Figures(unittest.TestCase):
    def test_a_ratio_above_one_is_ahead_whichever_direction_is_better(self):
        for better, own, value in (("higher", 4, 2), ("higher", 1, 0.5), ("lower", 1, 2), ("lower", 4, 0.5)):
            others = {"std": metric("m", 2, better), "usync": None}
            found = ratio(metric("m", own, better), others)
            self.assertEqual((found.value, found.behind(), found.other), (value, value < 1, "std"))
            self.assertTrue(found.low < found.value < found.high)

    def test_nothing_measured_is_no_ratio(self):
        for own, other in ((None, metric("m", 1)), (metric("m", 1), None), (metric("m", 0), metric("m", 1))):
            self.assertIsNone(ratio(own, {"std": other}))
        self.assertFalse(Ratio(1, 0.9, float("inf"), "std").told())

    def test_a_machine_s_folder_is_its_cpu_s_name_in_small_letters(self):
        for cpu, name in (
            ("Intel(R) Xeon(R) Processor", "intel-xeon-2"),
            ("Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz", "intel-core-i7-8650u-2"),
            ("", "unnamed-2"),
        ):
            self.assertEqual(speed.slug({"cpu": cpu, "cpus": 2}), name)


class Policy(unittest.TestCase):
    def test_comments_and_tests_are_not_part_of_it(self):
        code = "fn poll() {\n    wait(2); // why\n}\n"
        for text in (f"//! What.\n\n{code}", f"{code}\n#[cfg(test)]\nmod tests {{}}\n"):
            self.assertEqual(policy.digest({"a.rs": text}), policy.digest({"a.rs": code}))
        for files in ({"a.rs": code.replace("2", "3")}, {"b.rs": code}, {"a.rs": code, "b.rs": ""}):
            self.assertNotEqual(policy.digest(files), policy.digest({"a.rs": code}))

    def test_of_a_tree_with_changes_and_of_an_unknown_commit_it_is_unknown(self):
        for commit in ("HEAD-dirty", "0000000", None):
            self.assertIsNone(policy.at(commit))


class Files(unittest.TestCase):
    def test_the_files_are_those_of_the_records(self):
        for path, text in speed.files().items():
            self.assertEqual(text, path.read_text(encoding="utf-8"), path)

    def test_the_words_and_the_labels_of_the_figure_fit(self):
        found = [row for machine in speed.machines() for row in rows(machine)]
        self.assertIn(in_words(found), svg([("A CPU", found)]))
        self.assertLess(max(len(label(row)) for row in found) * 6.6, 318)


if __name__ == "__main__":
    unittest.main()
