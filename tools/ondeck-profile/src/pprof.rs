//! pprof's format: a `profile.proto` message, gzipped. `go tool pprof` and others read it.
//!
//! The messages below are the messages of `profile.proto` of github.com/google/pprof (Apache-2.0),
//! with the fields that are used here, by their numbers.

use std::collections::HashMap;
use std::io::Write;
use std::time::{Duration, UNIX_EPOCH};

use flate2::Compression;
use flate2::write::GzEncoder;
use ondeck_record::layout::Role;

use crate::Error;
use crate::model::{Lock, Process, Profile, Sample};

/// Encodes the stacks of a role of all processes in the form of Go's mutex profiles: `contentions`
/// and `delay`, with labels for the lock and the process.
///
/// # Errors
///
/// [`Error::Writing`] if the compression fails, which cannot happen in memory.
pub fn encode(profile: &Profile, role: Role) -> Result<Vec<u8>, Error> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&Builder::of(profile, role))?;
    Ok(packed.finish()?)
}

/// A message: its fields, each after its number and the way it is written in.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    /// As many bytes of 7 bits as it takes, the lowest first.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// A field of a number; 0 is not written.
    fn number(&mut self, field: u64, value: u64) {
        if value != 0 {
            self.varint(field << 3);
            self.varint(value);
        }
    }

    /// A field of text, of a message, or of numbers one behind the other.
    fn bytes(&mut self, field: u64, value: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(value.len() as u64);
        self.0.extend(value);
    }

    /// A field of numbers.
    fn numbers(&mut self, field: u64, values: impl IntoIterator<Item = u64>) {
        let mut all = Self::default();
        values.into_iter().for_each(|value| all.varint(value));
        self.bytes(field, &all.0);
    }

    /// A field of a message of numbers, which have the fields from 1 on.
    fn message(&mut self, field: u64, numbers: &[u64]) {
        let mut message = Self::default();
        for (number, value) in (1..).zip(numbers) {
            message.number(number, *value);
        }
        self.bytes(field, &message.0);
    }
}

/// What a profile's message has so far, and its tables, each entry once.
#[derive(Default)]
struct Builder {
    proto: Message,
    strings: HashMap<String, u64>,
    functions: HashMap<(u64, u64), u64>,
    locations: HashMap<(usize, u64, usize), u64>,
    mappings: u64,
    /// The number of each process's first mapping, less 1.
    first_mapping: Vec<u64>,
}

/// The fields of a profile.
mod field {
    pub const SAMPLE_TYPE: u64 = 1;
    pub const SAMPLE: u64 = 2;
    pub const MAPPING: u64 = 3;
    pub const LOCATION: u64 = 4;
    pub const FUNCTION: u64 = 5;
    pub const STRING_TABLE: u64 = 6;
    pub const TIME_NANOS: u64 = 9;
    pub const DURATION_NANOS: u64 = 10;
    pub const PERIOD_TYPE: u64 = 11;
    pub const PERIOD: u64 = 12;
    pub const COMMENT: u64 = 13;
    pub const DEFAULT_SAMPLE_TYPE: u64 = 14;
}

impl Builder {
    fn of(profile: &Profile, role: Role) -> Vec<u8> {
        let mut builder = Self::default();
        builder.text("");
        let contentions = [builder.text("contentions"), builder.text("count")];
        let delay = [builder.text("delay"), builder.text("nanoseconds")];
        let what = builder.text(match role {
            Role::Holder => {
                "ondeck: stacks that kept others waiting, by how long all of these waited"
            }
            Role::Waiter => "ondeck: stacks that waited for locks",
        });
        for (number, process) in profile.processes.iter().enumerate() {
            builder.mappings(process);
            for lock in &process.locks {
                for sample in lock.samples(role) {
                    builder.sample(number, process, lock, sample);
                }
            }
        }
        let nanos = |time: Duration| time.as_nanos() as u64;
        let started = profile.processes.first().map(|first| first.started);
        let started = started.and_then(|started| started.duration_since(UNIX_EPOCH).ok());
        let longest = profile.processes.iter().map(|process| process.length).max();
        let proto = &mut builder.proto;
        proto.message(field::SAMPLE_TYPE, &contentions);
        proto.message(field::SAMPLE_TYPE, &delay);
        proto.number(field::TIME_NANOS, nanos(started.unwrap_or_default()));
        proto.number(field::DURATION_NANOS, nanos(longest.unwrap_or_default()));
        proto.message(field::PERIOD_TYPE, &contentions);
        proto.number(field::PERIOD, 1);
        proto.numbers(field::COMMENT, [what]);
        proto.number(field::DEFAULT_SAMPLE_TYPE, delay[0]);
        builder.proto.0
    }

