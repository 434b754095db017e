#!/usr/bin/env bash
# The tests in C and C++ can fail: each mistake is put into a copy of the headers, or takes the place of
# functions of the library, and the test named beside it fails.
#
#   ci/capi/mistakes.sh NATIVE     NATIVE is what locks/ondeck-capi/link.sh makes with --cfg ondeck_slices="hour", as
#                                  `ci/capi.sh --mistakes` does: otherwise a thread that none wakes is only late
set -euo pipefail
native=$(realpath "$1")
source=$(realpath "$(dirname "$0")/../../locks/ondeck-capi/tests/c")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export LD_LIBRARY_PATH=$native/lib
ulimit -c 0
# A test with a mistake that has not ended after this many seconds hangs. Without one the longest takes a second on a
# quiet machine, and may take three times as long as this.
time_limit=20

# compiles TEST NAME: compiles a test with the headers in include/.
compiles() {
    local compiler=(gcc -std=gnu11)
    case $1 in *.cpp) compiler=(g++ -std=c++17) ;; counted.c) compiler+=(-DONDECK_STATS) ;; esac
    "${compiler[@]}" -O2 -pthread -Iinclude -I"$source" "$source/$1" -o "$2" -L"$native/lib" -londeck -Wl,--no-as-needed
}

# passes NAME: runs it. A shell of its own says by which signal it ended, and where.
passes() {
    (exec 2>"$1.err"; timeout "$time_limit" "./$1" >"$1.out" 2>&1)
}

original() {
    rm -rf include
    cp -r "$native/include" include
}

wrong=0
count=0
original
for test in stress.c types.cpp family.c family.cpp counted.c; do
    compiles "$test" right
    time_limit=$((3 * time_limit)) passes right || { echo "$test FAILS without a mistake"; cat right.out; exit 1; }
done

# caught WHAT TEST: it is run beside the others, as most that are wrong hang.
caught() {
    count=$((count + 1))
    local name=test$count
    compiles "$2" "$name"
    { ! passes "$name" || echo "NOT CAUGHT by $2: $1" >>missed; } &
}

# mistake WHAT TEST HEADER FROM TO: FROM is there exactly once.
mistake() {
    original
    # shellcheck disable=SC2016 # Python's
    if ! python3 -c '
import sys
path, old, new = sys.argv[1:]
text = open(path).read()
if text.count(old) != 1:
    sys.exit(f"{path}: `{old}` is found {text.count(old)} times, not once")
open(path, "w").write(text.replace(old, new))
' "include/$3" "$4" "$5"; then
        wrong=1
        return
    fi
    caught "$1" "$2"
}

mistake "An attempt that fails says that it has the lock." stress.c ondeck.h \
    "__ATOMIC_ACQUIRE) == 0 ? 0 : EBUSY" "__ATOMIC_ACQUIRE) <= 1 ? 0 : EBUSY"
mistake "A lock that finds the mutex taken does not wait." stress.c ondeck.h \
    "        ondeck_mutex_lock_contended(mutex);" "        (void)mutex;"
mistake "An unlock beside parked threads clears the byte, and wakes none." stress.c ondeck.h \
    "        ondeck_mutex_unlock_contended(mutex);" "        __atomic_store_n(&mutex->byte, 0, __ATOMIC_RELEASE);"
mistake "A thread that has waited for a condition holds no mutex, in statistics." counted.c ondeck.h \
    "    ondeck_stats_acquired(mutex, ONDECK_STATS_MUTEX, site, 0);" ""
mistake "A hold is timed on while its thread waits for a condition." counted.c ondeck.h \
    "    ondeck_counted_end(mutex, ONDECK_STATS_MUTEX, 0);" ""
mistake "A writer that has changed to a reader is the holder still." counted.c ondeck.h \
    "ondeck_counted_end(lock, from, error))" "(void)0)"
mistake "A mutex of C++ that is gone leaves its name to the next." types.cpp ondeck.hpp \
    "detail::set_name(this->native_handle(), nullptr);" ""
mistake "A broadcast finds no waiter." stress.c ondeck.h \
    "        ondeck_cond_broadcast_waiters(cond);" "        (void)cond;"
mistake "A broadcast notifies one of two waiters." calls.c ondeck.h \
    "        ondeck_cond_broadcast_waiters(cond);" "        ondeck_cond_signal_waiters(cond);"
mistake "A time is rounded down, so that a wait ends too soon." types.cpp ondeck.hpp \
    "ceil<nanoseconds>(since - whole)" "floor<nanoseconds>(since - whole)"
mistake "A time that no clock reaches is taken as it is." types.cpp ondeck.hpp \
    "if (about >= static_cast<double>(longest))" "if (false)"
mistake "A wait by the steady clock is one by the system's." types.cpp ondeck.hpp \
    "clock_monotonic = 1" "clock_monotonic = 0"
mistake "An attempt of a C++ mutex says the contrary." types.cpp ondeck.hpp \
    "ondeck_mutex_trylock(&raw_) == 0" "ondeck_mutex_trylock(&raw_) != 0"
mistake "A wait with a predicate does not look at it again." types.cpp ondeck.hpp \
    "                return predicate();
        }
        return true;
    }

    template <class Clock, class Duration>" "                return false;
        }
        return false;
    }

    template <class Clock, class Duration>"

mistake "The last reader leaves a writer asleep." family.c ondeck.h "        ondeck_rwlock_rdunlocked(lock);" "        (void)lock;"
mistake "A reader comes in beside a writer." family.c ondeck.h "(word & ONDECK_RWLOCK_CLOSED) == 0" "(word & 0) == 0"
mistake "A read that the word does not count is uncounted." family.c ondeck.h "(__atomic_load_n(&lock->word, __ATOMIC_RELAXED) & ONDECK_RWLOCK_BIASED)" "0"
mistake "A writer that leaves wakes none." family.c ondeck.h \
    "        ondeck_rwlock_wrunlock_contended(lock);" "        __atomic_and_fetch(&lock->word, ~ONDECK_RWLOCK_WRITER, __ATOMIC_RELEASE);"
mistake "A release beside waiting threads wakes none." family.c ondeck.h "(word & ONDECK_SEM_WAITED) == 0" "(word & 0) == 0"
mistake "A thread takes permits that are kept for another." family.c ondeck.h \
    "(int32_t)word < ONDECK_SEM_PERMIT" "word < ONDECK_SEM_PERMIT"
mistake "An attempt at the write lock that fails says that it has it." family.cpp ondeck.h \
    "    return ondeck_call_rwlock_trywrlock(lock);" "    return 0;"
mistake "An initialization that runs is taken as done." family.c ondeck.h "& ONDECK_ONCE_DONE, 1)" "!= 0, 1)"
mistake "A call that throws has done it." family.cpp ondeck.hpp ": ondeck_once_abandon(once)" ": ondeck_once_end(once)"
mistake "A barrier lets threads go before the function has run." family.cpp ondeck.hpp \
    "            ondeck_barrier_wait(&raw_);
        }" "        }"
mistake "A change to the write lock has readers beside it." family.cpp ondeck.hpp \
    "{ ondeck_rwlock_upgrade(&raw_); }" "{ unlock_upgrade_and_lock_shared(); }"

wait
[ ! -e missed ] || { cat missed; wrong=1; }
[ "$wrong" -eq 0 ] && echo "$count mistakes, each caught by its test"
exit "$wrong"
