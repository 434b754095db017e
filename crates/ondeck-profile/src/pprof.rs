//! pprof's format: a `profile.proto` message, gzipped. `go tool pprof` and others read it.
//!
//! The messages below are the messages of `profile.proto` of github.com/google/pprof (Apache-2.0), with the
//! fields that are used here, by their numbers.

use std::collections::HashMap;
use std::io::Write;
use std::time::UNIX_EPOCH;

use flate2::Compression;
use flate2::write::GzEncoder;
use ondeck_record::layout::Role;
use prost::Message;

use crate::Error;
use crate::model::{Lock, Process, Profile, Sample};

/// Encodes the stacks of a role of all processes in the form of Go's mutex profiles: `contentions` and
/// `delay`, with labels for the lock and the process.
///
/// # Errors
///
/// [`Error::Writing`] if the compression fails, which cannot happen in memory.
pub fn encode(profile: &Profile, role: Role) -> Result<Vec<u8>, Error> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&Builder::of(profile, role).encode_to_vec())?;
    Ok(packed.finish()?)
}

#[derive(Clone, PartialEq, Message)]
struct Proto {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<ProtoSample>,
    #[prost(message, repeated, tag = "3")]
    mapping: Vec<Mapping>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<ProtoLocation>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(int64, tag = "9")]
    time_nanos: i64,
    #[prost(int64, tag = "10")]
    duration_nanos: i64,
    #[prost(message, optional, tag = "11")]
    period_type: Option<ValueType>,
    #[prost(int64, tag = "12")]
    period: i64,
    #[prost(int64, repeated, tag = "13")]
    comment: Vec<i64>,
    #[prost(int64, tag = "14")]
    default_sample_type: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    kind: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct ProtoSample {
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    label: Vec<Label>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Label {
    #[prost(int64, tag = "1")]
    key: i64,
    #[prost(int64, tag = "2")]
    str: i64,
    #[prost(int64, tag = "3")]
    num: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
#[expect(clippy::struct_excessive_bools, reason = "the message has them")]
struct Mapping {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    memory_start: u64,
    #[prost(uint64, tag = "3")]
    memory_limit: u64,
    #[prost(uint64, tag = "4")]
    file_offset: u64,
    #[prost(int64, tag = "5")]
    filename: i64,
    #[prost(int64, tag = "6")]
    build_id: i64,
    #[prost(bool, tag = "7")]
    has_functions: bool,
    #[prost(bool, tag = "8")]
    has_filenames: bool,
    #[prost(bool, tag = "9")]
    has_line_numbers: bool,
    #[prost(bool, tag = "10")]
    has_inline_frames: bool,
}

#[derive(Clone, PartialEq, Message)]
struct ProtoLocation {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    mapping_id: u64,
    #[prost(uint64, tag = "3")]
    address: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
    #[prost(int64, tag = "2")]
    line: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "3")]
    system_name: i64,
    #[prost(int64, tag = "4")]
    filename: i64,
}

/// Tables of the message, each entry once.
#[derive(Default)]
struct Builder {
    proto: Proto,
    strings: HashMap<String, i64>,
    functions: HashMap<(i64, i64), u64>,
    locations: HashMap<(usize, u64, usize), u64>,
    /// The number of each process's first mapping, less 1.
    first_mapping: Vec<u64>,
}

impl Builder {
    fn of(profile: &Profile, role: Role) -> Proto {
        let mut builder = Self::default();
        builder.text("");
        let contentions =
            ValueType { kind: builder.text("contentions"), unit: builder.text("count") };
        let delay = ValueType { kind: builder.text("delay"), unit: builder.text("nanoseconds") };
        builder.proto.sample_type = vec![contentions, delay];
        builder.proto.period_type = Some(contentions);
        builder.proto.period = 1;
        builder.proto.default_sample_type = delay.kind;
        let what = match role {
            Role::Holder => {
                "ondeck: stacks that kept others waiting, by how long all of these waited"
            }
            Role::Waiter => "ondeck: stacks that waited for locks",
        };
        let comment = builder.text(what);
        builder.proto.comment.push(comment);
        for (number, process) in profile.processes.iter().enumerate() {
            builder.mappings(process);
            for lock in &process.locks {
                for sample in lock.samples(role) {
                    builder.sample(number, process, lock, sample);
                }
            }
        }
        if let Some(first) = profile.processes.first() {
            let started = first.started.duration_since(UNIX_EPOCH).unwrap_or_default();
            builder.proto.time_nanos = started.as_nanos() as i64;
        }
        let longest = profile.processes.iter().map(|process| process.length).max();
        builder.proto.duration_nanos = longest.unwrap_or_default().as_nanos() as i64;
        builder.proto
    }

    fn text(&mut self, text: &str) -> i64 {
        if let Some(known) = self.strings.get(text) {
            return *known;
        }
        let index = self.strings.len().cast_signed() as i64;
        self.proto.string_table.push(text.to_owned());
        self.strings.insert(text.to_owned(), index);
        index
    }

    fn mappings(&mut self, process: &Process) {
        self.first_mapping.push(self.proto.mapping.len() as u64);
        for module in &process.modules {
            let id = self.proto.mapping.len() as u64 + 1;
            let filename = self.text(&module.path.to_string_lossy());
            let build_id = self.text(&module.build_id);
            self.proto.mapping.push(Mapping {
                id,
                memory_start: module.start,
                memory_limit: module.end,
                file_offset: 0,
                filename,
                build_id,
                has_functions: true,
                has_filenames: module.has_lines,
                has_line_numbers: module.has_lines,
                has_inline_frames: module.has_lines,
            });
        }
    }

    fn sample(&mut self, number: usize, process: &Process, lock: &Lock, sample: &Sample) {
        let location_id =
            sample.stack.iter().map(|location| self.location(number, location)).collect();
        let (lock_key, lock_name) = (self.text("lock"), self.text(&lock.name()));
        let pid = self.text("pid");
        self.proto.sample.push(ProtoSample {
            location_id,
            value: vec![sample.count.cast_signed(), sample.nanos.round() as i64],
            label: vec![
                Label { key: lock_key, str: lock_name, num: 0 },
                Label { key: pid, str: 0, num: process.pid.into() },
            ],
        });
    }

    fn location(&mut self, process: usize, location: &crate::Location) -> u64 {
        // Cutting off frames at the top makes a different location of the same address.
        let key = (process, location.address, location.frames.len());
        if let Some(known) = self.locations.get(&key) {
            return *known;
        }
        let line = location
            .frames
            .iter()
            .map(|frame| {
                let name = self.text(&frame.function);
                let filename = self.text(frame.file.as_deref().unwrap_or_default());
                Line {
                    function_id: self.function(name, filename),
                    line: frame.line.unwrap_or(0).into(),
                }
            })
            .collect();
        let id = self.proto.location.len() as u64 + 1;
        let mapping_id =
            location.module.map_or(0, |one| self.first_mapping[process] + one as u64 + 1);
        self.proto.location.push(ProtoLocation { id, mapping_id, address: location.address, line });
        self.locations.insert(key, id);
        id
    }

    fn function(&mut self, name: i64, filename: i64) -> u64 {
        let id = self.proto.function.len() as u64 + 1;
        *self.functions.entry((name, filename)).or_insert_with(|| {
            self.proto.function.push(Function { id, name, system_name: name, filename });
            id
        })
    }
}
