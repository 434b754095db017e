"""What is read from the output of `cargo test`."""

import unittest

from suite import Outcome

PASSED = "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s\n"
FAILED = """
failures:

---- one::fails stdout ----
thread 'one::fails' panicked at src/lib.rs:1:1:

failures:
    one::fails
    two::fails

test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""


class OutcomeTest(unittest.TestCase):
    def test_counts_are_of_all_targets(self):
        outcome = Outcome(PASSED + PASSED, 0)
        self.assertEqual((outcome.passed, outcome.ignored, outcome.failed), (6, 2, set()))

    def test_seconds_are_of_all_targets(self):
        self.assertEqual(Outcome(PASSED + FAILED + PASSED, 101).seconds, 0.02)
        self.assertEqual(Outcome(PASSED.split("; finished")[0] + "\n", 0).seconds, 0)

    def test_failures_have_their_names(self):
        outcome = Outcome(PASSED + FAILED + "error: 1 target failed:\n    `--lib`\n", 101)
        self.assertEqual((outcome.passed, outcome.failed), (4, {"one::fails", "two::fails"}))

    def test_a_target_that_a_signal_ended_has_its_name(self):
        outcome = Outcome(PASSED + FAILED + "error: 2 targets failed:\n    `--lib`\n    `--test crash`\n", 101)
        self.assertEqual(outcome.failed, {"one::fails", "two::fails", "`--lib`", "`--test crash`"})

    def test_a_failure_without_a_name_is_one(self):
        self.assertEqual(Outcome(PASSED, 101).failed, {"cargo ended with 101"})


if __name__ == "__main__":
    unittest.main()
