#include "kineto/session.h"

#include "kineto/ids.h"
#include "kineto/members.h"
#include "kineto/text.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES    (256u << 10)
#define CHUNK_BYTES     (256u << 10)
#define LARGEST_PROCESS (1u << 22) /* of Linux */
#define NAMES           256u /* texts that are looked at before one is copied again; a power of two */

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
    uint64_t malformed, unknown;
    uint64_t unpushed; /* when it has finished */
};

/* The session that gets records; changed under the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pu1_session_t *current;

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

/* A record that can be shown, with what is wrong about it put right; `*item` begins as it came.
 * False: its times are none. */
static bool put_right(pu1_session_t *session, pu1_item_t *item)
{
    pu1ActivityRecord *record = &item->record;
    bool json = record->metadata != NULL && pu1_is_object(record->metadata);
    bool ends = record->end_time >= record->start_time && record->end_time <= INT64_MAX;
    if (record->name == NULL || !ends || (record->metadata != NULL && !json))
        session->malformed++;
    if (record->start_time > INT64_MAX)
        return false;
    if (!ends)
        record->end_time = record->start_time;
    /* Process 0 is a device of Kineto's own in a trace, and large ones are other devices. */
    if (record->process_id == 0 || record->process_id > LARGEST_PROCESS)
        record->process_id = (uint32_t)getpid();
    if (record->thread_id > LARGEST_PROCESS)
        record->thread_id = 0;
    record->name = copy_name(session, record->name != NULL ? record->name : "");
    record->metadata = json ? copy_text(session, record->metadata) : NULL;
    return true;
}

/* Under the session's lock. What a newer vendor has more, kinds and members, is not looked at. */
static void keep(pu1_session_t *session, size_t vendor, const pu1ActivityRecord *record)
{
    pu1_item_t item = {.record = *record, .vendor = vendor};
    if (record->kind < 1 || record->kind > PU1_LAST_KIND)
        session->unknown++;
    else if (!put_right(session, &item))
        return;
    else if (item.record.name == NULL || !has_room(session))
        session->lost++;
    else
        session->items[session->count++] = item;
}

/* Under the session's lock. Bytes behind the last record that are none count as one. */
static void keep_all(pu1_session_t *session, size_t vendor, uint8_t *buffer, size_t valid)
{
    const pu1TracingApiTable *api = &session->vendors->items[vendor].api;
    pu1ActivityRecord *record = NULL;
    pu1Result result = api->getNextRecord(buffer, valid, &record);
    for (; result == PU1_SUCCESS; result = api->getNextRecord(buffer, valid, &record))
        keep(session, vendor, record);
    session->malformed += result != PU1_ERROR_END_OF_BUFFER;
}

static void request(uint8_t **buffer, size_t *size)
{
    *buffer = malloc(BUFFER_BYTES);
    *size = *buffer != NULL ? BUFFER_BYTES : 0;
}

static void take(size_t vendor, uint8_t *buffer, size_t valid)
{
    pthread_mutex_lock(&lock);
    pu1_session_t *session = current;
    if (session != NULL) {
        pthread_mutex_lock(&session->lock);
        keep_all(session, vendor, buffer, valid);
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
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): a false alarm of clang-tidy 14
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
        pu1_ids_to(session->vendors, 0);
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
    pu1_ids_begin();
    for (size_t i = 0; i < vendor_count(session); i++) {
        const pu1_vendor_t *vendor = &session->vendors->items[i];
        session->dropped_before[i] = vendor->api.getDroppedRecords();
        session->enabled[i] = enable_vendor(vendor, kinds, error, context);
        places |= session->enabled[i] != 0 ? 1u << i : 0;
        count += session->enabled[i] != 0;
    }
    pu1_ids_to(session->vendors, places);
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
    pu1_ids_to(session->vendors, 0);
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
    session->unpushed = pu1_ids_lost();
    give_up(session);
}

const pu1_item_t *pu1_session_items(const pu1_session_t *session, size_t *count)
{
    *count = session->count;
    return session->items;
}

void pu1_session_tell(const pu1_session_t *session, pu1_error_fn error, void *context)
{
    if (pu1_session_dropped(session) > 0)
        tell(error, context, "%" PRIu64 " records were dropped", pu1_session_dropped(session));
    if (session->malformed > 0)
        tell(error, context,
             "%" PRIu64 " records have no name, end before they begin, or have metadata that is no "
             "JSON object: they are shown as far as they can be",
             session->malformed);
    if (session->unknown > 0)
        tell(error, context, "%" PRIu64 " records are of kinds that are not known here",
             session->unknown);
    if (session->unpushed > 0)
        tell(error, context,
             "%" PRIu64 " scopes were not taken by a vendor: what was launched in them is shown in "
             "those around them",
             session->unpushed);
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

uint64_t pu1_flow_id(const pu1_vendors_t *vendors, const pu1_item_t *item)
{
    uint64_t id = item->record.correlation_id;
    return id != 0 ? id * vendors->count + item->vendor : 0;
}
