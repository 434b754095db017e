//! The mappings of a process: the lines of `/proc/self/maps` that the recorder kept.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ondeck_record::layout::EXTENSION;

/// A file, and the address ranges of its parts.
#[derive(Debug)]
pub struct Mapped {
    pub path: PathBuf,
    /// From, to, offset in the file.
    pub parts: Vec<(u64, u64, u64)>,
}

/// The union of the snapshots.
#[derive(Debug, Default)]
pub struct Mappings {
    pub files: Vec<Mapped>,
    pub heap: Vec<(u64, u64)>,
    pub stack: Vec<(u64, u64)>,
}

impl Mappings {
    /// Reads snapshots. Later ones add to earlier ones, so an unloaded library is still known.
    pub fn parse(text: &str) -> Self {
        let mut files: BTreeMap<PathBuf, Vec<(u64, u64, u64)>> = BTreeMap::new();
        let mut mappings = Self::default();
        for line in text.lines() {
            let Some((from, to, offset, name)) = parse_line(line) else { continue };
            match name {
                "[heap]" => mappings.heap.push((from, to)),
                "[stack]" => mappings.stack.push((from, to)),
                path if path.starts_with('/') && !path.ends_with(EXTENSION) => {
                    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
                    let parts = files.entry(path.into()).or_default();
                    if !parts.contains(&(from, to, offset)) {
                        parts.push((from, to, offset));
                    }
                }
                _ => {}
            }
        }
        mappings.files = files.into_iter().map(|(path, parts)| Mapped { path, parts }).collect();
        mappings
    }
}

/// `7f12a000-7f12b000 r-xp 00001000 08:01 1234   /usr/lib/libc.so.6`
fn parse_line(line: &str) -> Option<(u64, u64, u64, &str)> {
    let (range, rest) = line.split_once(' ')?;
    let (from, to) = range.split_once('-')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    let mut fields = rest.splitn(5, ' ');
    let offset = fields.nth(1)?;
    let name = fields.nth(2)?.trim_start();
    Some((number(from)?, number(to)?, number(offset)?, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kernel_are_read() {
        let text = "\
            55d0c0400000-55d0c0401000 r--p 00000000 fd:01 12 /opt/a b/prog\n\
            55d0c0401000-55d0c0402000 r-xp 00001000 fd:01 12                 /opt/a b/prog (deleted)\n\
            55d0c1000000-55d0c1021000 rw-p 00000000 00:00 0                  [heap]\n\
            7ffc0000-7ffd0000 rw-p 00000000 00:00 0                          [stack]\n\
            cut off";
        let mappings = Mappings::parse(text);
        assert_eq!(mappings.files.len(), 1);
        assert_eq!(mappings.files[0].path, PathBuf::from("/opt/a b/prog"));
        assert_eq!(
            mappings.files[0].parts,
            [(0x55d0_c040_0000, 0x55d0_c040_1000, 0), (0x55d0_c040_1000, 0x55d0_c040_2000, 0x1000)]
        );
        assert_eq!(mappings.heap, [(0x55d0_c100_0000, 0x55d0_c102_1000)]);
        assert_eq!(mappings.stack, [(0x7ffc_0000, 0x7ffd_0000)]);
    }
}
