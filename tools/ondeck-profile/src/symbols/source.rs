//! Finds the file that a process mapped, and no other one.
//!
//! A path is not an identity: a deployment replaces the file while the program runs, a plug-in is
//! deleted once it is loaded, and in a container the path is another file. A file is taken only if
//! the kernel gives its mapping the same device and inode as the process's, or if it has the same
//! build-id. Names of another file would be wrong, and look right.

use std::path::{Path, PathBuf};

use memmap2::Mmap;

use super::mapped;
use super::object_file::ObjectFile;
use crate::mappings::{Identity, Mappings, Source};

impl Source {
    /// Returns the object, or the reason why there is none, with the remedy.
    pub fn open(&self, folders: &[PathBuf]) -> Result<ObjectFile, String> {
        let mut other = None;
        for place in self.places(folders) {
            let Some(map) = mapped::map(&place) else { continue };
            let has_identity = is_mapped_as(&map, self.identity);
            let Some(object) = ObjectFile::read(&place, map, folders) else { continue };
            let has_build_id = !self.build_id.is_empty() && object.build_id() == self.build_id;
            // A file of the right inode may have been written to since.
            let is_changed = !self.build_id.is_empty() && !has_build_id;
            if has_build_id || has_identity && !is_changed {
                return Ok(object);
            }
            other.get_or_insert_with(|| match object.build_id() {
                "" => "without a build-id".to_owned(),
                id => format!("build-id {id}"),
            });
        }
        let what = match (other, self.is_deleted) {
            (Some(other), true) => {
                format!("was deleted or replaced; the file there now is another ({other})")
            }
            (Some(other), false) => format!(
                "is another file now ({other}): it was replaced, or the program has a mount namespace of its own"
            ),
            (None, true) => "was deleted while the program had it mapped".to_owned(),
            (None, false) => {
                "cannot be read: it is gone, or in a mount namespace of the program's own"
                    .to_owned()
            }
        };
        let remedy = match &*self.build_id {
            "" => String::new(),
            id => format!("; `--symbols FOLDER` with a copy of build-id {id} names it"),
        };
        Err(format!("{what}{remedy}"))
    }

    /// Returns the places where the file may be.
    fn places(&self, folders: &[PathBuf]) -> Vec<PathBuf> {
        let mut places = Vec::new();
        if self.pid != 0 {
            let process = Path::new("/proc").join(self.pid.to_string());
            let root = process.join("root");
            places.push(root.join(self.path.strip_prefix("/").unwrap_or(&self.path)));
            if std::fs::read_link(process.join("exe")).is_ok_and(|exe| self.is_named(&exe)) {
                places.push(process.join("exe"));
            }
            places.push(process.join(format!("map_files/{:x}-{:x}", self.range.0, self.range.1)));
        }
        places.push(self.path.clone());
        for folder in folders {
            if let Some((first, rest)) = self.build_id.split_at_checked(2) {
                let folder = folder.join(".build-id").join(first);
                places.push(folder.join(rest));
                places.push(folder.join(format!("{rest}.debug")));
            }
            places.extend(self.path.file_name().map(|name| folder.join(name)));
            places.push(folder.join(self.path.strip_prefix("/").unwrap_or(&self.path)));
        }
        places
    }

    /// Returns whether a link of the kernel names this file.
    fn is_named(&self, link: &Path) -> bool {
        let name = link.to_string_lossy();
        Path::new(name.strip_suffix(" (deleted)").unwrap_or(&name)) == self.path
    }
}

/// Returns whether the kernel gives this process's mapping of a file that identity.
fn is_mapped_as(map: &Mmap, identity: Identity) -> bool {
    let own = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    Mappings::identity_at(&own, map.as_ptr().addr() as u64) == Some(identity)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::Symbols;
    use super::*;

    /// A program with a build-id, or another one.
    fn put(program: &str, place: &Path) {
        fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
        fs::copy(program, place).expect("an installed program");
    }

    /// What a process that maps the file now knows of it.
    fn mapped_from(path: &Path) -> Source {
        let map = mapped::map(path).expect("a file");
        let own = fs::read_to_string("/proc/self/maps").expect("own mappings");
        let identity = Mappings::identity_at(&own, map.as_ptr().addr() as u64);
        Source {
            path: path.to_owned(),
            identity: identity.expect("it is mapped"),
            ..Source::default()
        }
    }

    #[test]
    fn a_file_that_has_taken_the_place_of_another_gives_no_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("server");
        put("/bin/true", &path);
        let source = mapped_from(&path);
        let build_id = source.open(&[]).expect("the same file").build_id().to_owned();
        assert!(!build_id.is_empty());

        put("/bin/false", &folder.path().join("next"));
        fs::rename(folder.path().join("next"), &path).expect("a deployment");
        let why = source.open(&[]).err().expect("another file");
        assert!(why.contains("another file") && why.contains("build-id"), "{why}");
        let deleted = Source { is_deleted: true, ..source.clone() };
        assert!(deleted.open(&[]).err().expect("another file").contains("deleted or replaced"));

        fs::remove_file(&path).expect("a file");
        assert!(source.open(&[]).err().expect("no file").contains("gone"));
    }

    #[test]
    fn processes_of_one_file_open_it_once_and_fail_each_for_itself() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("server");
        put("/bin/true", &path);
        let source = mapped_from(&path);
        let mut symbols = Symbols::default();
        for pid in [u32::MAX, u32::MAX - 1, 0] {
            let range = (u64::from(pid), u64::MAX);
            assert!(symbols.opened(&Source { pid, range, ..source.clone() }).is_ok());
        }
        assert_eq!(symbols.objects.len(), 1);
        let other = Source { identity: Identity::default(), ..source };
        for pid in [0, u32::MAX] {
            assert!(symbols.opened(&Source { pid, ..other.clone() }).is_err());
        }
        assert_eq!(symbols.objects.len(), 3);
    }

    #[test]
    fn a_file_that_was_written_to_gives_no_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("server");
        put("/bin/true", &path);
        let build_id = mapped_from(&path).open(&[]).expect("the file").build_id().to_owned();
        fs::write(&path, fs::read("/bin/false").expect("a program")).expect("the same inode");
        let source = Source { build_id, ..mapped_from(&path) };
        assert!(source.open(&[]).is_err());
    }

    #[test]
    fn a_folder_of_symbols_is_searched_by_build_id() {
        let folder = tempfile::tempdir().expect("a folder");
        let [path, plain, sorted] =
            ["server", "plain", "sorted"].map(|name| folder.path().join(name));
        put("/bin/true", &path);
        let build_id = mapped_from(&path).open(&[]).expect("the file").build_id().to_owned();
        fs::remove_file(&path).expect("a file");
        put("/bin/true", &plain.join("server"));
        let (first, rest) = build_id.split_at(2);
        put("/bin/true", &sorted.join(format!(".build-id/{first}/{rest}.debug")));
        let source = Source { path, build_id, ..Source::default() };
        for folder in [plain.clone(), sorted] {
            assert!(source.open(&[folder]).is_ok());
        }
        put("/bin/false", &plain.join("server"));
        let why = source.open(&[plain]).err().expect("another build");
        assert!(why.contains(&source.build_id) && why.contains("--symbols"), "{why}");
    }
}
