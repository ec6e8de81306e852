/*
 * Reader of the truth log; the layout is described at the head of truth_write.c.
 *
 * The file is read, not mapped: a log that is being replaced or cut under the reader must give a
 * sentence and not a SIGBUS. Nothing in the file is trusted: lengths, numbers and kinds are checked
 * before use.
 */
#include "softgpu/truth.h"
#include "softgpu/truth_format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_SIZE  ((size_t)1 << 18)
#define QUEUE_LIMIT  65536U
#define NAME_LIMIT   ((uint64_t)1 << 24)
#define LENGTH_LIMIT ((size_t)1 << 20)

typedef struct queue_state {
    bool defined;
    uint32_t pid, gpu;
    uint64_t address, hsa_id;
    uint64_t index, kernarg, signal, kernel_object, src, dst;
    uint32_t grid[3];
    uint16_t block[3];
} queue_state_t;

struct softgpu_truth {
    int file;
    char *path;
    char error[512];
    bool damaged;
    uint64_t position, committed; /* offsets in the file: next record, end of what may be read */
    uint8_t *buffer;
    uint64_t buffer_start;
    size_t buffer_used;
    queue_state_t *queues;
    uint32_t queue_count;
    char **names;
    size_t name_count, name_capacity;
    size_t name_base; /* of the image's first name */
    uint32_t image;
    bool name_continues;                                /* the last name waits for more bytes */
    softgpu_truth_count_t counts[SG_TRUTH_COUNTS_MOST]; /* of the next packet */
    uint32_t count_count;
    uint64_t last_end, start_offset, end_offset;
};

/* The payload that is being taken apart. */
typedef struct cursor {
    const uint8_t *next, *end;
    bool bad;
} cursor_t;

static void describe(char *error, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void describe(char *error, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): a false alarm of clang-tidy 14
    if (vsnprintf(error, size, format, arguments) < 0 && size > 0) {
        error[0] = '\0';
    }
    va_end(arguments);
}

/* Notes damage at the current record. Returns -1, the reader's answer from now on. */
static int damage(softgpu_truth_t *truth, const char *what)
{
    truth->damaged = true;
    describe(truth->error, sizeof truth->error, "truth log '%s' is damaged at byte %llu: %s",
             truth->path, (unsigned long long)truth->position, what);
    return -1;
}

static uint64_t get(cursor_t *in)
{
    uint64_t value = 0;
    for (unsigned shift = 0; in->next < in->end && shift < 64; shift += 7) {
        uint8_t byte = *in->next++;
        value |= (uint64_t)(byte & 0x7FU) << shift;
        if ((byte & 0x80U) == 0) {
            return value;
        }
    }
    in->bad = true;
    return 0;
}

/* A value that must not be above `most`. */
static uint64_t get_limited(cursor_t *in, uint64_t most)
{
    uint64_t value = get(in);
    if (value > most) {
        in->bad = true;
        return 0;
    }
    return value;
}

static uint64_t get_delta(cursor_t *in, uint64_t *last)
{
    *last += sg_unzigzag(get(in));
    return *last;
}

/* Reads the header. Returns what is wrong with it, NULL if nothing. */
static const char *read_header(softgpu_truth_t *truth, sg_truth_header_t *header)
{
    ssize_t got = pread(truth->file, header, sizeof *header, 0);
    if (got < 0) {
        return strerrordesc_np(errno);
    }
    if (got == 0) {
        return "it is empty";
    }
    if ((size_t)got < sizeof *header) {
        return "it is cut off within its header";
    }
    if (memcmp(header->magic, SG_TRUTH_MAGIC, sizeof header->magic) != 0) {
        return "it is not a truth log of the software GPU";
    }
    if (header->order != SG_TRUTH_ORDER) {
        return "it was written on a machine of the other byte order";
    }
    if (header->version < SG_TRUTH_VERSION_PLAIN || header->version > SG_TRUTH_VERSION) {
        return "it has another format version than this reader";
    }
    if (header->committed < SG_TRUTH_HEADER_SIZE) {
        return "its header is damaged (end of the records)";
    }
    return NULL;
}

static bool allocate(softgpu_truth_t *truth, const char *path)
{
    truth->path = strdup(path);
    truth->buffer = malloc(BUFFER_SIZE);
    return truth->path != NULL && truth->buffer != NULL;
}

