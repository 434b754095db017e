//! `Condvar`: a consumer waits until a queue has an item or is closed.

use std::collections::VecDeque;
use std::thread;

use ondeck::{Condvar, Mutex};

#[derive(Default)]
struct Queue {
    items: VecDeque<u32>,
    closed: bool,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue { items: VecDeque::new(), closed: false });
static CHANGED: Condvar = Condvar::new();

fn next() -> Option<u32> {
    let mut queue = QUEUE.lock();
    CHANGED.wait_while(&mut queue, |queue| queue.items.is_empty() && !queue.closed);
    queue.items.pop_front()
}

fn main() {
    let consumer = thread::spawn(|| std::iter::from_fn(next).sum::<u32>());
    for item in 1..=10 {
        QUEUE.lock().items.push_back(item);
        CHANGED.notify_one();
    }
    QUEUE.lock().closed = true;
    CHANGED.notify_all();
    println!("the sum is {}", consumer.join().expect("no panic"));
}
