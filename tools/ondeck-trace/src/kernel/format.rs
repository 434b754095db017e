//! The offsets of a tracepoint's fields, from the kernel's description of it.

use std::io;
use std::path::{Path, PathBuf};

/// A tracepoint's number and fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Format {
    pub(super) id: u64,
    fields: Vec<(String, usize, usize)>,
}

/// The places of tracefs, in the order of preference.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

impl Format {
    /// Reads the format of the scheduler's tracepoint of that name.
    pub(super) fn find(name: &str) -> io::Result<Self> {
        let mut first = None;
        for place in PLACES {
            let path: PathBuf = Path::new(place).join("events/sched").join(name).join("format");
            match std::fs::read_to_string(&path) {
                Ok(text) => {
                    return Self::parse(&text)
                        .ok_or_else(|| io::Error::other(format!("{} is odd", path.display())));
                }
                Err(error) => {
                    first.get_or_insert_with(|| {
                        io::Error::new(error.kind(), format!("{}: {error}", path.display()))
                    });
                }
            }
        }
        Err(first.unwrap_or_else(|| io::Error::other("no tracefs")))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut format = Self::default();
        for line in text.lines().map(str::trim) {
            if let Some(id) = line.strip_prefix("ID:") {
                format.id = id.trim().parse().ok()?;
            } else if let Some(field) = line.strip_prefix("field:") {
                let mut parts = field.split(';').map(str::trim);
                // "char prev_comm[16]": the name is the last word, up to the bracket.
                let name = parts.next()?.rsplit(' ').next()?.split('[').next()?;
                let mut number =
                    |key: &str| -> Option<usize> { parts.next()?.strip_prefix(key)?.parse().ok() };
                format.fields.push((name.to_owned(), number("offset:")?, number("size:")?));
            }
        }
        (format.id > 0).then_some(format)
    }

    fn bytes<'a>(&self, name: &str, raw: &'a [u8]) -> Option<&'a [u8]> {
        let (_, offset, size) = self.fields.iter().find(|(field, ..)| field == name)?;
        raw.get(*offset..offset + size)
    }

    /// Reads an integer field.
    pub(super) fn number(&self, name: &str, raw: &[u8]) -> Option<i64> {
        match self.bytes(name, raw)? {
            bytes if bytes.len() == 4 => Some(i32::from_ne_bytes(bytes.try_into().ok()?).into()),
            bytes => Some(i64::from_ne_bytes(bytes.try_into().ok()?)),
        }
    }

    /// Reads a field of characters.
    pub(super) fn text(&self, name: &str, raw: &[u8]) -> Option<String> {
        let bytes = self.bytes(name, raw)?;
        let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
        Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAKING: &str = "name: sched_waking\nID: 375\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
        \tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
        \tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n\nprint fmt: \"pid=%d\", REC->pid\n";

    #[test]
    fn fields_are_found_by_name() {
        let format = Format::parse(WAKING).expect("the kernel's own text");
        assert_eq!(format.id, 375);
        let mut raw = [0_u8; 28];
        raw[8..11].copy_from_slice(b"sh\0");
        raw[24..28].copy_from_slice(&(-7_i32).to_ne_bytes());
        assert_eq!(format.number("pid", &raw), Some(-7));
        assert_eq!(format.text("comm", &raw).as_deref(), Some("sh"));
        assert_eq!(format.number("prio", &raw), None);
        assert_eq!(format.number("pid", &raw[..26]), None);
    }

    #[test]
    fn a_text_that_is_no_format_is_refused() {
        assert_eq!(Format::parse("ID: x"), None);
        assert_eq!(Format::parse(""), None);
        assert_eq!(Format::parse("ID: 4\n\tfield:int pid;\toffset:a;"), None);
    }
}
