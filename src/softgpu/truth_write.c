/*
 * Writer of the truth log.
 *
 * File layout
 * -----------
 *   offset 0      sg_truth_header_t (truth_format.h), padded with zeros to 4096 bytes
 *   offset 4096   records, one behind the other, up to header.committed; then zeros
 *
 * A record
 *   u8  length    bytes of payload, 1..255
 *   u8  kind      softgpu_truth_kind_t, or 16 "define queue", 17 "define name", 18 "counts", 19
 *                 "image"
 *   u16 check     sg_truth_check(kind, payload, length)
 *   ...           payload: varints (LEB128, at most 10 bytes each); `±` marks a zigzag difference,
 *                 all differences modulo 2^64, so that any value survives
 *
 * 16 define queue: queue, pid, gpu, queue_address, queue_hsa_id. Stands before the first packet of
 * the queue, and again if one of them changes; it resets the queue's differences to zero. 17 define
 * name: name number (0, 1, 2, ... in order), 1 if more bytes follow in the next record of the same
 * number else 0, then the bytes of the name without a zero. 18 counts: how many, then block, event
 * and value of each; of the next packet in the file, and several in a row add to the list; only
 * in logs of version 3, which a log becomes with the first. 19 image: its number (1, 2, ...); the
 * process has executed another program, and all begins anew behind it: queues, numbers of names,
 * differences; only in logs of version 4, which a log becomes with the first. Executed packet:
 * flags (SG_TRUTH_HAS_*), queue, ±index from the queue's last index + 1, ±start_ticks from the end
 * of the last packet in the file, end_ticks - start_ticks, ±kernarg and ±signal from the queue's
 * last, header; KERNEL: name number, ±kernel_object from the queue's last; SHAPE:  grid x y z,
 * block x y z (absent: as the queue's last packet); BYTES:  bytes, ±src, ±dst from the queue's
 * last; CLOCK: ±(start_ns - 10 start_ticks), ±(end_ns - 10 end_ticks) from the file's last such (0
 * at first).
 *
 * What a reader may trust
 * -----------------------
 * The file is a shared mapping: what is stored is in the file even if the process is killed. A
 * record is complete before `committed` moves past it (release), so a reader takes `committed`
 * first (acquire) and never looks beyond. The file is longer than `committed`: it grows by steps,
 * allocated ahead, so that a full disk is an error here and not a SIGBUS in the program.
 *
 * One process writes a log. The lock on the file (flock) keeps a second one out. After an exec the
 * process goes on behind what it has committed: pid and start time tell that the log is its own.
 */
#include "softgpu/exec.h"
#include "softgpu/say.h"
#include "softgpu/truth_format.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP_FIRST  ((size_t)1 << 20)
#define STEP_LARGE  ((size_t)16 << 20)
#define NAME_SLOTS  4096U
#define QUEUE_LIMIT 65536U

/* The commit position is shared with readers in other processes. */
typedef _Atomic uint64_t shared_u64;
_Static_assert(sizeof(shared_u64) == sizeof(uint64_t),
               "commit position must be a plain 64-bit word");

/* What the differences of one queue start from. */
typedef struct queue_state {
    bool defined;
    uint32_t pid, gpu;
    uint64_t address, hsa_id;
    uint64_t index, kernarg, signal, kernel_object, src, dst;
    uint32_t grid[3];
    uint16_t block[3];
} queue_state_t;

/* A name that has a number. */
typedef struct name_slot {
    char *name;
    uint64_t number;
} name_slot_t;

typedef struct truth_writer {
    pid_t pid; /* process that tried to open a log, 0: none yet */
    int file;
    sg_truth_header_t *header;
    uint8_t *window; /* mapped piece of the file that is being written */
    size_t window_size;
    uint64_t window_start;
    uint64_t position;
    queue_state_t *queues;
    uint32_t queue_count;
    name_slot_t *names; /* open addressing by hash of the name */
    size_t name_capacity;
    uint64_t name_count;
    uint64_t last_end, start_offset, end_offset;
    bool continues; /* an earlier image of this process has written before `position` */
} truth_writer_t;

static truth_writer_t writer = {.file = -1};

bool sg_truth_on(void)
{
    return writer.window != NULL;
}

/* Ends the log early; what was written stays readable. */
static void stop_for(const char *why)
{
    sg_say("the truth log ends at %llu bytes: %s", (unsigned long long)writer.position, why);
    writer.header->state = SG_TRUTH_STOPPED;
    munmap(writer.window, writer.window_size);
    writer.window = NULL;
}

