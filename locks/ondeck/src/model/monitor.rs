//! A state, and threads that wait for it.

use super::condvar::Condvar;
use super::mutex::Mutex;

pub struct Monitor<T> {
    /// With the number of threads that wait: without one, a notification would be a step more to
    /// explore.
    state: Mutex<(T, usize)>,
    changed: Condvar,
}

impl<T> Monitor<T> {
    pub const fn new(state: T) -> Self {
        Self { state: Mutex::new((state, 0)), changed: Condvar::new() }
    }

    #[track_caller]
    pub fn read<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        read(&self.state.lock().0)
    }

    #[track_caller]
    pub fn change<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let mut state = self.state.lock();
        let result = change(&mut state.0);
        if state.1 != 0 {
            self.changed.notify_all();
        }
        result
    }

    /// Waits until the state is as asked for.
    #[track_caller]
    pub fn wait(&self, mut ready: impl FnMut(&T) -> bool) {
        self.wait_until_some(&mut |state| ready(state).then_some(()));
    }

    /// Waits until it has changed the state.
    #[track_caller]
    pub fn take<R>(&self, mut take: impl FnMut(&mut T) -> Option<R>) -> R {
        self.wait_until_some(&mut take)
    }

    #[track_caller]
    fn wait_until_some<R>(&self, attempt: &mut impl FnMut(&mut T) -> Option<R>) -> R {
        let mut state = self.state.lock();
        loop {
            if let Some(result) = attempt(&mut state.0) {
                return result;
            }
            state.1 += 1;
            self.changed.wait(&mut state);
            state.1 -= 1;
        }
    }
}
