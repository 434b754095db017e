//! The environment is read while the program is loaded, and never again.

use std::ffi::{CStr, CString};
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use ondeck::platform::{Fences, Linux};
use ondeck::spin::Polling;

use crate::again::{is_child, passes};

/// The calling test passes in a child process with these variables in its environment.
fn passes_with(environment: &[(&str, &str)]) {
    passes(|child| _ = child.envs(environment.to_vec()));
}

fn set(name: &str, value: &str) {
    // SAFETY: the process has this test's thread and one that waits for it to end.
    unsafe { std::env::set_var(name, value) };
}

#[test]
fn what_the_program_was_started_with_holds() {
    if is_child() {
        assert_eq!(Polling::current().short, 7);
        assert!(!Linux::fences_are_asymmetric());
    } else {
        passes_with(&[("ONDECK_SPIN", ",7"), ("ONDECK_NO_MEMBARRIER", "1")]);
    }
}

#[test]
fn what_the_program_puts_there_itself_changes_nothing() {
    if is_child() {
        set("ONDECK_SPIN", ",7");
        set("ONDECK_NO_MEMBARRIER", "0");
        assert_eq!(Polling::current().short, Polling::default().short);
        assert!(!Linux::fences_are_asymmetric());
    } else {
        passes_with(&[("ONDECK_NO_MEMBARRIER", "1")]);
    }
}

#[test]
fn what_the_program_installs_holds() {
    if is_child() {
        let mut polling = Polling::current();
        assert_eq!(polling.short, 7);
        polling.short = 8;
        polling.install();
        assert_eq!(Polling::current().short, 8);
    } else {
        passes_with(&[("ONDECK_SPIN", ",7")]);
    }
}

/// A function of the loaded library.
fn function<F: Copy>(library: *mut libc::c_void, name: &CStr) -> F {
    // SAFETY: the library is loaded, and the name ends with a zero byte.
    let symbol = unsafe { libc::dlsym(library, name.as_ptr()) };
    assert!(!symbol.is_null(), "{name:?} is not in the library");
    assert_eq!(size_of::<F>(), size_of_val(&symbol));
    // SAFETY: the caller names a function and its type.
    unsafe { mem::transmute_copy(&symbol) }
}

#[test]
fn a_library_that_is_loaded_reads_it_then() {
    if !is_child() {
        return passes_with(&[]);
    }
    let program = std::env::current_exe().expect("this program has a path");
    // Beside the folder of the tests' programs.
    let library: PathBuf =
        program.parent().expect("a folder").with_file_name("examples").join("libloadable.so");
    if !library.exists() {
        println!("skipped: {} was not built, as by a test of the whole crate", library.display());
        return;
    }
    set("ONDECK_SPIN", ",7");
    set("ONDECK_NO_MEMBARRIER", "1");
    let path = CString::new(library.as_os_str().as_bytes()).expect("no zero byte");
    // SAFETY: the library's only constructor is this crate's, which changes nothing here.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!library.is_null(), "the library can be loaded");
    let short: extern "C" fn() -> u32 = function(library, c"ondeck_loadable_short");
    let is_asymmetric: extern "C" fn() -> bool =
        function(library, c"ondeck_loadable_is_asymmetric");
    set("ONDECK_SPIN", ",8");
    assert_eq!(short(), 7);
    assert!(!is_asymmetric());
    assert_eq!(Polling::current().short, Polling::default().short);
}
