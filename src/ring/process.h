/**
 * Which process, and which of its images, made a ring: what /proc tells of it.
 *
 * A process is told by its pid and start time where all see the same pids. Where there are more pid
 * namespaces than one (pid_namespaces(7)), the same pid is another process in each, and the same
 * process has a pid in each that it is seen from: then its namespace and its pid in there tell it.
 * Its *image* is the program that it runs; an exec puts another one in its place, and all of these
 * stay. No function here waits; each needs a descriptor for a moment. Any thread.
 */
#ifndef RTL_RING_PROCESS_H
#define RTL_RING_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/** A start time that could not be found out (no descriptor was free, say). */
#define RTL_START_UNKNOWN UINT64_MAX

struct rtl_process_facts {
    uint32_t parent; /**< 0: none that this process can see */
    int32_t group, session;
    /** Start time in clock ticks since boot (/proc/PID/stat, field 22), by the machine's clock
     * (rtl_clock_begin); 0 if there is no such process, or only its zombie; or RTL_START_UNKNOWN.
     */
    uint64_t start;
    /** Made of where code and stack begin: another one means that the image is another one (unless
     * somebody with the right to do so has moved these marks, PR_SET_MM). The same one means little
     * where addresses are not random. 0 if it is not known. */
    uint64_t image;
};

/** The pid of this process as its /proc has it, and whoever else reads that: in a namespace of pids
 * of its own without a /proc of its own, getpid() tells another. getpid()'s where there is no
 * /proc. Keeps errno. */
uint32_t rtl_process_own(void);

/** A process, whoever names it. */
struct rtl_process_id {
    uint64_t space; /**< inode of its pid namespace (the innermost one); 0: it could not be found
                       out: no /proc, or nothing of this process's may be seen */
    uint32_t inner; /**< its pid in there; 0: not known */
};

/** This process. Needs no descriptor. Keeps errno. */
struct rtl_process_id rtl_process_id_own(void);

/** The process that /proc of this one has as `pid`. Keeps errno. */
struct rtl_process_id rtl_process_id(uint32_t pid);

/** The pid, as /proc of this process has it, of the process `id`, which began at `start` as far as
 * that is known; 0: it is not there, or not to be seen from here. *is_space_seen becomes true if
 * some process of its namespace is. Looks at all processes of the machine, and allocates memory. */
uint32_t rtl_process_find(const struct rtl_process_id *id, uint64_t start, bool *is_space_seen);

/** True if the start times, read by two processes, may be of one: by a tick they may differ
 * (clock.h: offsets of a time namespace need not be whole ticks). Not known is any. */
bool rtl_process_same_start(uint64_t start, uint64_t other);

/** Reads the facts about a process. */
struct rtl_process_facts rtl_process_facts(uint32_t pid);

/** True if the facts are those of a process that lives and began then, and if that is not known. */
bool rtl_process_is(const struct rtl_process_facts *facts, uint64_t start);

/** True while the process lives, and if that cannot be found out just now. */
bool rtl_process_alive(uint32_t pid, uint64_t start);

enum rtl_mapped { RTL_MAPPED_UNKNOWN, RTL_MAPPED_NO, RTL_MAPPED_YES };

/** Whether the process has a file mapped whose path ends with `end`, or that was there when it was
 * removed. Of a long one the last 255 bytes count. Reads all of /proc/PID/maps. */
enum rtl_mapped rtl_process_maps(uint32_t pid, const char *end);

#endif
