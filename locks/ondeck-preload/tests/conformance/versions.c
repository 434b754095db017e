/* Names and versions: for every version of a function with which a program may be linked, one object serves all
 * functions that work on one layout. Condition variables of version GLIBC_2.2.5 have another layout, and
 * separate functions.
 *
 * `versions --server` prints the object that serves mutexes, so that run.sh can check that the shim is
 * loaded. */
#include "conform.h"

#include <dlfcn.h>

struct name_version {
    const char *name, *version;
};

static const struct name_version SAME_LAYOUT[] = {
    {"__pthread_mutex_destroy", "GLIBC_2.2.5"},
    {"__pthread_mutex_init", "GLIBC_2.2.5"},
    {"__pthread_mutex_lock", "GLIBC_2.2.5"},
    {"__pthread_mutex_trylock", "GLIBC_2.2.5"},
    {"__pthread_mutex_unlock", "GLIBC_2.2.5"},
    {"cnd_broadcast", "GLIBC_2.28"},
    {"cnd_broadcast", "GLIBC_2.34"},
    {"cnd_destroy", "GLIBC_2.28"},
    {"cnd_destroy", "GLIBC_2.34"},
    {"cnd_init", "GLIBC_2.28"},
    {"cnd_init", "GLIBC_2.34"},
    {"cnd_signal", "GLIBC_2.28"},
    {"cnd_signal", "GLIBC_2.34"},
    {"cnd_timedwait", "GLIBC_2.28"},
    {"cnd_timedwait", "GLIBC_2.34"},
    {"cnd_wait", "GLIBC_2.28"},
    {"cnd_wait", "GLIBC_2.34"},
    {"mtx_destroy", "GLIBC_2.28"},
    {"mtx_destroy", "GLIBC_2.34"},
    {"mtx_init", "GLIBC_2.28"},
    {"mtx_init", "GLIBC_2.34"},
    {"mtx_lock", "GLIBC_2.28"},
    {"mtx_lock", "GLIBC_2.34"},
    {"mtx_timedlock", "GLIBC_2.28"},
    {"mtx_timedlock", "GLIBC_2.34"},
    {"mtx_trylock", "GLIBC_2.28"},
    {"mtx_trylock", "GLIBC_2.34"},
    {"mtx_unlock", "GLIBC_2.28"},
    {"mtx_unlock", "GLIBC_2.34"},
    {"pthread_cond_broadcast", "GLIBC_2.3.2"},
    {"pthread_cond_clockwait", "GLIBC_2.30"},
    {"pthread_cond_clockwait", "GLIBC_2.34"},
    {"pthread_cond_destroy", "GLIBC_2.3.2"},
    {"pthread_cond_init", "GLIBC_2.3.2"},
    {"pthread_cond_signal", "GLIBC_2.3.2"},
    {"pthread_cond_timedwait", "GLIBC_2.3.2"},
    {"pthread_cond_wait", "GLIBC_2.3.2"},
    {"pthread_mutex_clocklock", "GLIBC_2.30"},
    {"pthread_mutex_clocklock", "GLIBC_2.34"},
    {"pthread_mutex_destroy", "GLIBC_2.2.5"},
    {"pthread_mutex_init", "GLIBC_2.2.5"},
    {"pthread_mutex_lock", "GLIBC_2.2.5"},
    {"pthread_mutex_timedlock", "GLIBC_2.2.5"},
    {"pthread_mutex_timedlock", "GLIBC_2.34"},
    {"pthread_mutex_trylock", "GLIBC_2.2.5"},
    {"pthread_mutex_trylock", "GLIBC_2.34"},
    {"pthread_mutex_unlock", "GLIBC_2.2.5"},
    {"__pthread_rwlock_destroy", "GLIBC_2.2.5"},
    {"__pthread_rwlock_init", "GLIBC_2.2.5"},
    {"__pthread_rwlock_rdlock", "GLIBC_2.2.5"},
    {"__pthread_rwlock_tryrdlock", "GLIBC_2.2.5"},
    {"__pthread_rwlock_trywrlock", "GLIBC_2.2.5"},
    {"__pthread_rwlock_unlock", "GLIBC_2.2.5"},
    {"__pthread_rwlock_wrlock", "GLIBC_2.2.5"},
    {"pthread_rwlock_clockrdlock", "GLIBC_2.30"},
    {"pthread_rwlock_clockrdlock", "GLIBC_2.34"},
    {"pthread_rwlock_clockwrlock", "GLIBC_2.30"},
    {"pthread_rwlock_clockwrlock", "GLIBC_2.34"},
    {"pthread_rwlock_destroy", "GLIBC_2.2.5"},
    {"pthread_rwlock_destroy", "GLIBC_2.34"},
    {"pthread_rwlock_init", "GLIBC_2.2.5"},
    {"pthread_rwlock_init", "GLIBC_2.34"},
    {"pthread_rwlock_rdlock", "GLIBC_2.2.5"},
    {"pthread_rwlock_rdlock", "GLIBC_2.34"},
    {"pthread_rwlock_timedrdlock", "GLIBC_2.2.5"},
    {"pthread_rwlock_timedrdlock", "GLIBC_2.34"},
    {"pthread_rwlock_timedwrlock", "GLIBC_2.2.5"},
    {"pthread_rwlock_timedwrlock", "GLIBC_2.34"},
    {"pthread_rwlock_tryrdlock", "GLIBC_2.2.5"},
    {"pthread_rwlock_tryrdlock", "GLIBC_2.34"},
    {"pthread_rwlock_trywrlock", "GLIBC_2.2.5"},
    {"pthread_rwlock_trywrlock", "GLIBC_2.34"},
    {"pthread_rwlock_unlock", "GLIBC_2.2.5"},
    {"pthread_rwlock_unlock", "GLIBC_2.34"},
    {"pthread_rwlock_wrlock", "GLIBC_2.2.5"},
    {"pthread_rwlock_wrlock", "GLIBC_2.34"},
    {"pthread_barrier_destroy", "GLIBC_2.2.5"},
    {"pthread_barrier_destroy", "GLIBC_2.34"},
    {"pthread_barrier_init", "GLIBC_2.2.5"},
    {"pthread_barrier_init", "GLIBC_2.34"},
    {"pthread_barrier_wait", "GLIBC_2.2.5"},
    {"pthread_barrier_wait", "GLIBC_2.34"},
    {"pthread_spin_lock", "GLIBC_2.2.5"},
    {"pthread_spin_lock", "GLIBC_2.34"},
    {"sem_clockwait", "GLIBC_2.30"},
    {"sem_clockwait", "GLIBC_2.34"},
    {"sem_timedwait", "GLIBC_2.2.5"},
    {"sem_timedwait", "GLIBC_2.34"},
    {"sem_wait", "GLIBC_2.2.5"},
    {"sem_wait", "GLIBC_2.34"},
};

