// A plug-in with a lock, which the first thread keeps.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t plugin_lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void keep_plugin(void)
{
    pthread_mutex_lock(&plugin_lock);
    sleep(100000);
    __asm__ volatile("");
}

void plugin_work(void)
{
    keep_plugin();
    __asm__ volatile("");
}
