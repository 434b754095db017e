//! `ReentrantMutex`: a function that locks calls another that locks. Access to its data is shared, so the data
//! changes through a `RefCell` or a `Cell`.

use std::cell::RefCell;

use ondeck::ReentrantMutex;

static LOG: ReentrantMutex<RefCell<Vec<String>>> = ReentrantMutex::new(RefCell::new(Vec::new()));

fn log(line: &str) {
    LOG.lock().borrow_mut().push(line.to_owned());
}

/// No other thread's line comes between the two.
fn log_both(first: &str, second: &str) {
    let _whole = LOG.lock();
    log(first);
    log(second);
}

fn main() {
    log_both("one", "two");
    println!("{:?}", LOG.lock().borrow());
}
