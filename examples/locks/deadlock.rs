//! A lock-order inversion between two accounts, which is reported although nothing deadlocks.
//! `docs/deadlock.md` has its output:
//!
//! ```sh
//! ONDECK_DEADLOCK=report cargo run -p locks --example deadlock --features deadlock_detection
//! ```

use std::thread;

use ondeck::Mutex;

struct Account {
    balance: Mutex<i64>,
}

/// The mistake: the locks are taken in the order of the arguments.
fn transfer(from: &Account, to: &Account, amount: i64) {
    let mut source = from.balance.lock();
    *source -= amount;
    deposit(to, amount);
}

fn deposit(to: &Account, amount: i64) {
    *to.balance.lock() += amount;
}

fn main() {
    let (savings, checking) =
        (Account { balance: Mutex::new(100) }, Account { balance: Mutex::new(0) });
    thread::scope(|scope| {
        let payday = thread::Builder::new().name("payday".into());
        let payday = payday.spawn_scoped(scope, || transfer(&savings, &checking, 70));
        payday.expect("a thread").join().expect("no panic");
        let rent = thread::Builder::new().name("rent".into());
        rent.spawn_scoped(scope, || transfer(&checking, &savings, 30)).expect("a thread");
    });
    println!("{} and {}", savings.balance.lock(), checking.balance.lock());
}
