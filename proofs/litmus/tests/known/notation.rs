//! Litmus tests in a line: threads are separated by `|`, accesses by blanks, and the final contents
//! of memory follow a `#`.
//!
//! | word | meaning |
//! |---|---|
//! | `Wx=1`, `Wx=1.rel` | a store, relaxed or release |
//! | `Rx=1`, `Rx=1.acq` | a load that returned 1, relaxed or acquire; `.pc`: LDAPR |
//! | `Ux=0>1`, `.acq`, `.rel`, `.acqrel` | a read-modify-write that found 0 |
//! | `F`, `F.acq`, `F.rel`, `F.acqrel` | a fence, sequentially consistent if nothing is said |
//! | `light`, `heavy` | the asymmetric pair |
//! | `rw/w` | a barrier between loads and stores before it and stores after it; of a machine only |

use ondeck_litmus::{Access, Acquire, Instr, Model, Ordering, Set, Test, lower};

/// A test of accesses as a compiler maps them to a machine.
pub fn source(model: Model, text: &str) -> Test {
    let threads =
        |text: &str| lower(model, &text.split_whitespace().map(access).collect::<Vec<_>>());
    test(text, threads)
}

/// A test of the accesses themselves.
pub fn machine(text: &str) -> Test {
    test(text, |text| text.split_whitespace().map(instr).collect())
}

fn test(text: &str, thread: impl Fn(&str) -> Vec<Instr>) -> Test {
    let (threads, last) = text.split_once('#').unwrap_or((text, ""));
    let last = last.split_whitespace().map(|word| {
        let (location, value) = word.split_once('=').expect("a location and a value");
        (place(location), number(value))
    });
    Test {
        threads: threads.split('|').map(thread).collect(),
        initial: vec![],
        last: last.collect(),
    }
}

fn place(name: &str) -> usize {
    usize::from(name.as_bytes()[0])
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is no number"))
}

fn access(word: &str) -> Access {
    let (what, order) = word.split_once('.').unwrap_or((word, ""));
    let order = match order {
        "acq" => Ordering::Acquire,
        "rel" => Ordering::Release,
        "acqrel" => Ordering::AcqRel,
        "" if what == "F" => Ordering::SeqCst,
        "" => Ordering::Relaxed,
        _ => panic!("{word:?} has an unknown ordering"),
    };
    match what {
        "F" => return Access::Fence { order },
        "light" => return Access::Light,
        "heavy" => return Access::Heavy,
        _ => {}
    }
    let (kind, rest) = what.split_at(1);
    let (name, value) = rest.split_once('=').expect("a location and a value");
    let location = place(name);
    match kind {
        "W" => Access::Store { location, value: number(value), order },
        "R" => Access::Load { location, value: number(value), order },
        "U" => {
            let (read, written) = value.split_once('>').expect("two values");
            Access::Modify { location, read: number(read), written: number(written), order }
        }
        _ => panic!("{word:?} is no access"),
    }
}

fn instr(word: &str) -> Instr {
    if let Some((before, after)) = word.split_once('/') {
        let set = |text: &str| Set { reads: text.contains('r'), writes: text.contains('w') };
        return Instr::Barrier { before: set(before), after: set(after), order: Ordering::Relaxed };
    }
    if let Some(plain) = word.strip_suffix(".pc") {
        let Instr::Read { location, value, .. } = instr(plain) else {
            panic!("{word:?} is no load")
        };
        return Instr::Read { location, value, acquire: Acquire::Processor };
    }
    // This is the model that maps an access to an instruction with the same annotations.
    lower(Model::Cpp, &[access(word)])[0]
}
