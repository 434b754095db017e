//! Whether the shim can serve a program: asked before it is started, because what happens otherwise
//! is an error of the loader among the program's own words, or no effect at all.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::unistd::{getgid, getuid};

use super::elf::{self, Image, Kind};
use super::program::Program;
use crate::outcome::Failure;

/// What runtimes of sanitizers define, and what uses them needs.
const SANITIZERS: [(&str, &str); 5] = [
    ("__asan_init", "AddressSanitizer"),
    ("__tsan_init", "ThreadSanitizer"),
    ("__msan_init", "MemorySanitizer"),
    ("__hwasan_init", "HWAddressSanitizer"),
    ("__lsan_init", "LeakSanitizer"),
];

const SET_USER: u32 = 0o4000;
const SET_GROUP: u32 = 0o2000;
const GROUP_EXECUTES: u32 = 0o0010;

/// What the shim is, as far as programs have to fit it.
pub(crate) struct Shim {
    kind: Kind,
    /// The newest version of glibc's interface that it needs.
    glibc: (u32, u32),
}

impl Shim {
    pub(crate) fn read(library: &Path) -> Result<Self, Failure> {
        let unusable = |error: String| {
            Failure::own(format!(
                "{} is no library that can be preloaded: {error}; build it anew with \
                 crates/ondeck-preload/link.sh",
                library.display()
            ))
        };
        let kind = Kind::of(library).map_err(|error| unusable(error.to_string()))?;
        let image = elf::read(library, &[]).map_err(unusable)?;
        Ok(Self { kind, glibc: image.needs_glibc.into_iter().max().unwrap_or_default() })
    }

    /// Refuses a program that it cannot serve, with the reason and what to do.
    pub(crate) fn check(&self, program: &Program) -> Result<(), Failure> {
        program.images.iter().try_for_each(|path| {
            self.check_image(path).map_err(|reason| {
                let of = if *path == program.path {
                    String::new()
                } else {
                    format!(", which runs {}", program.path.display())
                };
                Failure::unfit(format!(
                    "the shim cannot serve {}{of}: {reason}, or use --lock glibc",
                    path.display()
                ))
            })
        })
    }

    fn check_image(&self, path: &Path) -> Result<(), String> {
        let kind = Kind::of(path).map_err(|error| error.to_string())?;
        if kind != self.kind {
            return Err(format!(
                "it is for {}, and the shim for {}; use the program's build for that",
                kind.name(),
                self.kind.name()
            ));
        }
        privileges(path)?;
        let marks = SANITIZERS.map(|(mark, _)| mark);
        let image = elf::read(path, &marks)
            .map_err(|error| format!("{error}; is the file whole? Build or install it anew"))?;
        if is_loader(&image) {
            return Ok(());
        }
        let Some(loader) = &image.loader else {
            return Err(
                "it is linked statically, so that no loader runs that could load the shim; \
                        link it dynamically"
                    .to_owned(),
            );
        };
        self.check_loader(Path::new(loader))?;
        match SANITIZERS.iter().find(|(mark, _)| image.mark == Some(mark)) {
            Some((_, name)) => Err(format!(
                "{name} is built into it, which has its own version of the same functions; build \
                 it without"
            )),
            None => Ok(()),
        }
    }

    fn check_loader(&self, loader: &Path) -> Result<(), String> {
        let shown = loader.display();
        let Ok(place) = loader.canonicalize() else {
            return Err(format!("its loader {shown} is not there; install the libc that it is of"));
        };
        let name = loader.file_name().unwrap_or_default().as_bytes();
        if name.starts_with(b"ld-musl") {
            return Err(
                "its libc is musl, and the shim is for glibc; use its build for glibc".into()
            );
        }
        // glibc's loader and library are of one version, and in one folder.
        let libc = place.with_file_name("libc.so.6");
        let versions = elf::read(&libc, &[]).map(|image| image.has_glibc).unwrap_or_default();
        let Some((major, minor)) = versions.into_iter().max() else {
            return Err(format!(
                "its loader is {shown}, and no glibc is beside it ({}); use a build for glibc",
                libc.display()
            ));
        };
        if (major, minor) < self.glibc {
            let (least_major, least_minor) = self.glibc;
            return Err(format!(
                "its libc is glibc {major}.{minor}, and the shim needs \
                 {least_major}.{least_minor}; build the shim on that system"
            ));
        }
        Ok(())
    }
}

/// A loader is run as a program by those that want another one than the program names.
fn is_loader(image: &Image) -> bool {
    image.soname.as_ref().is_some_and(|name| name.starts_with("ld-linux"))
}

/// The loader ignores a preloaded library where the kernel gives a program more rights than its user
/// has (`AT_SECURE`).
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
    // The kernel does not call it a gain if root gets capabilities.
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
    // SAFETY: both strings end with a zero, and without a buffer the call only asks for the size.
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
