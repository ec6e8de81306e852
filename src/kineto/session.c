#include "kineto/session.h"

#include "kineto/members.h"
#include "kineto/text.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES (256u << 10)
#define CHUNK_BYTES  (256u << 10)
#define DEEPEST      512u
#define NAMES        256u /* texts that are looked at before one is copied again; a power of two */

/* Memory for texts. */
struct chunk {
    struct chunk *next;
    size_t used, size;
    char bytes[];
};

struct pu1_session {
    const pu1_vendors_t *vendors;
    uint32_t enabled[PU1_SESSION_VENDORS];        /* kinds */
    uint64_t dropped_before[PU1_SESSION_VENDORS]; /* by each, when the session started */
    uint64_t dropped;                             /* by all since then, when it has finished */
    bool stopped;
    pthread_mutex_t lock;
    pu1_item_t *items; /* under the lock, as the rest */
    size_t count, capacity;
    struct chunk *chunks;
    const char *names[NAMES];
    uint64_t lost; /* for want of memory */
};

/* The session that gets records; changed under the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pu1_session_t *current;

/* Vendors that get ids: bits of their places. */
static _Atomic uint32_t pushing;
static const pu1_vendors_t *_Atomic pushed_to;
static _Atomic uint32_t session_number; /* of the last one that has started */

/* ---- what vendors call ---- */

/* In UTF-8, whatever the vendor's is. */
static const char *copy_text(pu1_session_t *session, const char *text)
{
    size_t size = strlen(text) + 1;
    struct chunk *chunk = session->chunks;
    if (chunk == NULL || chunk->size - chunk->used < size) {
        size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;
        chunk = malloc(sizeof *chunk + room);
        if (chunk == NULL)
            return NULL;
        *chunk = (struct chunk){.next = session->chunks, .size = room};
        session->chunks = chunk;
    }
    char *copy = chunk->bytes + chunk->used;
    memcpy(copy, text, size);
    pu1_mend_utf8(copy);
    chunk->used += size;
    return copy;
}

static size_t place_of_name(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash & (NAMES - 1);
}

static const char *copy_name(pu1_session_t *session, const char *name)
{
    const char **known = &session->names[place_of_name(name)];
    if (*known == NULL || strcmp(*known, name) != 0)
        *known = copy_text(session, name);
    return *known;
}

static bool has_room(pu1_session_t *session)
{
    if (session->count < session->capacity)
        return true;
    size_t capacity = session->capacity > 0 ? 2 * session->capacity : 1024;
    pu1_item_t *items = realloc(session->items, capacity * sizeof *items);
    if (items == NULL)
        return false;
    session->items = items;
    session->capacity = capacity;
    return true;
}

/* Under the session's lock. What a newer vendor has more, kinds and members, is not looked at. */
static void keep(pu1_session_t *session, size_t vendor, const pu1ActivityRecord *record)
{
    pu1_item_t item = {.record = *record, .vendor = vendor};
    if (record->kind < 1 || record->kind > PU1_LAST_KIND)
        return;
    if (item.record.end_time < item.record.start_time)
        item.record.end_time = item.record.start_time;
    bool json = record->metadata != NULL && pu1_is_object(record->metadata);
    item.record.name = copy_name(session, record->name != NULL ? record->name : "");
    item.record.metadata = json ? copy_text(session, record->metadata) : NULL;
    if (item.record.name == NULL || !has_room(session))
        session->lost++;
    else
        session->items[session->count++] = item;
}

static void request(uint8_t **buffer, size_t *size)
{
    *buffer = malloc(BUFFER_BYTES);
    *size = *buffer != NULL ? BUFFER_BYTES : 0;
}

static void take(size_t vendor, uint8_t *buffer, size_t valid)
{
    pu1ActivityRecord *record = NULL;
    pthread_mutex_lock(&lock);
    pu1_session_t *session = current;
    if (session != NULL) {
        const pu1TracingApiTable *api = &session->vendors->items[vendor].api;
        pthread_mutex_lock(&session->lock);
        while (api->getNextRecord(buffer, valid, &record) == PU1_SUCCESS)
            keep(session, vendor, record);
        pthread_mutex_unlock(&session->lock);
    }
    pthread_mutex_unlock(&lock);
    free(buffer);
}