/* Maps a new window that begins in the page of the write position. */
static const char *map_window(void)
{
    size_t step = writer.position < STEP_LARGE ? STEP_FIRST : STEP_LARGE;
    uint64_t start = writer.position & ~(uint64_t)(SG_TRUTH_HEADER_SIZE - 1);
    int failed = posix_fallocate(writer.file, (off_t)start, (off_t)step);
    if (failed != 0) {
        return failed == ENOSPC ? "no space left on the device" : "the file cannot grow";
    }
    void *window = mmap(NULL, step, PROT_READ | PROT_WRITE, MAP_SHARED, writer.file, (off_t)start);
    if (window == MAP_FAILED) {
        return "the file cannot be mapped";
    }
    if (writer.window != NULL) {
        munmap(writer.window, writer.window_size);
    }
    writer.window = window;
    writer.window_size = step;
    writer.window_start = start;
    return NULL;
}

/* A path with each %p replaced by the process id. Returns false if it does not fit. */
static bool expand_path(const char *pattern, char *path, size_t size)
{
    size_t used = 0;
    while (*pattern != '\0') {
        int wrote;
        if (pattern[0] == '%' && pattern[1] == 'p') {
            wrote = snprintf(path + used, size - used, "%ld", (long)getpid());
            pattern += 2;
        } else {
            wrote = snprintf(path + used, size - used, "%c", *pattern++);
        }
        if (wrote < 0 || (size_t)wrote >= size - used) {
            return false;
        }
        used += (size_t)wrote;
    }
    return used > 0;
}

/* When this process started, in ticks since boot; 0 if that cannot be found out. */
static uint64_t own_start(void)
{
    char text[1024] = "";
    int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return 0;
    }
    ssize_t got = read(file, text, sizeof text - 1);
    (void)close(file);
    char *field = got > 0 ? strrchr(text, ')') : NULL; /* ends the second field */
    for (int number = 2; field != NULL && number < 22; number++) {
        field = strchr(field + 1, ' ');
    }
    return field != NULL ? strtoull(field, NULL, 10) : 0;
}

/* Where an earlier image of this process has left the log; 0 if it is none of this process's. */
static uint64_t find_end(int file, off_t size)
{
    sg_truth_header_t header;
    uint64_t start = own_start();
    if (pread(file, &header, sizeof header, 0) != (ssize_t)sizeof header || start == 0 ||
        memcmp(header.magic, SG_TRUTH_MAGIC, sizeof header.magic) != 0 ||
        header.order != SG_TRUTH_ORDER || header.version < SG_TRUTH_VERSION_PLAIN ||
        header.version > SG_TRUTH_VERSION || header.pid != (uint64_t)getpid() ||
        header.start != start || header.committed < SG_TRUTH_HEADER_SIZE ||
        header.committed > (uint64_t)size) {
        return 0;
    }
    return header.committed;
}

/* Maps the header of the file, which is emptied unless it is this process's. */
static const char *take_file(int file, off_t size)
{
    void *header = MAP_FAILED;
    uint64_t end = find_end(file, size);
    if ((end > 0 || ftruncate(file, 0) == 0) &&
        posix_fallocate(file, 0, SG_TRUTH_HEADER_SIZE) == 0) {
        header =
            mmap(NULL, SG_TRUTH_HEADER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)0);
    }
    if (header == MAP_FAILED) {
        return "the file cannot be grown and mapped";
    }
    writer.file = file;
    writer.header = header;
    writer.continues = end > 0;
    writer.position = end > 0 ? end : SG_TRUTH_HEADER_SIZE;
    return NULL;
}

/* Opens and locks the file and maps its header. Returns why not, or NULL. */
static const char *open_file(const char *path)
{
    struct stat status;
    int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    int file = open(path, flags, 0644);
    if (file < 0) {
        return errno == ELOOP ? "it is a symbolic link" : strerrordesc_np(errno);
    }
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
        (status.st_mode & S_IWOTH) != 0) {
        (void)close(file);
        return "it is another user's, no regular file, or one that everybody may write to";
    }
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
        (void)close(file);
        return "another process is writing it; put %p into the name to get one log each";
    }
    const char *why = take_file(file, status.st_size);
    if (why != NULL) {
        (void)close(file);
    }
    return why;
}

