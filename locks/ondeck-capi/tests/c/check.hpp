// Shared by the C++ tests.
#ifndef CHECK_HPP
#define CHECK_HPP

#include <cstdio>
#include <cstdlib>

// Ends the test if something is not so.
#define CHECK(truth)                                                                               \
    do {                                                                                           \
        if (!(truth)) {                                                                            \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #truth);               \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

#endif
