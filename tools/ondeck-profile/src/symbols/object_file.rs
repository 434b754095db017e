//! One ELF file and its separate debugging file.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use addr2line::Loader;
use memmap2::Mmap;
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, SymbolKind};

use super::cfi::{Cfi, Rules};
use super::declared::{self, Declared};
use super::mapped;
use crate::model::Frame;

/// The folders of debugging files, as in GDB.
const DEBUG: &str = "/usr/lib/debug";

/// A named range of addresses of a file.
#[derive(Clone, Debug)]
struct Symbol {
    start: u64,
    size: u64,
    name: String,
}

/// A part of a file that is loaded.
#[derive(Clone, Copy, Debug)]
struct Segment {
    offset: u64,
    in_file: u64,
    address: u64,
    in_memory: u64,
}

/// An object, with its symbols and debugging information.
pub struct ObjectFile {
    build_id: String,
    soname: String,
    segments: Vec<Segment>,
    functions: Vec<Symbol>,
    variables: Vec<Symbol>,
    /// Reads all units of the debugging information, which takes a while: only if a name is wanted.
    loader: OnceCell<Option<Loader>>,
    debug: PathBuf,
    /// That file, if its path leads through a process, and so ends with it.
    kept: Option<File>,
    /// Whether the debugging information is in a file of its own.
    is_separate: bool,
    has_lines: bool,
    declared: OnceCell<Declared>,
    cfi: OnceCell<Cfi>,
    map: Mmap,
    is_x86: bool,
}

/// The `DT_SONAME` of a 64-bit file of this machine's byte order.
fn soname_of(file: &object::File<'_>) -> Option<String> {
    /// The tag of the dynamic entry that locates the name (System V ABI).
    const DT_SONAME: u64 = 14;
    let section = |name| file.section_by_name(name)?.data().ok();
    let (entries, names) = (section(".dynamic")?, section(".dynstr")?);
    let word = |bytes: &[u8]| bytes.try_into().ok().map(u64::from_ne_bytes);
    let (_, at) = entries
        .chunks_exact(16)
        .filter_map(|entry| Some((word(&entry[..8])?, word(&entry[8..])?)))
        .find(|(tag, _)| *tag == DT_SONAME)?;
    let name = names.get(usize::try_from(at).ok()?..)?.split(|byte| *byte == 0).next()?;
    Some(String::from_utf8_lossy(name).into_owned())
}

/// A variable, and its declaration.
#[derive(Clone, Debug, Default)]
pub struct Variable {
    pub name: String,
    pub offset: u64,
    pub declared: Option<(String, u64)>,
}

impl ObjectFile {
    /// Reads an object that is mapped from `path`, and its debugging file if it has one.
    pub fn read(path: &Path, map: Mmap, folders: &[PathBuf]) -> Option<Self> {
        let file = object::File::parse(&*map).ok()?;
        let build_id = file.build_id().ok().flatten().map(hexadecimal).unwrap_or_default();
        let segments = file
            .segments()
            .map(|segment| {
                let (offset, in_file) = segment.file_range();
                Segment { offset, in_file, address: segment.address(), in_memory: segment.size() }
            })
            .collect();
        let (mut functions, mut variables) = (Vec::new(), Vec::new());
        collect(&file, &mut functions, &mut variables);
        let has = |file: &object::File<'_>| file.section_by_name(".debug_info").is_some();
        let mut has_lines = has(&file);
        let mut debug = path.to_owned();
        if !has_lines
            && let Some(found) = separate(path, &file, &build_id, folders)
            && let Some(map) = mapped::map(&found)
            && let Ok(file) = object::File::parse(&*map)
        {
            collect(&file, &mut functions, &mut variables);
            has_lines = has(&file);
            debug = found;
        }
        for symbols in [&mut functions, &mut variables] {
            symbols.sort_by(|a, b| a.start.cmp(&b.start).then(b.size.cmp(&a.size)));
            symbols.dedup_by_key(|symbol| symbol.start);
        }
        let kept = if debug.starts_with("/proc") { Some(File::open(&debug).ok()?) } else { None };
        let is_x86 = file.architecture() == object::Architecture::X86_64;
        let soname = soname_of(&file).unwrap_or_default();
        // Symbols are enough for both: the functions of the observer are cut off, and a reader
        // looks for lines of the program. Reading the lines of both takes 22 MB and most of a
        // report's time.
        has_lines &= !["libondeck_observe.so", "libc.so.6"].contains(&&*soname);
        Some(Self {
            build_id,
            soname,
            segments,
            functions,
            variables,
            loader: OnceCell::new(),
            is_separate: debug != path,
            debug,
            kept,
            has_lines,
            declared: OnceCell::new(),
            cfi: OnceCell::new(),
            map,
            is_x86,
        })
    }

