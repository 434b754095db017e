/* Threads that share one SSL_CTX of OpenSSL 3: handshakes over memory, sessions in the shared cache, random numbers,
 * algorithms that are fetched by name.
 *
 * tls KEY CERTIFICATE THREADS SECONDS: prints the handshakes a second. It ends with 1 if anything fails. */
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static SSL_CTX *server_context, *client_context;
static atomic_bool stop;
static atomic_ulong handshakes, resumed;

/* A session that any thread may take and resume. */
static pthread_mutex_t session_lock = PTHREAD_MUTEX_INITIALIZER;
static SSL_SESSION *session;

static void need(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s failed\n", what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static void keep_session(SSL *client)
{
    SSL_SESSION *mine = SSL_get1_session(client);
    need(mine != NULL, "SSL_get1_session");
    pthread_mutex_lock(&session_lock);
    SSL_SESSION *old = session;
    session = mine;
    pthread_mutex_unlock(&session_lock);
    SSL_SESSION_free(old);
}

static void resume_session(SSL *client)
{
    pthread_mutex_lock(&session_lock);
    if (session != NULL)
        need(SSL_set_session(client, session), "SSL_set_session");
    pthread_mutex_unlock(&session_lock);
}

static void handshake(unsigned round)
{
    SSL *server = SSL_new(server_context), *client = SSL_new(client_context);
    BIO *one, *other;
    need(server != NULL && client != NULL, "SSL_new");
    need(BIO_new_bio_pair(&one, 0, &other, 0), "BIO_new_bio_pair");
    SSL_set_bio(server, one, one);
    SSL_set_bio(client, other, other);
    SSL_set_accept_state(server);
    SSL_set_connect_state(client);
    if (round % 4 != 0)
        resume_session(client);
    for (int turn = 0; !SSL_is_init_finished(server) || !SSL_is_init_finished(client); turn++) {
        need(turn < 20, "a handshake");
        SSL_do_handshake(client);
        SSL_do_handshake(server);
    }

    unsigned char sent[4000], received[sizeof sent];
    need(RAND_bytes(sent, sizeof sent) == 1, "RAND_bytes");
    need(SSL_write(server, sent, sizeof sent) == (int)sizeof sent, "SSL_write");
    int length = 0;
    while (length < (int)sizeof sent) {
        int got = SSL_read(client, received + length, (int)sizeof received - length);
        need(got > 0, "SSL_read");
        length += got;
    }
    need(memcmp(sent, received, sizeof sent) == 0, "the comparison of what was sent and received");
    /* With TLS 1.3 the ticket came with the data. */
    keep_session(client);
    if (SSL_session_reused(client))
        atomic_fetch_add(&resumed, 1);
    SSL_shutdown(client);
    SSL_shutdown(server);
    SSL_free(client);
    SSL_free(server);
}

static void digest(void)
{
    EVP_MD *algorithm = EVP_MD_fetch(NULL, "SHA256", NULL);
    unsigned char value[EVP_MAX_MD_SIZE];
    unsigned length;
    need(algorithm != NULL, "EVP_MD_fetch");
    need(EVP_Digest("abc", 3, value, &length, algorithm, NULL), "EVP_Digest");
    need(length == 32 && value[0] == 0xba && value[31] == 0xad, "the digest of abc");
    EVP_MD_free(algorithm);
}

static void *work(void *unused)
{
    (void)unused;
    for (unsigned round = 0; !atomic_load(&stop); round++) {
        handshake(round);
        digest();
        atomic_fetch_add(&handshakes, 1);
    }
    return NULL;
}

int main(int count, char **arguments)
{
    if (count != 5) {
        fprintf(stderr, "usage: tls KEY CERTIFICATE THREADS SECONDS\n");
        return 2;
    }
    int threads = atoi(arguments[3]), seconds = atoi(arguments[4]);
    need(threads > 0 && seconds > 0, "reading THREADS and SECONDS");
    server_context = SSL_CTX_new(TLS_server_method());
    client_context = SSL_CTX_new(TLS_client_method());
    need(server_context != NULL && client_context != NULL, "SSL_CTX_new");
    need(SSL_CTX_use_PrivateKey_file(server_context, arguments[1], SSL_FILETYPE_PEM), "reading the key");
    need(SSL_CTX_use_certificate_file(server_context, arguments[2], SSL_FILETYPE_PEM), "reading the certificate");
    /* Sessions are kept by the server, under the lock of the context. */
    SSL_CTX_set_options(server_context, SSL_OP_NO_TICKET);
    SSL_CTX_set_session_cache_mode(server_context, SSL_SESS_CACHE_SERVER);
    SSL_CTX_set_session_id_context(server_context, (const unsigned char *)"tls", 3);

    pthread_t *all = calloc((size_t)threads, sizeof *all);
    need(all != NULL, "calloc");
    for (int i = 0; i < threads; i++)
        need(pthread_create(&all[i], NULL, work, NULL) == 0, "pthread_create");
    nanosleep(&(struct timespec){.tv_sec = seconds}, NULL);
    atomic_store(&stop, 1);
    for (int i = 0; i < threads; i++)
        pthread_join(all[i], NULL);
    need(atomic_load(&resumed) > 0, "resuming a session");
    printf("%.1f\n", (double)atomic_load(&handshakes) / seconds);
    SSL_SESSION_free(session);
    SSL_CTX_free(server_context);
    SSL_CTX_free(client_context);
    free(all);
    return 0;
}
