//! `LazyLock`, `OnceLock` and `Once`: a value created at its first use, a value set once, an action
//! run once.

use std::thread;

use ondeck::{LazyLock, Once, OnceLock};

static SQUARES: LazyLock<Vec<u32>> = LazyLock::new(|| (0..10).map(|n| n * n).collect());
static NAME: OnceLock<String> = OnceLock::new();
static GREETED: Once = Once::new();

fn main() {
    thread::scope(|scope| {
        for number in 0..3 {
            scope.spawn(move || {
                GREETED.call_once(|| println!("said by one thread only"));
                NAME.get_or_init(|| format!("thread {number}"));
            });
        }
    });
    println!("7 * 7 is {}, and {} was first", SQUARES[7], NAME.get().expect("set above"));
}
