//! Implements the traits of locks for types that already have the functions, under other names, and
//! for locks whose functions take a few lines.
//!
//! A function is given as `|this, context| expression`. The expression becomes the function's body,
//! so no code of this project stands between a measuring loop and another library's lock. It may
//! rely on the promises of the caller of that function. The type's file argues why the type is a
//! lock.

#![allow(unused_macros, reason = "some tests include this file for one of them")]

/// The given type, or the usual one.
macro_rules! given_or {
    ($Given:ty; $Usual:ty) => {
        $Given
    };
    (; $Usual:ty) => {
        $Usual
    };
}

/// A method that takes a context, whose body is an expression.
macro_rules! method {
    ($name:ident $(-> $Result:ty)?, |$this:pat_param, $context:pat_param| $Context:ident => $body:expr) => {
        #[inline]
        unsafe fn $name(&self, $context: &Self::$Context) $(-> $Result)? {
            let $this = self;
            $body
        }
    };
}

/// Implements `RawLock`. Unless others are given, the context is `()` and the condition variable
/// the generic one.
macro_rules! raw_lock {
    (
        unsafe impl $([$($generics:tt)*])? RawLock<$P:ty> for $Lock:ty {
            INFO: $info:expr,
            $(IS_REENTRANT: $is_reentrant:expr,)?
            $(Context: $Context:ty,)?
            $(Condvar: $Condvar:ty,)?
            new: $new:expr,
            lock: |$lock_this:pat_param, $lock_context:pat_param| $lock:expr,
            try_lock: |$try_this:pat_param, $try_context:pat_param| $try_lock:expr,
            unlock: |$unlock_this:pat_param, $unlock_context:pat_param| $unlock:expr,
            is_idle: |$idle_this:pat_param| $is_idle:expr $(,)?
        }
    ) => {
        // SAFETY: argued at the type.
        unsafe impl $(<$($generics)*>)? RawLock<$P> for $Lock {
            const INFO: LockInfo = $info;
            $(const IS_REENTRANT: bool = $is_reentrant;)?

            type Context = given_or!($($Context)?; ());
            type Condvar = given_or!($($Condvar)?; $crate::SequenceCondvar<$P>);

            fn new() -> Self {
                $new
            }

            method!(lock, |$lock_this, $lock_context| Context => { $lock; });
            method!(try_lock -> bool, |$try_this, $try_context| Context => $try_lock);
            method!(unlock, |$unlock_this, $unlock_context| Context => { $unlock; });

            fn is_idle(&mut self) -> bool {
                let $idle_this = self;
                $is_idle
            }
        }
    };
}

/// Implements `RawRwLock`. Unless others are given, the contexts are `()`.
macro_rules! raw_rwlock {
    (
        unsafe impl $([$($generics:tt)*])? RawRwLock<$P:ty> for $Lock:ty {
            INFO: $info:expr,
            $(SHARES: $shares:expr,)?
            $(Read: $Read:ty,)?
            $(Write: $Write:ty,)?
            new: $new:expr,
            read: |$read_this:pat_param, $read_context:pat_param| $read:expr,
            try_read: |$try_read_this:pat_param, $try_read_context:pat_param| $try_read:expr,
            unlock_read: |$end_read_this:pat_param, $end_read_context:pat_param| $unlock_read:expr,
            write: |$write_this:pat_param, $write_context:pat_param| $write:expr,
            try_write: |$try_write_this:pat_param, $try_write_context:pat_param| $try_write:expr,
            unlock_write: |$end_write_this:pat_param, $end_write_context:pat_param| $unlock_write:expr,
            is_idle: |$idle_this:pat_param| $is_idle:expr $(,)?
        }
    ) => {
        // SAFETY: argued at the type.
        unsafe impl $(<$($generics)*>)? RawRwLock<$P> for $Lock {
            const INFO: LockInfo = $info;
            $(const SHARES: bool = $shares;)?

            type Read = given_or!($($Read)?; ());
            type Write = given_or!($($Write)?; ());

            fn new() -> Self {
                $new
            }

            method!(read, |$read_this, $read_context| Read => { $read; });
            method!(try_read -> bool, |$try_read_this, $try_read_context| Read => $try_read);
            method!(unlock_read, |$end_read_this, $end_read_context| Read => { $unlock_read; });
            method!(write, |$write_this, $write_context| Write => { $write; });
            method!(try_write -> bool, |$try_write_this, $try_write_context| Write => $try_write);
            method!(unlock_write, |$end_write_this, $end_write_context| Write => { $unlock_write; });

            fn is_idle(&mut self) -> bool {
                let $idle_this = self;
                $is_idle
            }
        }
    };
}

/// Implements `RawCondvar` for one type of lock.
macro_rules! raw_condvar {
    (
        unsafe impl $([$($generics:tt)*])? RawCondvar<$P:ty, $Lock:ty> for $Condvar:ty {
            new: $new:expr,
            wait: |$wait_this:pat_param, $lock:ident, $context:pat_param| $wait:expr,
            notify_one: |$one_this:pat_param| $one:expr,
            notify_all: |$all_this:pat_param| $all:expr $(,)?
        }
    ) => {
        // SAFETY: argued at the type.
        unsafe impl $(<$($generics)*>)? RawCondvar<$P, $Lock> for $Condvar {
            fn new() -> Self {
                $new
            }

            #[inline]
            unsafe fn wait(&self, $lock: &$Lock, $context: &<$Lock as RawLock<$P>>::Context) {
                let $wait_this = self;
                $wait;
            }

            #[inline]
            fn notify_one(&self) {
                let $one_this = self;
                $one;
            }

            #[inline]
            fn notify_all(&self) {
                let $all_this = self;
                $all;
            }
        }
    };
}
