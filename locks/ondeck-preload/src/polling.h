/* The time for which a thread polls before it sleeps. */

#ifndef ONDECK_PRELOAD_POLLING_H
#define ONDECK_PRELOAD_POLLING_H

#include "cancel.h"

#include <stdint.h>

/* The duration of a wake, in ticks of the processor's counter; 0 if threads must not poll: see polling.rs. */
OURS uint64_t ondeck_preload_polling_ticks(void);

static inline uint64_t ticks(void)
{
    return __builtin_ia32_rdtsc();
}

static inline void pause_for_a_moment(void)
{
    __builtin_ia32_pause();
}

#endif