#define COMPLETE(n)                                                                                \
    static void complete_##n(uint8_t *buffer, size_t size, size_t valid)                           \
    {                                                                                              \
        (void)size;                                                                                \
        take(n, buffer, valid);                                                                    \
    }
COMPLETE(0)
COMPLETE(1)
COMPLETE(2)
COMPLETE(3)
COMPLETE(4)
COMPLETE(5)
COMPLETE(6)
COMPLETE(7)

static const pu1BufferCompleteFn completes[PU1_SESSION_VENDORS] = {
    complete_0, complete_1, complete_2, complete_3, complete_4, complete_5, complete_6, complete_7,
};

/* ---- a session ---- */

static size_t vendor_count(const pu1_session_t *session)
{
    size_t count = session->vendors->count;
    return count < PU1_SESSION_VENDORS ? count : PU1_SESSION_VENDORS;
}

pu1_session_t *pu1_session_new(const pu1_vendors_t *vendors)
{
    pu1_session_t *session = calloc(1, sizeof *session);
    if (session == NULL)
        return NULL;
    session->vendors = vendors;
    session->stopped = true;
    pthread_mutex_init(&session->lock, NULL);
    return session;
}

__attribute__((format(printf, 3, 4))) static void tell(pu1_error_fn error, void *context,
                                                       const char *format, ...)
{
    char sentence[1024];
    va_list arguments;
    if (error == NULL)
        return;
    va_start(arguments, format);
    (void)vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    error(context, sentence);
}

static bool take_over(pu1_session_t *session)
{
    pthread_mutex_lock(&lock);
    bool free_now = current == NULL;
    if (free_now)
        current = session;
    pthread_mutex_unlock(&lock);
    return free_now;
}

static void give_up(const pu1_session_t *session)
{
    pthread_mutex_lock(&lock);
    if (current == session) {
        atomic_store(&pushing, 0);
        current = NULL;
    }
    pthread_mutex_unlock(&lock);
}

static uint32_t enable_vendor(const pu1_vendor_t *vendor, uint32_t kinds, pu1_error_fn error,
                              void *context)
{
    uint32_t enabled = 0;
    pu1Result told = PU1_SUCCESS; /* one reason is enough */
    for (uint32_t kind = 1; kind <= PU1_LAST_KIND; kind++) {
        if ((kinds & PU1_KIND_BIT(kind)) == 0)
            continue;
        pu1Result result = vendor->api.tracingEnable((pu1ActivityKind)kind);
        if (result == PU1_SUCCESS)
            enabled |= PU1_KIND_BIT(kind);
        else if (result != PU1_ERROR_NOT_SUPPORTED && result != told)
            tell(error, context, "%s cannot be traced: %s", vendor->api.vendor,
                 vendor->api.getLastError());
        if (result != PU1_SUCCESS && result != PU1_ERROR_NOT_SUPPORTED)
            told = result;
    }
    return enabled;
}

size_t pu1_session_start(pu1_session_t *session, uint32_t kinds, pu1_error_fn error, void *context)
{
    size_t count = 0;
    uint32_t places = 0;
    if (session->vendors->count > PU1_SESSION_VENDORS)
        tell(error, context, "of %zu vendors the first %u are traced", session->vendors->count,
             PU1_SESSION_VENDORS);
    /* What an earlier session has left in buffers comes back now, and is nobody's. */
    pthread_mutex_lock(&lock);
    bool busy = current != NULL;
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; !busy && i < vendor_count(session); i++)
        (void)session->vendors->items[i].api.tracingSetCallbacks(request, completes[i]);
    if (busy || !take_over(session)) {
        tell(error, context, "another session is running");
        return 0;
    }
    session->stopped = false;
    atomic_fetch_add(&session_number, 1);
    for (size_t i = 0; i < vendor_count(session); i++) {
        const pu1_vendor_t *vendor = &session->vendors->items[i];
        session->dropped_before[i] = vendor->api.getDroppedRecords();
        session->enabled[i] = enable_vendor(vendor, kinds, error, context);
        places |= session->enabled[i] != 0 ? 1u << i : 0;
        count += session->enabled[i] != 0;
    }
    atomic_store(&pushed_to, session->vendors);
    atomic_store(&pushing, places);
    return count;
}

