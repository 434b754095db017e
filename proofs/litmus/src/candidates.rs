//! All executions of a program in which each read returns its value.
//!
//! The requirements that every model has for a single location are checked here, location by location, before the
//! locations are combined: its accesses are sequentially consistent, and no other write comes between the halves of a
//! read-modify-write. So few candidates are left.

use std::rc::Rc;

use crate::event::{Kind, Program};
use crate::execution::Execution;
use crate::relation::Relation;

/// One way in which a location may behave: pairs of reads-from, and the order of its writes.
#[derive(Clone, Debug)]
struct History {
    read_from: Vec<(usize, usize)>,
    writes: Vec<usize>,
}

/// Returns the executions of the program that end with the values of `last`.
pub fn executions(program: Program, last: &[(usize, u64)]) -> impl Iterator<Item = Execution> {
    let po = program.po_of_location();
    let count = program.events.len();
    let initial = (0..count).filter(|i| program.events[*i].thread.is_none());
    let histories: Vec<Vec<History>> =
        initial.map(|first| histories(&program, &po, first, last)).collect();
    let total: usize = histories.iter().map(Vec::len).product();
    let program = Rc::new(program);
    (0..total).map(move |mut number| {
        let (mut rf, mut co) = (Relation::empty(count), Relation::empty(count));
        for of_location in &histories {
            let history = &of_location[number % of_location.len()];
            number /= of_location.len();
            history.read_from.iter().for_each(|&(write, read)| rf.add(write, read));
            for (place, &from) in history.writes.iter().enumerate() {
                history.writes[place + 1..].iter().for_each(|&to| co.add(from, to));
            }
        }
        Execution::new(Rc::clone(&program), rf, co)
    })
}

/// Returns all histories of the location that begins with the write `first`.
fn histories(
    program: &Program,
    po: &Relation,
    first: usize,
    last: &[(usize, u64)],
) -> Vec<History> {
    let location = program.events[first].location;
    let here = |i: &usize| program.events[*i].location == location;
    let is_write = |i: &usize| matches!(program.events[*i].kind, Kind::Write { .. });
    let is_read = |i: &usize| matches!(program.events[*i].kind, Kind::Read { .. });
    let all = || (0..program.events.len()).filter(here);
    let writes: Vec<usize> = all().filter(is_write).filter(|i| *i != first).collect();
    let reads: Vec<usize> = all().filter(is_read).collect();
    let wanted = last.iter().find(|(l, _)| *l == location).map(|(_, value)| *value);
    let mut found = Vec::new();
    for order in orders(po, &[first], &writes) {
        let end = order.last().map(|write| program.events[*write].value);
        if wanted.is_some() && wanted != end {
            continue;
        }
        let mut open = vec![Vec::new()];
        for &read in &reads {
            let value = program.events[read].value;
            let sources: Vec<usize> = order
                .iter()
                .copied()
                .filter(|write| program.events[*write].value == value)
                .collect();
            open = open
                .iter()
                .flat_map(|pairs: &Vec<(usize, usize)>| {
                    sources
                        .iter()
                        .map(|&write| pairs.iter().copied().chain([(write, read)]).collect())
                })
                .collect();
            // Checked after each read, or the combinations of many reads would multiply.
            open.retain(|pairs| is_coherent(program, po, &order, pairs));
        }
        found
            .extend(open.into_iter().map(|read_from| History { read_from, writes: order.clone() }));
    }
    found
}

/// Returns all orders of the writes that begin with `begun` and keep each thread's order.
fn orders(po: &Relation, begun: &[usize], left: &[usize]) -> Vec<Vec<usize>> {
    if left.is_empty() {
        return vec![begun.to_vec()];
    }
    let may_be_next = |next: &&usize| left.iter().all(|other| !po.has(*other, **next));
    left.iter()
        .filter(may_be_next)
        .flat_map(|next| {
            let begun: Vec<usize> = begun.iter().copied().chain([*next]).collect();
            let left: Vec<usize> = left.iter().copied().filter(|other| other != next).collect();
            orders(po, &begun, &left)
        })
        .collect()
}

fn is_coherent(
    program: &Program,
    po: &Relation,
    order: &[usize],
    pairs: &[(usize, usize)],
) -> bool {
    let count = program.events.len();
    let (mut rf, mut co) = (Relation::empty(count), Relation::empty(count));
    for &(write, read) in pairs {
        rf.add(write, read);
    }
    for (place, &from) in order.iter().enumerate() {
        order[place + 1..].iter().for_each(|&to| co.add(from, to));
    }
    let place = |write: usize| order.iter().position(|other| *other == write);
    let is_atomic = pairs.iter().all(|&(source, read)| {
        let own = program.rmw.pairs().find(|(half, _)| *half == read).map(|(_, write)| write);
        own.is_none_or(|write| place(source).map(|before| before + 1) == place(write))
    });
    let fr = rf.inverse().then(&co);
    // The halves of a read-modify-write are in program order, so its read never returns the value of its own write.
    is_atomic && ((&fr | &co) | &rf | po).is_acyclic()
}
