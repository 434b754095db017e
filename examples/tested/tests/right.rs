//! Tests that are the same natively, under Miri, loom and shuttle.

mod support;

use std::sync::Arc;

use support::{explore, thread};
use tested::{Account, Queue};

#[test]
fn each_item_arrives_once() {
    explore(|| {
        let queue = Arc::new(Queue::new(1));
        let producer = {
            let queue = queue.clone();
            thread::spawn(move || (0..3).for_each(|item| queue.push(item)))
        };
        assert_eq!([queue.pop(), queue.pop(), queue.pop()], [0, 1, 2]);
        producer.join().unwrap();
    });
}

#[test]
fn transfers_in_both_directions_end() {
    explore(|| {
        let accounts = Arc::new([Account::new(0, 100), Account::new(1, 0)]);
        let other = {
            let accounts = accounts.clone();
            thread::spawn(move || accounts[0].transfer(&accounts[1], 30))
        };
        accounts[1].transfer(&accounts[0], 10);
        other.join().unwrap();
        assert_eq!([*accounts[0].balance(), *accounts[1].balance()], [80, 20]);
    });
}
