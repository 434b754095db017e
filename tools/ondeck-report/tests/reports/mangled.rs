//! A thousand ways to spoil a report: each is read or refused, the readable ones are compared and
//! written, and nothing panics.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fastrand::Rng;
use ondeck_lab::results::{Distribution, Report};
use ondeck_report::compare::{By, Choice, compare};
use ondeck_report::{comparison, html, json, read, table};
use serde_json::{Value, json};

use crate::support::{everything, input, report, throughput};

const WAYS: u64 = 1_000;

fn small() -> Report {
    let samples = [5.0, 6.0, 7.0, 8.0, 5.5];
    let mut slow = throughput("slow", 8, &samples);
    slow.distribution = Some(Distribution {
        what: "wait".to_owned(),
        count: 9,
        min_ns: 3,
        max_ns: 1_200,
        percentiles: vec![(50.0, 900), (99.0, 1_200)],
        buckets: vec![(1_023, 8), (1_279, 1)],
    });
    report(vec![throughput("fast", 8, &samples), slow, throughput("fast", 2, &samples)])
}

/// A mangled copy of the report.
fn mangled(rng: &mut Rng, good: &str) -> Vec<u8> {
    let mut bytes = good.as_bytes().to_vec();
    let place = |rng: &mut Rng| rng.usize(0..good.len());
    match rng.u8(0..6) {
        0 => {
            let at = place(rng);
            bytes[at] ^= 1 << rng.u8(0..8);
        }
        1 => bytes.truncate(place(rng)),
        2 => {
            let (one, other, at) = (place(rng), place(rng), place(rng));
            let twice = bytes[one.min(other)..one.max(other)].to_vec();
            bytes.splice(at..at, twice);
        }
        3 => return swapped(rng, good),
        4 => return with_extremes(rng, good),
        _ => return with_wrong_types(rng, good),
    }
    bytes
}

/// One value replaced by another.
fn swapped(rng: &mut Rng, good: &str) -> Vec<u8> {
    let mut value: Value = serde_json::from_str(good).expect("it is good");
    let places = places(&value, |_| true);
    let (one, other) = (&places[rng.usize(0..places.len())], &places[rng.usize(0..places.len())]);
    let [first, second] = [one, other].map(|place| value.pointer(place).cloned());
    // One value may be inside the other, and then be gone.
    for (place, value_there) in [(one, second), (other, first)] {
        if let (Some(old), Some(new)) = (value.pointer_mut(place), value_there) {
            *old = new;
        }
    }
    value.to_string().into_bytes()
}

/// Some numbers that no run yields.
fn with_extremes(rng: &mut Rng, good: &str) -> Vec<u8> {
    let mut value: Value = serde_json::from_str(good).expect("it is good");
    // No computation uses the head.
    let mut within_series = places(&value, Value::is_number);
    within_series.retain(|place| place.starts_with("/series"));
    let extremes = [
        json!(0),
        json!(1),
        json!(-1),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1_u64 << 53),
        json!(f64::MAX),
        json!(f64::MIN),
        json!(f64::MIN_POSITIVE),
        json!(-0.0),
    ];
    for _ in 0..rng.u8(1..6) {
        let place = &within_series[rng.usize(0..within_series.len())];
        let old = value.pointer_mut(place).expect("numbers have nothing within");
        *old = extremes[rng.usize(0..extremes.len())].clone();
    }
    value.to_string().into_bytes()
}

/// One value of another type.
fn with_wrong_types(rng: &mut Rng, good: &str) -> Vec<u8> {
    let mut value: Value = serde_json::from_str(good).expect("it is good");
    let places = places(&value, |_| true);
    let types = [json!(null), json!(true), json!("7"), json!([]), json!({}), json!(7), json!(-0.5)];
    let place = &places[rng.usize(0..places.len())];
    *value.pointer_mut(place).expect("it is there") = types[rng.usize(0..types.len())].clone();
    value.to_string().into_bytes()
}

/// The JSON pointers of all values of some kind.
fn places(value: &Value, wanted: impl Fn(&Value) -> bool + Copy) -> Vec<String> {
    let within: Vec<(String, &Value)> = match value {
        Value::Array(values) => {
            values.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect()
        }
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), value)).collect(),
        _ => Vec::new(),
    };
    let mut found: Vec<String> = wanted(value).then(String::new).into_iter().collect();
    for (name, value) in within {
        found.extend(places(value, wanted).into_iter().map(|place| format!("/{name}{place}")));
    }
    found
}

/// All uses of reports. Returns whether they could be compared.
fn used(good: &Report, bad: Report) -> bool {
    json::render(&bad);
    html::render(&bad);
    table::render(&bad, false);
    let inputs = [input("good", good.clone()), input("bad", bad.clone()), input("bad", bad)];
    let all = Choice { metrics: Some(vec!["all".to_owned()]), ..everything() };
    let mut compared = false;
    for by in [By::File, By::Lock { base: "fast".to_owned() }] {
        for inputs in [&inputs[..2], &inputs[1..], &inputs[2..]] {
            if let Ok(found) = compare(inputs, &by, &all) {
                compared |= by == By::File;
                comparison::render(&found, false);
                json::render(&found);
                found.worse_by_more_than(0.05);
            }
        }
    }
    compared
}

#[test]
fn nothing_panics_whatever_is_in_a_file() {
    let good = small();
    let text = json::render(&good);
    let (mut read_back, mut compared, mut panicked) = (0, 0, Vec::new());
    for way in 0..WAYS {
        let mut rng = Rng::with_seed(way);
        let bytes = mangled(&mut rng, &text);
        let outcome = catch_unwind(AssertUnwindSafe(|| match read::text("bad", &bytes) {
            Ok(report) => Some(used(&good, report)),
            Err(error) => {
                assert!(!error.to_string().contains('\n'), "{error}");
                None
            }
        }));
        match outcome {
            Ok(None) => {}
            Ok(Some(by_file)) => {
                read_back += 1;
                compared += u32::from(by_file);
            }
            Err(_) => panicked.push(way),
        }
    }
    assert!(panicked.is_empty(), "seeds {panicked:?}");
    // Otherwise it would test only the parser.
    assert!((150..900).contains(&read_back), "{read_back} were read");
    assert!(compared > 100, "{compared} compared");
}
