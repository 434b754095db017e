/* Header-only C locks by functions that can be called: what ck_mcs.rs declares; and a check of the
 * size that nsync.rs reserves. Locks for readers and writers are declared in rwlocks/cpp_rwlocks.rs. */

#include <stdbool.h>

#include <ck_pflock.h>
#include <ck_rwlock.h>
#include <ck_spinlock.h>
#include <nsync_mu.h>
#include <nsync_cv.h>

_Static_assert(sizeof(ck_spinlock_mcs_t) == sizeof(void *), "ck_mcs.rs reserves this");
_Static_assert(sizeof(ck_spinlock_mcs_context_t) == 16, "ck_mcs.rs reserves this");
_Static_assert(_Alignof(ck_spinlock_mcs_context_t) <= 64, "ck_mcs.rs reserves this");

_Static_assert(sizeof(nsync_mu) == 16, "nsync.rs reserves this");

_Static_assert(sizeof(nsync_cv) == 16, "nsync.rs reserves this");

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

_Static_assert(sizeof(ck_rwlock_t) == 8, "rwlocks/cpp_rwlocks.rs reserves this");
_Static_assert(sizeof(ck_pflock_t) == 16, "rwlocks/cpp_rwlocks.rs reserves this");

void ondeck_zoo_ck_read(ck_rwlock_t *lock) { ck_rwlock_read_lock(lock); }
int ondeck_zoo_ck_try_read(ck_rwlock_t *lock) { return ck_rwlock_read_trylock(lock); }
void ondeck_zoo_ck_unlock_read(ck_rwlock_t *lock) { ck_rwlock_read_unlock(lock); }
void ondeck_zoo_ck_write(ck_rwlock_t *lock) { ck_rwlock_write_lock(lock); }
int ondeck_zoo_ck_try_write(ck_rwlock_t *lock) { return ck_rwlock_write_trylock(lock); }
void ondeck_zoo_ck_unlock_write(ck_rwlock_t *lock) { ck_rwlock_write_unlock(lock); }

void ondeck_zoo_ck_pf_read(ck_pflock_t *lock) { ck_pflock_read_lock(lock); }
void ondeck_zoo_ck_pf_unlock_read(ck_pflock_t *lock) { ck_pflock_read_unlock(lock); }
void ondeck_zoo_ck_pf_write(ck_pflock_t *lock) { ck_pflock_write_lock(lock); }
void ondeck_zoo_ck_pf_unlock_write(ck_pflock_t *lock) { ck_pflock_write_unlock(lock); }
/* The library has no attempts for this lock. */
int ondeck_zoo_ck_pf_try_read(ck_pflock_t *lock) { (void)lock; return 0; }
int ondeck_zoo_ck_pf_try_write(ck_pflock_t *lock) { (void)lock; return 0; }