/* Lets go of the log of the parent process: its pages and its file belong to the parent. */
static void leave_log(void)
{
    if (writer.window != NULL) {
        munmap(writer.window, writer.window_size);
    }
    if (writer.header != NULL) {
        munmap(writer.header, SG_TRUTH_HEADER_SIZE);
    }
    if (writer.file >= 0) {
        (void)close(writer.file);
    }
    for (size_t slot = 0; slot < writer.name_capacity; slot++) {
        free(writer.names[slot].name);
    }
    free(writer.names);
    free(writer.queues);
    writer = (truth_writer_t){.file = -1};
}

static inline uint8_t *put(uint8_t *out, uint64_t value)
{
    while (value >= 0x80U) {
        *out++ = (uint8_t)value | 0x80U;
        value >>= 7U;
    }
    *out++ = (uint8_t)value;
    return out;
}

/* Stores the difference to `last` and makes `value` the new last one. */
static inline uint8_t *put_delta(uint8_t *out, uint64_t *last, uint64_t value)
{
    out = put(out, sg_zigzag(value - *last));
    *last = value;
    return out;
}

/* Where the payload of the next record goes, with room for the longest one; NULL when the log has
 * ended. */
static uint8_t *begin_record(void)
{
    size_t room = SG_TRUTH_RECORD_HEAD + SG_TRUTH_PAYLOAD_MAX;
    if (writer.position + room > writer.window_start + writer.window_size) {
        const char *why = map_window();
        if (why != NULL) {
            stop_for(why);
            return NULL;
        }
    }
    return writer.window + (writer.position - writer.window_start) + SG_TRUTH_RECORD_HEAD;
}

/* Completes the record whose payload lies in [payload, end) and shows it to readers. */
static void commit_record(uint8_t kind, uint8_t *payload, const uint8_t *end)
{
    size_t length = (size_t)(end - payload);
    uint16_t check = sg_truth_check(kind, payload, length);
    uint8_t *head = payload - SG_TRUTH_RECORD_HEAD;
    head[0] = (uint8_t)length;
    head[1] = kind;
    memcpy(head + 2, &check, sizeof check);
    writer.position += SG_TRUTH_RECORD_HEAD + length;
    atomic_store_explicit((shared_u64 *)&writer.header->committed, writer.position,
                          memory_order_release);
}

/* All that was defined before is the former image's. */
static void begin_image(void)
{
    uint8_t *payload = begin_record();
    if (payload == NULL) {
        return;
    }
    writer.header->version = SG_TRUTH_VERSION;
    commit_record(SG_TRUTH_IMAGE, payload, put(payload, ++writer.header->images));
}

static const char *start_log(const char *pattern)
{
    char path[PATH_MAX];
    if (!expand_path(pattern, path, sizeof path)) {
        return "the name is empty or too long";
    }
    const char *why = open_file(path);
    if (why != NULL) {
        return why;
    }
    why = map_window();
    if (why != NULL) {
        return why;
    }
    if (writer.continues) {
        begin_image();
        return NULL;
    }
    *writer.header = (sg_truth_header_t){.order = SG_TRUTH_ORDER,
                                         .version = SG_TRUTH_VERSION_PLAIN,
                                         .pid = (uint64_t)getpid(),
                                         .committed = SG_TRUTH_HEADER_SIZE,
                                         .state = SG_TRUTH_OPEN,
                                         .start = own_start()};
    memcpy(writer.header->magic, SG_TRUTH_MAGIC, sizeof writer.header->magic);
    return NULL;
}

void sg_truth_start(void)
{
    const char *pattern = secure_getenv("SOFTGPU_TRUTH");
    if (writer.pid == getpid() || pattern == NULL || pattern[0] == '\0') {
        return;
    }
    bool forked = writer.pid != 0;
    leave_log();
    writer.pid = getpid();
    if (forked && strstr(pattern, "%p") == NULL) {
        return;
    }
    const char *why = start_log(pattern);
    if (why != NULL) {
        sg_say("no truth log in '%s': %s", pattern, why);
        leave_log();
        writer.pid = getpid();
    }
}

static bool define_name(uint64_t number, const char *name)
{
    const size_t piece = 200;
    size_t left = strlen(name);
    do {
        uint8_t *payload = begin_record();
        if (payload == NULL) {
            return false;
        }
        size_t take = left < piece ? left : piece;
        uint8_t *out = put(payload, number);
        out = put(out, left > take);
        memcpy(out, name, take);
        commit_record(SG_TRUTH_DEFINE_NAME, payload, out + take);
        name += take;
        left -= take;
    } while (left > 0);
    return true;
}

