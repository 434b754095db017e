//! Statistics of locks for the crate `metrics`, here with its exporter for Prometheus. A server
//! does this before each scrape.

use metrics::{counter, gauge};
use ondeck::stats;

fn publish() {
    for lock in stats::snapshot() {
        let labels =
            [("name", lock.name.to_string_lossy().into_owned()), ("kind", lock.kind.to_string())];
        counter!("lock_waits", &labels).absolute(lock.waits);
        counter!("lock_wait_microseconds", &labels).absolute(lock.waited.as_micros() as u64);
        gauge!("lock_wait_p99_seconds", &labels).set(lock.p99().as_secs_f64());
        gauge!("lock_longest_hold_seconds", &labels).set(lock.longest_hold.as_secs_f64());
        gauge!("lock_waiting", &labels).set(lock.waiting);
    }
}

fn main() {
    let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    metrics::set_global_recorder(recorder).expect("the first one");
    stats::enable();
    lock_stats::work();
    publish();
    print!("{}", handle.render());
}
