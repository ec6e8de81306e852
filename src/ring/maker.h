/**
 * Which process made a ring, as who reads the ring sees it, and whether it lives.
 *
 * The head of a ring has the pid that its maker takes for its own, and the maker's identity
 * (rtl_process_id). Where the reader is in another pid namespace the maker has another pid for it,
 * or none: then it cannot be asked for, and tells itself that it lives. Its file has a lock of the
 * open file description's (F_OFD_SETLK, fcntl(2)), which Linux keeps as long as the description is
 * mapped, whoever closes descriptors: until the image is over, and the children that it has forked.
 * That holds on tmpfs, which maps the description itself; other file systems may map another one.
 */
#ifndef RTL_RING_MAKER_H
#define RTL_RING_MAKER_H

#include "ring/ring.h"

#include <stdbool.h>
#include <stdint.h>

struct rtl_ring_maker {
    uint32_t pid;   /**< as /proc here has it if `seen`, else what the maker takes for its own */
    bool seen;      /**< the process can be asked for here, or could when it was last seen */
    uint64_t start; /**< of it, as this process reads it, if `seen`; 0: it is gone */
};

/** Locks the file of a ring of this process, before it is mapped. False if that says nothing. */
bool rtl_ring_lock(int file);

/** Who made the ring that is open as `file` (-1: it cannot be opened now). May look at all
 * processes of the machine, and allocate memory: for who reads. */
struct rtl_ring_maker rtl_ring_find_maker(const struct rtl_ring_header *header, int file);

/** True while the maker lives, whichever image it runs if it is seen, and if that cannot be found
 * out. `file` as above. */
bool rtl_ring_maker_lives(const struct rtl_ring_header *header, const struct rtl_ring_maker *maker,
                          int file);

/** rtl_ring_maker_lives of a ring that is mapped from `path`, which is opened where that has to
 * be. */
bool rtl_ring_maker_lives_at(const struct rtl_ring_header *header,
                             const struct rtl_ring_maker *maker, const char *path);

#endif
