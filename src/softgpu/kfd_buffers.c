#include "softgpu/kfd_buffers.h"

#include "softgpu/kfd.h"
#include "softgpu/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, HUGE_PAGE = 2 << 20, OWN_FILE = -1 };

/* The doorbells lie first, as kfd_memory.h says. Behind them lies everything else. */
static const uint64_t BEGIN = SG_MAX_GPUS * (UINT64_C(1) << 32);

/* The memfd is as large as it can ever become: only what is touched takes memory. Places are not
 * used again, so that fresh memory is zero. */
static const uint64_t MEMFD_BYTES = UINT64_C(1) << 46;
static const uint64_t ANONYMOUS_BYTES = UINT64_C(1) << 42;

static const uint64_t RECORD_MAGIC = UINT64_C(0x3166756264677472);

/* Describes an exported buffer, in a page of the memfd. */
typedef struct sg_record {
    uint64_t magic;
    uint64_t offset;
    uint64_t bytes;
    uint32_t flags;
    uint32_t gpu;
    sg_metadata_t metadata;
} sg_record_t;

struct sg_buffer {
    sg_buffer_t *next;
    uint64_t offset;
    uint64_t bytes;
    uint32_t flags;
    uint32_t gpu;
    uint32_t holders;
    int file;               /* another process's memfd, or OWN_FILE */
    ino_t inode;            /* of another process's memfd */
    uint64_t record_offset; /* 0: none yet */
    sg_record_t *record;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sg_buffer_t *buffers;
static uint64_t next_offset;
static uint64_t end_offset;

void sg_buffers_before_fork(void)
{
    (void)pthread_mutex_lock(&lock);
}

void sg_buffers_after_fork(void)
{
    (void)pthread_mutex_unlock(&lock);
}

/* ---- the memfd ---- */

/* A memfd counts as a file (RLIMIT_FSIZE), and who makes one that is too long gets a signal. Shared
 * memory without a file does not, and has one that a privileged process can open. */
static int open_anonymous(size_t bytes)
{
    char path[64];
    void *memory = mmap(NULL, bytes, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return -1;
    (void)snprintf(path, sizeof(path), "/proc/self/map_files/%zx-%zx", (size_t)memory,
                   (size_t)memory + bytes);
    int made = open(path, O_RDWR | O_CLOEXEC);
    int why = errno;
    (void)munmap(memory, bytes);
    errno = why;
    return made;
}

static int open_memfd(void)
{
    int made = memfd_create("softgpu", MFD_CLOEXEC);
    if (made >= 0 && ftruncate(made, (off_t)MEMFD_BYTES) != 0) {
        int why = errno;
        (void)close(made);
        errno = why;
        made = -1;
    }
    return made;
}

int sg_buffers_open(void)
{
    struct rlimit limit;
    bool limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < MEMFD_BYTES;
    (void)pthread_mutex_lock(&lock);
    next_offset = BEGIN;
    end_offset = limited ? ANONYMOUS_BYTES : MEMFD_BYTES;
    (void)pthread_mutex_unlock(&lock);
    return limited ? open_anonymous(ANONYMOUS_BYTES) : open_memfd();
}

/* Under the lock. 0 if there is no more. */
static uint64_t take_place(uint64_t bytes)
{
    uint64_t alignment = bytes >= HUGE_PAGE ? HUGE_PAGE : PAGE;
    uint64_t place = (next_offset + alignment - 1) & ~(alignment - 1);
    if (place > end_offset || bytes > end_offset - place)
        return 0;
    next_offset = (place + bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    return place;
}

static void give_back(uint64_t offset, uint64_t bytes)
{
    (void)fallocate(sg_kfd_memfd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
                    (off_t)bytes);
}

/* ---- buffers ---- */

/* A lock of the page that describes a buffer, or its end. */
static bool set_lock(int descriptor, uint64_t record_offset, short type)
{
    struct flock wanted = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)record_offset, .l_len = 1};
    return fcntl(descriptor, F_OFD_SETLK, &wanted) == 0;
}

static void forget(sg_buffer_t *buffer)
{
    if (buffer->record)
        (void)munmap(buffer->record, PAGE);
    if (buffer->file != OWN_FILE)
        (void)close(buffer->file);
    free(buffer);
}

/* Whether a process has a dmabuf of it, or has imported it from one. */
static bool is_wanted(const sg_buffer_t *buffer)
{
    struct flock taken = {.l_type = F_WRLCK,
                          .l_whence = SEEK_SET,
                          .l_start = (off_t)buffer->record_offset,
                          .l_len = 1};
    return buffer->record && fcntl(sg_kfd_memfd(), F_OFD_GETLK, &taken) == 0 &&
           taken.l_type != F_UNLCK;
}

/* Under the lock. Nobody tells when the last dmabuf of a buffer is closed, so whoever wants memory
 * looks. */
static void sweep(void)
{
    for (sg_buffer_t **link = &buffers; *link;) {
        sg_buffer_t *buffer = *link;
        if (buffer->holders > 0 || (buffer->file == OWN_FILE && is_wanted(buffer))) {
            link = &buffer->next;
            continue;
        }
        *link = buffer->next;
        if (buffer->file == OWN_FILE) {
            give_back(buffer->offset, buffer->bytes);
            if (buffer->record)
                give_back(buffer->record_offset, PAGE);
        } else { /* views of it that are left would keep the file open, and the lock */
            (void)set_lock(buffer->file, buffer->record_offset, F_UNLCK);
        }
        forget(buffer);
    }
}

void sg_buffers_forget(void)
{
    (void)pthread_mutex_lock(&lock);
    while (buffers) {
        sg_buffer_t *buffer = buffers;
        buffers = buffer->next;
        forget(buffer);
    }
    (void)pthread_mutex_unlock(&lock);
}

/* Under the lock. */
static sg_buffer_t *add(const sg_buffer_t *like)
{
    sg_buffer_t *buffer = malloc(sizeof(*buffer));
    if (!buffer)
        return NULL;
    *buffer = *like;
    buffer->next = buffers;
    buffers = buffer;
    return buffer;
}

sg_buffer_t *sg_buffer_create(uint64_t bytes, uint32_t flags, uint32_t gpu)
{
    sg_buffer_t like = {.bytes = bytes, .flags = flags, .gpu = gpu, .holders = 1, .file = OWN_FILE};
    (void)pthread_mutex_lock(&lock);
    like.offset = take_place(bytes);
    sg_buffer_t *buffer = like.offset != 0 ? add(&like) : NULL;
    (void)pthread_mutex_unlock(&lock);
    return buffer;
}

void sg_buffer_hold(sg_buffer_t *buffer)
{
    (void)pthread_mutex_lock(&lock);
    buffer->holders++;
    (void)pthread_mutex_unlock(&lock);
}

void sg_buffer_release(sg_buffer_t *buffer)
{
    if (!buffer)
        return;
    (void)pthread_mutex_lock(&lock);
    if (--buffer->holders == 0)
        sweep();
    (void)pthread_mutex_unlock(&lock);
}

uint64_t sg_buffer_bytes(const sg_buffer_t *buffer)
{
    return buffer->bytes;
}

uint32_t sg_buffer_flags(const sg_buffer_t *buffer)
{
    return buffer->flags;
}

uint32_t sg_buffer_gpu(const sg_buffer_t *buffer)
{
    return buffer->gpu;
}

static int file_of(const sg_buffer_t *buffer)
{
    return buffer->file == OWN_FILE ? sg_kfd_memfd() : buffer->file;
}

bool sg_buffer_place(const sg_buffer_t *buffer, uint64_t *place)
{
    *place = buffer->offset;
    return buffer->file == OWN_FILE;
}

void *sg_buffer_map(const sg_buffer_t *buffer, void *address, uint64_t offset, uint64_t bytes)
{
    void *mapped =
        mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (address ? MAP_FIXED : 0),
             file_of(buffer), (off_t)(buffer->offset + offset));
    if (mapped != MAP_FAILED)
        (void)madvise(mapped, bytes, MADV_DONTFORK);
    return mapped;
}

