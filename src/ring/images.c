/*
 * Images of one process. An exec gives no sign to anybody, and what it replaces cannot say that it
 * ends. But the next image knows: a ring of its own process that it has not mapped itself is one of
 * an image before it. A ring that it has mapped is of another copy of this library in the same
 * image.
 */
#include "common/private.h"
#include "ring/process.h"
#include "ring/ring.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOKED_AT 4096u /* bytes of a ring: what is needed of its header */

_Static_assert(offsetof(struct rtl_ring_header, made_ns) + sizeof(uint64_t) <= LOOKED_AT, "a page");

static struct rtl_ring_header *map_header(int folder, const char *name)
{
    int file = rtl_private_file(folder, name, O_RDWR);
    struct stat status;
    void *memory = MAP_FAILED;
    if (file < 0)
        return NULL;
    if (fstat(file, &status) == 0 && (size_t)status.st_size >= sizeof(struct rtl_ring_header))
        memory = mmap(NULL, LOOKED_AT, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return memory != MAP_FAILED ? memory : NULL;
}

/* Processes of two pid namespaces may have the same pid, and begin in the same tick. */
static bool is_of_this_process(const struct rtl_ring_header *header, uint32_t pid)
{
    struct rtl_process_id id = rtl_process_id_own();
    uint64_t start = rtl_process_facts(pid).start;
    return header->magic == RTL_RING_MAGIC && header->wire_version == RTL_WIRE_VERSION &&
           header->pid == pid && header->space == id.space && header->inner == id.inner &&
           header->process_start != RTL_START_UNKNOWN && start != 0 && start != RTL_START_UNKNOWN &&
           rtl_process_same_start(header->process_start, start);
}

static enum rtl_mapped is_mapped(const char *session, const char *name, uint32_t pid)
{
    char path[512];
    const char *last = strrchr(session, '/');
    (void)snprintf(path, sizeof path, "%s/%s", last != NULL ? last : session, name);
    return rtl_process_maps(pid, path);
}

/* Looks what is mapped before it maps the ring itself. */
static bool replace(int folder, const char *session, const char *name, uint32_t pid)
{
    uint32_t state = RTL_RING_OPEN;
    if (is_mapped(session, name, pid) != RTL_MAPPED_NO)
        return false;
    struct rtl_ring_header *header = map_header(folder, name);
    if (header == NULL)
        return false;
    if (is_of_this_process(header, pid))
        (void)atomic_compare_exchange_strong(&header->state, &state, RTL_RING_REPLACED);
    munmap(header, LOOKED_AT);
    return false;
}

static bool is_here(int folder, const char *session, const char *name, uint32_t pid)
{
    (void)folder;
    return is_mapped(session, name, pid) == RTL_MAPPED_YES;
}

typedef bool visitor(int folder, const char *session, const char *name, uint32_t pid);

/* Visits rings of this process until one is what is looked for; true then. */
static bool visit(int folder, const char *session, visitor *look)
{
    _Alignas(struct dirent64) char entries[2048];
    char prefix[32];
    uint32_t pid = rtl_process_own();
    size_t length = (size_t)snprintf(prefix, sizeof prefix, "ring.%u.", pid);
    ssize_t size;
    while ((size = getdents64(folder, entries, sizeof entries)) > 0) {
        for (ssize_t at = 0; at < size;) {
            const struct dirent64 *entry = (const struct dirent64 *)(void *)(entries + at);
            if (strncmp(entry->d_name, prefix, length) == 0 &&
                look(folder, session, entry->d_name, pid))
                return true;
            at += entry->d_reclen;
        }
    }
    return false;
}

static bool visit_all(const char *session, visitor *look)
{
    int saved = errno;
    int folder = rtl_private_folder(session);
    bool found = folder >= 0 && visit(folder, session, look);
    if (folder >= 0)
        close(folder);
    errno = saved;
    return found;
}

void rtl_ring_replace_former(const char *session)
{
    (void)visit_all(session, replace);
}

bool rtl_ring_is_here(const char *session)
{
    return visit_all(session, is_here);
}
