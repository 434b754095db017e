//! Two locks in one bucket: an unlock wakes only threads that are parked for its own lock.

use std::thread;

use ondeck::Mutex;
use ondeck::parking::bucket_of;
use ondeck::platform::{Linux, Platform};

use crate::again::alone;
use crate::waiting::{poll_for, until_waited_for};

fn place<T>(value: &T) -> usize {
    bucket_of(std::ptr::from_ref(value).addr())
}

/// A thread that is bound to `cpu` and parks for the mutex.
fn waiter<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    mutex: &'scope Mutex<u32>,
    cpu: usize,
) -> thread::ScopedJoinHandle<'scope, ()> {
    scope.spawn(move || {
        Linux::set_affinity(&[cpu]).expect("a CPU of our own mask");
        *mutex.lock() += 1;
    })
}

/// An unlock prefers a parked thread that last ran on another CPU. The thread that is parked for the other
/// lock ran on another CPU, and must not be woken.
#[test]
fn an_unlock_does_not_wake_a_thread_that_is_parked_for_another_lock() {
    alone(|| {
        let usable = Linux::affinity();
        let [here, elsewhere, ..] = usable[..] else {
            println!("skipped: needs two CPUs");
            return;
        };
        Linux::cpus();
        Linux::set_affinity(&[here]).expect("a CPU of our own mask");
        poll_for(0);
        let mutexes: Vec<Mutex<u32>> = (0..32_768).map(|_| Mutex::new(0)).collect();
        let one = &mutexes[0];
        let other = mutexes[1..].iter().find(|other| place(*other) == place(one)).expect("some");
        for _ in 0..20 {
            thread::scope(|scope| {
                let (one_held, other_held) = (one.lock(), other.lock());
                let older = waiter(scope, other, elsewhere);
                until_waited_for(other);
                let newer = waiter(scope, one, here);
                // The thread parked for the other lock keeps the bucket from rest, so nothing tells when
                // this one has parked: this is long enough, most likely.
                thread::sleep(std::time::Duration::from_millis(3));
                drop(one_held);
                newer.join().expect("no panic");
                assert!(!older.is_finished(), "its lock is held");
                drop(other_held);
                older.join().expect("no panic");
            });
        }
        assert_eq!((*one.lock(), *other.lock()), (20, 20));
    });
}