bool pu1_session_has(const pu1_session_t *session, size_t vendor)
{
    return vendor < vendor_count(session) && session->enabled[vendor] != 0;
}

void pu1_session_stop(pu1_session_t *session)
{
    if (session->stopped)
        return;
    session->stopped = true;
    atomic_store(&pushing, 0);
    for (size_t i = 0; i < vendor_count(session); i++)
        for (uint32_t kind = 1; kind <= PU1_LAST_KIND; kind++)
            if ((session->enabled[i] & PU1_KIND_BIT(kind)) != 0)
                (void)session->vendors->items[i].api.tracingDisable((pu1ActivityKind)kind);
}

void pu1_session_finish(pu1_session_t *session, pu1_error_fn error, void *context)
{
    pu1_session_stop(session);
    for (size_t i = 0; i < vendor_count(session); i++) {
        const pu1_vendor_t *vendor = &session->vendors->items[i];
        if (session->enabled[i] != 0 && vendor->api.flushAll() != PU1_SUCCESS)
            tell(error, context, "%s has not handed over everything: %s", vendor->api.vendor,
                 vendor->api.getLastError());
        session->dropped += vendor->api.getDroppedRecords() - session->dropped_before[i];
    }
    give_up(session);
}

const pu1_item_t *pu1_session_items(const pu1_session_t *session, size_t *count)
{
    *count = session->count;
    return session->items;
}

uint64_t pu1_session_dropped(const pu1_session_t *session)
{
    return session->dropped + session->lost;
}

void pu1_session_free(pu1_session_t *session)
{
    if (session == NULL)
        return;
    pu1_session_stop(session);
    give_up(session);
    while (session->chunks != NULL) {
        struct chunk *next = session->chunks->next;
        free(session->chunks);
        session->chunks = next;
    }
    pthread_mutex_destroy(&session->lock);
    free(session->items);
    free(session);
}

/* ---- external ids ---- */

/* Which vendors had each push of the thread, in one session. Beyond its end pushes are not passed
 * on. */
static _Thread_local struct {
    uint32_t session;
    uint8_t places[DEEPEST];
    unsigned depth;
} pushes;

_Static_assert(PU1_SESSION_VENDORS <= 8, "a bit for each vendor");

static void take_off(void)
{
    unsigned depth = --pushes.depth;
    uint32_t places = depth < DEEPEST ? pushes.places[depth] : 0;
    const pu1_vendors_t *vendors = atomic_load_explicit(&pushed_to, memory_order_relaxed);
    for (size_t i = 0; places >> i != 0; i++)
        if ((places >> i & 1) != 0)
            (void)vendors->items[i].api.popExternalCorrelationId(NULL);
}

/* A host whose session ends within a scope may never pop it. */
static void forget_other_sessions(void)
{
    uint32_t session = atomic_load_explicit(&session_number, memory_order_acquire);
    while (pushes.session != session && pushes.depth > 0)
        take_off();
    pushes.session = session;
}

void pu1_session_push(uint64_t id)
{
    forget_other_sessions();
    unsigned depth = pushes.depth++;
    if (depth >= DEEPEST)
        return;
    uint32_t places = atomic_load_explicit(&pushing, memory_order_acquire);
    const pu1_vendors_t *vendors = atomic_load_explicit(&pushed_to, memory_order_relaxed);
    pushes.places[depth] = 0;
    for (size_t i = 0; places >> i != 0; i++)
        if ((places >> i & 1) != 0 &&
            vendors->items[i].api.pushExternalCorrelationId(id) == PU1_SUCCESS)
            pushes.places[depth] |= (uint8_t)(1u << i);
}

void pu1_session_pop(void)
{
    forget_other_sessions();
    if (pushes.depth > 0)
        take_off();
}

uint64_t pu1_flow_id(const pu1_vendors_t *vendors, const pu1_item_t *item)
{
    return item->record.correlation_id * vendors->count + item->vendor;
}
