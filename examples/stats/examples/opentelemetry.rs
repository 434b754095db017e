//! Statistics of locks for OpenTelemetry: its reader calls for the numbers, here to print them.

use ondeck::stats::{self, LockStats};
use opentelemetry::KeyValue;
use opentelemetry::metrics::{AsyncInstrument, MeterProvider as _};
use opentelemetry_sdk::metrics::SdkMeterProvider;

/// Reports a number of each lock.
fn each<T>(observer: &dyn AsyncInstrument<T>, number: impl Fn(&LockStats) -> T) {
    for lock in stats::snapshot() {
        let name = KeyValue::new("lock.name", lock.name.to_string_lossy().into_owned());
        let kind = KeyValue::new("lock.kind", lock.kind.to_string());
        observer.observe(number(&lock), &[name, kind]);
    }
}

fn main() {
    let exporter = opentelemetry_stdout::MetricExporter::default();
    let provider = SdkMeterProvider::builder().with_periodic_exporter(exporter).build();
    let meter = provider.meter("ondeck");
    let _waits = meter
        .u64_observable_counter("lock.waits")
        .with_callback(|observer| each(observer, |lock| lock.waits))
        .build();
    let _waited = meter
        .f64_observable_counter("lock.wait.time")
        .with_unit("s")
        .with_callback(|observer| each(observer, |lock| lock.waited.as_secs_f64()))
        .build();
    let _waiting = meter
        .u64_observable_gauge("lock.waiting")
        .with_callback(|observer| each(observer, |lock| lock.waiting.into()))
        .build();
    stats::enable();
    lock_stats::work();
    provider.shutdown().expect("printed");
}
