//! Two locks in one bucket: each release wakes its own lock's sleepers.

#[path = "support/alone.rs"]
mod alone;

use std::thread;

use alone::{alone, poll_for, until_waited_for};
use ondeck::Mutex;
use ondeck::parking::bucket_of;
use ondeck::platform::{Linux, Platform};

fn place<T>(value: &T) -> usize {
    bucket_of(std::ptr::from_ref(value).addr())
}

/// A thread that is bound to `cpu` and sleeps for the mutex.
fn sleeper<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    mutex: &'scope Mutex<u32>,
    cpu: usize,
) -> thread::ScopedJoinHandle<'scope, ()> {
    scope.spawn(move || {
        Linux::set_affinity(&[cpu]).expect("a CPU of our own mask");
        *mutex.lock() += 1;
    })
}

/// A release looks for a sleeper that last ran elsewhere, past the others: the other lock's sleeper is
/// such a one, and must be left alone.
#[test]
fn a_release_does_not_wake_the_other_lock_s_sleeper() {
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
                let older = sleeper(scope, other, elsewhere);
                until_waited_for(other);
                let newer = sleeper(scope, one, here);
                // Its bucket is not at rest because of the other: until it sleeps, most likely.
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
