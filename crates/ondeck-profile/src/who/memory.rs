//! The memory of another process, which runs on.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use object::elf::{FileHeader64, PT_LOAD, PT_NOTE, ProgramHeader64};
use object::read::elf::{FileHeader, NoteIterator, ProgramHeader};
use object::{Endianness, pod};

/// A part of a stack that is read at once.
const STACK: usize = 64 << 10;

/// `/proc/PID/mem`: what process_vm_readv(2) reads, also where a container's seccomp filter refuses that call.
pub struct Memory {
    file: File,
    /// The stack of the thread that is being read, and its address: one thread's words are from one moment.
    stack: RefCell<(u64, Vec<u8>)>,
}

impl Memory {
    pub fn open(pid: u32) -> io::Result<Self> {
        Ok(Self { file: File::open(format!("/proc/{pid}/mem"))?, stack: RefCell::default() })
    }

    /// Copies the top of a stack, so that later reads of it are of this moment.
    pub fn hold_stack(&self, address: u64) {
        *self.stack.borrow_mut() = (address, self.top::<STACK>(address));
    }

    /// Ends that: later reads are of their own moment.
    pub fn release_stack(&self) {
        self.stack.take();
    }

    /// Returns the bytes from an address on, as far as there are that many.
    pub fn top<const LENGTH: usize>(&self, address: u64) -> Vec<u8> {
        let mut bytes = vec![0; LENGTH];
        let length = self.file.read_at(&mut bytes, address).unwrap_or(0);
        bytes.truncate(length);
        bytes
    }

    /// Returns the words of the top of a stack.
    pub fn words(&self, address: u64) -> Vec<u64> {
        let bytes = self.top::<STACK>(address);
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

    fn bytes(&self, address: u64, length: u64) -> Option<Vec<u8>> {
        /// More than the headers and notes of any program.
        const MOST: u64 = 64 << 10;
        let mut bytes = vec![0; usize::try_from(length).ok().filter(|_| length <= MOST)?];
        self.file.read_exact_at(&mut bytes, address).ok()?;
        Some(bytes)
    }

    /// Returns the build-id of the file whose beginning is mapped at an address, from its notes.
    pub fn build_id(&self, start: u64) -> Option<String> {
        let header: [u8; size_of::<FileHeader64<Endianness>>()] = self.read(start)?;
        let (header, _) = pod::from_bytes::<FileHeader64<Endianness>>(&header).ok()?;
        let endian = header.endian().ok().filter(|_| header.is_supported())?;
        let size = size_of::<ProgramHeader64<Endianness>>();
        let count = usize::from(header.e_phnum(endian));
        let table =
            self.bytes(start.checked_add(header.e_phoff(endian))?, (size * count) as u64)?;
        let (parts, _) =
            pod::slice_from_bytes::<ProgramHeader64<Endianness>>(&table, count).ok()?;
        let first = parts.iter().find(|part| part.p_type(endian) == PT_LOAD)?;
        let bias = start.wrapping_sub(first.p_vaddr(endian)).wrapping_add(first.p_offset(endian));
        parts.iter().filter(|part| part.p_type(endian) == PT_NOTE).find_map(|part| {
            let place = bias.wrapping_add(part.p_vaddr(endian));
            let bytes = self.bytes(place, part.p_memsz(endian))?;
            let mut notes =
                NoteIterator::<FileHeader64<Endianness>>::new(endian, part.p_align(endian), &bytes)
                    .ok()?;
            while let Ok(Some(note)) = notes.next() {
                if note.name() == b"GNU" && note.n_type(endian) == object::elf::NT_GNU_BUILD_ID {
                    return Some(crate::symbols::hexadecimal(note.desc()));
                }
            }
            None
        })
    }
}
