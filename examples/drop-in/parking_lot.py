"""Cuts the test modules out of parking_lot's sources, into a crate over a replacement of parking_lot.

    parking_lot.py SOURCE TARGET REPLACEMENT

Each module of tests is in a module of its file's name, in which the replacement's items are. What the tests use
that is private to parking_lot is put in its place by a trait of that module:

* `Condvar::wait_while_until_internal`, of 0.12: `wait_while_until`, or `wait_while` without a time.
* `once.0.load(..) & PARKED_BIT`, of 0.13: whether a thread waits. A replacement cannot tell, so the test waits for
  some milliseconds instead.
* `has_parked_threads` of the raw lock, of 0.13: likewise.

`two_mutexes` gets the name `two_mutexes_at_once`, so that it can be left out without `two_mutexes_disjoint`.
"""

import pathlib
import re
import shutil
import sys
import tomllib

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


def main():
    source, target, replacement = map(pathlib.Path, sys.argv[1:])
    manifest = tomllib.loads((source / "Cargo.toml").read_text())
    (target / "src").mkdir(parents=True)
    root = ["#![allow(unused_imports)]\npub use parking_lot::*;\n"]
    count = 0
    for path in sorted((source / "src").glob("*.rs")):
        modules = list(tests_of(path))
        count += sum(text.count("#[test]") for text in modules)
        if not modules or path.stem == "lib":
            continue
        body = "pub use parking_lot::*;\n" + private(path) + "\n".join(modules)
        (target / "src" / path.name).write_text(body)
        # A macro of the tests has the name of one of their modules' items.
        guard = '#[cfg(feature = "deadlock_detection")]\n' if path.stem == "deadlock" else ""
        root.append(f'{guard}#[path = "{path.name}"]\nmod tests_of_{path.stem};\n' if path.stem == "deadlock"
                    else f"mod {path.stem};\n")
    (target / "src" / "lib.rs").write_text("".join(root))
    shutil.copytree(source / "tests", target / "tests")

    core = target / "core"
    (core / "src").mkdir(parents=True)
    feature = 'deadlock_detection = ["parking_lot/deadlock_detection"]'
    (core / "src" / "lib.rs").write_text(
        '#[cfg(feature = "deadlock_detection")]\npub use parking_lot::deadlock;\n')
    (core / "Cargo.toml").write_text(f"""[package]
name = "parking_lot_core"
version = "0.0.0"
edition = "2021"
[dependencies]
parking_lot = {{ path = "{replacement}" }}
[features]
{feature}
""")

    def entry(value):
        """A dependency of the manifest, as TOML."""
        if isinstance(value, str):
            return f'"{value}"'
        return "{ " + ", ".join(f"{key} = {str(it).lower() if isinstance(it, bool) else repr(it)}"
                                for key, it in value.items()) + " }"

    dev = "\n".join(f"{name} = {entry(value)}" for name, value in manifest["dev-dependencies"].items())
    forwarded = ["arc_lock", "serde", "owning_ref", "send_guard"]
    features = "\n".join(f'{name} = ["parking_lot/{name}"]' for name in forwarded)
    (target / "Cargo.toml").write_text(f"""[package]
name = "parking_lot_own_tests"
version = "0.0.0"
edition = "{manifest["package"]["edition"]}"
[workspace]
[dependencies]
parking_lot = {{ path = "{replacement}" }}
parking_lot_core = {{ path = "core" }}
[dev-dependencies]
{dev}
[features]
{features}
deadlock_detection = ["parking_lot/deadlock_detection", "parking_lot_core/deadlock_detection"]
""")
    print(f"{manifest['package']['version']}: {count} tests")


if __name__ == "__main__":
    main()
