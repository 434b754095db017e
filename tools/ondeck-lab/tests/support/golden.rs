//! Golden files: texts that must not change by a byte.
//!
//! After an intended change rewrite the files with `ONDECK_GOLDEN=write cargo test`, and review the
//! other differences.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// A file among the data of the crate that is tested.
pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Rewrites the file if that was requested; returns whether it did.
pub fn is_written(path: &Path, found: &str) -> bool {
    let asked = std::env::var_os("ONDECK_GOLDEN").is_some();
    if asked {
        fs::write(path, found).expect("the folder is there");
    }
    asked
}

/// Fails unless the file equals the text, or rewrites it.
#[allow(dead_code, reason = "some tests keep digests only")]
pub fn assert_golden(name: &str, found: &str) {
    let path = data(name);
    if is_written(&path, found) {
        return;
    }
    let expected = fs::read_to_string(&path).expect("a golden file");
    for (expected, found) in expected.lines().zip(found.lines()) {
        assert_eq!(expected, found, "{name} says otherwise");
    }
    assert_eq!(expected.lines().count(), found.lines().count(), "{name} has other lines");
}

/// A digest of a text that is too long to keep.
pub fn digest(text: &str) -> String {
    Sha256::digest(text).iter().take(8).fold(String::new(), |mut word, byte| {
        // Writing to a string does not fail.
        _ = write!(word, "{byte:02x}");
        word
    })
}
