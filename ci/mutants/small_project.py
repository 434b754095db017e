"""A project of two files, made anew for each test, into which a hazard is to be put."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import hazards
from hazards import FOLDER, TESTS, Wrong

FILE = "crates/ondeck/src/lock.rs"
OTHER = "crates/ondeck/src/park.rs"

LOCK = """//! A lock. `byte.load(Ordering::Acquire)`
use core::fmt;

impl<P: Platform> Lock<P> {
    /// Takes it.
    fn lock(&self, deadline: impl Into<Option<u32>>) -> impl Sized {
        // spec: Lock!Take
        // Acquire: for a reason.
        if byte.load(Ordering::Acquire) == 0 && /* why */ self.taken('"', "} // {") {
            wait(word);
        }
        // step: after the look
        wait(word);
        fn inside(byte: &u8) -> u8 {
            // spec: Lock!Wake
            wake(byte, 1)
        }
        wait(word);
    }

    fn unlock(&self, _: [u8; 4]);
}

impl<'a, P> fmt::Debug for Guard<'a, P>
where
    P: for<'b> Fn(&'b u8),
{
    fn lock(&self) {
        // spec: Lock!Wake
        wake(self.byte, 1);
        one(
            first,
            Second::<
                A,
                B,
            >::new(),
        );
    }
}
"""
PARK = """pub fn park() {
    // spec: Park!Link
    link(node);
}
"""
HEAD = 'hazard = "A look comes too early."\ntest = "loom lock::two_threads"\n'


def edit(**keys):
    return "[[edit]]\n" + "".join(
        f"{key} = '''{value}'''\n" for key, value in {"file": FILE, **keys}.items()
    )


class InAProject(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write(FILE, LOCK)
        self.write(OTHER, PARK)
        self.write(TESTS / "loom.rs", "mod lock;")
        self.write(TESTS / "loom/lock.rs", "fn two_threads() {}")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def hazard(self, *edits, name="early", head=HEAD):
        self.write(FOLDER / f"{name}.toml", head + "".join(edits))

    def texts(self, *edits):
        """What the files are with these edits."""
        self.hazard(*edits)
        project = hazards.Project(self.root)
        return project.with_hazard(project.hazard("early"))

    def run_with(self, *words):
        """The exit status and what is printed."""
        with contextlib.redirect_stdout(io.StringIO()) as out:
            status = hazards.main(["--root", str(self.root), *words])
        return status, out.getvalue()

    def refused(self, says, *edits):
        with self.assertRaises(Wrong) as caught:
            self.texts(*edits)
        for part in says:
            self.assertIn(part, str(caught.exception))
