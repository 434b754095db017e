//! The program that a command line names: its file, and the files that the kernel loads to run it.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};

use crate::outcome::Failure;

/// Runs a script that names no interpreter, as with execvp(3).
const SHELL: &str = "/bin/sh";

/// The search path of execvp(3) if PATH is not set.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// The kernel follows this number of nested interpreters (`BINPRM_BUF_SIZE`, `exec_binprm`).
const MOST_INTERPRETERS: usize = 5;
const FIRST_LINE: u64 = 256;

const ELF_MAGIC: &[u8] = b"\x7fELF";

/// A program that can be started.
#[derive(Debug)]
pub(crate) struct Program {
    /// As the user wrote it; the program sees it as its own name.
    pub(crate) name: OsString,
    pub(crate) arguments: Vec<OsString>,
    /// Its file.
    pub(crate) path: PathBuf,
    /// The ELF files that are loaded: the file itself, or the interpreters of a script.
    pub(crate) images: Vec<PathBuf>,
}

impl Program {
    /// Finds the program as execvp(3) would.
    pub(crate) fn find(words: &[OsString]) -> Result<Self, Failure> {
        let search = env::var_os("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
        let Some((name, arguments)) = words.split_first() else {
            return Err(Failure::missing("no program is named; write one behind `--`"));
        };
        let path = look_up(name, &search)?;
        let mut images = Vec::new();
        follow(&path, &search, 0, &mut images)?;
        Ok(Self { name: name.clone(), arguments: arguments.to_vec(), path, images })
    }
}

/// The file with that name, in the folders of `search` unless the name is a path.
fn look_up(name: &OsStr, search: &OsStr) -> Result<PathBuf, Failure> {
    let shown = name.display();
    if name.as_bytes().contains(&b'/') {
        let path = PathBuf::from(name);
        return match path.metadata() {
            Ok(found) if found.is_dir() => {
                Err(Failure::unfit(format!("{shown} is a folder; name a program in it")))
            }
            Ok(_) if !executable(&path) => Err(not_executable(&path)),
            Ok(_) => Ok(path),
            Err(error) => Err(Failure::missing(format!("no program {shown}: {error}"))),
        };
    }
    let places = || env::split_paths(search).map(|folder| folder.join(name));
    if let Some(path) = places().find(|path| path.is_file() && executable(path)) {
        return Ok(path);
    }
    Err(match places().find(|path| path.is_file()) {
        Some(path) => not_executable(&path),
        None => Failure::missing(format!(
            "no program `{shown}` in $PATH ({}); write its path, as ./{shown}",
            search.display()
        )),
    })
}

fn not_executable(path: &Path) -> Failure {
    let shown = path.display();
    Failure::unfit(format!("{shown} may not be executed; see its mode, or `chmod +x` it"))
}

fn executable(path: &Path) -> bool {
    access(path, AccessFlags::X_OK).is_ok()
}

/// Collects the ELF files to which a file leads.
fn follow(
    path: &Path,
    search: &OsStr,
    depth: usize,
    images: &mut Vec<PathBuf>,
) -> Result<(), Failure> {
    if depth > MOST_INTERPRETERS {
        // The kernel reports this error itself.
        return Ok(());
    }
    let mut head = Vec::new();
    File::open(path).and_then(|file| file.take(FIRST_LINE).read_to_end(&mut head)).map_err(
        |error| {
            Failure::unfit(format!(
                "cannot read {}, to see whether the shim can serve it: {error}; make it readable, \
                 or use --lock glibc",
                path.display()
            ))
        },
    )?;
    if head.starts_with(ELF_MAGIC) {
        images.push(path.to_owned());
        return Ok(());
    }
    let Some((interpreter, argument)) = interpreter(&head) else {
        // execvp also runs files of unknown format with a shell.
        return follow(Path::new(SHELL), search, depth + 1, images);
    };
    if !interpreter.is_file() {
        return Err(Failure::unfit(format!(
            "{} asks for the interpreter {}, which is not there; install it, or change the first \
             line",
            path.display(),
            interpreter.display()
        )));
    }
    follow(&interpreter, search, depth + 1, images)?;
    if interpreter.file_name() == Some(OsStr::new("env"))
        && let Some(name) = program_of_env(&argument)
    {
        let by_env = look_up(&name, search)?;
        follow(&by_env, search, depth + 1, images)?;
    }
    Ok(())
}

/// The interpreter that the first line of a script names, and its arguments.
fn interpreter(head: &[u8]) -> Option<(PathBuf, Vec<u8>)> {
    let line = head.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?.trim_ascii();
    let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    let (interpreter, rest) = line.split_at(end);
    let interpreter = PathBuf::from(OsString::from_vec(interpreter.to_vec()));
    (end > 0).then(|| (interpreter, rest.trim_ascii().to_vec()))
}

/// The program that `env` runs: the word after its options and variables.
fn program_of_env(arguments: &[u8]) -> Option<OsString> {
    let word = arguments
        .split(u8::is_ascii_whitespace)
        .find(|word| !word.is_empty() && !word.starts_with(b"-") && !word.contains(&b'='))?;
    Some(OsString::from_vec(word.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn script(folder: &Path, name: &str, text: &str, mode: u32) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("a file");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("our file");
        path
    }

    fn images(path: &Path) -> Result<Vec<PathBuf>, Failure> {
        Program::find(&[path.as_os_str().to_owned()]).map(|program| program.images)
    }

    #[test]
    fn scripts_lead_to_their_interpreters() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = script(folder.path(), "first", "#! /bin/sh -e\nexit 3\n", 0o755);
        assert_eq!(images(&first).expect("a script"), [Path::new("/bin/sh")]);
        let second = format!("#!{}\n", first.display());
        let second = script(folder.path(), "second", &second, 0o755);
        assert_eq!(images(&second).expect("a script"), [Path::new("/bin/sh")]);
        let plain = script(folder.path(), "plain", "exit 3\n", 0o755);
        assert_eq!(images(&plain).expect("a script"), [Path::new("/bin/sh")]);
        let by_env = script(folder.path(), "by_env", "#!/usr/bin/env -S A=b sh -e\n", 0o755);
        let found = images(&by_env).expect("a script");
        assert!(found.len() == 2 && found[1].ends_with("sh"), "{found:?}");
    }

    #[test]
    fn what_cannot_be_started_is_named_with_the_exit_code_of_env() {
        let folder = tempfile::tempdir().expect("a folder");
        let unexecutable = script(folder.path(), "data", "text", 0o644);
        let orphan = script(folder.path(), "orphan", "#!/no/such/shell\n", 0o755);
        for (path, code, word) in [
            (unexecutable.as_path(), 126, "chmod"),
            (&orphan, 126, "/no/such/shell"),
            (folder.path(), 126, "folder"),
            (Path::new("/no/such/program"), 127, "/no/such/program"),
            (Path::new("no-such-program"), 127, "$PATH"),
        ] {
            let failure = images(path).expect_err("it cannot be started");
            assert_eq!(failure.code, code, "{failure}");
            assert!(failure.to_string().contains(word), "{failure}");
        }
    }
}
