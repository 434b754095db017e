/* A library whose constructor opens another one, with a mutex locked. */
#include "kinds.h"

int outer_result(void);

static pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static void *inner;

__attribute__((constructor)) static void constructor(void)
{
    quiet_is(pthread_mutex_lock(&mutex), 0);
    inner = dlopen("library_inner.so", RTLD_NOW | RTLD_LOCAL);
    if (inner == NULL)
        fail("%s", dlerror());
    quiet_is(pthread_mutex_unlock(&mutex), 0);
}

__attribute__((destructor)) static void destructor(void)
{
    quiet_is(pthread_mutex_lock(&mutex), 0);
    if (inner != NULL && dlclose(inner) != 0)
        fail("%s", dlerror());
    quiet_is(pthread_mutex_unlock(&mutex), 0);
    if (conform_failures != 0)
        _exit(3);
}

int outer_result(void)
{
    int (*result)(void);
    *(void **)&result = inner == NULL ? NULL : dlsym(inner, "inner_result");
    return result == NULL ? 1 : conform_failures + result();
}
