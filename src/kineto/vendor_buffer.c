#include "kineto/vendor_buffer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    pu1BufferRequestFn request;
    pu1BufferCompleteFn complete;
    uint8_t *memory; /* NULL: none */
    size_t size;
    size_t used;  /* by records, from the front */
    size_t texts; /* where the texts begin, which go on to the end */
} now;            /* under the lock */

static _Atomic uint64_t dropped;
static _Thread_local bool calling __attribute__((tls_model("initial-exec")));

void rtl_buffer_drop(uint64_t count)
{
    atomic_fetch_add_explicit(&dropped, count, memory_order_relaxed);
}

uint64_t rtl_buffer_dropped(void)
{
    return atomic_load_explicit(&dropped, memory_order_relaxed);
}

bool rtl_buffer_is_calling(void)
{
    return calling;
}

/* Under the lock. */
static void hand_back(size_t valid)
{
    uint8_t *memory = now.memory;
    now.memory = NULL;
    now.used = 0;
    calling = true;
    now.complete(memory, now.size, valid);
    calling = false;
}

/* Under the lock. True if there is a buffer with room for a record at least. */
static bool ask(void)
{
    if (now.request == NULL)
        return false;
    now.size = 0;
    calling = true;
    now.request(&now.memory, &now.size);
    calling = false;
    now.texts = now.size;
    if (now.memory == NULL)
        return false;
    if (now.size >= sizeof(pu1ActivityRecord) && (uintptr_t)now.memory % PU1_BUFFER_ALIGNMENT == 0)
        return true;
    hand_back(0);
    return false;
}

/* Under the lock. */
static bool has_room(size_t text)
{
    return now.memory != NULL && now.texts - now.used >= sizeof(pu1ActivityRecord) + text;
}

/* Under the lock; there is room for the record. */
static void write(const pu1ActivityRecord *record, const char *metadata, size_t size)
{
    pu1ActivityRecord copy = *record;
    copy.metadata = NULL;
    if (size > 0 && has_room(size)) {
        now.texts -= size;
        memcpy(now.memory + now.texts, metadata, size);
        copy.metadata = (const char *)now.memory + now.texts;
    }
    memcpy(now.memory + now.used, &copy, sizeof copy);
    now.used += sizeof copy;
}

void rtl_buffer_put(const pu1ActivityRecord *record, const char *metadata)
{
    size_t size = metadata != NULL ? strlen(metadata) + 1 : 0;
    pthread_mutex_lock(&lock);
    if (now.memory != NULL && !has_room(size))
        hand_back(now.used);
    if (now.memory != NULL || ask())
        write(record, metadata, size);
    else
        rtl_buffer_drop(1);
    pthread_mutex_unlock(&lock);
}

void rtl_buffer_complete(bool valid)
{
    pthread_mutex_lock(&lock);
    if (now.memory != NULL)
        hand_back(valid ? now.used : 0);
    pthread_mutex_unlock(&lock);
}

void rtl_buffer_use(pu1BufferRequestFn request, pu1BufferCompleteFn complete)
{
    pthread_mutex_lock(&lock);
    if (now.memory != NULL)
        hand_back(now.used);
    now.request = request;
    now.complete = complete;
    pthread_mutex_unlock(&lock);
}

void rtl_buffer_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    memset(&now, 0, sizeof now);
}
