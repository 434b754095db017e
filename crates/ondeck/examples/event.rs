//! `Event`: threads wait until it is set, and it can be reset.

use std::thread;

use ondeck::Event;

static OPEN: Event = Event::new();

fn main() {
    thread::scope(|scope| {
        for number in 0..3 {
            scope.spawn(move || {
                OPEN.wait();
                println!("{number} goes in");
            });
        }
        println!("the door opens");
        OPEN.set();
    });
    OPEN.reset();
    println!("the door is open: {}", OPEN.is_set());
}
