/* A lock with a known keeper: one thread holds it for KEPT_NANOS each time, three others for a moment. Each notes how long it
   has waited.

   The program defines `lock` and `unlock` for the victims, and `keep` and `release` for the keeper. It prints the sum of
   all waits, and for how long the victims have held the lock, in nanoseconds. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void pause_for(long microseconds) {
    struct timespec length = {0, microseconds * 1000};
    nanosleep(&length, NULL);
}

#ifndef KEPT_NANOS
#define KEPT_NANOS 2000000
#endif

enum { VICTIMS = 3, ROUNDS = 100 };
static volatile int over;
static uint64_t waited[VICTIMS + 1], held[VICTIMS];

__attribute__((noinline)) static void keeper_long(void) {
    uint64_t begin = now();
    keep();
    uint64_t end = now();
    waited[VICTIMS] += end - begin;
    while (now() - end < KEPT_NANOS) {}
    release();
    __asm__ volatile("");
}

__attribute__((noinline)) static void victim_short(int thread) {
    uint64_t begin = now();
    lock();
    uint64_t end = now();
    waited[thread] += end - begin;
    unlock();
    held[thread] += now() - end;
    __asm__ volatile("");
}

static void *keepers(void *nothing) {
    for (int round = 0; round < ROUNDS; round++) {
        keeper_long();
        pause_for(3000);
    }
    over = 1;
    return nothing;
}

static void *victims(void *thread) {
    while (!over) {
        victim_short((int)(intptr_t)thread);
        pause_for(200);
    }
    return NULL;
}

static void run(void) {
    pthread_t threads[VICTIMS + 1];
    uint64_t all = 0, shortly = 0;
    for (intptr_t i = 0; i < VICTIMS; i++) pthread_create(&threads[i], NULL, victims, (void *)i);
    pthread_create(&threads[VICTIMS], NULL, keepers, NULL);
    for (int i = 0; i <= VICTIMS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i <= VICTIMS; i++) all += waited[i];
    for (int i = 0; i < VICTIMS; i++) shortly += held[i];
    printf("%llu %llu\n", (unsigned long long)all, (unsigned long long)shortly);
}
