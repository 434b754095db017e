//! The engine on small machines: memory, waits, the scheduler, accounts.

mod engine {
    mod accounts;
    mod crowd;
    mod fences;
    mod futexes;
    mod lines;
    mod litmus;
    mod machine;
    mod placement;
    mod scheduling;
    mod soundness;
}
