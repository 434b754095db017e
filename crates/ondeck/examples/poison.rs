//! `poison::Mutex`: for code with `lock().unwrap()`. As with the standard library's mutex, the next owner learns
//! of a panic in a section.

use std::thread;

use ondeck::poison::Mutex;

static BALANCE: Mutex<i64> = Mutex::new(100);

fn main() {
    let failed = thread::spawn(|| {
        *BALANCE.lock().unwrap() -= 70;
        panic!("before the other account was changed");
    });
    assert!(failed.join().is_err());
    match BALANCE.lock() {
        Ok(balance) => println!("{balance}"),
        Err(poisoned) => println!("{} is not to be trusted", poisoned.into_inner()),
    }
}
