"""What the check of words must find, and must leave alone: each on a planted text."""

import unittest

from words import Words, findings, glossary

LIST = """
# A list.
[words]
sleepers? => parked thread
goes to sleep => parks
[persons]
anyone readers
[later]
old/
[never]
records/
"""


def found(path, text, later=False):
    return [
        (line, word) for _, line, word, _ in findings([path], {path: text}.get, Words(LIST), later)
    ]


class Prose(unittest.TestCase):
    def test_retired_words_are_found_over_the_end_of_a_line(self):
        self.assertEqual(found("a.md", "One.\nIt goes\nto sleep.\n"), [(2, "goes to sleep")])
        self.assertEqual(found("a.md", "Sleepers, and a sleeper."), [(1, "Sleepers"), (1, "sleeper")])
        self.assertEqual(found("a.md", "A sleepers_word is another word."), [])

    def test_code_and_quotations_are_left_alone(self):
        self.assertEqual(found("a.md", 'The `sleeper` of "a sleeper".\n```sh\nsleeper\n```\n'), [])

    def test_who_is_a_person_or_a_question(self):
        self.assertEqual(found("a.md", "A thread who parks."), [(1, "who")])
        self.assertEqual(found("a.md", "Who parks is woken."), [(1, "Who")])
        self.assertEqual(found("a.md", "Anyone who reads this. Readers who ask. Who parks?"), [])

    def test_whose_needs_a_noun(self):
        self.assertEqual(found("a.md", "It says whose turn it is."), [(1, "whose")])
        self.assertEqual(found("a.md", "A lock whose waiters sleep."), [])


class Comments(unittest.TestCase):
    def test_comments_and_sentences_in_strings_are_prose_and_code_is_not(self):
        rust = 'let sleeper = 1; // a sleeper\n/// Sleepers.\nlet s = ("sleeper", "one sleeper");\n'
        self.assertEqual(found("a.rs", rust), [(1, "sleeper"), (2, "Sleepers"), (3, "sleeper")])
        self.assertEqual(found("a.rs", "//! ```\n//! let sleeper = 1;\n//! ```\n"), [])
        self.assertEqual(found("a.rs", "//! ```text\n//! a sleeper\n//! ```\n"), [(2, "sleeper")])
        self.assertEqual(found("a.rs", "// step: sleeper\n"), [])

    def test_each_language_has_its_comments(self):
        self.assertEqual(found("a.sh", "sleeper=1 # a sleeper\n"), [(1, "sleeper")])
        self.assertEqual(found("a.py", '"""One\nsleeper."""\nsleeper = 1\n'), [(2, "sleeper")])
        self.assertEqual(found("a.tla", "sleeper == 1 \\* a sleeper\n"), [(1, "sleeper")])
        self.assertEqual(found("a.tla", "(* One\n   sleeper. *)\nsleeper == 1\n"), [(2, "sleeper")])
        self.assertEqual(found("a.toml", 'hazard = "A sleeper."\nfind = "sleeper"\n'), [(1, "sleeper")])


class Lists(unittest.TestCase):
    def test_files_for_later_and_records_are_left_out(self):
        self.assertEqual(found("old/a.md", "A sleeper."), [])
        self.assertEqual(found("old/a.md", "A sleeper.", later=True), [(1, "sleeper")])
        self.assertEqual(found("records/a.md", "A sleeper.", later=True), [])

    def test_a_rule_without_a_replacement_is_refused(self):
        with self.assertRaises(ValueError):
            Words("[words]\nsleeper\n")


class Glossary(unittest.TestCase):
    def test_each_term_has_one_line(self):
        self.assertEqual(list(glossary("# Words\n\n* **a, b**: One.\n* **c**: `d` is two.\n")), [])
        for text in ("* a: One.", "* **a**: one.", "* **a**: One", "* **a** (b): One.", " more."):
            self.assertEqual([number for number, _ in glossary(text)], [1], text)
        self.assertEqual([number for number, _ in glossary("* **a**: One.\n* **a**: Two.")], [2])


if __name__ == "__main__":
    unittest.main()
