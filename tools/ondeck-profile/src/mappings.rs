//! The mappings of a process: lines of `/proc/PID/maps`, of which the recorder keeps snapshots.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ondeck_record::layout::{BUILD_ID, EXTENSION};

/// A file in the kernel's words: the numbers of its device and its inode, as `maps` has them.
///
/// They are comparable only with those of another `maps`: stat(2) may give other numbers for a file
/// of overlayfs or btrfs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    pub device: (u32, u32),
    pub inode: u64,
}

/// A file, and the address ranges of its parts.
#[derive(Debug)]
pub struct Mapped {
    pub path: PathBuf,
    pub identity: Identity,
    /// Whether a snapshot says that no name leads to the file any more.
    pub is_deleted: bool,
    /// The build-id that the process had in its memory, as far as a snapshot has it.
    pub build_id: String,
    /// From, to, offset in the file.
    pub parts: Vec<(u64, u64, u64)>,
}

impl Mapped {
    /// Returns one for each time that the file is mapped: the loader maps its parts in the order of
    /// the file, and a program that reads a library's file maps it once more.
    fn loads(mut self) -> Vec<Self> {
        self.parts.sort_unstable();
        let mut loads: Vec<Self> = Vec::new();
        let mut last: Option<(u64, u64, u64)> = None;
        for part in std::mem::take(&mut self.parts) {
            let is_next = |last: (u64, u64, u64)| part.2 > 0 || part.0 == last.1;
            if last.is_none_or(|last| part.2 < last.2 || !is_next(last)) {
                loads.push(Self {
                    path: self.path.clone(),
                    build_id: self.build_id.clone(),
                    parts: Vec::new(),
                    ..self
                });
            }
            last = Some(part);
            loads.last_mut().expect("one was pushed").parts.push(part);
        }
        loads
    }
}

/// What is known of a file that a process mapped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Source {
    /// The path in the process's own mount namespace.
    pub path: PathBuf,
    pub identity: Identity,
    /// Whether no name led to it any more.
    pub is_deleted: bool,
    /// The process; 0 if there is none to look at.
    pub pid: u32,
    /// The range of its first mapping, by which the kernel lends the file itself to privileged
    /// users.
    pub range: (u64, u64),
    /// The build-id that the process has in its memory; empty if that is not known.
    pub build_id: String,
}

impl Source {
    /// Returns what the mappings of a process say.
    pub fn of(mapped: &Mapped, pid: u32) -> Self {
        Self {
            path: mapped.path.clone(),
            identity: mapped.identity,
            is_deleted: mapped.is_deleted,
            pid,
            range: mapped.parts.first().map_or((0, 0), |part| (part.0, part.1)),
            build_id: mapped.build_id.clone(),
        }
    }
}

/// The union of the snapshots.
#[derive(Debug, Default)]
pub struct Mappings {
    pub files: Vec<Mapped>,
    pub heap: Vec<(u64, u64)>,
    pub stack: Vec<(u64, u64)>,
    /// Everything that is executable.
    pub code: Vec<(u64, u64)>,
}

impl Mappings {
    /// Reads snapshots. Later ones add to earlier ones, so an unloaded library is still known.
    pub fn parse(text: &str) -> Self {
        let mut files: BTreeMap<(PathBuf, Identity), Mapped> = BTreeMap::new();
        let mut mappings = Self::default();
        let mut last = None;
        for line in text.lines() {
            if let Some(id) = line.as_bytes().strip_prefix(BUILD_ID) {
                if let Some(file) = last.as_ref().and_then(|last| files.get_mut(last)) {
                    file.build_id = String::from_utf8_lossy(id).into_owned();
                }
                continue;
            }
            let Some(Line { from, to, offset, identity, is_code, name }) = parse_line(line) else {
                continue;
            };
            if is_code {
                mappings.code.push((from, to));
            }
            match name {
                "[heap]" => mappings.heap.push((from, to)),
                "[stack]" => mappings.stack.push((from, to)),
                path if path.starts_with('/') && !path.ends_with(EXTENSION) => {
                    let kept = path.strip_suffix(" (deleted)");
                    let path = PathBuf::from(kept.unwrap_or(path));
                    last = Some((path.clone(), identity));
                    let file = files.entry((path.clone(), identity)).or_insert_with(|| Mapped {
                        path,
                        identity,
                        is_deleted: false,
                        build_id: String::new(),
                        parts: Vec::new(),
                    });
                    file.is_deleted |= kept.is_some();
                    if !file.parts.contains(&(from, to, offset)) {
                        file.parts.push((from, to, offset));
                    }
                }
                _ => {}
            }
        }
        mappings.files = files.into_values().flat_map(Mapped::loads).collect();
        mappings
    }

