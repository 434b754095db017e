#!/usr/bin/env python3
"""Compares the names and versions that the shim exports with those of the C library.

    locks/ondeck-preload/symbols.py SHIM [LIBC]

Each function of the C library's mutexes, condition variables and C11 counterparts is exported by the shim under the
same name and version, default or not, or it is in LEFT with the reason why not. The shim exports nothing else. It
needs no function that allocates or asks the loader.
"""

import re
import subprocess
import sys

# What a family of the C library's functions is: name patterns.
FAMILY = re.compile(
    r"(__)?pthread_(mutex|cond|rwlock)(attr)?_\w+|(mtx|cnd)_\w+|pthread_setcanceltype"
    r"|pthread_(spin|barrier|barrierattr)_\w+|sem_\w+|(__)?pthread_once|call_once|dlopen"
)

# Patterns of NAME@VERSION that stay the C library's, each with the reason.
LEFT = {
    r"pthread_cond_(init|destroy|signal|broadcast)@GLIBC_2\.2\.5":
        "the object of this version is a pointer to one that the C library allocates",
    r"(__)?pthread_mutexattr_\w+@.*": "attributes are the C library's: its pthread_mutex_init is asked what they mean",
    r"pthread_condattr_\w+@.*": "attributes are the C library's: its pthread_cond_init is asked what they mean",
    r"pthread_mutex_consistent(_np)?@.*": "of robust mutexes only, which are the C library's; EINVAL for all others",
    r"pthread_mutex_[gs]etprioceiling@.*": "of priority-protected mutexes only, which are the C library's; EINVAL for all others",
    r"pthread_barrierattr_\w+@.*": "attributes are the C library's: its pthread_barrier_init is asked what they mean",
    r"pthread_spin_(init|destroy|trylock|unlock)@.*": "the word is the C library's, and these do not wait",
    r"sem_(init|destroy|getvalue|trywait|post)@.*": "the words are the C library's, and these do not wait",
    r"sem_(open|close|unlink)@.*": "named semaphores are shared between processes",
    r"(__)?pthread_once@.*|call_once@.*": "the routine runs once, and each later call is one load in the C library, too",
    r"pthread_rwlockattr_\w+@.*": "attributes are the C library's: its pthread_rwlock_init is asked what they mean",
}

# What the shim must not need: it works inside of an allocator, and while another thread holds the loader's lock.
FORBIDDEN = re.compile(
    r"malloc|calloc|realloc|free|posix_memalign|aligned_alloc|mmap(64)?|sbrk|dlopen|dlsym|dlvsym|dladdr1?|dl_iterate_phdr"
    r"|__tls_get_addr|__cxa_thread_atexit_impl|pthread_key_create|pthread_create|pthread_(mutex|cond|rwlock|barrier|spin)_\w+"
)


def symbols(path):
    """(name, version, is default) of what a library defines, and the names that it needs."""
    text = subprocess.run(["readelf", "-W", "--dyn-syms", path], check=True, capture_output=True, text=True).stdout
    defined, needed = set(), set()
    for line in text.splitlines():
        fields = line.split()
        if len(fields) < 8 or not fields[0].endswith(":") or not fields[0][:-1].isdigit():
            continue
        kind, section = fields[3], fields[6]
        name, at, version = fields[7].partition("@")
        if section == "UND":
            needed.add(name)
        elif kind in ("FUNC", "IFUNC"):
            defined.add((name, version.lstrip("@"), version.startswith("@")))
    return defined, needed


def problems(shim, needed, libc):
    """What is wrong, a line each."""
    family = {symbol for symbol in libc if FAMILY.fullmatch(symbol[0])}
    left = {symbol for symbol in family if any(re.fullmatch(pattern, f"{symbol[0]}@{symbol[1]}") for pattern in LEFT)}

    def write(symbol):
        name, version, default = symbol
        return f"{name}@{'@' if default else ''}{version}"

    for symbol in sorted(family - left - shim):
        yield f"{write(symbol)} is the C library's, and neither the shim's nor listed as left to the C library"
    for symbol in sorted(shim - libc):
        yield f"{write(symbol)} is the shim's, and not the C library's"
    for symbol in sorted(shim & left):
        yield f"{write(symbol)} is the shim's, and listed as left to the C library"
    for pattern in LEFT:
        if not any(re.fullmatch(pattern, f"{name}@{version}") for name, version, _ in family):
            yield f"no function of the C library is one of {pattern}, which LEFT names"
    for name in sorted(name for name in needed if FORBIDDEN.fullmatch(name)):
        yield f"the shim needs {name}, which no lock may call"


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    path = sys.argv[2] if len(sys.argv) == 3 else "/lib/x86_64-linux-gnu/libc.so.6"
    (shim, needed), (libc, _) = symbols(sys.argv[1]), symbols(path)
    found = list(problems(shim, needed, libc))
    for line in found:
        print(line, file=sys.stderr)
    if found:
        sys.exit(1)
    print(f"{len(shim)} names and versions are the shim's, all as the C library has them")


if __name__ == "__main__":
    main()
