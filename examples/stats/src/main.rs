//! Prints the statistics of a program's locks, and them in the format of Prometheus with the
//! argument `prometheus`.

use std::time::Duration;

use ondeck::stats;

fn main() {
    stats::on_long_hold(Duration::from_millis(50), |event| {
        let (name, time) = (event.name.to_string_lossy(), event.duration);
        let place = |site: Option<stats::Site>| site.map_or("?".into(), |site| site.to_string());
        let (held, waits) = (place(event.site), place(event.other));
        eprintln!("{name} was held for {time:.0?}, from {held} on; at {waits} a thread waits");
    });
    lock_stats::work();
    if std::env::args().nth(1).as_deref() == Some("prometheus") {
        let mut text = String::new();
        stats::write_prometheus(&mut text).expect("a string takes all");
        print!("{text}");
    } else {
        stats::snapshot().iter().for_each(|lock| println!("{lock}"));
    }
}
