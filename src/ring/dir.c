/* The session's folder and the files in it. */
#include "common/clock.h"
#include "common/log.h"
#include "common/pages.h"
#include "common/private.h"
#include "ring/files.h"
#include "ring/maker.h"
#include "ring/process.h"
#include "ring/ring.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MOST_RINGS   (1u << 20) /* of a process that are there at once */
#define MOST_SLOTS   (1u << 24)
#define LEAST_FEW    1024u
#define SESSION_MOST 4096u /* bytes of the file that describes it */

/* Not more than a page may be written where files may not be longer. */
static int write_session(const char *path)
{
    char name[512];
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < SESSION_MOST) {
        errno = EFBIG;
        return -1;
    }
    (void)snprintf(name, sizeof name, "%s/session", path);
    int file = rtl_private_open(name, O_WRONLY | O_CREAT);
    if (file < 0)
        return -1;
    uint32_t pid = rtl_process_own();
    uint64_t start = rtl_process_facts(pid).start;
    int written =
        dprintf(file, "wire %u\nversion %s\nmaker %u %llu\n", RTL_WIRE_VERSION, RTL_VERSION, pid,
                (unsigned long long)(start == RTL_START_UNKNOWN ? 0 : start));
    int saved = errno;
    close(file);
    errno = saved;
    return written > 0 ? 0 : -1;
}

/* In one folder; nothing is left there if it fails. */
static int create_in(const char *folder, char *path, size_t path_size, size_t ring_bytes)
{
    bool fits = snprintf(path, path_size, "%s/rtl.XXXXXX", folder) < (int)path_size;
    if (!fits)
        errno = ENAMETOOLONG;
    if (!fits || mkdtemp(path) == NULL) {
        path[0] = '\0';
        return -1;
    }
    if (write_session(path) == 0 &&
        (ring_bytes == 0 ||
         rtl_spares_make(path, rtl_ring_slots_that_fit(path, ring_bytes), 1) == 0))
        return 0;
    int saved = errno;
    rtl_ring_dir_remove(path);
    path[0] = '\0';
    errno = saved;
    return -1;
}

static uint64_t space_in(const char *folder)
{
    struct statvfs space;
    return statvfs(folder, &space) == 0 ? (uint64_t)space.f_bavail * space.f_frsize : 0;
}

struct place {
    const char *folder;
    int error; /* of the last try; 0: there was none */
};

/* The third is another one only if there is a second. A relative folder would be another one for
 * who has another working directory. */
static unsigned list_places(struct place places[3])
{
    const char *temporary = secure_getenv("TMPDIR");
    unsigned count = 0;
    places[count++] = (struct place){"/dev/shm", 0};
    if (temporary != NULL && temporary[0] == '/' && strcmp(temporary, "/tmp") != 0)
        places[count++] = (struct place){temporary, 0};
    places[count++] = (struct place){"/tmp", 0};
    return count;
}

static bool concerns_all(int error)
{
    return error == EFBIG || error == EMFILE || error == ENFILE || error == ENOMEM;
}

/* What kept the session from each place, or from all. */
static void tell_why(const struct place *places, unsigned count, size_t ring_bytes, char *why,
                     size_t size)
{
    size_t used = 0;
    for (unsigned i = 0; i < count && used < size; i++) {
        struct rtl_refusal refusal;
        char text[512];
        int error = places[i].error;
        rtl_refusal_fill(&refusal, places[i].folder, error, ring_bytes);
        rtl_refusal_text(&refusal, places[i].folder, text, sizeof text);
        if (concerns_all(error)) {
            (void)snprintf(why, size, "%s", text);
            return;
        }
        if (error != ENOSPC && error != EDQUOT)
            (void)snprintf(text, sizeof text, "%.300s: %s", places[i].folder,
                           strerrordesc_np(error));
        int length = snprintf(why + used, size - used, "%s%s", i > 0 ? "; " : "", text);
        used += length > 0 ? (size_t)length : 0;
    }
}

