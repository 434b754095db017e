"""Which mutations there are besides those of cargo-mutants, and in which order."""

import unittest

from drawn import Mutation, drawn, of_this_script, own_tests

TEXT = """\
impl Lock {
    fn lock(&self) -> bool {
        let old = self.byte.swap(1, Ordering::AcqRel);
        P::light_fence();
        if old == 0 {
            return true;
        }
        debug_assert!(old == 1);
        self.count
            .fetch_add(1, Ordering::Relaxed);
        self.wait(|word| {
            word.load(Ordering::Acquire);
        });
        old == 0
    }
}

#[cfg(test)]
mod tests {
    fn test() {
        lock(Ordering::Acquire);
    }
}
"""


class OfThisScript(unittest.TestCase):
    def setUp(self):
        self.found = list(of_this_script("lock.rs", TEXT))

    def changes(self):
        return [(each.line, each.change) for each in self.found]

    def test_an_ordering_becomes_weaker(self):
        swap = "let old = self.byte.swap(1, Ordering::AcqRel);"
        self.assertIn((swap, "AcqRel becomes Acquire"), self.changes())
        self.assertIn((swap, "AcqRel becomes Release"), self.changes())
        self.assertIn(("word.load(Ordering::Acquire);", "Acquire becomes Relaxed"), self.changes())

    def test_a_statement_is_left_out_if_it_declares_and_asserts_nothing(self):
        out = [line for line, change in self.changes() if change == "left out"]
        begins = ["P::light_fence();", "self.count", "self.wait(|word| {", "word.load(Ordering::Acquire);"]
        self.assertEqual(out, begins)

    def test_a_mutation_changes_its_place_only(self):
        fence = next(each for each in self.found if each.line == "P::light_fence();")
        self.assertEqual(fence.applied(TEXT), TEXT.replace("P::light_fence();", ""))

    def test_tests_are_left_alone(self):
        self.assertNotIn("lock(Ordering::Acquire);", [each.line for each in self.found])


class Drawn(unittest.TestCase):
    def test_a_seed_has_one_order_and_shards_have_all(self):
        all_ = [Mutation("a.rs", at, at + 1, "", "", str(at)) for at in range(20)]
        self.assertEqual(drawn(all_, 1, "0/1", ""), drawn(all_, 1, "0/1", "a.rs"))
        self.assertNotEqual(drawn(all_, 1, "0/1", ""), drawn(all_, 2, "0/1", ""))
        halves = drawn(all_, 1, "0/2", "") + drawn(all_, 1, "1/2", "")
        self.assertEqual(sorted(each.start for each in halves), list(range(20)))
        self.assertEqual(drawn(all_, 1, "0/1", "b.rs"), [])

    def test_a_lock_has_its_own_tests(self):
        self.assertEqual(own_tests("crates/ondeck/src/rwlock/wait.rs"), "rwlock")
        self.assertEqual(own_tests("crates/ondeck/src/semaphore.rs"), "semaphore")
        self.assertEqual(own_tests("crates/ondeck/src/parking/line.rs"), "")
