//! `Parker`: one thread sleeps until another one gives it a token. A token that arrives first is
//! kept.

use std::thread;

use ondeck::Parker;

fn main() {
    let parker = Parker::new();
    let unparker = parker.unparker().clone();
    let other = thread::spawn(move || {
        println!("gives the token");
        unparker.unpark();
    });
    parker.park();
    println!("has it");
    other.join().expect("no panic");
}