/* First where a whole ring has room, then where one can begin, then where anything has. */
int rtl_ring_dir_create_for(char *path, size_t path_size, size_t ring_bytes, char *why,
                            size_t why_size)
{
    struct place places[3];
    unsigned count = list_places(places);
    const uint64_t least[] = {rtl_ring_file_size(rtl_ring_slots(ring_bytes)),
                              2 * (sizeof(struct rtl_ring_header) + RTL_RING_SMALL_PIECE), 0};
    for (size_t round = 0; round < sizeof least / sizeof *least; round++)
        for (unsigned i = 0; i < count; i++) {
            uint64_t space = space_in(places[i].folder);
            if (space < least[round] || (round > 0 && space >= least[round - 1]))
                continue; /* later, or tried before */
            if (create_in(places[i].folder, path, path_size, ring_bytes) == 0)
                return 0;
            places[i].error = errno;
        }
    int error = places[0].error;
    if (why != NULL)
        tell_why(places, count, ring_bytes, why, why_size);
    errno = error;
    return -1;
}

int rtl_ring_dir_create(char *path, size_t path_size)
{
    return rtl_ring_dir_create_for(path, path_size, 0, NULL, 0);
}

int rtl_ring_dir_check(const char *path, uint32_t *version)
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
    return rtl_ring_dir_read(text, version);
}

int rtl_ring_dir_read(const char *text, uint32_t *version)
{
    if (strncmp(text, "wire ", 5) != 0) {
        errno = EINVAL;
        return -1;
    }
    *version = (uint32_t)strtoul(text + 5, NULL, 10);
    return *version == RTL_WIRE_VERSION ? 1 : 0;
}

bool rtl_ring_dir_owns(const char *name)
{
    static const char *const kinds[] = {"ring.",    ".ring.",    "spare.", ".spare",
                                        "refused.", "starting.", ".wish.", "clock."};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(name, kinds[i], strlen(kinds[i])) == 0)
            return true;
    return strcmp(name, "session") == 0 || strcmp(name, "trace") == 0 ||
           strcmp(name, "wish") == 0 || strncmp(name, "wish.", 5) == 0;
}

void rtl_ring_dir_leave_trace(const char *session, const char *trace)
{
    int saved = errno;
    char *path = realpath(trace, NULL);
    int folder = rtl_private_folder(session);
    if (path != NULL && folder >= 0) {
        (void)unlinkat(folder, "trace", 0);
        (void)symlinkat(path, folder, "trace");
    }
    if (folder >= 0)
        (void)close(folder);
    free(path);
    errno = saved;
}

/* The file `session` goes last: where that is there, somebody finishes what a killed process began.
 */
void rtl_ring_dir_remove(const char *path)
{
    DIR *folder = rtl_private_list(path);
    if (folder == NULL)
        return;
    struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) { // NOLINT(concurrency-mt-unsafe): own stream
        if (rtl_ring_dir_owns(entry->d_name) && strcmp(entry->d_name, "session") != 0)
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
    }
    (void)unlinkat(dirfd(folder), "session", 0);
    closedir(folder);
    (void)rmdir(path);
}

/* An eighth, and of small rings up to a half: a batch of kernels is to find room there, however
 * many calls and ranges the program makes while nobody reads. */
static uint64_t few_of(uint64_t slots)
{
    uint64_t least = slots / 2 < LEAST_FEW ? slots / 2 : LEAST_FEW;
    return slots / 8 > least ? slots / 8 : least;
}

static void set_up(struct rtl_ring *ring, uint32_t slots)
{
    ring->mask = slots - 1;
    ring->few = few_of(slots);
    atomic_init(&ring->end, 0);
    atomic_init(&ring->read_end, 0);
    atomic_init(&ring->retry_ns, 0);
}

