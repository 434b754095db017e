//! The fast paths of `ondeck`, recorded with the orderings of its source, against each memory model: an outcome that
//! must not happen is forbidden. The orderings that forbid it are found by weakening one at a time, and make up the
//! table of `docs/weak-memory.md`.

#[path = "paths/biased.rs"]
mod biased;
#[path = "paths/machine.rs"]
mod machine;
#[path = "paths/memory.rs"]
mod memory;
#[path = "paths/mutex.rs"]
mod mutex;
#[path = "paths/rwlock.rs"]
mod rwlock;
#[path = "paths/shape.rs"]
mod shape;
#[path = "paths/table.rs"]
mod table;

use ondeck_litmus::{Access, MODELS, Verdict};

use shape::Shape;

fn shapes() -> impl Iterator<Item = &'static Shape> {
    [mutex::SHAPES, rwlock::SHAPES, biased::SHAPES].into_iter().flatten()
}

#[test]
fn no_model_allows_what_may_not_happen() {
    for shape in shapes() {
        let recorded = shape.record();
        for model in MODELS {
            let verdict = recorded.verdict(model, &recorded.accesses());
            if let Verdict::Allowed(execution) = verdict {
                let (name, model, told) = (shape.name, model.name(), recorded.tell());
                panic!("{name}: allowed in {model}\n{execution}\n{told}");
            }
        }
    }
}

/// If only one ordering forbids an outcome, and that ordering is weakened, the checker notices.
#[test]
fn the_page_names_the_orderings_that_each_model_needs() {
    let rows: Vec<_> = shapes().map(|shape| (shape.name, shape.record().needed())).collect();
    for (name, needed) in &rows {
        // No ordering forbids it: an exchange is one access.
        let by_exchange = *name == mutex::EXCLUSION;
        assert_eq!(
            needed.is_empty(),
            by_exchange,
            "{name}: forbidden by more than one ordering, or by none"
        );
    }
    table::compare(&rows);
}

#[test]
fn a_load_and_a_store_in_place_of_an_exchange_exclude_no_thread() {
    let shape = shapes().find(|shape| shape.name == mutex::EXCLUSION).expect("that shape");
    let recorded = shape.record();
    let apart = |access: Access| match access {
        Access::Modify { location, read, written, order } => vec![
            Access::Load { location, value: read, order },
            Access::Store { location, value: written, order: ondeck_litmus::Ordering::Release },
        ],
        other => vec![other],
    };
    let threads: Vec<Vec<Access>> =
        recorded.accesses().into_iter().map(|t| t.into_iter().flat_map(apart).collect()).collect();
    for model in MODELS {
        assert!(recorded.verdict(model, &threads).is_allowed(), "{}", model.name());
    }
}
