//! Helpers of scenarios.

use std::ops::Deref;
use std::rc::Rc;

use ondeck_sim::check::Judge;
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
pub(super) fn crew(
    judge: &Judge,
    count: usize,
    body: impl Fn(&Judge, usize) + Clone + 'static,
) -> Vec<Job> {
    let thread = |number| {
        let (judge, body) = (judge.clone(), body.clone());
        Job { allowed: None, body: Box::new(move || body(&judge, number)) }
    };
    (0..count).map(thread).collect()
}
