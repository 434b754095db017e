//! What a process is called.

use std::path::Path;

/// Returns the name by which a program was started: its file may have several, as
/// `redis-check-rdb` is also `redis-server`. Without arguments it is the file's.
pub fn name(file: &Path, arguments: &[String]) -> String {
    let file = file.file_name().unwrap_or_default().to_string_lossy();
    // A program may have written its state behind the name: `/usr/bin/redis-server *:6379`. A login
    // shell is `-bash`.
    let words = arguments.first().and_then(|name| name.split_whitespace().next());
    let path = words.unwrap_or_default().trim_start_matches('-').trim_end_matches(':');
    match path.rsplit('/').next() {
        Some(name) if !name.is_empty() && !file.contains(' ') => name.to_owned(),
        _ => file.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_called_as_it_was_started() {
        for (file, argument, expected) in [
            ("/usr/bin/redis-check-rdb", "/usr/bin/redis-server *:6379", "redis-server"),
            ("/usr/sbin/nginx", "nginx: worker process", "nginx"),
            ("/usr/bin/bash", "-bash", "bash"),
            ("/opt/my server", "/opt/my server", "my server"),
            ("/usr/bin/true", "", "true"),
        ] {
            assert_eq!(name(Path::new(file), &[argument.to_owned()]), expected);
        }
        assert_eq!(name(Path::new("/usr/bin/true"), &[]), "true");
    }
}
