// Loads a copy of a plug-in, deletes the copy, as hosts do that unpack theirs, and runs two threads in it.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void (*work)(void);
static void *thread(void *unused)
{
    work();
    return unused;
}

int main(int count, char **arguments)
{
    char command[4096];
    snprintf(command, sizeof command, "cp %s ./copy.so", arguments[count - 1]);
    void *plugin = system(command) == 0 ? dlopen("./copy.so", RTLD_NOW) : NULL;
    if (plugin == NULL) return 2;
    unlink("./copy.so");
    work = (void (*)(void))dlsym(plugin, "plugin_work");
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, thread, NULL);
    puts("ready");
    fflush(stdout);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}
