/* Header-only C locks by functions that can be called: what ck_mcs.rs declares; and a check of the
 * layout that nsync.rs repeats. */

#include <stdbool.h>
#include <stddef.h>

#include <ck_spinlock.h>
#include <nsync_mu.h>
#include <nsync_cv.h>

_Static_assert(sizeof(ck_spinlock_mcs_t) == sizeof(void *), "ck_mcs.rs reserves this");
_Static_assert(sizeof(ck_spinlock_mcs_context_t) == 16, "ck_mcs.rs reserves this");
_Static_assert(_Alignof(ck_spinlock_mcs_context_t) <= 64, "ck_mcs.rs reserves this");

_Static_assert(sizeof(nsync_mu) == 16, "nsync.rs repeats this");
_Static_assert(sizeof(((nsync_mu *)0)->word) == 4, "nsync.rs repeats this");
_Static_assert(offsetof(nsync_mu, waiters) == 8, "nsync.rs repeats this");

_Static_assert(sizeof(nsync_cv) == 16, "nsync.rs repeats this");
_Static_assert(sizeof(((nsync_cv *)0)->word) == 4, "nsync.rs repeats this");
_Static_assert(offsetof(nsync_cv, waiters) == 8, "nsync.rs repeats this");

void ondeck_zoo_ck_mcs_init(ck_spinlock_mcs_t *lock) { ck_spinlock_mcs_init(lock); }
void ondeck_zoo_ck_mcs_lock(ck_spinlock_mcs_t *lock, ck_spinlock_mcs_context_t *node)
{
	ck_spinlock_mcs_lock(lock, node);
}
bool ondeck_zoo_ck_mcs_try_lock(ck_spinlock_mcs_t *lock, ck_spinlock_mcs_context_t *node)
{
	return ck_spinlock_mcs_trylock(lock, node);
}
void ondeck_zoo_ck_mcs_unlock(ck_spinlock_mcs_t *lock, ck_spinlock_mcs_context_t *node)
{
	ck_spinlock_mcs_unlock(lock, node);
}
