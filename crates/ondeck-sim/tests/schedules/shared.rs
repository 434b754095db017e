//! Helpers of scenarios.

use std::ops::Deref;
use std::rc::Rc;

use ondeck_sim::engine::Job;

/// A value that shares no cache line with other data, wherever it is allocated.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Apart<T>(pub(super) T);

impl<T> Deref for Apart<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Wraps state that the threads of a run share.
pub(super) fn shared<T>(value: T) -> Rc<Apart<T>> {
    Rc::new(Apart(value))
}

/// Threads that may run anywhere, each with its number.
pub(super) fn crew(count: usize, body: impl Fn(usize) + Clone + 'static) -> Vec<Job> {
    (0..count)
        .map(|number| {
            let body = body.clone();
            Job { allowed: None, body: Box::new(move || body(number)) }
        })
        .collect()
}
