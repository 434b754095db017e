/* What link.sh puts in the place of functions that a preloaded library must not call. */

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#define OURS __attribute__((visibility("hidden")))

OURS _Noreturn void ondeck_record_panic(void);
OURS void *ondeck_record_no_memory(size_t);
OURS void ondeck_record_not_freed(void *);

/* Handles a panic, which only a bug of the library can cause. */
void ondeck_record_panic(void)
{
    static const char text[] = "ondeck: a bug: an assertion of the preloaded library does not hold\n";

    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    abort();
}

/* Replaces malloc(3) in the unwinder: always out of memory. */
void *ondeck_record_no_memory(size_t size)
{
    (void)size;
    return NULL;
}

/* Replaces free(3) there: nothing was allocated. */
void ondeck_record_not_freed(void *memory)
{
    (void)memory;
}

/* A page that link.sh makes a segment of its own. */
OURS char ondeck_record_nothing[1] __attribute__((section(".nothing,\"aw\",@nobits#")));
