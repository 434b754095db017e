//! Under which names and versions programs find the functions: those that the C library has.
//!
//! `@@` is the version that a program gets which is linked today, and `@` one for programs that were linked
//! before. Versions with a different layout of the object are not here, and so stay the C library's:
//! `pthread_cond_*` of `GLIBC_2.2.5`. `ci/preload-symbols.py` compares the list with the C library's.

core::arch::global_asm!(
    ".symver ondeck_preload_mutex_init, pthread_mutex_init@@GLIBC_2.2.5",
    ".symver ondeck_preload_mutex_init, __pthread_mutex_init@GLIBC_2.2.5",
    ".symver ondeck_preload_mutex_destroy, pthread_mutex_destroy@@GLIBC_2.2.5",
    ".symver ondeck_preload_mutex_destroy, __pthread_mutex_destroy@GLIBC_2.2.5",
    ".symver ondeck_preload_mutex_lock, pthread_mutex_lock@@GLIBC_2.2.5",
    ".symver ondeck_preload_mutex_lock, __pthread_mutex_lock@GLIBC_2.2.5",
    ".symver ondeck_preload_mutex_trylock, pthread_mutex_trylock@@GLIBC_2.34",
    ".symver ondeck_preload_mutex_trylock, pthread_mutex_trylock@GLIBC_2.2.5",
    ".symver ondeck_preload_mutex_trylock, __pthread_mutex_trylock@GLIBC_2.2.5",
    ".symver ondeck_preload_mutex_timedlock, pthread_mutex_timedlock@@GLIBC_2.34",
    ".symver ondeck_preload_mutex_timedlock, pthread_mutex_timedlock@GLIBC_2.2.5",
    ".symver ondeck_preload_mutex_clocklock, pthread_mutex_clocklock@@GLIBC_2.34",
    ".symver ondeck_preload_mutex_clocklock, pthread_mutex_clocklock@GLIBC_2.30",
    ".symver ondeck_preload_mutex_unlock, pthread_mutex_unlock@@GLIBC_2.2.5",
    ".symver ondeck_preload_mutex_unlock, __pthread_mutex_unlock@GLIBC_2.2.5",
    ".symver ondeck_preload_mtx_init, mtx_init@@GLIBC_2.34",
    ".symver ondeck_preload_mtx_init, mtx_init@GLIBC_2.28",
    ".symver ondeck_preload_mtx_destroy, mtx_destroy@@GLIBC_2.34",
    ".symver ondeck_preload_mtx_destroy, mtx_destroy@GLIBC_2.28",
    ".symver ondeck_preload_mtx_lock, mtx_lock@@GLIBC_2.34",
    ".symver ondeck_preload_mtx_lock, mtx_lock@GLIBC_2.28",
    ".symver ondeck_preload_mtx_trylock, mtx_trylock@@GLIBC_2.34",
    ".symver ondeck_preload_mtx_trylock, mtx_trylock@GLIBC_2.28",
    ".symver ondeck_preload_mtx_timedlock, mtx_timedlock@@GLIBC_2.34",
    ".symver ondeck_preload_mtx_timedlock, mtx_timedlock@GLIBC_2.28",
    ".symver ondeck_preload_mtx_unlock, mtx_unlock@@GLIBC_2.34",
    ".symver ondeck_preload_mtx_unlock, mtx_unlock@GLIBC_2.28",
);