static name_slot_t *find_slot(name_slot_t *slots, size_t capacity, const char *name)
{
    size_t at = (size_t)sg_truth_hash(0, name, strlen(name)) & (capacity - 1);
    while (slots[at].name != NULL && strcmp(slots[at].name, name) != 0) {
        at = (at + 1) & (capacity - 1);
    }
    return &slots[at];
}

/* Keeps the table of names at most half full. */
static bool grow_names(void)
{
    if (writer.name_count * 2 < writer.name_capacity) {
        return true;
    }
    size_t capacity = writer.name_capacity == 0 ? NAME_SLOTS : writer.name_capacity * 2;
    name_slot_t *names = calloc(capacity, sizeof *names);
    if (names == NULL) {
        return false;
    }
    for (size_t slot = 0; slot < writer.name_capacity; slot++) {
        if (writer.names[slot].name != NULL) {
            *find_slot(names, capacity, writer.names[slot].name) = writer.names[slot];
        }
    }
    free(writer.names);
    writer.names = names;
    writer.name_capacity = capacity;
    return true;
}

/* The number of a name, which is defined in the log on first use. Returns false when the log has
 * ended. */
static bool intern_name(const char *name, uint64_t *number)
{
    if (!grow_names()) {
        stop_for("out of memory for kernel names");
        return false;
    }
    name_slot_t *slot = find_slot(writer.names, writer.name_capacity, name);
    if (slot->name == NULL) {
        char *copy = strdup(name);
        if (copy == NULL) {
            stop_for("out of memory for kernel names");
            return false;
        }
        slot->name = copy;
        slot->number = writer.name_count++;
        if (!define_name(slot->number, name)) {
            return false;
        }
    }
    *number = slot->number;
    return true;
}

static bool grow_queues(uint32_t queue)
{
    uint32_t count = writer.queue_count == 0 ? 16 : writer.queue_count;
    while (count <= queue) {
        count *= 2;
    }
    queue_state_t *queues = realloc(writer.queues, count * sizeof *queues);
    if (queues == NULL) {
        return false;
    }
    memset(queues + writer.queue_count, 0, (count - writer.queue_count) * sizeof *queues);
    writer.queues = queues;
    writer.queue_count = count;
    return true;
}

/* The state of the entry's queue, which is defined in the log on first use; NULL when the log has
 * ended. */
static queue_state_t *find_queue(const softgpu_truth_entry_t *entry)
{
    if (entry->queue >= writer.queue_count &&
        (entry->queue >= QUEUE_LIMIT || !grow_queues(entry->queue))) {
        stop_for("too many queues");
        return NULL;
    }
    queue_state_t *queue = &writer.queues[entry->queue];
    if (queue->defined && queue->address == entry->queue_address &&
        queue->hsa_id == entry->queue_hsa_id && queue->gpu == entry->gpu &&
        queue->pid == entry->pid) {
        return queue;
    }
    uint8_t *payload = begin_record();
    if (payload == NULL) {
        return NULL;
    }
    *queue = (queue_state_t){.defined = true,
                             .pid = entry->pid,
                             .gpu = entry->gpu,
                             .address = entry->queue_address,
                             .hsa_id = entry->queue_hsa_id};
    queue->index = UINT64_MAX;
    uint8_t *out = put(payload, entry->queue);
    out = put(out, entry->pid);
    out = put(out, entry->gpu);
    out = put(out, entry->queue_address);
    commit_record(SG_TRUTH_DEFINE_QUEUE, payload, put(out, entry->queue_hsa_id));
    return queue;
}

static bool shape_changed(const queue_state_t *queue, const softgpu_truth_entry_t *entry)
{
    return memcmp(queue->grid, entry->grid, sizeof queue->grid) != 0 ||
           memcmp(queue->block, entry->block, sizeof queue->block) != 0;
}

static uint8_t *put_shape(uint8_t *out, queue_state_t *queue, const softgpu_truth_entry_t *entry)
{
    for (int axis = 0; axis < 3; axis++) {
        out = put(out, entry->grid[axis]);
        queue->grid[axis] = entry->grid[axis];
    }
    for (int axis = 0; axis < 3; axis++) {
        out = put(out, entry->block[axis]);
        queue->block[axis] = entry->block[axis];
    }
    return out;
}

static uint8_t *put_times(uint8_t *out, const softgpu_truth_entry_t *entry)
{
    out = put(out, sg_zigzag(entry->start_ticks - writer.last_end));
    writer.last_end = entry->end_ticks;
    return put(out, entry->end_ticks - entry->start_ticks);
}

