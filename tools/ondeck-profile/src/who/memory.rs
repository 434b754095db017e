//! The memory of another process, which runs on.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A part of a stack that is read at once.
pub const STACK: u64 = 64 << 10;

/// `/proc/PID/mem`: what process_vm_readv(2) reads, also where a container's seccomp filter refuses
/// that call.
pub struct Memory {
    file: File,
    /// The stack of the thread that is being read, and its address: one thread's words are from one
    /// moment.
    stack: RefCell<(u64, Vec<u8>)>,
}

impl Memory {
    pub fn open(pid: u32) -> io::Result<Self> {
        Ok(Self { file: File::open(format!("/proc/{pid}/mem"))?, stack: RefCell::default() })
    }

    /// Copies the top of a stack, so that later reads of it are of this moment.
    pub fn hold_stack(&self, address: u64) {
        *self.stack.borrow_mut() = (address, self.top(address, STACK as usize));
    }

    /// Ends that: later reads are of their own moment.
    pub fn release_stack(&self) {
        self.stack.take();
    }

    /// Returns the bytes from an address on, as far as there are that many.
    pub fn top(&self, address: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        let length = self.file.read_at(&mut bytes, address).unwrap_or(0);
        bytes.truncate(length);
        bytes
    }

    /// Returns the words from an address on, as far as there are that many bytes.
    pub fn words(&self, address: u64, size: u64) -> Vec<u64> {
        let bytes = self.top(address, size as usize);
        let (words, _) = bytes.as_chunks();
        words.iter().map(|word| u64::from_ne_bytes(*word)).collect()
    }

    pub fn read<const LENGTH: usize>(&self, address: u64) -> Option<[u8; LENGTH]> {
        let (start, stack) = &*self.stack.borrow();
        if let Some(offset) = address.checked_sub(*start)
            && let Some(bytes) = stack.get(usize::try_from(offset).ok()?..)
            && let Some(bytes) = bytes.first_chunk()
        {
            return Some(*bytes);
        }
        let mut bytes = [0; LENGTH];
        // An address of the kernel's half is no offset of a file.
        i64::try_from(address).ok()?;
        self.file.read_exact_at(&mut bytes, address).ok()?;
        Some(bytes)
    }

    pub fn word(&self, address: u64) -> Option<u64> {
        self.read(address).map(u64::from_ne_bytes)
    }

    pub fn half(&self, address: u64) -> Option<u32> {
        self.read(address).map(u32::from_ne_bytes)
    }

    /// Returns the build-id of the file whose beginning is mapped at an address, from its notes.
    pub fn build_id(&self, start: u64) -> Option<String> {
        let read = |place, to: &mut [u8]| self.file.read_exact_at(to, place).is_ok();
        Some(ondeck_record::build_id(start, read)?.digits().map(char::from).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_id_in_memory_is_that_of_the_file() {
        let text = std::fs::read_to_string("/proc/self/maps").expect("own mappings");
        let mappings = crate::mappings::Mappings::parse(&text);
        let memory = Memory::open(std::process::id()).expect("own memory");
        let mut symbols = crate::symbols::Symbols::default();
        let mut found = 0;
        // A file in one part is another test's, which unmaps it meanwhile.
        for mapped in mappings.files.iter().filter(|mapped| mapped.parts.len() > 1) {
            let source = crate::mappings::Source::of(mapped, 0);
            let Some(object) = symbols.object(&source) else { continue };
            let start = mapped.parts[0].0;
            assert_eq!(memory.build_id(start).unwrap_or_default(), object.build_id());
            found += usize::from(!object.build_id().is_empty());
        }
        assert!(found > 1, "the program, and the C library: {text}");
    }
}
