#include "fleet/send.h"

#include "common/memory.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sender {
    const struct url *url;
    const struct tables_there *there;
    uint64_t run;
    struct lock *lock;
    unsigned jobs;
    pthread_t *threads;
    pthread_mutex_t mutex;
    pthread_cond_t taken, given;
    struct block **waiting; /* `jobs` of them at most */
    unsigned count;
    bool ended;
    struct sent sent;
};

static void query_of(const struct block *block, char *query, size_t size)
{
    size_t used = (size_t)snprintf(query, size, "INSERT INTO %s (", block->table->name);
    for (size_t i = 0; i < block->table->count && used < size; ++i)
        used += (size_t)snprintf(query + used, size - used, "%s`%s`", i ? ", " : "",
                                 block->table->columns[i].name);
    if (used < size)
        (void)snprintf(query + used, size - used, ") FORMAT Native");
}

/* The id is the block's: the server does not run it twice at a time. */
static bool send_one(struct sender *sender, struct server *server, const struct block *block,
                     struct data *body)
{
    char query[1024];
    char settings[512];
    query_of(block, query, sizeof query);
    (void)snprintf(settings, sizeof settings,
                   "%s&decompress=1&http_native_compression_disable_checksumming_on_decompress=1"
                   "&query_id=rtl-load-%" PRIu64 "-%s-%" PRIu32,
                   tables_settings(sender->there), sender->run, block->table->name, block->number);
    block_encode(block, sender->there->low, body);
    if (lock_held(sender->lock))
        return server_insert(server, settings, query, body->data, body->size);
    server->failed = SERVER_LATER;
    (void)snprintf(server->error, sizeof server->error, "%s has ended the connection",
                   sender->url->shown);
    return false;
}

/* NULL: there will be none any more. */
static struct block *next(struct sender *sender)
{
    struct block *block = NULL;
    (void)pthread_mutex_lock(&sender->mutex);
    while (!sender->count && !sender->ended)
        (void)pthread_cond_wait(&sender->given, &sender->mutex);
    if (sender->count) {
        block = sender->waiting[0];
        memmove(&sender->waiting[0], &sender->waiting[1], --sender->count * sizeof(struct block *));
        (void)pthread_cond_signal(&sender->taken);
    }
    (void)pthread_mutex_unlock(&sender->mutex);
    return block;
}

static bool has_failed(struct sender *sender)
{
    (void)pthread_mutex_lock(&sender->mutex);
    bool failed = sender->sent.failed != SERVER_FINE;
    (void)pthread_mutex_unlock(&sender->mutex);
    return failed;
}

/* The first failure is told, unless a later one cannot be helped. */
static void note(struct sender *sender, const struct server *server, size_t rows, size_t bytes)
{
    struct sent *sent = &sender->sent;
    (void)pthread_mutex_lock(&sender->mutex);
    if (server->failed == SERVER_FINE) {
        sent->rows += rows;
        sent->bytes += bytes;
        ++sent->blocks;
    } else if (server->failed > sent->failed) {
        sent->failed = server->failed;
        memcpy(sent->error, server->error, sizeof sent->error);
    }
    (void)pthread_cond_broadcast(&sender->taken);
    (void)pthread_mutex_unlock(&sender->mutex);
}

static void *work(void *state)
{
    struct sender *sender = state;
    struct server server = server_open(sender->url);
    struct data body = {0};
    struct block *block;
    while ((block = next(sender))) {
        if (!has_failed(sender)) {
            (void)send_one(sender, &server, block, &body);
            note(sender, &server, block->rows, body.size);
        }
        block_free(block);
    }
    server_close(&server);
    free(body.data);
    return NULL;
}

struct sender *send_begin(const struct url *url, const struct tables_there *there, uint64_t run,
                          unsigned jobs, struct lock *lock)
{
    struct sender *sender = memory_new(1, sizeof *sender);
    *sender = (struct sender){.url = url, .there = there, .run = run, .lock = lock, .jobs = jobs};
    sender->threads = memory_new(jobs, sizeof *sender->threads);
    sender->waiting = memory_new(jobs, sizeof(struct block *));
    (void)pthread_mutex_init(&sender->mutex, NULL);
    (void)pthread_cond_init(&sender->taken, NULL);
    (void)pthread_cond_init(&sender->given, NULL);
    for (unsigned i = 0; i < jobs; ++i)
        if (pthread_create(&sender->threads[i], NULL, work, sender) != 0)
            memory_is_short();
    return sender;
}

bool send_block(struct sender *sender, struct block *block)
{
    (void)pthread_mutex_lock(&sender->mutex);
    while (sender->count == sender->jobs && sender->sent.failed == SERVER_FINE)
        (void)pthread_cond_wait(&sender->taken, &sender->mutex);
    bool takes = sender->sent.failed == SERVER_FINE;
    if (takes) {
        sender->waiting[sender->count++] = block;
        (void)pthread_cond_signal(&sender->given);
    }
    (void)pthread_mutex_unlock(&sender->mutex);
    if (!takes)
        block_free(block);
    return takes;
}

void send_end(struct sender *sender, struct sent *sent)
{
    (void)pthread_mutex_lock(&sender->mutex);
    sender->ended = true;
    (void)pthread_cond_broadcast(&sender->given);
    (void)pthread_mutex_unlock(&sender->mutex);
    for (unsigned i = 0; i < sender->jobs; ++i)
        (void)pthread_join(sender->threads[i], NULL);
    *sent = sender->sent;
    (void)pthread_mutex_destroy(&sender->mutex);
    (void)pthread_cond_destroy(&sender->taken);
    (void)pthread_cond_destroy(&sender->given);
    free(sender->threads);
    free(sender->waiting);
    free(sender);
}
