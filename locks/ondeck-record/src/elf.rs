//! Finds functions of the C library in memory, by name and version, in its own tables.
//!
//! Does the same as dlvsym(3), without its lock: the loader lists the loaded objects in `_r_debug`,
//! for debuggers. The C library is among the first entries, which do not change after the program's
//! start, so the list can be read while another thread loads a library.
//!
//! Sources: the System V ABI, "Dynamic Linking"; Ulrich Drepper, "How To Write Shared Libraries",
//! on the hash table of GNU; the Linux Standard Base, "Symbol Versioning".

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;

/// The public part of `struct link_map`.
#[repr(C)]
struct LinkMap {
    base: usize,
    name: *const c_char,
    dynamic: *const Dynamic,
    next: *const LinkMap,
}

/// `struct r_debug`.
#[repr(C)]
struct Debug {
    version: c_int,
    map: *const LinkMap,
}

unsafe extern "C" {
    #[link_name = "_r_debug"]
    static R_DEBUG: Debug;
}

/// `Elf64_Dyn`.
#[repr(C)]
struct Dynamic {
    tag: u64,
    value: usize,
}

/// `Elf64_Sym`.
#[repr(C)]
struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: usize,
    size: u64,
}

/// `Elf64_Verdef`.
#[repr(C)]
struct VersionDefinition {
    revision: u16,
    flags: u16,
    index: u16,
    names: u16,
    hash: u32,
    first_name: u32,
    next: u32,
}

const TAG_END: u64 = 0;
const TAG_STRINGS: u64 = 5;
const TAG_SYMBOLS: u64 = 6;
const TAG_SONAME: u64 = 14;
const TAG_GNU_HASH: u64 = 0x6fff_fef5;
const TAG_VERSIONS: u64 = 0x6fff_fff0;
const TAG_DEFINITIONS: u64 = 0x6fff_fffc;

const SYMBOL_IS_FUNCTION: u8 = 2;
/// The bit of a symbol's version that marks it as not the default.
const HIDDEN: u16 = 0x8000;

/// A library that the loader has loaded.
pub struct Library {
    base: usize,
    strings: *const c_char,
    symbols: *const Symbol,
    hash: *const u32,
    versions: *const u16,
    definitions: *const VersionDefinition,
}

/// The entries of the loader's list.
fn maps() -> impl Iterator<Item = &'static LinkMap> {
    // SAFETY: the loader's variable, which it fills before it runs any constructor.
    let mut map = unsafe { (&raw const R_DEBUG.map).read_volatile() };
    core::iter::from_fn(move || {
        // SAFETY: null, or an entry of the list. A library that is unloaded at the same time is
        // after the entries of the program's start, and callers stop at one of those.
        let entry = unsafe { map.as_ref() }?;
        map = entry.next;
        Some(entry)
    })
}

/// Returns whether a library is loaded whose file name has this prefix.
pub fn is_loaded(name: &str) -> bool {
    maps().filter(|map| !map.name.is_null()).any(|map| {
        // SAFETY: the loader's string.
        let path = unsafe { CStr::from_ptr(map.name) }.to_bytes();
        let file = path.rsplit(|&byte| byte == b'/').next();
        file.is_some_and(|file| file.starts_with(name.as_bytes()))
    })
}

impl Library {
    /// Returns the C library, if there is one named `libc.so.6`.
    pub fn libc() -> Option<Self> {
        maps().find_map(|map| Self::of(map, c"libc.so.6"))
    }

    /// Returns the library of an entry, if it has this name.
    fn of(map: &LinkMap, soname: &CStr) -> Option<Self> {
        let mut library = Self {
            base: map.base,
            strings: ptr::null(),
            symbols: ptr::null(),
            hash: ptr::null(),
            versions: ptr::null(),
            definitions: ptr::null(),
        };
        let mut name = None;
        let mut entry = map.dynamic;
        // SAFETY: the dynamic section is in memory, and ends with a null tag.
        while let Some(dynamic) = unsafe { entry.as_ref() }.filter(|dynamic| dynamic.tag != TAG_END)
        {
            let address = library.address(dynamic.value);
            match dynamic.tag {
                TAG_STRINGS => library.strings = ptr::with_exposed_provenance(address),
                TAG_SYMBOLS => library.symbols = ptr::with_exposed_provenance(address),
                TAG_GNU_HASH => library.hash = ptr::with_exposed_provenance(address),
                TAG_VERSIONS => library.versions = ptr::with_exposed_provenance(address),
                TAG_DEFINITIONS => library.definitions = ptr::with_exposed_provenance(address),
                TAG_SONAME => name = Some(dynamic.value),
                _ => {}
            }
            // SAFETY: this one was not the last.
            entry = unsafe { entry.add(1) };
        }
        let is_complete = !library.strings.is_null()
            && !library.symbols.is_null()
            && !library.hash.is_null()
            && !library.versions.is_null()
            && !library.definitions.is_null();
        (is_complete && library.string(name?) == soname).then_some(library)
    }

