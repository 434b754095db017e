//! A description of the machine, for the report. Facts that a system does not report are left empty.

cfg_select! {
    target_os = "linux" => {
        mod linux;
        pub(super) use linux::describe;
    }
    windows => {
        mod windows;
        pub(super) use windows::describe;
    }
    _ => {
        mod apple;
        pub(super) use apple::describe;
    }
}

/// How many threads can run at the same time.
#[cfg(not(target_os = "linux"))]
fn parallelism() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
