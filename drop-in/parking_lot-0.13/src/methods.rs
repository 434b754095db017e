//! The forms of each kind of method that the traits of `lock_api` 0.5 require: see `mutexes.rs`.

macro_rules! guards {
    (of a mutex) => {
        type Guard = GuardMarker;
    };
    (of a reader-writer lock) => {
        type SharedGuard = GuardMarker;
        type ExclusiveGuard = GuardMarker;
    };
    (of an upgradable reader) => {
        type UpgradableGuard = GuardMarker;
    };
}

/// Methods that wait.
macro_rules! locks {
    (|$self:ident| $($name:ident => $does:expr;)*) => {$(
        #[inline]
        #[track_caller]
        fn $name(&$self) -> GuardMarker {
            $does;
            GuardMarker::new()
        }
    )*};
}

/// Methods that may fail or time out.
macro_rules! attempts {
    (|$self:ident| $($name:ident($($arg:ident: $Arg:ty)?) => $does:expr;)*) => {$(
        #[inline]
        #[track_caller]
        fn $name(&$self $(, $arg: $Arg)?) -> Option<GuardMarker> {
            ($does).then(GuardMarker::new)
        }
    )*};
}

/// Methods of a thread that unlocks.
macro_rules! unlocks {
    (|$self:ident| $($name:ident => $does:expr;)*) => {$(
        #[inline]
        #[track_caller]
        unsafe fn $name(&$self, _: GuardMarker) {
            // SAFETY: as the caller promises.
            unsafe { $does };
        }
    )*};
}

/// Methods of a thread that unlocks and locks again.
macro_rules! bumps {
    (|$self:ident| $($name:ident => $does:expr;)*) => {$(
        #[inline]
        #[track_caller]
        unsafe fn $name(&$self, _: &mut GuardMarker) {
            // SAFETY: as the caller promises.
            unsafe { $does };
        }
    )*};
}

/// Methods after which the thread holds the lock in another way.
macro_rules! changes {
    (|$self:ident| $($name:ident => $does:expr;)*) => {$(
        #[inline]
        #[track_caller]
        unsafe fn $name(&$self, held: GuardMarker) -> GuardMarker {
            // SAFETY: as the caller promises.
            unsafe { $does };
            held
        }
    )*};
}

/// Upgrades that may fail, in which case the caller keeps its lock.
macro_rules! upgrades {
    (|$self:ident| $($name:ident($($arg:ident: $Arg:ty)?) => $does:expr;)*) => {$(
        #[inline]
        #[track_caller]
        unsafe fn $name(
            &$self,
            held: GuardMarker
            $(, $arg: $Arg)?
        ) -> Result<GuardMarker, GuardMarker> {
            // SAFETY: as the caller promises.
            if unsafe { $does } { Ok(held) } else { Err(held) }
        }
    )*};
}

pub(crate) use {attempts, bumps, changes, guards, locks, unlocks, upgrades};
