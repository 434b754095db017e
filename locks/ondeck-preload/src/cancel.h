/* Shared by the parts in C: the type of a thread's cancellation. */

#ifndef ONDECK_PRELOAD_CANCEL_H
#define ONDECK_PRELOAD_CANCEL_H

#include <pthread.h>
#include <stddef.h>

#define OURS __attribute__((visibility("hidden")))

/* A function's name and version in the C library. */
#define NAME(function, name) __asm__(".symver " #function ", " name)

/* The C library's functions that C code calls, in the order of real.rs. */
enum {
    WAIT, TIMEDWAIT, CLOCKWAIT, OLD_WAIT, OLD_TIMEDWAIT, SETCANCELTYPE, BARRIER_WAIT, SEM_WAIT, SEM_CLOCKWAIT, DLOPEN
};
OURS void *ondeck_preload_real(size_t which);

/* The C library's pthread_setcanceltype: returns the previous type. A pending cancellation acts in it if the type
   becomes asynchronous. */
OURS int ondeck_preload_set_cancel_type(int type);

/* Whether any thread of the process has ever asked for asynchronous cancellation. */
OURS int ondeck_preload_may_be_asynchronous(void);

/* Defers cancellation from here on. Returns the argument for `restore`. */
static inline int defer(void)
{
    return ondeck_preload_may_be_asynchronous() ? ondeck_preload_set_cancel_type(PTHREAD_CANCEL_DEFERRED)
                                                : PTHREAD_CANCEL_DEFERRED;
}

/* Ends the deferral: a cancellation that arrived in between acts here, if it is asynchronous. */
static inline void restore(int type)
{
    if (type != PTHREAD_CANCEL_DEFERRED)
        ondeck_preload_set_cancel_type(type);
}

#endif
