//! Folded stacks: a line for each, outermost function first, then the time. Many tools read this.

use std::fmt::Write;

use ondeck_record::layout::Role;

use crate::model::Profile;

/// The stacks of a role in nanoseconds. The outermost frame is the lock, before it the process if there
/// are several.
pub fn render(profile: &Profile, role: Role) -> String {
    let mut text = String::new();
    let several = profile.processes.len() > 1;
    for (process, lock) in profile.locks() {
        let mut begin = String::new();
        if several {
            let program = process.program.file_name().unwrap_or_default().to_string_lossy();
            begin = format!("{} {};", cleaned(&program), process.pid);
        }
        _ = write!(begin, "lock {}", cleaned(&lock.name()));
        for sample in lock.samples(role) {
            text.push_str(&begin);
            for frame in sample.frames().rev() {
                _ = write!(text, ";{}", cleaned(&frame.function));
            }
            // Writing to a string does not fail.
            _ = writeln!(text, " {}", sample.nanos.round().max(1.0));
        }
    }
    text
}

/// Without what the format means something by.
fn cleaned(name: &str) -> String {
    name.replace(';', ":").replace(['\n', '\r'], " ")
}
