//! Detects faults that loom does not check for: accesses to freed memory.

/// Knows whether the memory that it is part of is still in use.
///
/// A dropped lock or node leaves this marker, in memory that the tests never free, or on a stack
/// that lives as long as its execution. Reused memory has a new one.
#[derive(Debug)]
pub struct Life(std::sync::atomic::AtomicU32);

const ALIVE: u32 = 0x5EA_11FE;

impl Life {
    pub fn new() -> Self {
        Self(std::sync::atomic::AtomicU32::new(ALIVE))
    }

    #[track_caller]
    pub fn check(&self) {
        let life = self.0.load(std::sync::atomic::Ordering::Relaxed);
        assert_eq!(life, ALIVE, "memory that is gone was touched");
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        // SAFETY: a plain store to this object's memory. It is volatile, because the compiler would
        // otherwise remove it, as no code reads it afterwards.
        unsafe { std::ptr::write_volatile(self.0.as_ptr(), !ALIVE) };
    }
}