static const char *open_log(softgpu_truth_t *truth, const char *path)
{
    if (!allocate(truth, path)) {
        return "out of memory";
    }
    truth->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (truth->file < 0) {
        return strerrordesc_np(errno);
    }
    struct stat status;
    if (fstat(truth->file, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
        return "it is not a regular file";
    }
    sg_truth_header_t header;
    const char *why = read_header(truth, &header);
    truth->committed = header.committed;
    truth->position = SG_TRUTH_HEADER_SIZE;
    return why;
}

softgpu_truth_t *softgpu_truth_open(const char *path, char *error, size_t error_size)
{
    softgpu_truth_t *truth = calloc(1, sizeof *truth);
    if (truth == NULL) {
        describe(error, error_size, "cannot read the truth log '%s': out of memory", path);
        return NULL;
    }
    truth->file = -1;
    const char *why = open_log(truth, path);
    if (why != NULL) {
        describe(error, error_size, "cannot read the truth log '%s': %s", path, why);
        softgpu_truth_close(truth);
        return NULL;
    }
    return truth;
}

void softgpu_truth_close(softgpu_truth_t *truth)
{
    if (truth == NULL) {
        return;
    }
    if (truth->file >= 0) {
        (void)close(truth->file);
    }
    for (size_t name = 0; name < truth->name_count; name++) {
        free(truth->names[name]);
    }
    free(truth->names);
    free(truth->queues);
    free(truth->buffer);
    free(truth->path);
    free(truth);
}

const char *softgpu_truth_error(const softgpu_truth_t *truth)
{
    return truth->error;
}

/* Makes `size` bytes at the position available. Returns them, or NULL where the file ends before.
 */
static const uint8_t *peek(softgpu_truth_t *truth, size_t size)
{
    if (truth->position >= truth->buffer_start &&
        truth->position + size <= truth->buffer_start + truth->buffer_used) {
        return truth->buffer + (truth->position - truth->buffer_start);
    }
    ssize_t got;
    truth->buffer_start = truth->position;
    truth->buffer_used = 0;
    while (truth->buffer_used < BUFFER_SIZE &&
           (got = pread(truth->file, truth->buffer + truth->buffer_used,
                        BUFFER_SIZE - truth->buffer_used,
                        (off_t)(truth->position + truth->buffer_used))) > 0) {
        truth->buffer_used += (size_t)got;
    }
    return size <= truth->buffer_used ? truth->buffer : NULL;
}

static bool grow_queues(softgpu_truth_t *truth, uint32_t queue)
{
    uint32_t count = truth->queue_count == 0 ? 16 : truth->queue_count;
    while (count <= queue) {
        count *= 2;
    }
    queue_state_t *queues = realloc(truth->queues, count * sizeof *queues);
    if (queues == NULL) {
        return false;
    }
    memset(queues + truth->queue_count, 0, (count - truth->queue_count) * sizeof *queues);
    truth->queues = queues;
    truth->queue_count = count;
    return true;
}

static int define_queue(softgpu_truth_t *truth, cursor_t *in)
{
    uint32_t queue = (uint32_t)get_limited(in, QUEUE_LIMIT - 1);
    uint32_t pid = (uint32_t)get_limited(in, UINT32_MAX);
    uint32_t gpu = (uint32_t)get_limited(in, UINT32_MAX);
    uint64_t address = get(in);
    uint64_t hsa_id = get(in);
    if (in->bad || in->next != in->end) {
        return damage(truth, "bad description of a queue");
    }
    if (queue >= truth->queue_count && !grow_queues(truth, queue)) {
        return damage(truth, "out of memory for its queues");
    }
    truth->queues[queue] = (queue_state_t){.defined = true,
                                           .pid = pid,
                                           .gpu = gpu,
                                           .address = address,
                                           .hsa_id = hsa_id,
                                           .index = UINT64_MAX};
    return 1;
}

static bool grow_names(softgpu_truth_t *truth)
{
    if (truth->name_count < truth->name_capacity) {
        return true;
    }
    size_t capacity = truth->name_capacity == 0 ? 64 : truth->name_capacity * 2;
    char **names = realloc(truth->names, capacity * sizeof *names);
    if (names == NULL) {
        return false;
    }
    truth->names = names;
    truth->name_capacity = capacity;
    return true;
}

/* Puts the bytes behind `old` (NULL: nothing yet), which it frees. */
static char *join(char *old, const uint8_t *bytes, size_t length)
{
    size_t before = old != NULL ? strlen(old) : 0;
    if (before + length > LENGTH_LIMIT) {
        return NULL;
    }
    char *longer = realloc(old, before + length + 1);
    if (longer != NULL) {
        memcpy(longer + before, bytes, length);
        longer[before + length] = '\0';
    }
    return longer;
}

static int define_name(softgpu_truth_t *truth, cursor_t *in)
{
    uint64_t number = get_limited(in, NAME_LIMIT);
    bool more = get_limited(in, 1) == 1;
    bool first = !truth->name_continues;
    size_t length = (size_t)(in->end - in->next);
    if (in->bad || number != truth->name_count - truth->name_base - (first ? 0 : 1) ||
        memchr(in->next, '\0', length) != NULL) {
        return damage(truth, "bad description of a name");
    }
    if (first && !grow_names(truth)) {
        return damage(truth, "out of memory for its names");
    }
    number += truth->name_base;
    char *name = join(first ? NULL : truth->names[number], in->next, length);
    if (name == NULL) {
        return damage(truth, "a name is too long");
    }
    truth->names[number] = name;
    truth->name_count = number + 1;
    truth->name_continues = more;
    return 1;
}

/* Names stay: entries of earlier images have them. */
static int begin_image(softgpu_truth_t *truth, cursor_t *in)
{
    uint32_t image = (uint32_t)get_limited(in, UINT32_MAX);
    if (in->bad || in->next != in->end || image != truth->image + 1) {
        return damage(truth, "bad description of an image");
    }
    truth->image = image;
    truth->name_base = truth->name_count;
    truth->name_continues = false;
    truth->queue_count = 0;
    truth->count_count = 0;
    truth->last_end = truth->start_offset = truth->end_offset = 0;
    return 1;
}

static int read_counts(softgpu_truth_t *truth, cursor_t *in)
{
    uint32_t count = (uint32_t)get_limited(in, SG_TRUTH_COUNTS_MOST - truth->count_count);
    for (uint32_t i = 0; i < count; i++) {
        softgpu_truth_count_t *next = &truth->counts[truth->count_count++];
        next->block = (uint32_t)get_limited(in, UINT32_MAX);
        next->event = (uint32_t)get_limited(in, UINT32_MAX);
        next->value = get(in);
    }
    if (in->bad || in->next != in->end) {
        return damage(truth, "counts do not decode");
    }
    return 1;
}

static void get_shape(cursor_t *in, queue_state_t *queue)
{
    for (int axis = 0; axis < 3; axis++) {
        queue->grid[axis] = (uint32_t)get_limited(in, UINT32_MAX);
    }
    for (int axis = 0; axis < 3; axis++) {
        queue->block[axis] = (uint16_t)get_limited(in, UINT16_MAX);
    }
}

static void get_times(softgpu_truth_t *truth, cursor_t *in, softgpu_truth_entry_t *entry)
{
    entry->start_ticks = truth->last_end + sg_unzigzag(get(in));
    entry->end_ticks = entry->start_ticks + get(in);
    truth->last_end = entry->end_ticks;
}

static void get_kernel(softgpu_truth_t *truth, cursor_t *in, queue_state_t *queue,
                       softgpu_truth_entry_t *entry)
{
    uint64_t name = get(in);
    entry->kernel_object = get_delta(in, &queue->kernel_object);
    if (name >= truth->name_count - truth->name_base || truth->name_continues) {
        in->bad = true;
        return;
    }
    entry->name = truth->names[truth->name_base + name];
}

static void get_optional(softgpu_truth_t *truth, cursor_t *in, unsigned flags, queue_state_t *queue,
                         softgpu_truth_entry_t *entry)
{
    if ((flags & SG_TRUTH_HAS_KERNEL) != 0) {
        get_kernel(truth, in, queue, entry);
    }
    if ((flags & SG_TRUTH_HAS_SHAPE) != 0) {
        get_shape(in, queue);
    }
    if ((flags & SG_TRUTH_HAS_BYTES) != 0) {
        entry->bytes = get(in);
        entry->src = get_delta(in, &queue->src);
        entry->dst = get_delta(in, &queue->dst);
    }
    if ((flags & SG_TRUTH_HAS_CLOCK) != 0) {
        get_delta(in, &truth->start_offset);
        get_delta(in, &truth->end_offset);
    }
    memcpy(entry->grid, queue->grid, sizeof entry->grid);
    memcpy(entry->block, queue->block, sizeof entry->block);
    entry->start_ns = entry->start_ticks * SG_TRUTH_TICK_NS + truth->start_offset;
    entry->end_ns = entry->end_ticks * SG_TRUTH_TICK_NS + truth->end_offset;
}

static int read_packet(softgpu_truth_t *truth, uint8_t kind, cursor_t *in,
                       softgpu_truth_entry_t *entry)
{
    unsigned flags = (unsigned)get_limited(in, 0xFFU);
    uint32_t number = (uint32_t)get_limited(in, QUEUE_LIMIT - 1);
    if (in->bad || number >= truth->queue_count || !truth->queues[number].defined) {
        return damage(truth, "a packet of a queue that is not described");
    }
    queue_state_t *queue = &truth->queues[number];
    *entry = (softgpu_truth_entry_t){.kind = (softgpu_truth_kind_t)kind,
                                     .pid = queue->pid,
                                     .image = truth->image,
                                     .gpu = queue->gpu,
                                     .queue = number,
                                     .queue_address = queue->address,
                                     .queue_hsa_id = queue->hsa_id,
                                     .name = "",
                                     .count_count = truth->count_count,
                                     .counts = truth->count_count > 0 ? truth->counts : NULL};
    truth->count_count = 0;
    queue->index += 1 + sg_unzigzag(get(in));
    entry->index = queue->index;
    get_times(truth, in, entry);
    entry->kernarg = get_delta(in, &queue->kernarg);
    entry->signal = get_delta(in, &queue->signal);
    entry->header = (uint16_t)get_limited(in, UINT16_MAX);
    get_optional(truth, in, flags, queue, entry);
    if (in->bad || in->next != in->end) {
        return damage(truth, "a packet does not decode");
    }
    return 1;
}

/* Takes one record apart. Returns -1 on damage, 1 otherwise; `is_entry` tells whether `entry` was
 * filled. */
static int read_record(softgpu_truth_t *truth, softgpu_truth_entry_t *entry, bool *is_entry)
{
    const uint8_t *head = peek(truth, SG_TRUTH_RECORD_HEAD);
    size_t length = head != NULL ? head[0] : 0;
    const uint8_t *record = head != NULL ? peek(truth, SG_TRUTH_RECORD_HEAD + length) : NULL;
    if (record == NULL) {
        return damage(truth, "the file is cut off");
    }
    const uint8_t *payload = record + SG_TRUTH_RECORD_HEAD;
    uint8_t kind = record[1];
    uint16_t check;
    memcpy(&check, record + 2, sizeof check);
    if (length == 0 || check != sg_truth_check(kind, payload, length) ||
        truth->position + SG_TRUTH_RECORD_HEAD + length > truth->committed) {
        return damage(truth, "a record fails its check");
    }
    cursor_t in = {.next = payload, .end = payload + length};
    int result;
    if (kind == SG_TRUTH_DEFINE_QUEUE) {
        result = define_queue(truth, &in);
    } else if (kind == SG_TRUTH_DEFINE_NAME) {
        result = define_name(truth, &in);
    } else if (kind == SG_TRUTH_COUNTS) {
        result = read_counts(truth, &in);
    } else if (kind == SG_TRUTH_IMAGE) {
        result = begin_image(truth, &in);
    } else if (kind >= SOFTGPU_TRUTH_KERNEL && kind <= SOFTGPU_TRUTH_ERROR) {
        *is_entry = true;
        result = read_packet(truth, kind, &in, entry);
    } else {
        result = damage(truth, "a record of an unknown kind");
    }
    truth->position += SG_TRUTH_RECORD_HEAD + length;
    return result;
}

/* Looks whether the log has grown. Returns false on damage. */
static bool refresh(softgpu_truth_t *truth)
{
    sg_truth_header_t header;
    const char *why = read_header(truth, &header);
    if (why == NULL && header.committed < truth->committed) {
        why = "it was replaced while being read";
    }
    if (why != NULL) {
        (void)damage(truth, why);
        return false;
    }
    truth->committed = header.committed;
    truth->buffer_used = 0;
    return true;
}

int softgpu_truth_next(softgpu_truth_t *truth, softgpu_truth_entry_t *entry)
{
    if (truth->damaged) {
        return -1;
    }
    for (bool is_entry = false; !is_entry;) {
        if (truth->position == truth->committed) {
            if (!refresh(truth)) {
                return -1;
            }
            if (truth->position == truth->committed) {
                return 0;
            }
        }
        if (read_record(truth, entry, &is_entry) < 0) {
            return -1;
        }
    }
    return 1;
}
