/**
 * Who collects a session.
 *
 * A collector adds a line to the session's file and holds locks on it, which end with the process,
 * however it ends: one that keeps others from the session (flock), and one that others can see
 * without taking it (an OFD lock, fcntl(2)).
 */
#ifndef RTL_COLLECT_SESSION_LOCK_H
#define RTL_COLLECT_SESSION_LOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A session without a collector is not swept before it is so many seconds old: the collector that
 * librtl starts may not have come yet. */
#define RTL_RING_DIR_YOUNG_S 10

/** Marks the session as one that this process collects. Returns the descriptor that has the locks,
 * or -1 (then another may sweep the session once the process that made it has ended). */
int rtl_ring_dir_lock(const char *path);

/** Opens the file `session` of a session of this user. A descriptor, or -1 with errno. */
int rtl_ring_dir_open(const char *path, int flags);

/** What the file tells. */
struct rtl_ring_dir_facts {
    size_t length;         /**< of its text; 0: its maker died before it wrote it */
    uint32_t maker;        /**< process that made it */
    uint64_t maker_start;  /**< its start time, 0 if it is not told */
    bool collected_before; /**< a collector has come */
    bool by_maker;         /**< which is its maker: an rtl trace */
    bool young;            /**< so new that its collector may be on its way */
};

/** Reads them; false if it is no session's file. */
bool rtl_ring_dir_facts(int file, struct rtl_ring_dir_facts *facts);

/** Whether somebody reads the rings of the session, or is about to. */
bool rtl_ring_dir_is_collected(int file);

#endif
