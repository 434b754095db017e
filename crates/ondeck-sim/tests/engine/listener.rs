//! A listener is called with each event as it happens, and changes nothing.

use std::cell::RefCell;
use std::rc::Rc;

use ondeck::platform::{AtomicInt, Fences, Ordering, Platform};
use ondeck_sim::engine::{Sim, SimInt, Simulation, Step};

use super::machine::{Apart, free, leaked, machine};

#[test]
fn a_listener_sees_each_access_and_what_memory_holds_then() {
    let costs = machine([1, 1, 1, 1]);
    let run = |listens: bool| {
        let word = leaked(Apart(SimInt::<u32>::new(3)));
        let address = std::ptr::from_ref(&word.0).addr();
        let seen = leaked(RefCell::new(Vec::new()));
        let listener: Rc<ondeck_sim::engine::Listener> = Rc::new(move |thread, place, step| {
            let is_fence = matches!(step, Step::Fence | Step::HeavyFence);
            assert_eq!(place, (!is_fence).then_some(address));
            seen.borrow_mut().push((thread, step, word.0.load(Ordering::Relaxed)));
        });
        let simulation =
            Simulation { listener: listens.then_some(listener), ..Simulation::new(&costs, 1) };
        let body = move || {
            word.0.load(Ordering::Relaxed);
            word.0.store(5, Ordering::Relaxed);
            word.0.swap(7, Ordering::Relaxed);
            Sim::fence(Ordering::SeqCst);
            Sim::heavy_fence();
        };
        let ran = simulation.run(vec![free(body)], Vec::new(), &|| false);
        (ran.time, seen.take())
    };
    let (time, seen) = run(true);
    let steps = [(0, Step::Load(3), 3), (0, Step::Store(5), 5), (0, Step::Exchange(5, 7), 7)];
    assert_eq!(seen[..3], steps);
    assert_eq!(seen[3..], [Step::Fence, Step::HeavyFence].map(|step| (0, step, 7)));
    assert_eq!(run(false), (time, Vec::new()));
}