static int map(struct rtl_ring *ring, int file, uint32_t slots)
{
    struct statfs system;
    ring->in_memory = fstatfs(file, &system) == 0 && system.f_type == TMPFS_MAGIC;
    ring->size = rtl_ring_file_size(slots);
    void *memory = mmap(NULL, ring->size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        return -1;
    ring->header = memory;
    ring->slots = (unsigned char *)memory + sizeof(struct rtl_ring_header);
    set_up(ring, slots);
    return 0;
}

static int fill_header(struct rtl_ring *ring, uint32_t ordinal, bool locked)
{
    struct rtl_ring_header *header = ring->header;
    struct rtl_process_facts facts = rtl_process_facts(rtl_process_own());
    struct rtl_process_id id = rtl_process_id_own();
    header->magic = RTL_RING_MAGIC;
    header->wire_version = RTL_WIRE_VERSION;
    header->slots = (uint32_t)ring->mask + 1;
    header->pid = rtl_process_own();
    header->ordinal = ordinal;
    header->process_start = facts.start != 0 ? facts.start : RTL_START_UNKNOWN; /* no /proc */
    header->space = id.space;
    header->inner = id.inner;
    header->image = facts.image;
    header->made_ns = rtl_now();
    header->locked = locked;
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

/* A file that is ready and not too small, or one of our own; with `any` the first that is ready: a
 * small ring is better than none. */
static int get_file(const char *session, const char *hidden, size_t bytes, bool any,
                    uint32_t *slots)
{
    uint32_t fit = rtl_ring_slots_that_fit(session, bytes);
    int file = any ? rtl_spare_take(session, hidden, 1, rtl_ring_slots(SIZE_MAX), slots)
                   : rtl_spare_take(session, hidden, fit, rtl_ring_slots(bytes), slots);
    if (file >= 0 || any || errno == EMFILE || errno == ENFILE)
        return file;
    *slots = fit;
    return rtl_ring_file_make(hidden, fit);
}

/* The file is closed again: a program may need all the descriptors that it may have. */
static int map_file(struct rtl_ring *ring, const char *session, size_t bytes, bool any,
                    bool *locked)
{
    uint32_t slots = 0;
    int file = get_file(session, ring->path, bytes, any, &slots);
    if (file < 0)
        return -1;
    int result = map(ring, file, slots);
    int saved = errno;
    *locked = result == 0 && ring->in_memory && rtl_ring_lock(file);
    close(file);
    errno = saved;
    return result;
}

/* Builds the file under a name that the collector does not look at, then gives it its own. A
 * process of another namespace that has the same pid may do so at the same time. */
static int build_file(struct rtl_ring *ring, const char *session, uint32_t ordinal, size_t bytes,
                      bool any)
{
    char name[RTL_RING_PATH];
    (void)snprintf(ring->path, sizeof ring->path, "%s/.ring.%u.%u.%" PRIx64, session,
                   rtl_process_own(), ordinal, rtl_now());
    (void)snprintf(name, sizeof name, "%s/ring.%u.%u", session, rtl_process_own(), ordinal);
    bool locked = false;
    if (map_file(ring, session, bytes, any, &locked) == 0) {
        if (rtl_ring_reserve_header(ring) == 0 && fill_header(ring, ordinal, locked) == 0 &&
            name_file(ring->path, name) == 0) {
            memcpy(ring->path, name, sizeof name);
            return 0;
        }
        int saved = errno;
        rtl_ring_unmap(ring);
        errno = saved;
    }
    int saved = errno;
    (void)unlink(ring->path);
    errno = saved;
    return -1;
}

static int make_file(struct rtl_ring *ring, const char *session, uint32_t ordinal, size_t bytes)
{
    char name[RTL_RING_PATH];
    (void)snprintf(name, sizeof name, "%s/ring.%u.%u", session, rtl_process_own(), ordinal);
    if (access(name, F_OK) == 0) {
        errno = EEXIST;
        return -1;
    }
    if (build_file(ring, session, ordinal, bytes, false) == 0)
        return 0;
    int error = errno;
    if ((error == EFBIG || error == ENOSPC || error == EDQUOT) &&
        build_file(ring, session, ordinal, bytes, true) == 0)
        return 0;
    errno = error;
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
    uint32_t slots = rtl_ring_slots(bytes);
    ring->size = rtl_ring_file_size(slots);
    void *memory = rtl_pages(ring->size);
    if (memory == NULL) {
        errno = ENOMEM;
        return -1;
    }
    ring->header = memory;
    ring->slots = (unsigned char *)memory + sizeof(struct rtl_ring_header);
    set_up(ring, slots);
    atomic_store(&ring->header->usable, slots);
    return fill_header(ring, 0, false);
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
