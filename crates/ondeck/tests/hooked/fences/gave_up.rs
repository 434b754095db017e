//! A thread that parks with a heavy fence gives up, while others park.

use super::*;

static BUFFER: Buffer = Buffer::new();
static BEFORE_THE_FENCE: Gate = Gate::new();
static BEHIND_THE_FENCE: Gate = Gate::new();

std::thread_local! {
    static POLLS: Cell<bool> = const { Cell::new(false) };
}

/// Each test has a table of its own, where no record is armed.
macro_rules! giving_up {
    ($name:ident) => {
        hooks! {
        $name {
            fn store(byte: &AtomicU8, value: u8, order: Ordering) {
                BUFFER.store(byte, value, order);
            }
            fn fence(_: Ordering) {
                BUFFER.fence();
            }
            fn presumed_light_fence() {}
            fn heavy_fence() {
                BEFORE_THE_FENCE.pass();
                BUFFER.drain();
                BEHIND_THE_FENCE.pass();
            }
            fn polling() -> Polling {
                let mut polling = no_polling();
                polling.budget = u32::from(POLLS.get());
                polling
            }
        }
            }
    };
}

/// The tests share a buffer.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn give_up<H: Hooks>(mutex: &RawMutex<Hooked<H>>) {
    POLLS.set(true);
    assert!(!mutex.try_lock_until(Linux::now()));
}

/// The caller's unlock has no fence, and its store is still in the buffer when the unlock is over.
fn unlock_into_the_buffer<H: Hooks>(mutex: &RawMutex<Hooked<H>>) {
    thread::scope(|scope| {
        scope.spawn(|| {
            BUFFER.begin();
            unlock(mutex);
        });
    });
    assert!(mutex.is_locked(), "the store is in the buffer");
}

/// A thread wants the lock while the unlock's store is in the buffer. Returns whether it parks.
fn parks<'scope, H: Hooks>(
    scope: &'scope Scope<'scope, '_>,
    mutex: &'scope RawMutex<Hooked<H>>,
) -> bool {
    let sleeps = Hooked::<H>::sleeps();
    let parks = scope.spawn(|| {
        mutex.lock();
        unlock(mutex);
    });
    until(|| Hooked::<H>::sleeps() > sleeps || parks.is_finished());
    !parks.is_finished()
}

/// A locked mutex in a bucket where no record is armed.
fn locked<H: Hooks>() -> RawMutex<Hooked<H>> {
    let mutex = RawMutex::new();
    mutex.lock();
    unlock(&mutex);
    mutex.lock();
    mutex
}

giving_up! { Two }

/// Of two heavy fences one was made before the unlock, and the other is not over yet. A third thread
/// makes one, too.
#[test]
fn a_thread_parks_before_the_heavy_fence_of_another_is_over() {
    let _watchdog = watched();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mutex = &locked::<Two>();
    let mut missed = false;
    thread::scope(|scope| {
        let gives_up = scope.spawn(|| {
            BEHIND_THE_FENCE.stop_me();
            give_up(mutex);
        });
        BEHIND_THE_FENCE.until_reached();
        unlock_into_the_buffer(mutex);
        let sleeps = Hooked::<Two>::sleeps();
        scope.spawn(|| {
            BEFORE_THE_FENCE.stop_me();
            mutex.lock();
            unlock(mutex);
        });
        until(|| BEFORE_THE_FENCE.is_reached() || Hooked::<Two>::sleeps() > sleeps);
        BEHIND_THE_FENCE.open();
        gives_up.join().expect("no panic");
        missed = Hooked::<Two>::sleeps() > sleeps || parks(scope, mutex);
        BEFORE_THE_FENCE.open();
        // If parked threads were missed, this unlock wakes them.
        BUFFER.drain();
        mutex.lock();
        unlock(mutex);
    });
    Hooked::<Two>::until_at_rest();
    assert!(!missed, "the thread has parked for a lock that was unlocked");
}

giving_up! { One }

/// A thread has given up, with a heavy fence, in a record at which unlocks do not look. A thread that
/// parks there later makes a heavy fence, too.
#[test]
fn a_thread_parks_where_one_has_given_up_beside_an_unlock_without_a_fence() {
    let _watchdog = watched();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mutex = &locked::<One>();
    let mut missed = false;
    thread::scope(|scope| {
        scope.spawn(|| give_up(mutex)).join().expect("no panic");
        unlock_into_the_buffer(mutex);
        missed = parks(scope, mutex);
        // If the parked thread was missed, this unlock wakes it.
        BUFFER.drain();
        mutex.lock();
        unlock(mutex);
    });
    Hooked::<One>::until_at_rest();
    assert!(!missed, "the thread has parked for a lock that was unlocked");
}
