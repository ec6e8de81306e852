/* The software GPU's front: preloaded (LD_PRELOAD), it stands in front of libc where a program
 * looks for AMD's driver, which is /dev/kfd, the render nodes in /dev/dri, and what the driver
 * tells in sysfs. Everything else is passed on. The rest of the software GPU is in a library of
 * its own beside this one, which is loaded when the driver is first asked for: most processes that
 * this one is preloaded into never do. */
#include "softgpu/front.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define FRONT __attribute__((visibility("default")))

#define DEVICE_LIBRARY   "libsoftgpu-device.so"
#define COUNTERS_LIBRARY "libhsa-amd-aqlprofile64.so"
#define RUNTIME_LIBRARY  "libhsa-runtime64.so.1"

#define KFD_PATH    "/dev/kfd"
#define RENDER_PATH "/dev/dri/renderD"

enum {
    OPEN_LIMIT = 256,
    LIST_LIMIT = 64,
    FIRST_GPU_MODE = 0660,
    FILE_MODE = 0444,
    DIR_MODE = 0555
};

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __xstat(int version, const char *path, struct stat *status);
int __xstat64(int version, const char *path, struct stat64 *status);

#define LIBC_FUNCTIONS(APPLY)                                                                      \
    APPLY(__open64_2)                                                                              \
    APPLY(__open_2)                                                                                \
    APPLY(__xstat)                                                                                 \
    APPLY(__xstat64)                                                                               \
    APPLY(access)                                                                                  \
    APPLY(close)                                                                                   \
    APPLY(closedir)                                                                                \
    APPLY(dlsym)                                                                                   \
    APPLY(dlopen)                                                                                  \
    APPLY(fopen)                                                                                   \
    APPLY(fopen64)                                                                                 \
    APPLY(ioctl)                                                                                   \
    APPLY(lstat)                                                                                   \
    APPLY(lstat64)                                                                                 \
    APPLY(mmap)                                                                                    \
    APPLY(mmap64)                                                                                  \
    APPLY(open)                                                                                    \
    APPLY(open64)                                                                                  \
    APPLY(openat)                                                                                  \
    APPLY(openat64)                                                                                \
    APPLY(opendir)                                                                                 \
    APPLY(popen)                                                                                   \
    APPLY(readdir)                                                                                 \
    APPLY(readdir64)                                                                               \
    APPLY(rewinddir)                                                                               \
    APPLY(stat)                                                                                    \
    APPLY(stat64)

/* Addresses of libc's functions. All are found as the process starts, and one that is called before
 * that, then: later a question to the dynamic linker would be seen by a profiler, as one of the
 * program's. */
#define FIELD(name) _Atomic(uintptr_t) name; // NOLINT(bugprone-macro-parentheses): a member
static struct {
    LIBC_FUNCTIONS(FIELD)
} libc;

static uintptr_t find(_Atomic(uintptr_t) *found, const char *name)
{
    uintptr_t known = atomic_load_explicit(found, memory_order_relaxed);
    if (known == 0) {
        known = (uintptr_t)dlsym(RTLD_NEXT, name);
        atomic_store_explicit(found, known, memory_order_relaxed);
    }
    return known;
}

#define FIND(name) (void)find(&libc.name, #name);
__attribute__((constructor)) static void find_all(void)
{
    LIBC_FUNCTIONS(FIND)
}

/* POSIX makes a function pointer out of dlsym's result; ISO C has no cast for it. */
#define NEXT(name)                                                                                 \
    __typeof__(&(name)) real = NULL;                                                               \
    uintptr_t known = find(&libc.name, #name);                                                     \
    memcpy(&real, &known, sizeof(real))

/* ---- the device's library ---- */

static _Atomic(const sg_front_calls_t *) device_calls;

/* The folder that this library lies in, with a slash. */
static bool own_folder(char *folder, size_t size)
{
    Dl_info self;
    char real[PATH_MAX];
    if (dladdr((const void *)&device_calls, &self) == 0 || !realpath(self.dli_fname, real))
        return false;
    *(strrchr(real, '/') + 1) = '\0';
    return snprintf(folder, size, "%s", real) < (int)size;
}

FRONT void *softgpu_front_open(const char *path, int mode)
{
    NEXT(dlopen);
    return real(path, mode);
}

FRONT void *softgpu_front_symbol(void *library, const char *name)
{
    NEXT(dlsym);
    return real(library, name);
}

/* Beside the device's library lies the one for performance counters. ROCr loads that by its name
 * alone, and gets what has the name already. It needs ROCr, so it comes with ROCr's first ioctl. */
static void load_counters(void)
{
    char path[2 * PATH_MAX];
    static atomic_flag tried = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&tried) || !own_folder(path, PATH_MAX))
        return;
    void *runtime = softgpu_front_open(RUNTIME_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (!runtime)
        return;
    (void)dlclose(runtime);
    (void)strncat(path, COUNTERS_LIBRARY, sizeof path - strlen(path) - 1);
    (void)softgpu_front_open(path, RTLD_NOW | RTLD_LOCAL);
}