void *sg_buffer_host_map(const sg_buffer_t *buffer, const sg_host_mapping_t *wanted,
                         uint64_t offset)
{
    uint64_t there = (buffer->bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    if (offset > there || wanted->bytes > there - offset) {
        errno = EINVAL;
        return MAP_FAILED;
    }
    return mmap(wanted->address, wanted->bytes, wanted->protection, wanted->flags, file_of(buffer),
                (off_t)(buffer->offset + offset));
}

uint64_t sg_buffers_used(uint32_t gpu)
{
    uint64_t bytes = 0;
    (void)pthread_mutex_lock(&lock);
    sweep();
    for (const sg_buffer_t *buffer = buffers; buffer; buffer = buffer->next)
        if (buffer->file == OWN_FILE && buffer->gpu == gpu &&
            buffer->flags & KFD_IOC_ALLOC_MEM_FLAGS_VRAM)
            bytes += buffer->bytes;
    (void)pthread_mutex_unlock(&lock);
    return bytes;
}

/* ---- dmabufs ---- */

/* The file behind a descriptor, opened anew: with a place and with locks of its own. */
static int reopen(int descriptor, bool close_on_exec)
{
    char path[32];
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
    return open(path, O_RDWR | (close_on_exec ? O_CLOEXEC : 0));
}

static sg_record_t *map_record(int descriptor, uint64_t record_offset)
{
    void *page =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, (off_t)record_offset);
    if (page == MAP_FAILED)
        return NULL;
    (void)madvise(page, PAGE, MADV_DONTFORK);
    return page;
}