/* Distances of the ns times from the ticks: constant unless the device's clocks are changed. */
static uint8_t *put_clock(uint8_t *out, const softgpu_truth_entry_t *entry)
{
    out = put_delta(out, &writer.start_offset,
                    entry->start_ns - entry->start_ticks * SG_TRUTH_TICK_NS);
    return put_delta(out, &writer.end_offset, entry->end_ns - entry->end_ticks * SG_TRUTH_TICK_NS);
}

static unsigned choose_fields(const queue_state_t *queue, const softgpu_truth_entry_t *entry)
{
    unsigned flags = 0;
    if (entry->kernel_object != 0 || (entry->name != NULL && entry->name[0] != '\0')) {
        flags |= SG_TRUTH_HAS_KERNEL;
    }
    if (shape_changed(queue, entry)) {
        flags |= SG_TRUTH_HAS_SHAPE;
    }
    if (entry->bytes != 0 || entry->src != 0 || entry->dst != 0) {
        flags |= SG_TRUTH_HAS_BYTES;
    }
    if (entry->start_ns - entry->start_ticks * SG_TRUTH_TICK_NS != writer.start_offset ||
        entry->end_ns - entry->end_ticks * SG_TRUTH_TICK_NS != writer.end_offset) {
        flags |= SG_TRUTH_HAS_CLOCK;
    }
    return flags;
}

static uint8_t *put_optional(uint8_t *out, unsigned flags, queue_state_t *queue,
                             const softgpu_truth_entry_t *entry, uint64_t name)
{
    if ((flags & SG_TRUTH_HAS_KERNEL) != 0) {
        out = put(out, name);
        out = put_delta(out, &queue->kernel_object, entry->kernel_object);
    }
    if ((flags & SG_TRUTH_HAS_SHAPE) != 0) {
        out = put_shape(out, queue, entry);
    }
    if ((flags & SG_TRUTH_HAS_BYTES) != 0) {
        out = put(out, entry->bytes);
        out = put_delta(out, &queue->src, entry->src);
        out = put_delta(out, &queue->dst, entry->dst);
    }
    if ((flags & SG_TRUTH_HAS_CLOCK) != 0) {
        out = put_clock(out, entry);
    }
    return out;
}

/* Returns false when the log has ended. */
static bool put_counts(const softgpu_truth_entry_t *entry)
{
    for (uint32_t at = 0; at < entry->count_count; at += SG_TRUTH_COUNTS_RECORD) {
        uint8_t *payload = begin_record();
        if (payload == NULL) {
            return false;
        }
        uint32_t left = entry->count_count - at;
        uint32_t take = left < SG_TRUTH_COUNTS_RECORD ? left : SG_TRUTH_COUNTS_RECORD;
        uint8_t *out = put(payload, take);
        for (const softgpu_truth_count_t *count = entry->counts + at;
             count < entry->counts + at + take; count++) {
            out = put(out, count->block);
            out = put(out, count->event);
            out = put(out, count->value);
        }
        if (writer.header->version < SG_TRUTH_VERSION_COUNTS) {
            writer.header->version = SG_TRUTH_VERSION_COUNTS;
        }
        commit_record(SG_TRUTH_COUNTS, payload, out);
    }
    return true;
}

void sg_truth_write(const softgpu_truth_entry_t *entry)
{
    if (!sg_truth_on()) {
        return;
    }
    queue_state_t *queue = find_queue(entry);
    if (queue == NULL || !put_counts(entry)) {
        return;
    }
    unsigned flags = choose_fields(queue, entry);
    uint64_t name = 0;
    if ((flags & SG_TRUTH_HAS_KERNEL) != 0 &&
        !intern_name(entry->name != NULL ? entry->name : "", &name)) {
        return;
    }
    uint8_t *payload = begin_record();
    if (payload == NULL) {
        return;
    }
    uint8_t *out = put(payload, flags);
    out = put(out, entry->queue);
    out = put(out, sg_zigzag(entry->index - (queue->index + 1)));
    queue->index = entry->index;
    out = put_times(out, entry);
    out = put_delta(out, &queue->kernarg, entry->kernarg);
    out = put_delta(out, &queue->signal, entry->signal);
    out = put(out, entry->header);
    commit_record((uint8_t)entry->kind, payload, put_optional(out, flags, queue, entry, name));
}