    /// The place of a text in the table.
    fn text(&mut self, text: &str) -> u64 {
        if let Some(known) = self.strings.get(text) {
            return *known;
        }
        let place = self.strings.len() as u64;
        self.proto.bytes(field::STRING_TABLE, text.as_bytes());
        self.strings.insert(text.to_owned(), place);
        place
    }

    fn mappings(&mut self, process: &Process) {
        self.first_mapping.push(self.mappings);
        for module in &process.modules {
            self.mappings += 1;
            let path = self.text(&module.path.to_string_lossy());
            let build_id = self.text(&module.build_id);
            let lines = u64::from(module.has_lines);
            // After the addresses comes the offset in the file. After the names come flags, which
            // say what the profile has of each address: functions, files, lines, inlined functions.
            let numbers = [
                self.mappings,
                module.start,
                module.end,
                0,
                path,
                build_id,
                1,
                lines,
                lines,
                lines,
            ];
            self.proto.message(field::MAPPING, &numbers);
        }
    }

    fn sample(&mut self, number: usize, process: &Process, lock: &Lock, sample: &Sample) {
        let mut message = Message::default();
        let stack = sample.stack.iter();
        let locations: Vec<u64> = stack.map(|location| self.location(number, location)).collect();
        message.numbers(1, locations);
        message.numbers(2, [sample.count, sample.nanos.round() as u64]);
        // A label is a key with a text or with a number.
        message.message(3, &[self.text("lock"), self.text(&lock.name())]);
        message.message(3, &[self.text("pid"), 0, process.pid.into()]);
        self.proto.bytes(field::SAMPLE, &message.0);
    }

    fn location(&mut self, process: usize, location: &crate::Location) -> u64 {
        // Cutting off frames at the top makes a different location of the same address.
        let key = (process, location.address, location.frames.len());
        if let Some(known) = self.locations.get(&key) {
            return *known;
        }
        let id = self.locations.len() as u64 + 1;
        let mut message = Message::default();
        message.number(1, id);
        message
            .number(2, location.module.map_or(0, |it| self.first_mapping[process] + it as u64 + 1));
        message.number(3, location.address);
        for frame in &location.frames {
            let name = self.text(&frame.function);
            let file = self.text(frame.file.as_deref().unwrap_or_default());
            let function = self.function(name, file);
            message.message(4, &[function, frame.line.unwrap_or(0).into()]);
        }
        self.proto.bytes(field::LOCATION, &message.0);
        self.locations.insert(key, id);
        id
    }

    fn function(&mut self, name: u64, file: u64) -> u64 {
        let id = self.functions.len() as u64 + 1;
        *self.functions.entry((name, file)).or_insert_with(|| {
            self.proto.message(field::FUNCTION, &[id, name, name, file]);
            id
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the format's own description.
    #[test]
    fn a_number_takes_seven_bits_of_each_byte() {
        let mut message = Message::default();
        message.number(1, 150);
        message.number(2, 0);
        message.numbers(6, [3, 270, 86_942]);
        assert_eq!(message.0, [0x08, 0x96, 0x01, 0x32, 6, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05]);
    }
}
