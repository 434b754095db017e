//! The virtual machine's futexes that inherit priorities. All threads have one priority, so the kernel hands
//! a lock to the thread that has waited longest.

use ondeck::platform::{PiFutex, PiLock, PiUnlock, Timestamp};

use super::{MACHINE, SYSTEM_CALL, Virtual, VirtualInt, Waiting, pass, running};

const NUMBER: u32 = (1 << 30) - 1;
const WAITED: u32 = 1 << 31;

fn number_of(thread: usize) -> u32 {
    thread as u32 + 1
}

// SAFETY: one event at a time; the words change as drawn at the trait, by no other function of the kernel.
unsafe impl PiFutex for Virtual {
    fn thread_id() -> u32 {
        number_of(running())
    }

    fn futex_lock_pi(word: &VirtualInt<u32>, deadline: Option<Timestamp>) -> PiLock {
        pass(SYSTEM_CALL);
        let word = &word.0.value;
        let own = Self::thread_id();
        if word.get() & NUMBER == 0 {
            word.set(own | word.get() & WAITED);
            return PiLock::Owner;
        }
        if word.get() & NUMBER == own {
            return PiLock::Circle;
        }
        word.set(word.get() | WAITED);
        let address = std::ptr::from_ref(word).addr();
        MACHINE.with_borrow_mut(|machine| {
            let running = machine.running;
            machine.sleeping.entry(address).or_default().push(running);
            machine.threads[running].waiting =
                Waiting::Asleep(address, deadline.map(Timestamp::as_nanos));
        });
        pass(0);
        MACHINE.with_borrow_mut(|machine| {
            let running = machine.running;
            match std::mem::replace(&mut machine.threads[running].waiting, Waiting::No) {
                Waiting::TimedOut => PiLock::TimedOut,
                _ => PiLock::Owner,
            }
        })
    }

    fn futex_unlock_pi(word: &VirtualInt<u32>) -> PiUnlock {
        pass(SYSTEM_CALL);
        let word = &word.0.value;
        if word.get() & NUMBER != Self::thread_id() {
            return PiUnlock::NotOwner;
        }
        let address = std::ptr::from_ref(word).addr();
        MACHINE.with_borrow_mut(|machine| {
            let first = machine.sleeping.get(&address).and_then(|queue| queue.first()).copied();
            word.set(first.map_or(0, |thread| number_of(thread) | WAITED));
            machine.wake(address, 1);
        });
        PiUnlock::Done
    }
}
