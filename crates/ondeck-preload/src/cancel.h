/* What the parts in C share: the type of a thread's cancellation. */

#ifndef ONDECK_PRELOAD_CANCEL_H
#define ONDECK_PRELOAD_CANCEL_H

#include <pthread.h>
#include <stddef.h>

#define OURS __attribute__((visibility("hidden")))

/* A function's name and version, as the C library has it. */
#define NAME(function, name) __asm__(".symver " #function ", " name)

/* The C library's functions that are called from C, in the order of real.rs. */
enum { WAIT, TIMEDWAIT, CLOCKWAIT, OLD_WAIT, OLD_TIMEDWAIT, SETCANCELTYPE, BARRIER_WAIT, SEM_WAIT, SEM_CLOCKWAIT };
OURS void *ondeck_preload_real(size_t which);

/* The C library's pthread_setcanceltype: returns the type of before. A pending cancellation acts in it if the type
   becomes asynchronous. */
OURS int ondeck_preload_set_cancel_type(int type);

/* Whether any thread of the process has ever asked for asynchronous cancellation. */
OURS int ondeck_preload_may_be_asynchronous(void);

/* From here on a cancellation waits. Returns what `restore` is to be given. */
static inline int defer(void)
{
    return ondeck_preload_may_be_asynchronous() ? ondeck_preload_set_cancel_type(PTHREAD_CANCEL_DEFERRED)
                                                : PTHREAD_CANCEL_DEFERRED;
}

/* The end of that: a cancellation that came meanwhile acts here, if it is asynchronous. */
static inline void restore(int type)
{
    if (type != PTHREAD_CANCEL_DEFERRED)
        ondeck_preload_set_cancel_type(type);
}

#endif
