//! The forms of each kind of method that the traits of `lock_api` 0.4 require: see `mutexes.rs`.

macro_rules! guards {
    (of an upgradable reader) => {};
    ($($of:tt)*) => {
        type GuardMarker = GuardMarker;
    };
}

/// Methods that wait.
macro_rules! locks {
    (|$self:ident| $($name:ident => $does:expr;)*) => {$(
        #[inline]
        #[track_caller]
        fn $name(&$self) {
            $does;
        }
    )*};
}

/// Methods that may fail or time out.
macro_rules! attempts {
    (|$self:ident| $($name:ident($($arg:ident: $Arg:ty)?) => $does:expr;)*) => {$(
        #[inline]
        #[track_caller]
        fn $name(&$self $(, $arg: $Arg)?) -> bool {
            $does
        }
    )*};
}

/// Methods of a thread that holds the lock.
macro_rules! holding {
    (|$self:ident| $($name:ident => $does:expr;)*) => {$(
        #[inline]
        #[track_caller]
        unsafe fn $name(&$self) {
            // SAFETY: as the caller promises.
            unsafe { $does };
        }
    )*};
}

/// Upgrades that may fail, in which case the caller keeps its lock.
macro_rules! upgrades {
    (|$self:ident| $($name:ident($($arg:ident: $Arg:ty)?) => $does:expr;)*) => {$(
        #[inline]
        #[track_caller]
        unsafe fn $name(&$self $(, $arg: $Arg)?) -> bool {
            // SAFETY: as the caller promises.
            unsafe { $does }
        }
    )*};
}

pub(crate) use {
    attempts, guards, holding as bumps, holding as changes, holding as unlocks, locks, upgrades,
};
