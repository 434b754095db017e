/* Checks of the sizes that nsync.rs reserves. */

#include <nsync_mu.h>
#include <nsync_cv.h>

_Static_assert(sizeof(nsync_mu) == 16, "nsync.rs reserves this");

_Static_assert(sizeof(nsync_cv) == 16, "nsync.rs reserves this");
