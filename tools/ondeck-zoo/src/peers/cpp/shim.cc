// C++ locks by C functions: what abseil.rs and rwlocks/cpp_rwlocks.rs declare.
//
// The storage is Rust's, of the size and alignment that the assertions below state.

#include <absl/synchronization/mutex.h>

static_assert(sizeof(absl::Mutex) == 8 && alignof(absl::Mutex) == 8, "abseil.rs reserves this");
static_assert(sizeof(absl::CondVar) == 8 && alignof(absl::CondVar) == 8, "abseil.rs reserves this");

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

void ondeck_zoo_abseil_read(absl::Mutex* mutex) noexcept { mutex->ReaderLock(); }
int ondeck_zoo_abseil_try_read(absl::Mutex* mutex) noexcept { return mutex->ReaderTryLock(); }
void ondeck_zoo_abseil_unlock_read(absl::Mutex* mutex) noexcept { mutex->ReaderUnlock(); }
void ondeck_zoo_abseil_write(absl::Mutex* mutex) noexcept { mutex->WriterLock(); }
int ondeck_zoo_abseil_try_write(absl::Mutex* mutex) noexcept { return mutex->WriterTryLock(); }
void ondeck_zoo_abseil_unlock_write(absl::Mutex* mutex) noexcept { mutex->WriterUnlock(); }

}  // extern "C"
