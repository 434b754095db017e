// Uses each abseil item that docs/data/parity.md names once. A wrong result fails an assertion.
#undef NDEBUG
#include <cassert>
#include <thread>

#include "absl/base/call_once.h"
#include "absl/base/const_init.h"
#include "absl/synchronization/barrier.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace {

ABSL_CONST_INIT absl::Mutex constant(absl::kConstInit);

const absl::Duration moment = absl::Milliseconds(1);

void elsewhere(void (*function)()) { std::thread(function).join(); }

void a_mutex_is_tried() {
  assert(constant.TryLock());
  constant.AssertHeld();
  elsewhere([] { assert(!constant.TryLock()); });
  constant.Unlock();
  absl::MutexLock guard(&constant);
}

// The lock is held after both calls, whether the condition became true or the time ran out.
void a_mutex_is_locked_with_a_condition() {
  static bool never = false, always = true;
  assert(!constant.LockWhenWithTimeout(absl::Condition(&never), moment));
  constant.Unlock();
  assert(constant.LockWhenWithDeadline(absl::Condition(&always), absl::Now() + moment));
  assert(!constant.AwaitWithTimeout(absl::Condition(&never), moment));
  constant.Await(absl::Condition(&always));
  constant.Unlock();
  constant.LockWhen(absl::Condition(&always));
  constant.Unlock();
  assert(!constant.ReaderLockWhenWithTimeout(absl::Condition(&never), moment));
  constant.ReaderUnlock();
  assert(!constant.WriterLockWhenWithDeadline(absl::Condition(&never), absl::Now() + moment));
  constant.WriterUnlock();
}

void a_mutex_has_readers() {
  constant.ReaderLock();
  elsewhere([] {
    assert(!constant.WriterTryLock());
    assert(constant.ReaderTryLock());
    constant.ReaderUnlock();
  });
  constant.ReaderUnlock();
  { absl::ReaderMutexLock guard(&constant); }
  { absl::WriterMutexLock guard(&constant); }
}

void a_condition_variable_waits_and_signals() {
  static absl::CondVar changed;
  static bool ready;
  absl::MutexLock guard(&constant);
  assert(changed.WaitWithTimeout(&constant, moment));
  assert(changed.WaitWithDeadline(&constant, absl::Now() + moment));
  std::thread other([] {
    absl::MutexLock guard(&constant);
    ready = true;
    changed.Signal();
    changed.SignalAll();
  });
  while (!ready) changed.Wait(&constant);
  constant.Unlock();
  other.join();
  constant.Lock();
}

void what_else_waits() {
  static absl::once_flag once;
  static int calls;
  for (int i = 0; i < 2; i++) absl::call_once(once, [] { calls++; });
  assert(calls == 1);

  static absl::Notification told;
  static absl::BlockingCounter count(1);
  std::thread other([] {
    told.WaitForNotification();
    count.DecrementCount();
  });
  told.Notify();
  count.Wait();
  other.join();

  auto *barrier = new absl::Barrier(1);
  if (barrier->Block()) delete barrier;
}

}  // namespace

int main() {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kReport);
  a_mutex_is_tried();
  a_mutex_is_locked_with_a_condition();
  a_mutex_has_readers();
  a_condition_variable_waits_and_signals();
  what_else_waits();
}
