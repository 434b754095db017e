// Code that is made at run time, with frame pointers and without tables, calls a function that takes a lock. A map for
// perf(1) names it.
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_mutex_t jit_lock = PTHREAD_MUTEX_INITIALIZER;
// push rbp; mov rbp, rsp; call rdi; pop rbp; ret
static const unsigned char text[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
static void (*code)(void (*)(void));

__attribute__((noinline)) static void take_and_sleep(void)
{
    pthread_mutex_lock(&jit_lock);
    sleep(100000);
    __asm__ volatile("");
}
__attribute__((noinline)) static void interpreter(void)
{
    code(take_and_sleep);
    __asm__ volatile("");
}
static void *thread(void *unused)
{
    interpreter();
    return unused;
}

int main(void)
{
    int all = PROT_READ | PROT_WRITE | PROT_EXEC;
    char *page = mmap(NULL, 4096, all, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), name[64];
    memcpy(page, text, sizeof text);
    code = (void (*)(void (*)(void)))page;
    snprintf(name, sizeof name, "/tmp/perf-%d.map", getpid());
    FILE *map = fopen(name, "w");
    fprintf(map, "%lx %zx jit_order\n", (unsigned long)page, sizeof text);
    fclose(map);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, thread, NULL);
    puts("ready");
    fflush(stdout);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}