/* Under the lock. */
static bool describe(sg_buffer_t *buffer)
{
    if (buffer->record)
        return true;
    buffer->record_offset = take_place(PAGE);
    buffer->record =
        buffer->record_offset != 0 ? map_record(sg_kfd_memfd(), buffer->record_offset) : NULL;
    if (buffer->record)
        *buffer->record = (sg_record_t){.magic = RECORD_MAGIC,
                                        .offset = buffer->offset,
                                        .bytes = buffer->bytes,
                                        .flags = buffer->flags,
                                        .gpu = buffer->gpu};
    return buffer->record != NULL;
}

int sg_buffer_export(sg_buffer_t *buffer, bool close_on_exec)
{
    (void)pthread_mutex_lock(&lock);
    bool described = describe(buffer);
    (void)pthread_mutex_unlock(&lock);
    if (!described)
        return -ENOMEM;
    int made = reopen(file_of(buffer), close_on_exec);
    if (made < 0)
        return -errno;
    if (lseek(made, (off_t)buffer->record_offset, SEEK_SET) >= 0 &&
        set_lock(made, buffer->record_offset, F_RDLCK))
        return made;
    (void)close(made);
    return -ENOMEM;
}

static bool is_sound(const sg_record_t *record, uint64_t file_bytes)
{
    return record->magic == RECORD_MAGIC && record->offset >= BEGIN && record->bytes > 0 &&
           record->offset < file_bytes && record->bytes <= file_bytes - record->offset &&
           record->gpu < sg_settings()->gpus;
}

/* The page that a dmabuf's place tells, 0 if it can be none. Only memfds have seals. */
static uint64_t record_of(int descriptor, struct stat *status)
{
    if (fcntl(descriptor, F_GET_SEALS) < 0 || fstat(descriptor, status) != 0 ||
        (status->st_size != (off_t)MEMFD_BYTES && status->st_size != (off_t)ANONYMOUS_BYTES))
        return 0;
    off_t place = lseek(descriptor, 0, SEEK_CUR);
    return place >= (off_t)BEGIN && place % PAGE == 0 && place < status->st_size ? (uint64_t)place
                                                                                 : 0;
}

static bool is_own(const struct stat *status)
{
    struct stat own;
    return fstat(sg_kfd_memfd(), &own) == 0 && own.st_ino == status->st_ino &&
           own.st_dev == status->st_dev;
}

/* The buffer that a page of this or another process's memfd describes, if it is known. */
static sg_buffer_t *described_at(uint64_t record_offset, bool own, ino_t inode)
{
    for (sg_buffer_t *buffer = buffers; buffer; buffer = buffer->next)
        if (buffer->record && buffer->record_offset == record_offset &&
            (buffer->file == OWN_FILE ? own : !own && buffer->inode == inode))
            return buffer;
    return NULL;
}

/* Another process's memory, which stays while this one has it. Under the lock. */
static int import_foreign(int descriptor, uint64_t record_offset, const struct stat *status,
                          sg_buffer_t **imported)
{
    sg_buffer_t like = {.holders = 1, .record_offset = record_offset, .inode = status->st_ino};
    like.file = reopen(descriptor, true);
    if (like.file < 0)
        return errno;
    like.record =
        set_lock(like.file, record_offset, F_RDLCK) ? map_record(like.file, record_offset) : NULL;
    sg_record_t record = like.record ? *like.record : (sg_record_t){0};
    if (is_sound(&record, (uint64_t)status->st_size)) {
        like.offset = record.offset;
        like.bytes = record.bytes;
        like.flags = record.flags;
        like.gpu = record.gpu;
        *imported = add(&like);
        if (*imported)
            return 0;
    }
    if (like.record)
        (void)munmap(like.record, PAGE);
    (void)close(like.file);
    return EINVAL;
}

int sg_buffer_import(int descriptor, sg_buffer_t **buffer)
{
    struct stat status;
    uint64_t record_offset = record_of(descriptor, &status);
    if (record_offset == 0)
        return EINVAL;
    int failed = 0;
    bool own = is_own(&status);
    (void)pthread_mutex_lock(&lock);
    *buffer = described_at(record_offset, own, status.st_ino);
    if (*buffer)
        (*buffer)->holders++;
    else
        failed = own ? EINVAL : import_foreign(descriptor, record_offset, &status, buffer);
    (void)pthread_mutex_unlock(&lock);
    return failed;
}

bool sg_buffer_metadata(const sg_buffer_t *buffer, sg_metadata_t *metadata)
{
    (void)pthread_mutex_lock(&lock);
    if (buffer->record)
        *metadata = buffer->record->metadata;
    if (buffer->record && metadata->bytes > sizeof(metadata->words))
        metadata->bytes = sizeof(metadata->words);
    (void)pthread_mutex_unlock(&lock);
    return buffer->record != NULL;
}

bool sg_buffer_set_metadata(sg_buffer_t *buffer, const sg_metadata_t *metadata)
{
    (void)pthread_mutex_lock(&lock);
    if (buffer->record)
        buffer->record->metadata = *metadata;
    (void)pthread_mutex_unlock(&lock);
    return buffer->record != NULL;
}
