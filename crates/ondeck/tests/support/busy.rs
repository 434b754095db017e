//! Whether others have had the CPUs that a test wants for itself.

use std::fs;

/// The CPU time of all processes, that of this one and idle time, in the kernel's ticks of 10 ms.
pub struct CpuTime {
    busy: u64,
    own: u64,
    idle: u64,
}

impl CpuTime {
    /// Until now.
    pub fn now() -> Option<Self> {
        // cpu, user, nice, system, idle, waiting for I/O, two kinds of interrupts, stolen by the host, ...
        let all = fs::read_to_string("/proc/stat").ok()?;
        let all = numbers(all.lines().next()?, 1, 8)?;
        let idle = all[3] + all[4];
        // Behind the name, which may have spaces: user and system are the twelfth and thirteenth.
        let own = fs::read_to_string("/proc/self/stat").ok()?;
        let own = numbers(own.rsplit_once(')')?.1, 11, 2)?;
        Some(Self { busy: all.iter().sum::<u64>() - idle, own: own[0] + own[1], idle })
    }

    /// Whether other processes, and the host, have had more than a tenth of the CPUs since then.
    pub fn others_were_busy(&self) -> bool {
        let Some(now) = Self::now() else { return false };
        let (busy, own) = (now.busy - self.busy, now.own - self.own);
        busy.saturating_sub(own) * 10 > busy + now.idle - self.idle
    }
}

/// So many numbers of a text, from this word on.
fn numbers(text: &str, first: usize, count: usize) -> Option<Vec<u64>> {
    text.split_whitespace().skip(first).take(count).map(|word| word.parse().ok()).collect()
}
