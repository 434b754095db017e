/* The memory of the process, as the kernel reports it. */
#ifndef MEMORY_H
#define MEMORY_H

#include "conform.h"

/* Returns a line of /proc/self/status, in KiB: "VmRSS:", "RssAnon:", "VmData:". */
static inline long memory_kib(const char *name)
{
    char text[4096] = "";
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        abort();
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    const char *line = length > 0 ? strstr(text, name) : NULL;
    if (line == NULL)
        abort();
    return strtol(line + strlen(name), NULL, 10);
}

#endif
