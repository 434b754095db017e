//! Checks before the start whether a library can be loaded into a program. Otherwise the result
//! would be an error of the loader amid the program's output, or no effect at all.

use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::unistd::{getgid, getuid};
use object::elf::{self, FileHeader64};
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _};
use object::{LittleEndian, ReadCache};

use super::library::Library;
use super::program::Program;
use crate::outcome::Failure;

const SET_USER: u32 = 0o4000;
const SET_GROUP: u32 = 0o2000;
const GROUP_EXECUTES: u32 = 0o0010;

/// The class and the machine of an ELF file for any machine, from its first bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Kind {
    class: u8,
    machine: u16,
}

impl Kind {
    fn of(path: &Path) -> Result<Self, String> {
        const CLASS: usize = 4;
        const MACHINE: usize = 18;
        let mut head = [0; MACHINE + 2];
        File::open(path)
            .and_then(|mut file| file.read_exact(&mut head))
            .map_err(|error| error.to_string())?;
        Ok(Self {
            class: head[CLASS],
            machine: u16::from_le_bytes([head[MACHINE], head[MACHINE + 1]]),
        })
    }

    fn name(self) -> String {
        const BITS_64: u8 = 2;
        let machine = match elf::Machine(self.machine) {
            elf::EM_386 | elf::EM_X86_64 => "x86".to_owned(),
            elf::EM_ARM | elf::EM_AARCH64 => "Arm".to_owned(),
            elf::Machine(other) => format!("machine {other} of the ELF list"),
        };
        format!("{}-bit {machine}", if self.class == BITS_64 { 64 } else { 32 })
    }
}

/// Why a library cannot be loaded into a program.
#[derive(Debug)]
pub(super) struct Reason {
    pub(super) why: String,
    remedy: &'static str,
    /// Whether the program can be observed nevertheless, by the kernel's notifications.
    pub(super) is_loaders: bool,
    pub(super) is_go: bool,
}

impl From<String> for Reason {
    fn from(why: String) -> Self {
        Self { why, remedy: "", is_loaders: false, is_go: false }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { why, remedy, .. } = self;
        if remedy.is_empty() { to.write_str(why) } else { write!(to, "{why}; {remedy}") }
    }
}

/// Returns why the observer sees nothing of a Go program, even if it can be loaded.
pub(super) fn of_go(path: &Path) -> Option<Reason> {
    let file = File::open(path).ok()?;
    let data = &ReadCache::new(file);
    let header = FileHeader64::<LittleEndian>::parse(data).ok()?;
    let sections = header.sections(LittleEndian, data).ok()?;
    sections.section_by_name(LittleEndian, b".go.buildinfo")?;
    let why = "it is a Go program, which calls the kernel by itself".to_owned();
    Some(Reason { why, remedy: "", is_loaders: true, is_go: true })
}

/// Refuses a file that is no library.
pub(super) fn check_library(path: &Path, library: Library) -> Result<(), Failure> {
    Kind::of(path).map(|_| ()).map_err(|error| {
        Failure::own(format!(
            "{} is no library that can be preloaded: {error}; build it anew with {}",
            path.display(),
            library.script()
        ))
    })
}

/// Refuses a program that the shim cannot serve, with the reason and the remedy.
pub(super) fn check(library: &Path, program: &Program) -> Result<(), Failure> {
    check_library(library, Library::Shim)?;
    let refused = |path: &Path, reason: Reason| {
        let of = if *path == program.path {
            String::new()
        } else {
            format!(", which runs {}", program.path.display())
        };
        Failure::unfit(format!(
            "the shim cannot serve {}{of}: {reason}, or use --lock glibc",
            path.display()
        ))
    };
    let reasons = program.images.iter().find_map(|path| Some((path, reason(library, path)?)));
    reasons.map_or(Ok(()), |(path, reason)| Err(refused(path, reason)))
}

/// Returns why a library cannot be loaded into a program.
pub(super) fn reason(library: &Path, program: &Path) -> Option<Reason> {
    let kind = Kind::of(library).ok()?;
    check_image(kind, program).err()
}

