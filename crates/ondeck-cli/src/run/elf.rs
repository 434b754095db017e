//! What an ELF file says about how it is loaded.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use memchr::memmem;
use object::elf::{self, FileHeader64, Machine};
use object::read::elf::{FileHeader as _, ProgramHeader as _, SectionHeader as _};
use object::{LittleEndian, ReadCache};

/// What the shim has to know of a program, a library or a loader.
#[derive(Debug, Default)]
pub(crate) struct Image {
    /// The loader; none in a program that is linked statically, and in most libraries.
    pub(crate) loader: Option<String>,
    /// The name by which others need it.
    pub(crate) soname: Option<String>,
    /// The libraries that it needs.
    pub(crate) needed: Vec<String>,
    /// Versions of glibc's interface, that it needs or that it has: `2.34` is (2, 34).
    pub(crate) needs_glibc: Vec<(u32, u32)>,
    pub(crate) has_glibc: Vec<(u32, u32)>,
    /// The first of the marks that is a symbol of it.
    pub(crate) mark: Option<&'static str>,
}

/// For which machines it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kind {
    class: u8,
    data: u8,
    machine: u16,
}

const CLASS: usize = 4;
const DATA: usize = 5;
const MACHINE: usize = 18;

const BITS_64: u8 = 2;
const LITTLE_ENDIAN: u8 = 1;

impl Kind {
    /// The machine that an ELF file is for; of a file of any machine.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let mut head = [0; MACHINE + 2];
        File::open(path)?.read_exact(&mut head)?;
        let machine = [head[MACHINE], head[MACHINE + 1]];
        let little = head[DATA] == LITTLE_ENDIAN;
        let machine =
            if little { u16::from_le_bytes(machine) } else { u16::from_be_bytes(machine) };
        Ok(Self { class: head[CLASS], data: head[DATA], machine })
    }

    /// In words.
    pub(crate) fn name(self) -> String {
        let machine = match Machine(self.machine) {
            elf::EM_386 => "32-bit x86".to_owned(),
            elf::EM_X86_64 if self.class == BITS_64 => "x86-64".to_owned(),
            elf::EM_X86_64 => "x32".to_owned(),
            elf::EM_ARM => "32-bit Arm".to_owned(),
            elf::EM_AARCH64 => "64-bit Arm".to_owned(),
            elf::EM_RISCV => "RISC-V".to_owned(),
            elf::EM_PPC64 => "64-bit PowerPC".to_owned(),
            elf::EM_S390 => "IBM Z".to_owned(),
            Machine(other) => format!("machine {other} of the ELF list"),
        };
        if self.data == LITTLE_ENDIAN { machine } else { format!("{machine}, big-endian") }
    }
}

/// Reads a file of a 64-bit little-endian machine, and looks for `marks` among the names of its
/// symbols, defined or not.
pub(crate) fn read(path: &Path, marks: &[&'static str]) -> Result<Image, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    image(&ReadCache::new(file), marks).map_err(|error| error.to_string())
}

fn image(data: &ReadCache<File>, marks: &[&'static str]) -> object::Result<Image> {
    let endian = LittleEndian;
    let header = FileHeader64::<LittleEndian>::parse(data)?;
    let mut image = Image::default();
    for segment in header.program_headers(endian, data)? {
        if let Some(loader) = segment.interpreter(endian, data)? {
            image.loader = Some(text(loader));
        }
    }
    let sections = header.sections(endian, data)?;
    let dynamic = sections.dynamic_table(endian, data)?;
    for entry in &dynamic {
        match entry.tag {
            elf::DT_NEEDED => image.needed.push(text(dynamic.string(entry)?)),
            elf::DT_SONAME => image.soname = Some(text(dynamic.string(entry)?)),
            _ => {}
        }
    }
    if let Some((mut libraries, link)) = sections.gnu_verneed(endian, data)? {
        let strings = sections.strings(endian, data, link)?;
        while let Some((_, mut versions)) = libraries.next()? {
            while let Some(version) = versions.next()? {
                image.needs_glibc.extend(glibc(version.name(endian, strings)?));
            }
        }
    }
    if let Some((mut versions, link)) = sections.gnu_verdef(endian, data)? {
        let strings = sections.strings(endian, data, link)?;
        while let Some((_, mut names)) = versions.next()? {
            // The first is the version, the others are what it extends.
            if let Some(name) = names.next()? {
                image.has_glibc.extend(glibc(name.name(endian, strings)?));
            }
        }
    }
    for section in sections.iter() {
        if image.mark.is_none() && section.sh_type(endian) == elf::SHT_STRTAB {
            let names = section.data(endian, data)?;
            image.mark = marks.iter().copied().find(|mark| is_name(names, mark));
        }
    }
    Ok(image)
}

/// Whether a table of strings, each with a zero behind it, has this one.
fn is_name(names: &[u8], name: &str) -> bool {
    memmem::find(names, &[b"\0", name.as_bytes(), b"\0"].concat()).is_some()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The number of a version of glibc's interface: of `GLIBC_2.34`, not of `GLIBC_PRIVATE`.
fn glibc(version: &[u8]) -> Option<(u32, u32)> {
    let number = str::from_utf8(version).ok()?.strip_prefix("GLIBC_")?;
    let mut parts = number.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_is_read_as_its_compiler_made_it() {
        let own = std::env::current_exe().expect("it runs");
        assert_eq!(Kind::of(&own).expect("ELF").name(), "x86-64");
        let image = read(&own, &["__asan_init", "pthread_mutex_lock_of_no_library"]).expect("ELF");
        assert!(image.loader.is_some_and(|loader| loader.contains("ld-linux-x86-64")));
        assert!(image.needed.iter().any(|name| name == "libc.so.6"), "{:?}", image.needed);
        assert!(image.needs_glibc.iter().max() >= Some(&(2, 28)), "{:?}", image.needs_glibc);
        assert_eq!((image.mark, image.soname), (None, None));
        let marked = read(&own, &["__asan_init", "main"]).expect("ELF");
        assert_eq!(marked.mark, Some("main"));
    }

    #[test]
    fn versions_are_numbers_and_private_ones_are_not() {
        assert_eq!(glibc(b"GLIBC_2.34"), Some((2, 34)));
        assert_eq!(glibc(b"GLIBC_2.2.5"), Some((2, 2)));
        for other in [&b"GLIBC_PRIVATE"[..], b"GLIBCXX_3.4", b"GLIBC_ABI_DT_RELR", b"2.34"] {
            assert_eq!(glibc(other), None, "{other:?}");
        }
    }
}
