/* A mutex is locked under one name and version of a function, and unlocked under another. That all of them are there,
 * symbols.py sees.
 *
 * `versions --server` prints the object that serves mutexes, so that run.sh can check that the shim is
 * loaded. */
#include "conform.h"

struct name_version {
    const char *name, *version;
};

static const char *object_of(const void *function)
{
    Dl_info info;
    if (function == NULL || dladdr(function, &info) == 0)
        return "nothing";
    return info.dli_fname;
}

static const char *server(void)
{
    return object_of(dlsym(RTLD_DEFAULT, "pthread_mutex_lock"));
}

typedef int (*on_mutex)(void *);

static void mixed_names(void)
{
    static const struct name_version LOCKS[] = {
        {"pthread_mutex_lock", "GLIBC_2.2.5"}, {"__pthread_mutex_lock", "GLIBC_2.2.5"},
        {"mtx_lock", "GLIBC_2.28"},            {"mtx_lock", "GLIBC_2.34"},
        {"mtx_trylock", "GLIBC_2.28"},         {"mtx_trylock", "GLIBC_2.34"},
    };
    static const struct name_version TRIES[] = {
        {"pthread_mutex_trylock", "GLIBC_2.2.5"},
        {"pthread_mutex_trylock", "GLIBC_2.34"},
        {"__pthread_mutex_trylock", "GLIBC_2.2.5"},
    };
    static const struct name_version UNLOCKS[] = {
        {"pthread_mutex_unlock", "GLIBC_2.2.5"},
        {"__pthread_mutex_unlock", "GLIBC_2.2.5"},
        {"mtx_unlock", "GLIBC_2.28"},
        {"mtx_unlock", "GLIBC_2.34"},
    };
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    for (size_t l = 0; l < sizeof LOCKS / sizeof *LOCKS; l++) {
        for (size_t u = 0; u < sizeof UNLOCKS / sizeof *UNLOCKS; u++) {
            on_mutex lock = (on_mutex)dlvsym(RTLD_DEFAULT, LOCKS[l].name, LOCKS[l].version);
            on_mutex unlock = (on_mutex)dlvsym(RTLD_DEFAULT, UNLOCKS[u].name, UNLOCKS[u].version);
            quiet_is(lock(&mutex), 0);
            for (size_t t = 0; t < sizeof TRIES / sizeof *TRIES; t++) {
                on_mutex try = (on_mutex)dlvsym(RTLD_DEFAULT, TRIES[t].name, TRIES[t].version);
                quiet_is(try(&mutex), EBUSY);
            }
            quiet_is(unlock(&mutex), 0);
        }
    }
    is(pthread_mutex_trylock(&mutex), 0);
    is(pthread_mutex_unlock(&mutex), 0);
}

int main(int count, char **arguments)
{
    if (count > 1 && strcmp(arguments[1], "--server") == 0) {
        say("%s", server());
        return 0;
    }
    mixed_names();
    return conform_end();
}
