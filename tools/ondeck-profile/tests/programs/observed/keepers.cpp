// A lock of C++ with a known keeper: LOCK names it. See keepers.h.
#include HEADER

static LOCK the_lock;

static inline void keep() { the_lock.ACQUIRE(); }
static inline void release() { the_lock.RELEASE(); }
static inline void lock() { keep(); }
static inline void unlock() { release(); }

#include "keepers.h"

int main() { run(); }
