//! How readers that leave wake the writer that waits for that.

use crate::parking::{Kind, status};
use crate::platform::Host;

/// The last reader has left the lock at `address`: has the writer look that waits for that.
///
/// The lock may be gone (4). If there is another one at its address, its writer looks once more than it
/// had to.
#[cold]
#[inline(never)]
pub(super) fn wake_drainer<P: Host>(address: usize) {
    // spec: RwLock!WakeDrainer
    let guard = P::bucket(address).lock();
    let Some(node) = guard.oldest(Kind::Readers, address) else { return };
    // SAFETY: it is linked.
    unsafe { guard.unlink(Kind::Readers, node) };
    let word = node.tell(status::DONE);
    drop(guard);
    P::futex_wake(word, 1);
}
