//! A description of the machine, for the report. Facts that a system does not report are left
//! empty.

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

#[cfg(test)]
mod tests {
    #[test]
    fn this_machine_has_cpus_memory_and_a_kernel() {
        let machine = super::describe();
        assert!(machine.cpus >= 1 && machine.usable_cpus >= 1, "{machine:?}");
        assert!(machine.memory_bytes > 1 << 20, "{machine:?}");
        let kernels = ["Linux ", "Windows ", "Darwin"];
        assert!(kernels.iter().any(|kernel| machine.kernel.contains(kernel)), "{machine:?}");
        assert!(cfg!(not(windows)) || machine.load_average.is_none(), "{machine:?}");
    }
}
