//! The atomics of the real machine do what the names of their operations say.

use std::fmt::Debug;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicUsize};

use ondeck::platform::{AtomicInt, AtomicPointer, Linux, Ordering, Platform};

/// Every operation, with the value before it and the value after it.
fn check<A: AtomicInt>()
where
    A::Value: From<u8> + Debug,
{
    let [zero, one, two, three, six] = [0, 1, 2, 3, 6].map(A::Value::from);
    let max = A::new(zero);
    max.fetch_sub(one, Ordering::Relaxed);
    let max = max.load(Ordering::Relaxed);

    let atomic = A::new(two);
    let is = |value: A::Value| assert_eq!(atomic.load(Ordering::Acquire), value);
    is(two);
    atomic.store(three, Ordering::Release);
    is(three);
    assert_eq!(atomic.swap(one, Ordering::AcqRel), three);
    is(one);
    assert_eq!(atomic.compare_exchange(two, six, Ordering::AcqRel, Ordering::Acquire), Err(one));
    is(one);
    assert_eq!(atomic.compare_exchange(one, six, Ordering::AcqRel, Ordering::Acquire), Ok(one));
    is(six);
    let weak =
        |old, new| atomic.compare_exchange_weak(old, new, Ordering::AcqRel, Ordering::Acquire);
    assert_eq!(weak(one, two), Err(six));
    is(six);
    // A weak exchange may fail spuriously.
    while weak(six, two).is_err() {}
    is(two);
    assert_eq!(atomic.fetch_add(one, Ordering::AcqRel), two);
    is(three);
    assert_eq!(atomic.fetch_sub(one, Ordering::AcqRel), three);
    is(two);
    assert_eq!(atomic.fetch_or(one, Ordering::AcqRel), two);
    is(three);
    assert_eq!(atomic.fetch_and(six, Ordering::AcqRel), three);
    is(two);
    atomic.store(max, Ordering::Relaxed);
    assert_eq!(atomic.fetch_add(one, Ordering::Relaxed), max);
    is(zero);
}

#[test]
fn integers() {
    check::<AtomicU8>();
    check::<AtomicU32>();
    check::<AtomicUsize>();
}

fn check_pointer<A: AtomicPointer<i32>>() {
    let (mut here, mut there) = (1, 2);
    let (here, there) = (&raw mut here, &raw mut there);
    let atomic = A::new(here);
    assert_eq!(atomic.load(Ordering::Acquire), here);
    atomic.store(ptr::null_mut(), Ordering::Release);
    assert_eq!(atomic.swap(there, Ordering::AcqRel), ptr::null_mut());
    let exchange =
        |old, new| atomic.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire);
    assert_eq!(exchange(here, ptr::null_mut()), Err(there));
    assert_eq!(atomic.load(Ordering::Acquire), there);
    assert_eq!(exchange(there, here), Ok(there));
    assert_eq!(atomic.load(Ordering::Acquire), here);
}

#[test]
fn pointers() {
    check_pointer::<AtomicPtr<i32>>();
}

#[test]
fn a_flag_is_set_once() {
    let flag = AtomicU8::new(0);
    assert!(!Linux::test_and_set(&flag, Ordering::AcqRel));
    assert!(Linux::test_and_set(&flag, Ordering::AcqRel));
    assert_eq!(flag.into_inner(), 1);
}