    /// Returns the address at which a line maps the beginning of a file; `None` for what has no
    /// file, and for shared mappings: reading those of a device may reach the device.
    pub fn beginning(line: &str) -> Option<u64> {
        let is_private = line.split(' ').nth(1)?.ends_with('p');
        let line = parse_line(line)?;
        (is_private && line.offset == 0 && line.name.starts_with('/')).then_some(line.from)
    }

    /// Returns the identity of what is mapped at an address.
    pub fn identity_at(text: &str, address: u64) -> Option<Identity> {
        let mut lines = text.lines().filter_map(parse_line);
        lines.find(|line| (line.from..line.to).contains(&address)).map(|line| line.identity)
    }
}

struct Line<'a> {
    from: u64,
    to: u64,
    offset: u64,
    identity: Identity,
    is_code: bool,
    name: &'a str,
}

/// `7f12a000-7f12b000 r-xp 00001000 08:01 1234   /usr/lib/libc.so.6`
fn parse_line(line: &str) -> Option<Line<'_>> {
    let number = |text| u64::from_str_radix(text, 16).ok();
    let mut fields = line.splitn(6, ' ');
    let (from, to) = fields.next()?.split_once('-')?;
    let is_code = fields.next()?.as_bytes().get(2) == Some(&b'x');
    let offset = number(fields.next()?)?;
    let (major, minor) = fields.next()?.split_once(':')?;
    let device = (number(major)? as u32, number(minor)? as u32);
    let identity = Identity { device, inode: fields.next()?.parse().ok()? };
    let name = fields.next().unwrap_or_default().trim_start();
    Some(Line { from: number(from)?, to: number(to)?, offset, identity, is_code, name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kernel_are_read() {
        let text = "\
            55d0c0400000-55d0c0401000 r--p 00000000 fd:01 12 /opt/a b/prog\n\
            build-id 00ab\n\
            55d0c0401000-55d0c0402000 r-xp 00001000 fd:01 12                 /opt/a b/prog (deleted)\n\
            55d0c1000000-55d0c1021000 rw-p 00000000 00:00 0                  [heap]\n\
            7ffc0000-7ffd0000 rw-p 00000000 00:00 0                          [stack]\n\
            7ffe0000-7fff0000 rwxp 00000000 00:00 0 \n\
            cut off";
        let mappings = Mappings::parse(text);
        assert_eq!(mappings.files.len(), 1);
        assert_eq!(mappings.files[0].path, PathBuf::from("/opt/a b/prog"));
        assert!(mappings.files[0].is_deleted);
        assert_eq!(mappings.files[0].build_id, "00ab");
        assert_eq!(mappings.files[0].identity, Identity { device: (0xfd, 1), inode: 12 });
        assert_eq!(
            mappings.files[0].parts,
            [(0x55d0_c040_0000, 0x55d0_c040_1000, 0), (0x55d0_c040_1000, 0x55d0_c040_2000, 0x1000)]
        );
        assert_eq!(mappings.heap, [(0x55d0_c100_0000, 0x55d0_c102_1000)]);
        assert_eq!(mappings.stack, [(0x7ffc_0000, 0x7ffd_0000)]);
        assert_eq!(
            mappings.code,
            [(0x55d0_c040_1000, 0x55d0_c040_2000), (0x7ffe_0000, 0x7fff_0000)]
        );
    }

    #[test]
    fn a_file_that_is_mapped_twice_is_two_whose_addresses_do_not_include_what_is_between() {
        let text = "1000-2000 r--p 0 fd:01 12 /a\n2000-3000 r-xp 1000 fd:01 12 /a\n\
            3000-4000 rw-p 1000 fd:01 12 /a\n9000-c000 r--p 0 fd:01 12 /a\n";
        let parts: Vec<usize> =
            Mappings::parse(text).files.iter().map(|file| file.parts.len()).collect();
        assert_eq!(parts, [3, 1]);
    }

    #[test]
    fn two_files_that_had_a_path_in_turn_are_two() {
        let text = "1000-2000 r-xp 0 fd:01 12 /a\n3000-4000 r-xp 0 fd:01 13 /a\n";
        let inodes: Vec<u64> =
            Mappings::parse(text).files.iter().map(|file| file.identity.inode).collect();
        assert_eq!(inodes, [12, 13]);
    }
}
