//! The mutexes of a run, and what waits for them, in TLA+.

use ondeck::parking::{Shown, asked};
use ondeck::platform::{AtomicInt, Host, Ordering};
use ondeck_sim::engine::Sim;

use super::tracer::{Names, Tracer, status};

/// Objects whose threads wait in queues of the table, with the names that the specification has for them.
pub struct Objects<const N: usize> {
    pub addresses: [usize; N],
    pub names: [&'static str; N],
    /// What the specification has in the place of a thread.
    pub nobody: &'static str,
}

impl<const N: usize> Objects<N> {
    /// Returns the name of the object at that address.
    pub fn name(&self, address: usize) -> Option<String> {
        let object = self.addresses.iter().position(|&object| object == address)?;
        Some(format!("\"{}\"", self.names[object]))
    }

    /// Returns a field for each object.
    fn each(&self, text: impl Fn(usize) -> String) -> String {
        let fields = self.names.iter().zip(self.addresses);
        let fields = fields.map(|(name, object)| format!("{name} |-> {}", text(object)));
        format!("[{}]", fields.collect::<Vec<_>>().join(", "))
    }

    /// Returns what an unlock mode asks of the unlocks of each object.
    pub fn mode(&self, mode: u64) -> String {
        self.each(|object| format!("\"{}\"", asked(mode as usize, object)))
    }

    /// Returns the data of a bucket: the queues, the heirs, the threads that were woken last, those with a priority, the
    /// unlock mode, and the statuses.
    pub fn table<Any: Names>(
        &self,
        tracer: &Tracer<Any>,
        object: usize,
        shown: &[Shown],
    ) -> Vec<String> {
        let mode = Sim::unlock_mode(object).load(Ordering::Relaxed);
        let threads = |those: &dyn Fn(&Shown) -> bool| -> Vec<String> {
            shown.iter().filter(|node| those(node)).map(|node| tracer.thread(node)).collect()
        };
        let one = |those: Vec<String>| match &*those {
            [] => self.nobody.to_owned(),
            [one] => one.clone(),
            _ => "99".into(),
        };
        let list = |those: Vec<String>| those.join(", ");
        let statuses = shown
            .iter()
            .map(|node| format!("<<{}, {}>>", tracer.thread(node), status(node.status.into())));
        vec![
            self.each(|object| format!("<<{}>>", list(threads(&|node| node.address == object)))),
            self.each(|object| one(threads(&|node| node.address == object && node.is_heir))),
            self.each(|object| one(threads(&|node| node.address == object && node.is_woken_last))),
            format!("{{{}}}", list(threads(&|node| node.priority != 0))),
            self.mode(mode as u64),
            format!("{{{}}}", list(statuses.collect())),
        ]
    }
}