/* Called by the device's library as it is loaded. */
FRONT void softgpu_front_take(const sg_front_calls_t *calls)
{
    atomic_store_explicit(&device_calls, calls, memory_order_release);
}

/* Without a lock: the dynamic linker loads a library once, whoever asks. */
const sg_front_calls_t *sg_front_calls(void)
{
    char path[2 * PATH_MAX];
    if (!atomic_load_explicit(&device_calls, memory_order_acquire) && own_folder(path, PATH_MAX)) {
        (void)strncat(path, DEVICE_LIBRARY, sizeof path - strlen(path) - 1);
        (void)softgpu_front_open(path, RTLD_NOW | RTLD_LOCAL);
    }
    const sg_front_calls_t *calls = atomic_load_explicit(&device_calls, memory_order_acquire);
    if (!calls)
        errno = ENODEV;
    return calls;
}

/* ---- open descriptors ---- */

/* A descriptor plus one in the low half, the number of its render node or 0 in the high half. */
static _Atomic uint64_t opened[OPEN_LIMIT];
static atomic_uint opened_count;

static void remember(int descriptor, unsigned render)
{
    uint64_t entry = (uint64_t)render << 32 | ((uint32_t)descriptor + 1);
    for (size_t i = 0; i < OPEN_LIMIT; i++) {
        uint64_t none = 0;
        if (!atomic_compare_exchange_strong(&opened[i], &none, entry))
            continue;
        atomic_fetch_add(&opened_count, 1);
        return;
    }
}

static _Atomic uint64_t *slot_of(int descriptor)
{
    if (descriptor < 0 || atomic_load_explicit(&opened_count, memory_order_relaxed) == 0)
        return NULL;
    for (size_t i = 0; i < OPEN_LIMIT; i++)
        if ((uint32_t)atomic_load_explicit(&opened[i], memory_order_relaxed) ==
            (uint32_t)descriptor + 1)
            return &opened[i];
    return NULL;
}

unsigned sg_front_render_of(int descriptor)
{
    const _Atomic uint64_t *slot = slot_of(descriptor);
    return slot ? (unsigned)(atomic_load(slot) >> 32) : 0;
}

/* The result of a call of the device as one of libc. */
static int as_libc(int result)
{
    if (result >= 0)
        return result;
    errno = -result;
    return -1;
}

static int open_kfd(int flags)
{
    const sg_front_calls_t *calls = sg_front_calls();
    int descriptor = calls ? as_libc(calls->open_kfd(flags)) : -1;
    if (descriptor >= 0)
        remember(descriptor, 0);
    return descriptor;
}

int sg_front_open_render(unsigned number, int flags)
{
    const sg_front_calls_t *calls = sg_front_calls();
    int descriptor = calls ? as_libc(calls->open_render(number, flags)) : -1;
    if (descriptor >= 0)
        remember(descriptor, number);
    return descriptor;
}

/* ---- paths ---- */

typedef enum sg_kind { OTHER, KFD, RENDER, SYSFS } sg_kind_t;

static bool begins(const char *path, const char *with)
{
    return strncmp(path, with, strlen(with)) == 0;
}

/* The number of a render node in a path, 0 if it is none. */
static unsigned render_number(const char *path)
{
    if (!begins(path, RENDER_PATH))
        return 0;
    char *end = NULL;
    unsigned long number = strtoul(path + strlen(RENDER_PATH), &end, 10);
    return *end == '\0' && number >= SG_FIRST_RENDER_NODE && number < UINT16_MAX ? (unsigned)number
                                                                                 : 0;
}

static sg_kind_t kind_of(const char *path)
{
    if (!path || path[0] != '/' || (path[1] != 'd' && path[1] != 's'))
        return OTHER;
    if (strcmp(path, KFD_PATH) == 0)
        return KFD;
    if (render_number(path) != 0)
        return RENDER;
    return begins(path, "/sys/devices/virtual/kfd") || begins(path, "/sys/class/kfd") ||
                   begins(path, "/sys/module/amdgpu")
               ? SYSFS
               : OTHER;
}