    /// Returns the function of this object that the call instruction right before `address` calls,
    /// if the call is direct: `E8` and a distance. None if it calls a stub of the procedure linkage
    /// table.
    pub fn called_before(&self, address: u64) -> Option<u64> {
        const LENGTH: u64 = 5;
        let call = address.checked_sub(LENGTH)?;
        let segment = self
            .segments
            .iter()
            .find(|segment| (segment.address..segment.address + segment.in_file).contains(&call))?;
        let offset = usize::try_from(call - segment.address + segment.offset).ok()?;
        let (0xe8, distance) = self.map.get(offset..offset + LENGTH as usize)?.split_first()?
        else {
            return None;
        };
        let distance = i32::from_le_bytes(distance.try_into().ok()?);
        let called = address.checked_add_signed(distance.into())?;
        let (_, inside) = containing(&self.functions, called)?;
        (self.is_x86 && inside == 0).then_some(called)
    }

    /// Returns whether `address` is in the function that begins at `start`.
    pub fn is_within(&self, start: u64, address: u64) -> bool {
        containing(&self.functions, address).is_some_and(|(symbol, _)| symbol.start == start)
    }

    /// Returns where the function that contains an address begins: by its name, or by its call
    /// frame information.
    pub fn function_at(&self, address: u64) -> Option<u64> {
        let named = containing(&self.functions, address).map(|(symbol, _)| symbol.start);
        named.or_else(|| Some(self.cfi().function(address)?.start))
    }

    /// Returns the symbol of the function that begins at an address.
    pub fn function_name(&self, start: u64) -> Option<&str> {
        let (symbol, inside) = containing(&self.functions, start)?;
        (inside == 0).then_some(&symbol.name)
    }

    /// Returns how the caller of the function at an address is found.
    pub fn rules(&self, address: u64) -> Option<Rules> {
        self.cfi().rules(address)
    }

    fn cfi(&self) -> &Cfi {
        self.cfi.get_or_init(|| {
            let mut cfi = Cfi::default();
            let separate = self.is_separate.then(|| self.debug(mapped::map)).flatten();
            for map in [Some(&self.map), separate.as_ref()].into_iter().flatten() {
                if let Ok(file) = object::File::parse(&**map) {
                    cfi.add(&file);
                }
            }
            cfi
        })
    }

    /// Opens the file with the debugging information, by its path or, if that has ended with its
    /// process, by the open file.
    fn debug<T>(&self, open: impl Fn(&Path) -> Option<T>) -> Option<T> {
        open(&self.debug).or_else(|| {
            let kept = self.kept.as_ref()?.as_raw_fd();
            open(Path::new(&format!("/proc/self/fd/{kept}")))
        })
    }

    /// Returns its build-id in hexadecimal digits; empty if it has none.
    pub fn build_id(&self) -> &str {
        &self.build_id
    }

    /// Returns the name inside a library, which may differ from its file's; empty if it has none.
    pub fn soname(&self) -> &str {
        &self.soname
    }

    /// Returns whether there are line numbers.
    pub fn has_lines(&self) -> bool {
        self.has_lines
    }

    /// Returns the file's address for an offset in it.
    pub fn address_of(&self, offset: u64) -> Option<u64> {
        let segment = self
            .segments
            .iter()
            .find(|segment| (segment.offset..segment.offset + segment.in_file).contains(&offset))?;
        Some(offset - segment.offset + segment.address)
    }

    /// Returns the first address after all loaded parts, including variables without an initial
    /// value.
    pub fn end(&self) -> u64 {
        self.segments.iter().map(|segment| segment.address + segment.in_memory).max().unwrap_or(0)
    }

    /// Returns the functions at an address, the innermost inlined one first; empty if nothing is
    /// known.
    pub fn frames(&self, address: u64) -> Vec<Frame> {
        let mut frames = self.inlined(address).unwrap_or_default();
        let known = containing(&self.functions, address);
        if frames.is_empty() {
            let named = known.map(|(symbol, _)| symbol.name.clone());
            frames.extend(named.map(|name| {
                let function = demangled(&name);
                Frame { function, file: None, line: None }
            }));
        } else if let (Some(last), Some((symbol, _))) = (frames.last_mut(), known)
            && !last.function.contains("::")
        {
            // Debugging information with only line tables has just the last part of the name.
            last.function = demangled(&symbol.name);
        }
        frames.retain(|frame| !frame.function.is_empty());
        frames
    }

    fn inlined(&self, address: u64) -> Option<Vec<Frame>> {
        let open = || self.has_lines.then(|| self.debug(|path| Loader::new(path).ok())).flatten();
        let mut iterator = self.loader.get_or_init(open).as_ref()?.find_frames(address).ok()?;
        let mut frames = Vec::new();
        while let Ok(Some(frame)) = iterator.next() {
            let function = frame
                .function
                .as_ref()
                .and_then(|name| name.demangle().ok().map(Cow::into_owned))
                .unwrap_or_default();
            let location = frame.location.as_ref();
            frames.push(Frame {
                function,
                file: location.and_then(|at| at.file).map(str::to_owned),
                line: location.and_then(|at| at.line),
            });
        }
        Some(frames)
    }

    /// Returns whether this is a program or a library with a Go runtime.
    pub fn is_of_go(&self) -> bool {
        // Also a stripped program has this section.
        let file = object::File::parse(&*self.map);
        file.is_ok_and(|file| file.section_by_name(".go.buildinfo").is_some())
    }

