//! `Mutex`: a map that several threads fill. The guard unlocks when it is dropped.

use std::collections::BTreeMap;
use std::thread;

use ondeck::Mutex;

static VISITS: Mutex<BTreeMap<&str, u32>> = Mutex::new(BTreeMap::new());

fn main() {
    thread::scope(|scope| {
        for page in ["home", "news", "home"] {
            scope.spawn(move || *VISITS.lock().entry(page).or_default() += 1);
        }
    });
    println!("{:?}", VISITS.lock());
}