static int text_in_memory(const char *text, size_t size, int flags)
{
    int descriptor = memfd_create("softgpu-sysfs", flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
    if (descriptor >= 0 &&
        (write(descriptor, text, size) != (ssize_t)size || lseek(descriptor, 0, SEEK_SET) != 0)) {
        (void)close(descriptor);
        return -1;
    }
    return descriptor;
}

/* The files are shorter than what a pipe holds. */
static int text_in_pipe(const char *text, size_t size, int flags)
{
    int ends[2];
    if (pipe2(ends, flags & O_CLOEXEC) != 0)
        return -1;
    if (write(ends[1], text, size) != (ssize_t)size) {
        (void)close(ends[0]);
        ends[0] = -1;
    }
    (void)close(ends[1]);
    return ends[0];
}

/* A file of sysfs as an open descriptor. A memfd counts as a file, which may be limited; what
 * cannot be written to it is a signal. */
static int open_text(const char *path, int flags)
{
    const sg_front_calls_t *calls = sg_front_calls();
    char *text = NULL;
    size_t size = 0;
    struct rlimit limit;
    if (!calls || as_libc(calls->sysfs_text(path, &text, &size)) < 0)
        return -1;
    bool limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size;
    int descriptor = limited ? text_in_pipe(text, size, flags) : text_in_memory(text, size, flags);
    free(text);
    return descriptor;
}

/* Opens what is of the driver's; false if it is not. */
static bool open_ours(const char *path, int flags, int *descriptor)
{
    sg_kind_t kind = kind_of(path);
    if (kind == KFD)
        *descriptor = open_kfd(flags);
    else if (kind == RENDER)
        *descriptor = sg_front_open_render(render_number(path), flags);
    else if (kind == SYSFS)
        *descriptor = open_text(path, flags);
    return kind != OTHER;
}

static mode_t mode_of(int flags, va_list arguments)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}

FRONT int open(const char *path, int flags, ...)
{
    int ours = -1;
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    if (open_ours(path, flags, &ours))
        return ours;
    NEXT(open);
    return real(path, flags, mode);
}

FRONT int open64(const char *path, int flags, ...)
{
    int ours = -1;
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    if (open_ours(path, flags, &ours))
        return ours;
    NEXT(open64);
    return real(path, flags, mode);
}

FRONT int openat(int folder, const char *path, int flags, ...)
{
    int ours = -1;
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    if (open_ours(path, flags, &ours))
        return ours;
    NEXT(openat);
    return real(folder, path, flags, mode);
}

FRONT int openat64(int folder, const char *path, int flags, ...)
{
    int ours = -1;
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    if (open_ours(path, flags, &ours))
        return ours;
    NEXT(openat64);
    return real(folder, path, flags, mode);
}

/* What _FORTIFY_SOURCE makes of open where it sees no mode. */
FRONT int __open_2(const char *path, int flags)
{
    int ours = -1;
    if (open_ours(path, flags, &ours))
        return ours;
    NEXT(__open_2);
    return real(path, flags);
}

FRONT int __open64_2(const char *path, int flags)
{
    int ours = -1;
    if (open_ours(path, flags, &ours))
        return ours;
    NEXT(__open64_2);
    return real(path, flags);
}

static FILE *stream_of(int descriptor, const char *mode)
{
    FILE *stream = descriptor >= 0 ? fdopen(descriptor, mode) : NULL;
    if (!stream && descriptor >= 0)
        (void)close(descriptor);
    return stream;
}

FRONT FILE *fopen(const char *path, const char *mode)
{
    if (kind_of(path) == SYSFS)
        return stream_of(open_text(path, strchr(mode, 'e') ? O_CLOEXEC : 0), mode);
    NEXT(fopen);
    return real(path, mode);
}

FRONT FILE *fopen64(const char *path, const char *mode)
{
    if (kind_of(path) == SYSFS)
        return stream_of(open_text(path, strchr(mode, 'e') ? O_CLOEXEC : 0), mode);
    NEXT(fopen64);
    return real(path, mode);
}

/* ---- close and ioctl ---- */