    /// Returns where the variable with a symbol begins.
    pub fn variable_named(&self, name: &str) -> Option<u64> {
        self.variables.iter().find(|symbol| symbol.name == name).map(|symbol| symbol.start)
    }

    /// Returns the variable at an address.
    pub fn variable(&self, address: u64) -> Option<Variable> {
        let (symbol, offset) = containing(&self.variables, address)?;
        let declared = self.declared.get_or_init(|| {
            let map = self.has_lines.then(|| self.debug(mapped::map)).flatten();
            map.map(|map| declared::read(&map)).unwrap_or_default()
        });
        Some(Variable {
            name: demangled(&symbol.name),
            offset,
            declared: declared.get(&symbol.start).cloned(),
        })
    }
}

fn containing(symbols: &[Symbol], address: u64) -> Option<(&Symbol, u64)> {
    let behind = symbols.partition_point(|symbol| symbol.start <= address);
    let symbol = symbols.get(behind.checked_sub(1)?)?;
    let offset = address - symbol.start;
    // Symbols of assembly code may have no size: such a symbol extends to the next one.
    (offset < symbol.size || symbol.size == 0).then_some((symbol, offset))
}

fn collect(file: &object::File<'_>, functions: &mut Vec<Symbol>, variables: &mut Vec<Symbol>) {
    let dynamic = file.dynamic_symbols().map(|symbol| (symbol, true));
    for (symbol, is_dynamic) in file.symbols().map(|symbol| (symbol, false)).chain(dynamic) {
        // One without a size would extend over all functions of a stripped library that are not
        // exported.
        if !symbol.is_definition() || is_dynamic && symbol.size() == 0 {
            continue;
        }
        let Ok(name) = symbol.name() else { continue };
        let named = Symbol { start: symbol.address(), size: symbol.size(), name: name.to_owned() };
        match symbol.kind() {
            SymbolKind::Text => functions.push(named),
            SymbolKind::Data if named.size != 0 => variables.push(named),
            _ => {}
        }
    }
}

/// Finds a separate debugging file. One of another build is none.
fn separate(
    path: &Path,
    file: &object::File<'_>,
    build_id: &str,
    folders: &[PathBuf],
) -> Option<PathBuf> {
    let mut places = Vec::new();
    if let Some((first, rest)) = build_id.split_at_checked(2) {
        let all = folders.iter().map(PathBuf::as_path).chain([Path::new(DEBUG)]);
        places.extend(all.map(|folder| folder.join(format!(".build-id/{first}/{rest}.debug"))));
    }
    if let Ok(Some((name, _))) = file.gnu_debuglink() {
        let name = Path::new(std::ffi::OsStr::from_bytes(name));
        let folder = path.parent()?;
        places.push(folder.join(".debug").join(name));
        places.push(Path::new(DEBUG).join(folder.strip_prefix("/").ok()?).join(name));
        places.push(folder.join(name));
        places.extend(folders.iter().map(|folder| folder.join(name)));
    }
    let is_of_build = |place: &PathBuf| {
        let map = mapped::map(place)?;
        let found = object::File::parse(&*map).ok()?.build_id().ok()??.to_owned();
        Some(hexadecimal(&found) == build_id)
    };
    places.into_iter().find(|place| {
        place.is_file() && place != path && is_of_build(place).unwrap_or(build_id.is_empty())
    })
}

/// Returns a name as in the source; a Rust name without the hash at its end.
fn demangled(name: &str) -> String {
    // Symbols of libraries may end with a version: `pthread_create@@GLIBC_2.34`.
    let name = name.split('@').next().unwrap_or(name);
    // A demangler would turn C's `m` into the type that C++ mangles to it, `unsigned long`.
    if !["_Z", "__Z", "_R", "__R"].iter().any(|prefix| name.starts_with(prefix)) {
        return name.to_owned();
    }
    addr2line::demangle_auto(Cow::Borrowed(name), None).into_owned()
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn lines_are_read_although_the_process_has_ended_through_which_the_path_leads() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().expect("cat(1)");
        let program = std::fs::read_link("/proc/self/exe").expect("this program");
        let root = Path::new("/proc").join(child.id().to_string()).join("root");
        let path = root.join(program.strip_prefix("/").expect("a whole path"));
        let map = mapped::map(&path).expect("the same root folder");
        let object = ObjectFile::read(&path, map, &[]).expect("an object");
        child.kill().and_then(|()| child.wait()).expect("it waits for input");
        let this = object.functions.iter().find(|one| one.name.contains("path_leads"));
        let frames = object.frames(this.expect("this function").start);
        assert!(frames.iter().any(|frame| frame.line.is_some()), "{frames:?}");
    }

    #[test]
    fn names_of_c_stay_and_mangled_ones_are_those_of_the_source() {
        for (symbol, name) in [
            ("m", "m"),
            ("orders_lock", "orders_lock"),
            ("pthread_create@@GLIBC_2.34", "pthread_create"),
            ("_ZN5queue4pushEi", "queue::push(int)"),
            ("_RNvC7mycrate3bar", "mycrate::bar"),
        ] {
            assert_eq!(demangled(symbol), name);
        }
    }
}
