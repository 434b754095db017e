// C++ locks by C functions: what abseil.rs and tbb.rs declare.
//
// The storage is Rust's, of the size and alignment that the assertions below state.

#include <new>

#include <absl/synchronization/mutex.h>
#include <oneapi/tbb/mutex.h>

static_assert(sizeof(absl::Mutex) == 8 && alignof(absl::Mutex) == 8, "abseil.rs reserves this");
static_assert(sizeof(absl::CondVar) == 8 && alignof(absl::CondVar) == 8, "abseil.rs reserves this");
static_assert(sizeof(tbb::mutex) == 1 && alignof(tbb::mutex) == 1, "tbb.rs reserves this");

extern "C" {

void ondeck_zoo_abseil_init(absl::Mutex* storage) noexcept {
  // A library built without NDEBUG, as Debian's is, looks for lock cycles in every pair. Programs
  // that care build Abseil without that.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  new (storage) absl::Mutex;
}
void ondeck_zoo_abseil_lock(absl::Mutex* mutex) noexcept { mutex->Lock(); }
bool ondeck_zoo_abseil_try_lock(absl::Mutex* mutex) noexcept { return mutex->TryLock(); }
void ondeck_zoo_abseil_unlock(absl::Mutex* mutex) noexcept { mutex->Unlock(); }
void ondeck_zoo_abseil_destroy(absl::Mutex* mutex) noexcept { mutex->~Mutex(); }

void ondeck_zoo_abseil_condvar_init(absl::CondVar* storage) noexcept {
  new (storage) absl::CondVar;
}
void ondeck_zoo_abseil_condvar_wait(absl::CondVar* condvar, absl::Mutex* mutex) noexcept {
  condvar->Wait(mutex);
}
void ondeck_zoo_abseil_condvar_signal(absl::CondVar* condvar) noexcept { condvar->Signal(); }
void ondeck_zoo_abseil_condvar_signal_all(absl::CondVar* condvar) noexcept {
  condvar->SignalAll();
}
void ondeck_zoo_abseil_condvar_destroy(absl::CondVar* condvar) noexcept { condvar->~CondVar(); }

void ondeck_zoo_tbb_init(tbb::mutex* storage) noexcept { new (storage) tbb::mutex; }
void ondeck_zoo_tbb_lock(tbb::mutex* mutex) noexcept { mutex->lock(); }
bool ondeck_zoo_tbb_try_lock(tbb::mutex* mutex) noexcept { return mutex->try_lock(); }
void ondeck_zoo_tbb_unlock(tbb::mutex* mutex) noexcept { mutex->unlock(); }
void ondeck_zoo_tbb_destroy(tbb::mutex* mutex) noexcept { mutex->~mutex(); }

}  // extern "C"
