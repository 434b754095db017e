/* Asynchronous cancellation of threads: prevented from acting while the thread has a node in the parking table, or
   holds the lock of a bucket. If the stack were unwound then, either would stay forever.

   None of this runs until a thread of the process asks for that type: pthread_setcanceltype is interposed and notifies
   mode.rs, and from then on no lock and no unlock takes a fast path. Each of them then defers cancellation, and
   restores the type at its end. A thread waits for a lock in slices: between two slices it is in no queue, and a
   cancellation acts. So it can be cancelled while the lock is held by another thread, as with the C library.

   The type is restored in C, where a cancelled thread can be unwound: the callers in Rust call these functions as tail
   calls. A frame of a function such as mtx_lock, which has nothing to undo, may be below. */

#include "cancel.h"

#include <time.h>

/* As in deferred.rs: the slice is over. */
#define AGAIN (-1)

OURS void ondeck_preload_will_be_asynchronous(void);
/* A function that waits for an object of the shim, until the deadline if there is one, and the function that undoes the
   acquisition. */
typedef int wait_function(void *object, int clock, const struct timespec *, int in_slices);
typedef int undo_function(void *object);

OURS int ondeck_preload_deferred(int (*call)(void *), void *object);
OURS int ondeck_preload_wait_deferred(wait_function *, undo_function *, void *object, int clock,
                                      const struct timespec *);

typedef int setcanceltype_function(int, int *);

static int real_setcanceltype(int type, int *old)
{
    return ((setcanceltype_function *)ondeck_preload_real(SETCANCELTYPE))(type, old);
}

int ondeck_preload_set_cancel_type(int type)
{
    int old;

    real_setcanceltype(type, &old);
    return old;
}

int ondeck_preload_setcanceltype(int type, int *old);
NAME(ondeck_preload_setcanceltype, "pthread_setcanceltype@@GLIBC_2.2.5");
int ondeck_preload_setcanceltype(int type, int *old)
{
    if (type == PTHREAD_CANCEL_ASYNCHRONOUS)
        ondeck_preload_will_be_asynchronous();
    return real_setcanceltype(type, old);
}

/* Calls a function that uses the parking table, and sleeps for no other thread. */
int ondeck_preload_deferred(int (*call)(void *), void *object)
{
    int type = defer();
    int result = call(object);

    restore(type);
    return result;
}

/* An acquisition that has not been returned to the caller yet. */
struct got { undo_function *undo; void *object; };

static void give_back(void *pointer)
{
    struct got *got = pointer;

    got->undo(got->object);
}

static int wait_in_slices(wait_function *wait, undo_function *undo, void *object, int clock,
                          const struct timespec *deadline)
{
    struct got got = {undo, object};
    int result;

    while ((result = wait(object, clock, deadline, 1)) == AGAIN) {
        ondeck_preload_set_cancel_type(PTHREAD_CANCEL_ASYNCHRONOUS);
        ondeck_preload_set_cancel_type(PTHREAD_CANCEL_DEFERRED);
    }
    if (result) {
        ondeck_preload_set_cancel_type(PTHREAD_CANCEL_ASYNCHRONOUS);
        return result;
    }
    /* A thread that is cancelled here does not know yet that it has acquired the lock. */
    pthread_cleanup_push(give_back, &got);
    ondeck_preload_set_cancel_type(PTHREAD_CANCEL_ASYNCHRONOUS);
    pthread_cleanup_pop(0);
    return 0;
}

/* Waits for an object that the calling thread does not hold. Without a deadline, `deadline` is null. */
int ondeck_preload_wait_deferred(wait_function *wait, undo_function *undo, void *object, int clock,
                                 const struct timespec *deadline)
{
    if (defer() == PTHREAD_CANCEL_DEFERRED)
        return wait(object, clock, deadline, 0);
    return wait_in_slices(wait, undo, object, clock, deadline);
}