fn check_image(library: Kind, path: &Path) -> Result<(), Reason> {
    let loaders = |why: String, remedy| Err(Reason { why, remedy, is_loaders: true, is_go: false });
    let kind = Kind::of(path)?;
    if kind != library {
        let why = format!("it is for {}, and the library for {}", kind.name(), library.name());
        return Err(Reason { remedy: "use the program's build for that", ..why.into() });
    }
    privileges(path)?;
    // Users run a loader as a program to replace the one that the program names.
    if path.file_name().is_some_and(|name| name.as_bytes().starts_with(b"ld-linux")) {
        return Ok(());
    }
    let loader = loader_of(path)
        .map_err(|error| format!("{error}; is the file whole? Build or install it anew"))?;
    let Some(loader) = loader else {
        return loaders(
            "it is linked statically, so that no loader runs that could load the library"
                .to_owned(),
            "link it dynamically",
        );
    };
    let loader = Path::new(&loader);
    if !loader.exists() {
        let shown = loader.display();
        let why = format!("its loader {shown} is not there; install the libc that it is of");
        return Err(why.into());
    }
    if let Some(runtime) = sanitizer_of(path) {
        return loaders(
            format!("it is checked by a sanitizer ({runtime}), which has to be the first library"),
            "build it without",
        );
    }
    if loader.file_name().is_some_and(|name| name.as_bytes().starts_with(b"ld-musl")) {
        return loaders(
            "its libc is musl, and the library is for glibc".to_owned(),
            "use its build for glibc",
        );
    }
    Ok(())
}

/// The loader that a program for a 64-bit little-endian machine names; `None` if it is linked
/// statically.
fn loader_of(path: &Path) -> object::Result<Option<String>> {
    let endian = LittleEndian;
    let Ok(file) = File::open(path) else { return Ok(None) };
    let data = &ReadCache::new(file);
    let header = FileHeader64::<LittleEndian>::parse(data)?;
    for segment in header.program_headers(endian, data)? {
        if let Some(loader) = segment.interpreter(endian, data)? {
            return Ok(Some(String::from_utf8_lossy(loader).into_owned()));
        }
    }
    Ok(None)
}

/// The sanitizer's runtime that a program is linked with.
fn sanitizer_of(path: &Path) -> Option<String> {
    const RUNTIMES: [&[u8]; 5] =
        [b"libasan.so", b"libtsan.so", b"liblsan.so", b"libhwasan.so", b"libclang_rt."];
    let endian = LittleEndian;
    let file = File::open(path).ok()?;
    let data = &ReadCache::new(file);
    let header = FileHeader64::<LittleEndian>::parse(data).ok()?;
    let sections = header.sections(endian, data).ok()?;
    let (entries, link) = sections.dynamic(endian, data).ok()??;
    let strings = sections.strings(endian, data, link).ok()?;
    entries
        .iter()
        .filter(|entry| entry.tag(endian) == elf::DT_NEEDED)
        .filter_map(|entry| strings.get(entry.val32(endian)?).ok())
        .find(|name| RUNTIMES.iter().any(|runtime| name.starts_with(runtime)))
        .map(|name| String::from_utf8_lossy(name).into_owned())
}

/// The loader ignores a preloaded library where the kernel gives a program more rights than its
/// user has (`AT_SECURE`).
fn privileges(path: &Path) -> Result<(), String> {
    const FIX: &str = "become that user first, as `sudo ondeck run ...`";
    let found = fs::metadata(path).map_err(|error| error.to_string())?;
    if found.mode() & SET_USER != 0 && found.uid() != getuid().as_raw() {
        let owner = found.uid();
        return Err(format!(
            "it is set-user-ID (user {owner}), so that the loader ignores LD_PRELOAD; {FIX}"
        ));
    }
    let by_group = SET_GROUP | GROUP_EXECUTES;
    if found.mode() & by_group == by_group && found.gid() != getgid().as_raw() {
        let group = found.gid();
        return Err(format!(
            "it is set-group-ID (group {group}), so that the loader ignores LD_PRELOAD; {FIX}"
        ));
    }
    // For root, the kernel does not count capabilities as a gain.
    if !getuid().is_root() && has_capabilities(path) {
        return Err(format!(
            "it has file capabilities, so that the loader ignores LD_PRELOAD; {FIX}, or remove \
             them with `setcap -r`"
        ));
    }
    Ok(())
}

fn has_capabilities(path: &Path) -> bool {
    let mut path = path.as_os_str().as_bytes().to_vec();
    path.push(0);
    // SAFETY: both strings end with a zero, and without a buffer the call only returns the size.
    let size = unsafe {
        libc::getxattr(
            path.as_ptr().cast(),
            c"security.capability".as_ptr(),
            std::ptr::null_mut(),
            0,
        )
    };
    size > 0
}
