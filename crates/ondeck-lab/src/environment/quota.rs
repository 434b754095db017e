//! A CPU quota for a whole run.

use super::Refusal;
use crate::system::{Here, System};

/// A quota that this process is under until this is dropped.
#[derive(Debug)]
pub struct Imposed {
    _quota: <Here as System>::Quota,
}

/// The quota that this process runs under, the least of its group and the groups above; in words.
/// `None` if there is none, or the kernel does not report it.
pub fn in_force() -> Option<String> {
    Here::quota_in_force()
}

/// Puts this process under a quota of this percentage of a CPU.
///
/// # Errors
///
/// The [`Refusal`] if the machine does not allow it.
pub fn impose(percent: u32) -> Result<Imposed, Refusal> {
    Here::impose_quota(percent).map(|quota| Imposed { _quota: quota })
}
