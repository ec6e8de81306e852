#include "ring/maker.h"

#include "common/private.h"
#include "ring/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

bool rtl_ring_lock(int file)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

/* Where Linux cannot tell it may be. */
static bool is_held(int file)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return file < 0 || fcntl(file, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

/* A process whose namespace may not be seen has a pid in it all the same. */
static bool is_maker(const struct rtl_ring_header *header, uint32_t pid, uint64_t start)
{
    struct rtl_process_id id = rtl_process_id(pid);
    return start != 0 && rtl_process_same_start(start, header->process_start) &&
           (id.space == 0 || id.space == header->space) &&
           (id.inner == 0 || id.inner == header->inner);
}

/* Neither end knows better than that both mean the same by a pid, or there is the lock. */
static struct rtl_ring_maker guess(const struct rtl_ring_header *header)
{
    return (struct rtl_ring_maker){
        .pid = header->pid, .seen = header->locked == 0, .start = header->process_start};
}

/* Who is not there where others of its namespace are to be seen is gone; its children may hold the
 * lock. */
static struct rtl_ring_maker search(const struct rtl_ring_header *header,
                                    const struct rtl_process_id *id,
                                    const struct rtl_process_id *own, int file)
{
    struct rtl_ring_maker maker = {.pid = header->pid};
    bool is_space_seen = id->space == own->space;
    bool is_gone = header->locked != 0 ? !is_held(file) : is_space_seen;
    uint32_t pid = is_gone ? 0 : rtl_process_find(id, header->process_start, &is_space_seen);
    maker.seen = pid != 0 || is_gone || is_space_seen;
    if (pid != 0) {
        maker.pid = pid;
        maker.start = rtl_process_facts(pid).start;
    }
    return maker;
}

struct rtl_ring_maker rtl_ring_find_maker(const struct rtl_ring_header *header, int file)
{
    struct rtl_process_id id = {header->space, header->inner};
    struct rtl_process_id own = rtl_process_id_own();
    struct rtl_ring_maker maker = guess(header);
    if (id.space == 0 || own.space == 0)
        return maker;
    uint64_t start = rtl_process_facts(header->pid).start;
    if (is_maker(header, header->pid, start))
        return (struct rtl_ring_maker){.pid = header->pid,
                                       .seen = true,
                                       .start = start != RTL_START_UNKNOWN ? start
                                                                           : header->process_start};
    return search(header, &id, &own, file);
}

/* Of a maker without a lock that is not seen it is only known if it has told. */
static bool has_told_its_end(const struct rtl_ring_header *header)
{
    return atomic_load_explicit(&header->exited, memory_order_acquire) != 0 ||
           atomic_load_explicit(&header->state, memory_order_acquire) == RTL_RING_CLOSED;
}

bool rtl_ring_maker_lives(const struct rtl_ring_header *header, const struct rtl_ring_maker *maker,
                          int file)
{
    if (maker->seen)
        return rtl_process_alive(maker->pid, maker->start);
    return header->locked != 0 ? is_held(file) : !has_told_its_end(header);
}

bool rtl_ring_maker_lives_at(const struct rtl_ring_header *header,
                             const struct rtl_ring_maker *maker, const char *path)
{
    bool by_lock = !maker->seen && header->locked != 0;
    int file = by_lock ? rtl_private_open(path, O_RDWR) : -1;
    bool lives =
        !(by_lock && file < 0 && errno == ENOENT) && rtl_ring_maker_lives(header, maker, file);
    if (file >= 0)
        close(file);
    return lives;
}
