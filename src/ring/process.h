/**
 * Which process, and which of its images, made a ring: what /proc tells of it.
 *
 * A process is told by its pid and start time. Its *image* is the program that it runs; an exec
 * puts another one in its place, and pid and start time stay. No function here waits; each needs a
 * descriptor for a moment. Any thread.
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
    /** Start time in clock ticks since boot (/proc/PID/stat, field 22); 0 if there is no such
     * process, or only its zombie; or RTL_START_UNKNOWN. */
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
