//! Runtimes whose languages have locks of their own, of which only the semaphores and condition
//! variables are seen that they are made of.

use crate::model::{Module, Profile};

/// A language with such a runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    Java,
    Python,
}

impl Runtime {
    /// Returns those that are among the files of a process.
    pub fn among(modules: &[Module]) -> Vec<Self> {
        let has = |start: &str| {
            modules.iter().any(|module| {
                let name = module.path.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with(start)
            })
        };
        let java = has("libjvm.so").then_some(Self::Java);
        let python = (has("libpython") || has("python")).then_some(Self::Python);
        java.into_iter().chain(python).collect()
    }

    /// Says how threads of a running process are shown that wait for such a lock, and what shows
    /// more.
    pub fn now(self, pid: u32) -> String {
        match self {
            Self::Java => format!(
                "threads of Java that wait for a lock of Java are shown at condition variables: `jstack {pid}` names the lock and its owner"
            ),
            Self::Python => format!(
                "locks of Python are shown as semaphores, which have no owner: `py-spy dump --pid {pid}` shows the functions of Python"
            ),
        }
    }

    /// Says the same of a recording.
    fn recorded(self) -> &'static str {
        match self {
            Self::Java => {
                "locks of Java, and their keepers: their waits are among those for a notification; a flight recording \
                 (`jcmd PID JFR.start`) has them"
            }
            Self::Python => {
                "locks of Python, and their keepers: their waits are among those for a notification, at semaphores; \
                 `py-spy dump --pid PID` shows the functions of Python"
            }
        }
    }
}

/// Says what is not seen of the locks of the recorded programs' languages, with what shows it.
pub fn unseen(profile: &Profile) -> Vec<String> {
    let found: Vec<Runtime> =
        profile.processes.iter().flat_map(|process| Runtime::among(&process.modules)).collect();
    let all = [Runtime::Java, Runtime::Python].into_iter().filter(|one| found.contains(one));
    all.map(|one| one.recorded().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_is_known_by_its_library_or_program() {
        let among = |paths: &[&str]| {
            let modules: Vec<Module> = paths.iter().map(|path| Module::named(path, "")).collect();
            Runtime::among(&modules)
        };
        assert_eq!(among(&["/usr/bin/java", "/usr/lib/jvm/lib/server/libjvm.so"]), [Runtime::Java]);
        assert_eq!(among(&["/usr/bin/python3.11"]), [Runtime::Python]);
        assert_eq!(among(&["/usr/sbin/uwsgi", "/usr/lib/libpython3.11.so.1.0"]), [Runtime::Python]);
        assert_eq!(among(&["/usr/bin/server", "/usr/lib/libc.so.6", "/opt/python/server"]), []);
    }
}
