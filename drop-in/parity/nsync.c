// Uses each nsync item that docs/data/parity.md names once. A wrong result fails an assertion.
#undef NDEBUG
#include <assert.h>
#include <errno.h>
#include <nsync.h>
#include <pthread.h>
#include <stdlib.h>

static nsync_mu mutex = NSYNC_MU_INIT;
static nsync_cv changed = NSYNC_CV_INIT;
static nsync_once once = NSYNC_ONCE_INIT;
static int ready, calls;

static nsync_time soon(void) { return nsync_time_add(nsync_time_now(), nsync_time_ms(1)); }

static void elsewhere(void *(*function)(void *), void *argument) {
    pthread_t thread;
    assert(pthread_create(&thread, NULL, function, argument) == 0);
    assert(pthread_join(thread, NULL) == 0);
}

static void *fails_to_write(void *unused) {
    assert(!nsync_mu_trylock(&mutex));
    return unused;
}

static void *reads_beside(void *unused) {
    assert(nsync_mu_rtrylock(&mutex));
    nsync_mu_runlock(&mutex);
    return fails_to_write(unused);
}

static void a_mutex_is_tried_and_has_readers(void) {
    nsync_mu_lock(&mutex);
    nsync_mu_assert_held(&mutex);
    assert(!nsync_mu_is_reader(&mutex));
    elsewhere(fails_to_write, NULL);
    nsync_mu_unlock(&mutex);
    nsync_mu_rlock(&mutex);
    assert(nsync_mu_is_reader(&mutex));
    elsewhere(reads_beside, NULL);
    nsync_mu_runlock(&mutex);
}

static int is_set(const void *flag) { return *(const int *)flag; }

static void *sets(void *unused) {
    nsync_mu_lock(&mutex);
    ready = 1;
    nsync_cv_signal(&changed);
    nsync_cv_broadcast(&changed);
    nsync_mu_unlock(&mutex);
    return unused;
}

static void lock(void *mu) { nsync_mu_lock(mu); }
static void unlock(void *mu) { nsync_mu_unlock(mu); }

static void conditions_are_waited_for(void) {
    nsync_mu_lock(&mutex);
    assert(nsync_cv_wait_with_deadline(&changed, &mutex, soon(), NULL) == ETIMEDOUT);
    assert(nsync_cv_wait_with_deadline_generic(&changed, &mutex, lock, unlock, soon(), NULL) == ETIMEDOUT);
    assert(nsync_mu_wait_with_deadline(&mutex, is_set, &ready, NULL, soon(), NULL) == ETIMEDOUT);
    pthread_t thread;
    assert(pthread_create(&thread, NULL, sets, NULL) == 0);
    while (!ready) nsync_cv_wait(&changed, &mutex);
    nsync_mu_wait(&mutex, is_set, &ready, NULL);
    nsync_mu_unlock(&mutex);
    assert(pthread_join(thread, NULL) == 0);
}

static void count_a_call(void) { calls++; }

static void what_else_waits(void) {
    nsync_run_once(&once, count_a_call);
    nsync_run_once(&once, count_a_call);
    assert(calls == 1);

    nsync_note note = nsync_note_new(NULL, nsync_time_no_deadline);
    nsync_note_notify(note);
    assert(nsync_note_wait(note, nsync_time_no_deadline));
    nsync_counter counter = nsync_counter_new(1);
    assert(nsync_counter_add(counter, -1) == 0);
    assert(nsync_counter_wait(counter, nsync_time_no_deadline) == 0);
    struct nsync_waitable_s ready_note = {note, &nsync_note_waitable_funcs};
    struct nsync_waitable_s *waitables[] = {&ready_note};
    assert(nsync_wait_n(NULL, NULL, NULL, nsync_time_no_deadline, 1, waitables) == 0);
    nsync_counter_free(counter);
    nsync_note_free(note);

    char text[256];
    assert(nsync_mu_debug_state(&mutex, text, sizeof text) == text);
}

int main(void) {
    a_mutex_is_tried_and_has_readers();
    conditions_are_waited_for();
    what_else_waits();
    return EXIT_SUCCESS;
}