FRONT int close(int descriptor)
{
    _Atomic uint64_t *slot = slot_of(descriptor);
    if (slot) {
        bool is_kfd = atomic_exchange(slot, 0) >> 32 == 0;
        atomic_fetch_sub(&opened_count, 1);
        const sg_front_calls_t *calls = sg_front_calls();
        if (is_kfd && calls)
            calls->closing_kfd(descriptor);
    }
    NEXT(close);
    return real(descriptor);
}

/* Render nodes take no ioctl here: libdrm's functions are in front_drm.c. */
static int our_ioctl(bool is_kfd, unsigned long request, void *argument)
{
    enum { KFD_TYPE = 'K' };
    if (!is_kfd || _IOC_TYPE(request) != KFD_TYPE)
        return as_libc(-ENOTTY);
    load_counters();
    return as_libc(sg_front_calls()->ioctl(request, argument));
}

FRONT int ioctl(int descriptor, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    const _Atomic uint64_t *slot = slot_of(descriptor);
    if (slot)
        return our_ioctl(atomic_load(slot) >> 32 == 0, request, argument);
    NEXT(ioctl);
    return real(descriptor, request, argument);
}

/* Mappings of the driver's descriptors are libc's affair, but for memory that is not in their file:
 * another process's. */
static void *map_foreign(const sg_host_mapping_t *wanted, off_t place)
{
    void *mapped = NULL;
    int failed = sg_front_calls()->buffer_host_map(wanted, (uint64_t)place, &mapped);
    return as_libc(failed) < 0 ? MAP_FAILED : mapped;
}

static bool is_foreign(int descriptor, off_t place)
{
    return place >= (off_t)SG_FOREIGN_PLACES && sg_front_render_of(descriptor) != 0;
}

FRONT void *mmap(void *address, size_t bytes, int protection, int flags, int descriptor,
                 off_t place)
{
    if (is_foreign(descriptor, place))
        return map_foreign(&(sg_host_mapping_t){address, bytes, protection, flags}, place);
    NEXT(mmap);
    return real(address, bytes, protection, flags, descriptor, place);
}

FRONT void *mmap64(void *address, size_t bytes, int protection, int flags, int descriptor,
                   off64_t place)
{
    if (is_foreign(descriptor, place))
        return map_foreign(&(sg_host_mapping_t){address, bytes, protection, flags}, place);
    NEXT(mmap64);
    return real(address, bytes, protection, flags, descriptor, place);
}

/* ---- folders ---- */

/* A folder of sysfs that is being read. What opendir gives is opaque, so it may be this. */
typedef struct sg_list {
    atomic_bool used;
    unsigned index;
    char path[PATH_MAX];
    struct dirent entry;
} sg_list_t;

static sg_list_t lists[LIST_LIMIT];

static sg_list_t *list_of(DIR *folder)
{
    uintptr_t offset = (uintptr_t)folder - (uintptr_t)lists;
    return offset < sizeof(lists) ? &lists[offset / sizeof(lists[0])] : NULL;
}

static DIR *open_list(const char *path)
{
    const sg_front_calls_t *calls = sg_front_calls();
    sg_sysfs_entry_t entry;
    if (!calls || strlen(path) >= PATH_MAX || as_libc(calls->sysfs_entry(path, 0, &entry)) < 0)
        return NULL;
    for (size_t i = 0; i < LIST_LIMIT; i++) {
        if (atomic_exchange(&lists[i].used, true))
            continue;
        lists[i].index = 0;
        (void)snprintf(lists[i].path, sizeof lists[i].path, "%s", path);
        return (DIR *)(void *)&lists[i];
    }
    errno = EMFILE;
    return NULL;
}

FRONT DIR *opendir(const char *path)
{
    if (kind_of(path) == SYSFS)
        return open_list(path);
    NEXT(opendir);
    return real(path);
}

static struct dirent *read_list(sg_list_t *list)
{
    static const char *const dots[] = {".", ".."};
    enum { DOTS = sizeof(dots) / sizeof(dots[0]) };
    sg_sysfs_entry_t entry = {.is_folder = true};
    unsigned index = list->index++;
    if (index < DOTS)
        (void)snprintf(entry.name, sizeof entry.name, "%s", dots[index]);
    else if (sg_front_calls()->sysfs_entry(list->path, index - DOTS, &entry) != 1)
        return NULL;
    list->entry.d_ino = index + 1;
    list->entry.d_reclen = sizeof(list->entry);
    list->entry.d_type = entry.is_folder ? DT_DIR : DT_REG;
    (void)snprintf(list->entry.d_name, sizeof list->entry.d_name, "%s", entry.name);
    return &list->entry;
}

