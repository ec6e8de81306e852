/* The session's folder and the files in it. */
#include "common/clock.h"
#include "common/log.h"
#include "common/pages.h"
#include "common/private.h"
#include "ring/process.h"
#include "ring/ring.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MOST_RINGS (1u << 20)     /* of a process that are there at once */
#define MOST_SLOTS (1u << 24)
#define AHEAD      (512u << 10) /* 8 thousand host calls, 25 thousand kernels */

int rtl_session_create(char *path, size_t path_size)
{
    const char *temporary = secure_getenv("TMPDIR");
    const char *folders[] = {"/dev/shm", temporary != NULL ? temporary : "/tmp", "/tmp"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        (void)snprintf(path, path_size, "%s/rtl.XXXXXX", folders[i]);
        if (mkdtemp(path) != NULL)
            break;
        path[0] = '\0';
    }
    if (path[0] == '\0')
        return -1;
    char name[512];
    (void)snprintf(name, sizeof name, "%s/session", path);
    int file = rtl_private_open(name, O_WRONLY | O_CREAT);
    if (file < 0)
        return -1;
    uint32_t pid = (uint32_t)getpid();
    uint64_t start = rtl_process_facts(pid).start;
    int written =
        dprintf(file, "wire %u\nversion %s\nmaker %u %llu\n", RTL_WIRE_VERSION, RTL_VERSION, pid,
                (unsigned long long)(start == RTL_START_UNKNOWN ? 0 : start));
    close(file);
    return written > 0 ? 0 : -1;
}

int rtl_session_check(const char *path, uint32_t *version)
{
    char name[512];
    char text[128];
    (void)snprintf(name, sizeof name, "%s/session", path);
    int file = rtl_private_open(name, O_RDONLY);
    if (file < 0)
        return -1;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    text[length > 0 ? length : 0] = '\0';
    return rtl_session_read(text, version);
}

int rtl_session_read(const char *text, uint32_t *version)
{
    if (strncmp(text, "wire ", 5) != 0) {
        errno = EINVAL;
        return -1;
    }
    *version = (uint32_t)strtoul(text + 5, NULL, 10);
    return *version == RTL_WIRE_VERSION ? 1 : 0;
}

void rtl_session_remove(const char *path)
{
    DIR *folder = rtl_private_list(path);
    if (folder == NULL)
        return;
    struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) { // NOLINT(concurrency-mt-unsafe): own stream
        if (strncmp(entry->d_name, "ring.", 5) == 0 || strncmp(entry->d_name, ".ring.", 6) == 0 ||
            strcmp(entry->d_name, "session") == 0)
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
    }
    closedir(folder);
    (void)rmdir(path);
}

/* The largest power of two of slots that fits into `bytes`, and into a quarter of what the file
 * system has left. */
static uint32_t fitting_slots(const char *session, size_t bytes)
{
    struct statvfs space;
    if (statvfs(session, &space) == 0) {
        uint64_t left = (uint64_t)space.f_bavail * space.f_frsize / 4;
        if (left < bytes)
            bytes = (size_t)left;
    }
    uint32_t slots = 1024;
    while (slots < MOST_SLOTS && (uint64_t)slots * 2 * RTL_SLOT_SIZE <= bytes)
        slots *= 2;
    return slots;
}

