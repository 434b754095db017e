/* The functions behind ours: those of the next library that has them, which is most often the C library. The loader
   finds them for the constructor. A call that comes earlier, by another library's constructor or by an allocator, gets
   the C library's own, found without a lock. */

#include "observe.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/auxv.h>

__thread unsigned char ondeck_observe_memory[MEMORY] __attribute__((aligned(8)));
int ondeck_observe_is_wanted;
void *ondeck_observe_reals[REALS];

static const struct { const char *name, *version; } names[REALS] = {
    [MUTEX_LOCK] = {"pthread_mutex_lock", "GLIBC_2.2.5"},
    [MUTEX_TRYLOCK] = {"pthread_mutex_trylock", "GLIBC_2.34"},
    [MUTEX_TIMEDLOCK] = {"pthread_mutex_timedlock", "GLIBC_2.34"},
    [MUTEX_CLOCKLOCK] = {"pthread_mutex_clocklock", "GLIBC_2.34"},
    [MUTEX_UNLOCK] = {"pthread_mutex_unlock", "GLIBC_2.2.5"},
    [MTX_LOCK] = {"mtx_lock", "GLIBC_2.34"},
    [MTX_TRYLOCK] = {"mtx_trylock", "GLIBC_2.34"},
    [MTX_TIMEDLOCK] = {"mtx_timedlock", "GLIBC_2.34"},
    [MTX_UNLOCK] = {"mtx_unlock", "GLIBC_2.34"},
    [RDLOCK] = {"pthread_rwlock_rdlock", "GLIBC_2.34"},
    [TRYRDLOCK] = {"pthread_rwlock_tryrdlock", "GLIBC_2.34"},
    [TIMEDRDLOCK] = {"pthread_rwlock_timedrdlock", "GLIBC_2.34"},
    [CLOCKRDLOCK] = {"pthread_rwlock_clockrdlock", "GLIBC_2.34"},
    [WRLOCK] = {"pthread_rwlock_wrlock", "GLIBC_2.34"},
    [TRYWRLOCK] = {"pthread_rwlock_trywrlock", "GLIBC_2.34"},
    [TIMEDWRLOCK] = {"pthread_rwlock_timedwrlock", "GLIBC_2.34"},
    [CLOCKWRLOCK] = {"pthread_rwlock_clockwrlock", "GLIBC_2.34"},
    [RWLOCK_UNLOCK] = {"pthread_rwlock_unlock", "GLIBC_2.34"},
    [COND_WAIT] = {"pthread_cond_wait", "GLIBC_2.3.2"},
    [COND_TIMEDWAIT] = {"pthread_cond_timedwait", "GLIBC_2.3.2"},
    [COND_CLOCKWAIT] = {"pthread_cond_clockwait", "GLIBC_2.34"},
    [COND_SIGNAL] = {"pthread_cond_signal", "GLIBC_2.3.2"},
    [COND_BROADCAST] = {"pthread_cond_broadcast", "GLIBC_2.3.2"},
    [CND_WAIT] = {"cnd_wait", "GLIBC_2.34"},
    [CND_TIMEDWAIT] = {"cnd_timedwait", "GLIBC_2.34"},
    [CND_SIGNAL] = {"cnd_signal", "GLIBC_2.34"},
    [CND_BROADCAST] = {"cnd_broadcast", "GLIBC_2.34"},
    [SEM_WAIT] = {"sem_wait", "GLIBC_2.34"},
    [SEM_TRYWAIT] = {"sem_trywait", "GLIBC_2.34"},
    [SEM_TIMEDWAIT] = {"sem_timedwait", "GLIBC_2.34"},
    [SEM_CLOCKWAIT] = {"sem_clockwait", "GLIBC_2.34"},
    [SEM_POST] = {"sem_post", "GLIBC_2.34"},
    [BARRIER_WAIT] = {"pthread_barrier_wait", "GLIBC_2.34"},
};

/* Without the constructor: not kept, because the constructor may find another one. */
void *ondeck_observe_find_real(enum real which)
{
    void *found = ondeck_observe_find(names[which].name, names[which].version);
    if (!found)
        abort();
    return found;
}

/* Replaces clock_gettime(3) in this library: another one may show the program a time that is not the kernel's. */
OURS int ondeck_observe_clock_gettime(clockid_t, struct timespec *);
int ondeck_observe_clock_gettime(clockid_t clock, struct timespec *time)
{
    static int (*found)(clockid_t, struct timespec *);
    int (*function)(clockid_t, struct timespec *) = __atomic_load_n(&found, __ATOMIC_RELAXED);

    if (!function) {
        function = ondeck_observe_find("clock_gettime", "GLIBC_2.17");
        __atomic_store_n(&found, function, __ATOMIC_RELAXED);
    }
    return function(clock, time);
}

static int is_asked(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

/* The next function of that name: of this version if it is the C library's, of any if another library is in front of
   it, which most often gives its functions none. */
static void *next(const char *name, const char *version)
{
    void *of_version = dlvsym(RTLD_NEXT, name, version), *any = dlsym(RTLD_NEXT, name);
    Dl_info a, b;

    if (of_version && any && dladdr(of_version, &a) && dladdr(any, &b) && a.dli_fbase == b.dli_fbase)
        return of_version;
    return any ? any : of_version;
}

__attribute__((constructor(102))) static void start(void)
{
    for (int which = 0; which < REALS; which++) {
        void *found = next(names[which].name, names[which].version);
        if (found)
            __atomic_store_n(&ondeck_observe_reals[which], found, __ATOMIC_RELAXED);
    }
    /* ThreadSanitizer would find races in the recorder, whose synchronization it does not see. */
    ondeck_observe_is_wanted = !getauxval(AT_SECURE) && (is_asked("ONDECK_PROFILE") || is_asked("ONDECK_CONTROL"))
        && !ondeck_observe_is_loaded("libtsan.so");
}