FRONT struct dirent *readdir(DIR *folder)
{
    sg_list_t *list = list_of(folder);
    if (list)
        return read_list(list);
    NEXT(readdir);
    return real(folder);
}

FRONT struct dirent64 *readdir64(DIR *folder)
{
    sg_list_t *list = list_of(folder);
    if (list)
        return (struct dirent64 *)(void *)read_list(list); /* of one layout on x86-64 */
    NEXT(readdir64);
    return real(folder);
}

FRONT int closedir(DIR *folder)
{
    sg_list_t *list = list_of(folder);
    if (list) {
        atomic_store(&list->used, false);
        return 0;
    }
    NEXT(closedir);
    return real(folder);
}

FRONT void rewinddir(DIR *folder)
{
    sg_list_t *list = list_of(folder);
    if (list) {
        list->index = 0;
        return;
    }
    NEXT(rewinddir);
    real(folder);
}

/* ---- what is there ---- */

/* Mode of what is of the driver's: 0 with errno if there is no such thing, else with its type. */
static mode_t mode_at(const char *path, sg_kind_t kind)
{
    const sg_front_calls_t *calls = sg_front_calls();
    sg_sysfs_entry_t entry;
    sg_gpu_facts_t facts;
    if (!calls)
        return 0;
    if (kind == KFD)
        return S_IFCHR | FIRST_GPU_MODE;
    if (kind == RENDER)
        return as_libc(calls->facts(render_number(path), &facts)) < 0 ? 0
                                                                      : S_IFCHR | FIRST_GPU_MODE;
    int found = calls->sysfs_entry(path, 0, &entry);
    if (found == -ENOTDIR)
        return S_IFREG | FILE_MODE;
    return as_libc(found) < 0 ? 0 : S_IFDIR | DIR_MODE;
}

static int tell(const char *path, sg_kind_t kind, struct stat *status)
{
    memset(status, 0, sizeof(*status));
    status->st_mode = mode_at(path, kind);
    status->st_nlink = 1;
    status->st_uid = geteuid();
    status->st_gid = getegid();
    status->st_blksize = BUFSIZ;
    return status->st_mode == 0 ? -1 : 0;
}

FRONT int access(const char *path, int mode)
{
    sg_kind_t kind = kind_of(path);
    if (kind != OTHER)
        return mode_at(path, kind) == 0 ? -1 : 0;
    NEXT(access);
    return real(path, mode);
}

FRONT int stat(const char *path, struct stat *status)
{
    sg_kind_t kind = kind_of(path);
    if (kind != OTHER)
        return tell(path, kind, status);
    NEXT(stat);
    return real(path, status);
}

FRONT int stat64(const char *path, struct stat64 *status)
{
    sg_kind_t kind = kind_of(path);
    if (kind != OTHER)
        return tell(path, kind, (struct stat *)(void *)status); /* of one layout on x86-64 */
    NEXT(stat64);
    return real(path, status);
}

FRONT int lstat(const char *path, struct stat *status)
{
    sg_kind_t kind = kind_of(path);
    if (kind != OTHER)
        return tell(path, kind, status);
    NEXT(lstat);
    return real(path, status);
}

FRONT int lstat64(const char *path, struct stat64 *status)
{
    sg_kind_t kind = kind_of(path);
    if (kind != OTHER)
        return tell(path, kind, (struct stat *)(void *)status);
    NEXT(lstat64);
    return real(path, status);
}

/* What programs that were linked with glibc before 2.33 call. */
FRONT int __xstat(int version, const char *path, struct stat *status)
{
    sg_kind_t kind = kind_of(path);
    if (kind != OTHER)
        return tell(path, kind, status);
    NEXT(__xstat);
    return real(version, path, status);
}

FRONT int __xstat64(int version, const char *path, struct stat64 *status)
{
    sg_kind_t kind = kind_of(path);
    if (kind != OTHER)
        return tell(path, kind, (struct stat *)(void *)status);
    NEXT(__xstat64);
    return real(version, path, status);
}

/* rocminfo up to 5.x looks for the driver in lsmod's list. */
FRONT FILE *popen(const char *command, const char *mode)
{
    NEXT(popen);
    if (strcmp(command, "lsmod | grep amdgpu") == 0)
        command = "echo 'amdgpu (software GPU)'";
    return real(command, mode);
}
