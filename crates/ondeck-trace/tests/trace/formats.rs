//! What is written of traces stays as it is, to the byte.

use ondeck_trace::{perfetto, text};

use crate::recorded::{Digests, recorded};
use crate::traced::traced;

#[test]
fn every_format_of_a_trace_is_as_it_was() {
    let mut digests = Digests::default();
    for (name, report) in recorded().iter().filter(|(_, report)| !report.idle_timelines.is_empty())
    {
        let document = traced(report);
        digests.add(name, "trace", &text::render(&document));
        digests.add(name, "trace-perfetto", &perfetto::render(&document));
    }
    digests.assert_golden(0);
}
