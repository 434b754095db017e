"""Cuts the test modules out of parking_lot's sources, into a crate over any package parking_lot.

Each module of tests is in a module of its file's name, in which that package's items are. What the tests use that is
private to parking_lot is put in its place by a trait of that module:

* `Condvar::wait_while_until_internal`, of 0.12: `wait_while_until`, or `wait_while` without a time.
* `once.0.load(..) & PARKED_BIT`, of 0.13: whether a thread waits. A replacement cannot tell, so the test waits for
  some milliseconds instead.
* `has_parked_threads` of the raw lock, of 0.13: likewise.

One test is left out: `two_mutexes` wants a panic if waiters of a condition variable use several mutexes at the same
time. Those of crate ondeck may. Its name becomes `two_mutexes_at_once`, for `--skip` takes all names that begin alike.
"""

import re
import shutil
import tomllib

from sources import SCRATCH, both_sides, empty, fetch

MODULE = re.compile(r"^#\[cfg\(test\)\]\n(?:#\[cfg[^\n]*\n)*mod \w+ \{\n.*?^\}\n", re.MULTILINE | re.DOTALL)

PRIVATE = {
    "condvar": """
#[allow(dead_code)]
trait Private {
    fn wait_while_until_internal<T, F>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        condition: F,
        timeout: Option<std::time::Instant>,
    ) -> Ended
    where
        F: FnMut(&mut T) -> bool;
}

#[allow(dead_code)]
struct Ended(bool);

#[allow(dead_code)]
impl Ended {
    fn timed_out(&self) -> bool {
        self.0
    }
}

impl Private for Condvar {
    fn wait_while_until_internal<T, F>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        condition: F,
        timeout: Option<std::time::Instant>,
    ) -> Ended
    where
        F: FnMut(&mut T) -> bool,
    {
        match timeout {
            Some(timeout) => Ended(self.wait_while_until(guard, condition, timeout).timed_out()),
            None => {
                self.wait_while(guard, condition);
                Ended(false)
            }
        }
    }
}
""",
    "once": """
#[allow(dead_code)]
const PARKED_BIT: u8 = 8;

#[allow(dead_code)]
fn surely_waited_for(_: &Once) -> bool {
    std::thread::sleep(std::time::Duration::from_millis(50));
    true
}
""",
}


PARKED = """
trait Private {
    fn has_parked_threads(&self) -> bool {
        std::thread::sleep(std::time::Duration::from_millis(50));
        true
    }
}

impl<const RECURSIVE: bool> Private for RawRwLock<RECURSIVE> {}
"""


def private(path):
    """What the tests of a file use of parking_lot's privates."""
    return PRIVATE.get(path.stem, "") + (PARKED if "}.has_parked_threads()" in path.read_text() else "")


def tests_of(path):
    """The test modules of a file, each with what they lack in scope."""
    for text in MODULE.findall(path.read_text()):
        if private(path):
            text = re.sub(r"^(mod tests \{)$", r"\1\n    #[allow(unused_imports)]\n    use super::*;", text, flags=re.M)
        text = text.replace("once.0.load(Ordering::Relaxed) & PARKED_BIT == 0", "!super::surely_waited_for(&once)")
        yield text.replace("fn two_mutexes() {", "fn two_mutexes_at_once() {")


def entry(value):
    """A dependency of a manifest, as TOML."""
    if isinstance(value, str):
        return f'"{value}"'
    words = (f"{key} = {str(it).lower() if isinstance(it, bool) else repr(it)}" for key, it in value.items())
    return f"{{ {', '.join(words)} }}"


def manifest_of(own, series):
    """The manifest of the crate of tests; `own` is parking_lot's."""
    forwarded = "\n".join(f'{it} = ["parking_lot/{it}"]' for it in ("arc_lock", "serde", "owning_ref", "send_guard"))
    development = "\n".join(f"{name} = {entry(value)}" for name, value in own["dev-dependencies"].items())
    return f"""[package]
name = "parking_lot_own_tests"
edition = "{own["package"]["edition"]}"
[workspace]
[dependencies]
parking_lot = "{series}"
parking_lot_core = {{ path = "core" }}
[dev-dependencies]
{development}
[features]
{forwarded}
deadlock_detection = ["parking_lot/deadlock_detection", "parking_lot_core/deadlock_detection"]
"""


def core_of(series):
    """The tests ask package parking_lot_core for deadlocks. Of ours, each package knows its own."""
    return f"""[package]
name = "parking_lot_core"
edition = "2021"
[dependencies]
parking_lot = "{series}"
[features]
deadlock_detection = ["parking_lot/deadlock_detection"]
"""


def cut(source, target, series):
    """Writes the crate of tests."""
    (empty(target) / "src").mkdir()
    root = ["#![allow(unused_imports)]\npub use parking_lot::*;\n"]
    for path in sorted((source / "src").glob("*.rs")):
        modules = list(tests_of(path))
        if not modules or path.stem == "lib":
            continue
        (target / "src" / path.name).write_text("pub use parking_lot::*;\n" + private(path) + "\n".join(modules))
        if path.stem == "deadlock":
            # The tests' own use of `deadlock` is of parking_lot's module.
            root.append('#[cfg(feature = "deadlock_detection")]\n#[path = "deadlock.rs"]\nmod tests_of_deadlock;\n')
        else:
            root.append(f"mod {path.stem};\n")
    (target / "src/lib.rs").write_text("".join(root))
    shutil.copytree(source / "tests", target / "tests")
    (target / "Cargo.toml").write_text(manifest_of(tomllib.loads((source / "Cargo.toml").read_text()), series))

    core = target / "core"
    (core / "src").mkdir(parents=True)
    (core / "src/lib.rs").write_text('#[cfg(feature = "deadlock_detection")]\npub use parking_lot::deadlock;\n')
    (core / "Cargo.toml").write_text(core_of(series))


SKIP = ["--lib", "--", "--skip", "two_mutexes_at_once"]
RUNS = [
    SKIP,
    ["--features", "arc_lock,serde,owning_ref", *SKIP],
    ["--features", "send_guard,arc_lock", *SKIP],
    # The detection looks at all threads, also at those that other tests have deadlocked.
    ["--features", "deadlock_detection", *SKIP, "tests_of_deadlock::"],
    # The tests of the interface, in its folder `tests`.
    ["--test", "*"],
]
SUITES = {"parking_lot-0.12": "0.12.5", "parking_lot-0.13": "0.13.0"}


def sides_of(name):
    """The version, the two folders, and the runs."""
    version, series = SUITES[name], name.rpartition("-")[2]
    source = SCRATCH / "sources" / f"parking_lot-{version}"
    fetch("parking_lot", version, source)
    return version, both_sides(f"{name}-own-tests", lambda folder: cut(source, folder, series), {}), RUNS