static const char *const OLD_LAYOUT[] = {
    "pthread_cond_broadcast", "pthread_cond_destroy", "pthread_cond_init",
    "pthread_cond_signal",    "pthread_cond_timedwait", "pthread_cond_wait",
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

static void objects(void)
{
    for (size_t i = 0; i < sizeof SAME_LAYOUT / sizeof *SAME_LAYOUT; i++) {
        struct name_version one = SAME_LAYOUT[i];
        void *function = dlvsym(RTLD_DEFAULT, one.name, one.version);
        int same = strcmp(object_of(function), server()) == 0;
        say("%s %s is where mutexes are: %s", one.name, one.version, same ? "yes" : "no");
        if (!same)
            fail("%s %s is in %s, mutexes are in %s", one.name, one.version, object_of(function), server());
        /* Without a version dlsym returns the default one, which must not be the old layout. libc has no
         * default version for the names with underscores. */
        function = dlsym(RTLD_DEFAULT, one.name);
        same = strcmp(object_of(function), server()) == 0;
        if (!same && one.name[0] != '_')
            fail("%s is in %s, mutexes are in %s", one.name, object_of(function), server());
    }
    for (size_t i = 0; i < sizeof OLD_LAYOUT / sizeof *OLD_LAYOUT; i++) {
        void *old = dlvsym(RTLD_DEFAULT, OLD_LAYOUT[i], "GLIBC_2.2.5");
        void *today = dlvsym(RTLD_DEFAULT, OLD_LAYOUT[i], "GLIBC_2.3.2");
        int two = old != NULL && today != NULL && old != today;
        say("%s has two functions: %s", OLD_LAYOUT[i], two ? "yes" : "no");
        if (!two)
            fail("%s has one function for two layouts", OLD_LAYOUT[i]);
    }
}

typedef int (*on_mutex)(void *);

/* One mutex, locked under one name and unlocked under another, in each combination. */
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
    objects();
    mixed_names();
    return conform_end();
}