static int map(struct rtl_ring *ring, int file, uint32_t slots)
{
    ring->size = sizeof(struct rtl_ring_header) + (size_t)slots * RTL_SLOT_SIZE;
    void *memory = mmap(NULL, ring->size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        return -1;
    ring->header = memory;
    ring->slots = (unsigned char *)memory + sizeof(struct rtl_ring_header);
    ring->mask = slots - 1;
    atomic_init(&ring->reserving, 0);
    atomic_init(&ring->end, 0);
    atomic_init(&ring->read_end, 0);
    atomic_init(&ring->reserved, false);
    return 0;
}

/* Two threads may reserve the same piece, the second in vain. */
static int reserve_next(struct rtl_ring *ring, size_t most)
{
    uint64_t usable = atomic_load_explicit(&ring->header->usable, memory_order_relaxed);
    size_t done = sizeof(struct rtl_ring_header) + (size_t)usable * RTL_SLOT_SIZE;
    if (done >= ring->size)
        return 0;
    size_t piece = ring->size - done < most ? ring->size - done : most;
    if (fallocate(atomic_load(&ring->file), 0, (off_t)done, (off_t)piece) != 0 &&
        errno != EOPNOTSUPP)
        return -1;
    unsigned char *memory = (unsigned char *)ring->header + done;
    rtl_pages_take(memory, memory + piece);
    bool mine = atomic_compare_exchange_strong_explicit(&ring->header->usable, &usable,
                                                        usable + piece / RTL_SLOT_SIZE,
                                                        memory_order_relaxed, memory_order_relaxed);
    return mine && done + piece == ring->size ? 0 : 1;
}

/* The descriptor's number may soon be another file's: it is closed by the last thread that may have
 * it in hand. Who comes later sees that nothing is left to do. */
int rtl_ring_reserve_piece(struct rtl_ring *ring, size_t most)
{
    int result = 0;
    atomic_fetch_add(&ring->reserving, 1);
    if (!atomic_load(&ring->reserved)) {
        result = reserve_next(ring, most);
        if (result <= 0)
            atomic_store(&ring->reserved, true);
    }
    bool last = atomic_fetch_sub(&ring->reserving, 1) == 1;
    if (last && atomic_load(&ring->reserved)) {
        int file = atomic_exchange(&ring->file, -1);
        if (file >= 0)
            close(file);
    }
    return result;
}

int rtl_ring_reserve_ahead(struct rtl_ring *ring)
{
    const struct rtl_ring_header *header = ring->header;
    if (atomic_load_explicit(&ring->reserved, memory_order_relaxed))
        return 0;
    uint64_t head = atomic_load_explicit(&header->head, memory_order_relaxed);
    uint64_t usable = atomic_load_explicit(&header->usable, memory_order_relaxed);
    return usable - head >= AHEAD / RTL_SLOT_SIZE
               ? 0
               : rtl_ring_reserve_piece(ring, RTL_RING_SMALL_PIECE);
}

static int fill_header(struct rtl_ring *ring, uint32_t ordinal)
{
    struct rtl_ring_header *header = ring->header;
    struct rtl_process_facts facts = rtl_process_facts((uint32_t)getpid());
    header->magic = RTL_RING_MAGIC;
    header->wire_version = RTL_WIRE_VERSION;
    header->slots = (uint32_t)ring->mask + 1;
    header->pid = (uint32_t)getpid();
    header->ordinal = ordinal;
    header->process_start = facts.start;
    header->image = facts.image;
    header->made_ns = rtl_now();
    (void)snprintf(header->library_version, sizeof header->library_version, "%s", RTL_VERSION);
    atomic_store(&header->state, RTL_RING_OPEN);
    return rtl_ring_reserve_piece(ring, RTL_RING_SMALL_PIECE) < 0 ? -1 : 0;
}

/* Never over another ring: a process of another name space may have the same pid. Not every file
 * system can promise that. */
static int name_file(const char *hidden, const char *name)
{
    int failed = renameat2(AT_FDCWD, hidden, AT_FDCWD, name, RENAME_NOREPLACE);
    return failed != 0 && errno == EINVAL ? rename(hidden, name) : failed;
}

/* Builds the file under a name that the collector does not look at, then gives it its own. */
static int make_file(struct rtl_ring *ring, const char *session, uint32_t ordinal, size_t bytes)
{
    char hidden[512];
    char name[512];
    (void)snprintf(hidden, sizeof hidden, "%s/.ring.%d.%u", session, (int)getpid(), ordinal);
    (void)snprintf(name, sizeof name, "%s/ring.%d.%u", session, (int)getpid(), ordinal);
    if (access(name, F_OK) == 0) {
        errno = EEXIST;
        return -1;
    }
    int file = rtl_private_open(hidden, O_RDWR | O_CREAT);
    if (file < 0)
        return -1;
    atomic_init(&ring->file, file);
    uint32_t slots = fitting_slots(session, bytes);
    off_t size = (off_t)(sizeof(struct rtl_ring_header) + (size_t)slots * RTL_SLOT_SIZE);
    if (ftruncate(file, size) == 0 && fallocate(file, 0, 0, sizeof(struct rtl_ring_header)) == 0 &&
        map(ring, file, slots) == 0) {
        if (fill_header(ring, ordinal) == 0 && name_file(hidden, name) == 0)
            return 0;
        rtl_ring_unmap(ring);
    }
    int saved = errno;
    file = atomic_exchange(&ring->file, -1);
    if (file >= 0)
        close(file);
    (void)unlink(hidden);
    errno = saved;
    return -1;
}

/* Rings of earlier images may be there that the collector has not removed yet. */
int rtl_ring_create(struct rtl_ring *ring, const char *session, size_t bytes)
{
    uint32_t ordinal = 0;
    while (make_file(ring, session, ordinal, bytes) != 0)
        if (errno != EEXIST || ++ordinal == MOST_RINGS)
            return -1;
    return 0;
}

int rtl_ring_create_private(struct rtl_ring *ring, size_t bytes)
{
    uint32_t slots = 1024;
    while (slots < MOST_SLOTS && (uint64_t)slots * 2 * RTL_SLOT_SIZE <= bytes)
        slots *= 2;
    ring->size = sizeof(struct rtl_ring_header) + (size_t)slots * RTL_SLOT_SIZE;
    void *memory =
        mmap(NULL, ring->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -1;
    ring->header = memory;
    ring->slots = (unsigned char *)memory + sizeof(struct rtl_ring_header);
    ring->mask = slots - 1;
    atomic_init(&ring->file, -1);
    atomic_init(&ring->reserving, 0);
    atomic_init(&ring->end, 0);
    atomic_init(&ring->read_end, 0);
    atomic_init(&ring->reserved, true);
    atomic_store(&ring->header->usable, slots);
    return fill_header(ring, 0);
}

/* Reads the part of a header that is the same in every version. 0, -1 with errno, -2 other version.
 */
static int read_version(int file, uint32_t *version, char *library_version)
{
    struct {
        uint64_t magic;
        uint32_t wire_version, slots, pid, ordinal;
        uint64_t process_start;
        char library_version[sizeof((struct rtl_ring_header *)NULL)->library_version];
    } head;
    _Static_assert(offsetof(struct rtl_ring_header, state) == sizeof head, "as in the header");
    if (pread(file, &head, sizeof head, 0) != sizeof head || head.magic != RTL_RING_MAGIC) {
        errno = EINVAL;
        return -1;
    }
    memcpy(library_version, head.library_version, sizeof head.library_version);
    library_version[sizeof head.library_version - 1] = '\0';
    *version = head.wire_version;
    return head.wire_version == RTL_WIRE_VERSION ? 0 : -2;
}

/* How many slots a file of this size has, 0 if it cannot be a ring. */
static uint32_t slots_of(off_t size)
{
    uint64_t bytes = (uint64_t)size - sizeof(struct rtl_ring_header);
    uint64_t slots = bytes / RTL_SLOT_SIZE;
    bool fits = size > (off_t)sizeof(struct rtl_ring_header) && bytes % RTL_SLOT_SIZE == 0 &&
                slots >= 4 && slots <= MOST_SLOTS && (slots & (slots - 1)) == 0;
    return fits ? (uint32_t)slots : 0;
}

/* The size of the file is what it is; the header, which another process has written and may write
 * again, only has to agree with it. */
static int map_checked(struct rtl_ring *ring, int file)
{
    struct stat status;
    uint32_t slots = fstat(file, &status) == 0 ? slots_of(status.st_size) : 0;
    if (slots == 0) {
        errno = EINVAL;
        return -1;
    }
    if (map(ring, file, slots) != 0)
        return -1;
    if (ring->header->magic == RTL_RING_MAGIC && ring->header->slots == slots)
        return 0;
    rtl_ring_unmap(ring);
    errno = EINVAL;
    return -1;
}

int rtl_ring_open(struct rtl_ring *ring, const char *path, uint32_t *version, char *library_version)
{
    int file = rtl_private_open(path, O_RDWR);
    if (file < 0)
        return -1;
    int result = read_version(file, version, library_version);
    if (result == 0)
        result = map_checked(ring, file);
    atomic_init(&ring->file, -1);
    int saved = errno;
    close(file);
    errno = saved;
    return result;
}

int rtl_ring_read_header(int file, struct rtl_ring_header *header)
{
    uint32_t version;
    char library_version[sizeof header->library_version];
    int result = read_version(file, &version, library_version);
    if (result == 0 && pread(file, header, sizeof *header, 0) != sizeof *header) {
        errno = EINVAL;
        return -1;
    }
    return result;
}

void rtl_ring_unmap(struct rtl_ring *ring)
{
    if (ring->header != NULL)
        munmap(ring->header, ring->size);
    ring->header = NULL;
}

bool rtl_ring_process_alive(const struct rtl_ring *ring)
{
    return rtl_process_alive(ring->header->pid, ring->header->process_start);
}
