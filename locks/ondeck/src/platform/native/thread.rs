//! Words of each thread, in the thread's own block: at an offset from a register, both in a program
//! and in a shared library.
//!
//! A shared library that is compiled as usual calls `__tls_get_addr` for its threads' variables
//! (the general model). That function may allocate, and the allocator may itself be the code that
//! locks. So the words are reached by the model for libraries that are loaded with the program
//! (initial-exec; Ulrich Drepper, "ELF Handling For Thread-Local Storage", 4.4.6). glibc also
//! allows it for libraries that are loaded later, for some hundred bytes of all of them together.
//! Rust has no stable way to select that model, so assembly selects it. Elsewhere the words are the
//! standard library's, constant and without a destructor.

/// One of the words, 0 at first.
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "four are Linux's, but a thread has room for all of them everywhere")]
pub(in crate::platform) enum Word {
    /// See `linux/cpus.rs`.
    ToldIn,
    /// See `sampling.rs`.
    Random,
    /// See `readers.rs`.
    Row,
    /// See `linux/tid.rs`.
    Tid,
    /// See `linux/robust.rs`.
    RobustList,
    /// See `linux/priority.rs`.
    Priority,
}

#[cfg(all(
    target_os = "linux",
    target_env = "gnu",
    target_arch = "x86_64",
    target_pointer_width = "64",
    not(miri)
))]
mod words {
    use core::arch::{asm, global_asm};

    use super::Word;

    // Hidden: each library has its own, even if another copy of this crate is in the process.
    global_asm!(
        ".pushsection .tbss.ondeck_thread_words, \"awT\", @nobits",
        ".balign 8",
        ".globl ondeck_thread_words",
        ".hidden ondeck_thread_words",
        ".type ondeck_thread_words, @object",
        ".size ondeck_thread_words, 48",
        "ondeck_thread_words: .zero 48",
        ".popsection",
    );

    impl Word {
        #[inline(always)]
        fn offset(self) -> usize {
            let offset: usize;
            // SAFETY: loads an entry of the global offset table, which the loader has filled.
            unsafe {
                asm!(
                    "mov {}, qword ptr [rip + ondeck_thread_words@GOTTPOFF]",
                    out(reg) offset,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            offset.wrapping_add(size_of::<u64>() * self as usize)
        }

        #[inline(always)]
        pub(in crate::platform) fn get(self) -> u64 {
            let value;
            // SAFETY: the calling thread's own word, which lives as long as the thread.
            unsafe {
                asm!(
                    "mov {}, qword ptr fs:[{}]",
                    out(reg) value, in(reg) self.offset(),
                    options(readonly, nostack, preserves_flags)
                );
            }
            value
        }

        #[inline(always)]
        pub(in crate::platform) fn set(self, value: u64) {
            // SAFETY: as above; no other thread reads it.
            unsafe {
                asm!(
                    "mov qword ptr fs:[{}], {}",
                    in(reg) self.offset(), in(reg) value,
                    options(nostack, preserves_flags)
                );
            }
        }
    }
}

#[cfg(not(all(
    target_os = "linux",
    target_env = "gnu",
    target_arch = "x86_64",
    target_pointer_width = "64",
    not(miri)
)))]
mod words {
    extern crate std;

    use core::cell::Cell;

    use super::Word;

    std::thread_local! {
        static WORDS: [Cell<u64>; 6] = const { [const { Cell::new(0) }; 6] };
    }

    impl Word {
        #[inline]
        pub(in crate::platform) fn get(self) -> u64 {
            WORDS.with(|words| words[self as usize].get())
        }

        #[inline]
        pub(in crate::platform) fn set(self, value: u64) {
            WORDS.with(|words| words[self as usize].set(value));
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    #[test]
    fn each_thread_has_its_own() {
        Word::Random.set(7);
        let others = std::thread::spawn(|| {
            let first = Word::Random.get();
            Word::Random.set(8);
            (first, Word::Random.get())
        });
        assert_eq!(others.join().unwrap(), (0, 8));
        assert_eq!(Word::Random.get(), 7);
    }

    #[test]
    fn the_words_are_apart() {
        let words = [Word::ToldIn, Word::Random, Word::Row, Word::Tid, Word::RobustList];
        Word::Random.set(u64::MAX);
        assert_eq!(words.map(Word::get), [0, u64::MAX, 0, 0, 0]);
        Word::ToldIn.set(1 << 40);
        Word::Row.set(u64::MAX - 1);
        Word::Tid.set(3);
        Word::RobustList.set(5);
        assert_eq!(words.map(Word::get), [1 << 40, u64::MAX, u64::MAX - 1, 3, 5]);
        // A row that was never claimed.
        Word::Row.set(0);
    }
}
