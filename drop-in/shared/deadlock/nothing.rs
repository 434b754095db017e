//! Without the feature the locks report nothing: the items of `detect.rs`, empty.

#![allow(dead_code, reason = "only named, and not all of it by each package")]
#![allow(clippy::unused_self, reason = "as in `detect.rs`")]

#[derive(Clone, Copy)]
pub(crate) enum Held {
    Read,
    Upgradable,
    Alone,
}

#[derive(Clone, Copy)]
pub(crate) enum Want {
    Read,
    Recursive,
    Upgradable,
    Upgrade,
    Alone,
}

#[derive(Clone, Copy)]
pub(crate) enum Ends {
    Never,
    AtADeadline,
}

/// `block` itself begins with an attempt.
#[inline(always)]
pub(crate) fn acquire(
    _key: usize,
    _want: Want,
    _ends: Ends,
    _attempt: impl FnOnce() -> bool,
    block: impl FnOnce() -> bool,
) -> bool {
    block()
}

#[inline(always)]
pub(crate) fn try_acquire(_key: usize, _want: Want, attempt: impl FnOnce() -> bool) -> bool {
    attempt()
}

#[inline(always)]
pub(crate) fn acquired(_key: usize, _want: Want) {}

#[inline(always)]
pub(crate) fn releases(_key: usize, _held: Held) {}

#[inline(always)]
pub(crate) fn changes(_key: usize, _from: Held, _to: Held) {}

pub(crate) struct Wait;

impl Wait {
    #[inline(always)]
    pub(crate) fn is_over(&self) {}
}

#[inline(always)]
pub(crate) fn waits<T>(_key: usize, _want: Want, _ends: Ends, block: impl FnOnce(&Wait) -> T) -> T {
    block(&Wait)
}
