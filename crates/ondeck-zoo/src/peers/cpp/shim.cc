// C++ locks by C functions: what abseil.rs, tbb.rs and rwlocks/cpp_rwlocks.rs declare.
//
// The storage is Rust's, of the size and alignment that the assertions below state.

#include <absl/synchronization/mutex.h>
#include <oneapi/tbb/mutex.h>
#include <oneapi/tbb/rw_mutex.h>
#include <oneapi/tbb/spin_rw_mutex.h>

static_assert(sizeof(absl::Mutex) == 8 && alignof(absl::Mutex) == 8, "abseil.rs reserves this");
static_assert(sizeof(absl::CondVar) == 8 && alignof(absl::CondVar) == 8, "abseil.rs reserves this");
static_assert(sizeof(tbb::mutex) == 1 && alignof(tbb::mutex) == 1, "tbb.rs reserves this");
static_assert(sizeof(tbb::rw_mutex) == 8, "rwlocks/cpp_rwlocks.rs reserves this");
static_assert(sizeof(tbb::spin_rw_mutex) == 8, "rwlocks/cpp_rwlocks.rs reserves this");

extern "C" {

// A library built without NDEBUG, as Debian's is, looks for lock cycles in every pair. Programs that care
// build Abseil without that.
void ondeck_zoo_abseil_prepare() noexcept {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
}

void ondeck_zoo_abseil_condvar_wait(absl::CondVar* condvar, absl::Mutex* mutex) noexcept {
  condvar->Wait(mutex);
}
void ondeck_zoo_abseil_condvar_signal(absl::CondVar* condvar) noexcept { condvar->Signal(); }
void ondeck_zoo_abseil_condvar_signal_all(absl::CondVar* condvar) noexcept {
  condvar->SignalAll();
}

void ondeck_zoo_tbb_lock(tbb::mutex* mutex) noexcept { mutex->lock(); }
int ondeck_zoo_tbb_try_lock(tbb::mutex* mutex) noexcept { return mutex->try_lock(); }
void ondeck_zoo_tbb_unlock(tbb::mutex* mutex) noexcept { mutex->unlock(); }

void ondeck_zoo_abseil_read(absl::Mutex* mutex) noexcept { mutex->ReaderLock(); }
int ondeck_zoo_abseil_try_read(absl::Mutex* mutex) noexcept { return mutex->ReaderTryLock(); }
void ondeck_zoo_abseil_unlock_read(absl::Mutex* mutex) noexcept { mutex->ReaderUnlock(); }
void ondeck_zoo_abseil_write(absl::Mutex* mutex) noexcept { mutex->WriterLock(); }
int ondeck_zoo_abseil_try_write(absl::Mutex* mutex) noexcept { return mutex->WriterTryLock(); }
void ondeck_zoo_abseil_unlock_write(absl::Mutex* mutex) noexcept { mutex->WriterUnlock(); }

void ondeck_zoo_tbb_read(tbb::rw_mutex* mutex) noexcept { mutex->lock_shared(); }
int ondeck_zoo_tbb_try_read(tbb::rw_mutex* mutex) noexcept { return mutex->try_lock_shared(); }
void ondeck_zoo_tbb_unlock_read(tbb::rw_mutex* mutex) noexcept { mutex->unlock_shared(); }
void ondeck_zoo_tbb_write(tbb::rw_mutex* mutex) noexcept { mutex->lock(); }
int ondeck_zoo_tbb_try_write(tbb::rw_mutex* mutex) noexcept { return mutex->try_lock(); }
void ondeck_zoo_tbb_unlock_write(tbb::rw_mutex* mutex) noexcept { mutex->unlock(); }

void ondeck_zoo_tbb_spin_read(tbb::spin_rw_mutex* mutex) noexcept { mutex->lock_shared(); }
int ondeck_zoo_tbb_spin_try_read(tbb::spin_rw_mutex* mutex) noexcept {
  return mutex->try_lock_shared();
}
void ondeck_zoo_tbb_spin_unlock_read(tbb::spin_rw_mutex* mutex) noexcept {
  mutex->unlock_shared();
}
void ondeck_zoo_tbb_spin_write(tbb::spin_rw_mutex* mutex) noexcept { mutex->lock(); }
int ondeck_zoo_tbb_spin_try_write(tbb::spin_rw_mutex* mutex) noexcept { return mutex->try_lock(); }
void ondeck_zoo_tbb_spin_unlock_write(tbb::spin_rw_mutex* mutex) noexcept { mutex->unlock(); }

}  // extern "C"
