/* RTLD_DEEPBIND would bind a library to the C library's locks, beside the shim's in the rest of the program. */

#define _GNU_SOURCE
#include "cancel.h"

#include <dlfcn.h>

typedef void *open_function(const char *, int);

void *ondeck_preload_dlopen(const char *, int);
NAME(ondeck_preload_dlopen, "dlopen@@GLIBC_2.34");
NAME(ondeck_preload_dlopen, "dlopen@GLIBC_2.2.5");
void *ondeck_preload_dlopen(const char *path, int mode)
{
    /* A tail call: what the C library opens depends on the caller, by the return address. */
    return ((open_function *)ondeck_preload_real(DLOPEN))(path, mode & ~RTLD_DEEPBIND);
}
