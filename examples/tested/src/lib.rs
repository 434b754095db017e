//! A bounded queue, and accounts between which money is transferred.

use std::collections::VecDeque;

use ondeck::{Condvar, Mutex, MutexGuard};

/// A queue of at most `capacity` items.
pub struct Queue<T> {
    items: Mutex<VecDeque<T>>,
    capacity: usize,
    added: Condvar,
    taken: Condvar,
}

impl<T> Queue<T> {
    /// Creates an empty queue.
    pub fn new(capacity: usize) -> Self {
        let items = Mutex::new(VecDeque::with_capacity(capacity));
        Self { items, capacity, added: Condvar::new(), taken: Condvar::new() }
    }

    /// Adds an item, after waiting until there is room.
    pub fn push(&self, item: T) {
        let mut items = self.items.lock();
        self.taken.wait_while(&mut items, |items| items.len() == self.capacity);
        items.push_back(item);
        drop(items);
        self.added.notify_one();
    }

    /// Takes the oldest item, after waiting until there is one.
    pub fn pop(&self) -> T {
        let mut items = self.items.lock();
        loop {
            if let Some(item) = items.pop_front() {
                drop(items);
                self.taken.notify_one();
                return item;
            }
            self.added.wait(&mut items);
        }
    }
}

/// An account, which has a place in the order of all locks.
pub struct Account {
    number: u32,
    balance: Mutex<i64>,
}

impl Account {
    /// Creates an account.
    pub fn new(number: u32, balance: i64) -> Self {
        Self { number, balance: Mutex::new(balance) }
    }

    /// Locks the balance.
    pub fn balance(&self) -> MutexGuard<'_, i64> {
        self.balance.lock()
    }

    /// Transfers an amount to another account. The account with the lower number is locked first.
    pub fn transfer(&self, to: &Self, amount: i64) {
        let (mut from, mut into);
        if self.number < to.number {
            (from, into) = (self.balance(), to.balance());
        } else {
            (into, from) = (to.balance(), self.balance());
        }
        *from -= amount;
        *into += amount;
    }
}
