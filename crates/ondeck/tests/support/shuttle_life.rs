//! Faults that shuttle does not look for: accesses to memory that is gone.

/// Tells whether the memory that it is part of is still in use.
///
/// A lock or a node that is gone leaves this behind, in memory that the tests keep until the end of the
/// execution, or on the stack of its thread, where only a later node at the same place hides it.
#[derive(Debug)]
pub struct Life(std::sync::atomic::AtomicU32);

const ALIVE: u32 = 0x5EA_11FE;

impl Life {
    pub fn new() -> Self {
        Self(std::sync::atomic::AtomicU32::new(ALIVE))
    }

    pub fn check(&self) {
        let life = self.0.load(std::sync::atomic::Ordering::Relaxed);
        assert!(life == ALIVE || std::thread::panicking(), "memory that is gone was touched");
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        // SAFETY: a plain store to memory of its own. It is volatile, because the compiler would otherwise
        // leave it out: no code reads it any more.
        unsafe { std::ptr::write_volatile(self.0.as_ptr(), !ALIVE) };
    }
}