    /// Returns an address of the dynamic section, which the loader makes absolute for most
    /// libraries.
    fn address(&self, value: usize) -> usize {
        if value < self.base { value + self.base } else { value }
    }

    /// Returns the string at an offset of the library's table.
    fn string(&self, offset: usize) -> &CStr {
        // SAFETY: the library's own offset into its own table of strings.
        unsafe { CStr::from_ptr(self.strings.add(offset)) }
    }

    /// Returns the index of the version called `name`.
    fn version(&self, name: &str) -> Option<u16> {
        let mut definition = self.definitions;
        loop {
            // SAFETY: the first definition, or the next one after another. The name follows a
            // definition, and its first word is the offset of the string.
            let (current, string) = unsafe {
                let current = &*definition;
                let string = definition.byte_add(current.first_name as usize).cast::<u32>();
                (current, *string as usize)
            };
            if self.string(string).to_bytes() == name.as_bytes() {
                return Some(current.index);
            }
            if current.next == 0 {
                return None;
            }
            // SAFETY: the definition has the offset of the next.
            definition = unsafe { definition.byte_add(current.next as usize) };
        }
    }

    /// Returns the address of a function.
    pub fn function(&self, name: &str, version: &str) -> Option<*mut c_void> {
        let version = self.version(version)?;
        let mut index = self.bucket(hash(name))? as usize;
        loop {
            // SAFETY: an index from the hash table is valid in the table of symbols, which has the
            // same number of entries as the table of versions.
            let (symbol, has) = unsafe { (&*self.symbols.add(index), *self.versions.add(index)) };
            if has & !HIDDEN == version
                && symbol.section != 0
                && symbol.info & 0xf == SYMBOL_IS_FUNCTION
                && self.string(symbol.name as usize).to_bytes() == name.as_bytes()
            {
                return Some(ptr::with_exposed_provenance_mut(self.base + symbol.value));
            }
            if self.ends_chain(index) {
                return None;
            }
            index += 1;
        }
    }

    /// Returns the first symbol of the chain of a hash.
    fn bucket(&self, hash: u32) -> Option<u32> {
        // SAFETY: the table begins with the number of buckets and three more words. A filter
        // follows, whose length in 64-bit words is the third word, and then the buckets.
        let first = unsafe {
            let buckets = self.hash.add(HEADER + 2 * *self.hash.add(2) as usize);
            *buckets.add((hash % *self.hash) as usize)
        };
        (first != 0).then_some(first)
    }

    /// Returns whether the symbol is the last of its chain, according to its word after the
    /// buckets.
    fn ends_chain(&self, index: usize) -> bool {
        // SAFETY: as in `bucket`. After the buckets there is a word for each symbol, from the first
        // one that the table covers, whose index is the second word.
        unsafe {
            let chains =
                self.hash.add(HEADER + 2 * *self.hash.add(2) as usize + *self.hash as usize);
            *chains.add(index - *self.hash.add(1) as usize) & 1 != 0
        }
    }
}

/// The words before the filter of a hash table.
const HEADER: usize = 4;

/// Returns the hash of a name in GNU's table.
fn hash(name: &str) -> u32 {
    name.bytes().fold(5_381, |hash: u32, byte| hash.wrapping_mul(33).wrapping_add(u32::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_loader(name: &CStr, version: &CStr) -> *mut c_void {
        // SAFETY: both are strings.
        unsafe { libc::dlvsym(libc::RTLD_NEXT, name.as_ptr(), version.as_ptr()) }
    }

    #[test]
    fn functions_are_those_that_the_loader_finds() {
        let libc = Library::libc().unwrap();
        for (name, version) in [
            (c"pthread_mutex_lock", c"GLIBC_2.2.5"),
            (c"__pthread_mutex_lock", c"GLIBC_2.2.5"),
            (c"pthread_cond_wait", c"GLIBC_2.2.5"),
            (c"pthread_cond_wait", c"GLIBC_2.3.2"),
            (c"pthread_cond_clockwait", c"GLIBC_2.30"),
            (c"pthread_mutex_clocklock", c"GLIBC_2.34"),
        ] {
            let found = libc.function(name.to_str().unwrap(), version.to_str().unwrap());
            assert_eq!(found, Some(by_loader(name, version)), "{name:?}@{version:?}");
        }
        let old = libc.function("pthread_cond_wait", "GLIBC_2.2.5");
        assert_ne!(old, libc.function("pthread_cond_wait", "GLIBC_2.3.2"));
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        let libc = Library::libc().unwrap();
        assert_eq!(libc.function("pthread_mutex_lock", "GLIBC_2.34"), None);
        assert_eq!(libc.function("pthread_mutex_lock", "GLIBC_1.0"), None);
        assert_eq!(libc.function("pthread_mutex_locked", "GLIBC_2.2.5"), None);
        // Data, not a function.
        assert_eq!(libc.function("environ", "GLIBC_2.2.5"), None);
    }

    #[test]
    fn a_library_is_loaded_if_its_file_has_the_name() {
        assert!(is_loaded("libc.so"));
        assert!(!is_loaded("ibc.so") && !is_loaded("libtsan.so"));
    }
}
