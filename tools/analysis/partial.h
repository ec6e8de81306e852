/**
 * Launches of graphs that are not whole in a trace: why kernels of them are missing.
 *
 * A launch knows how many kernels it submitted, and the ledger why some are not there, by queue:
 * so this is told of a process, or of all, and not of each launch.
 */
#ifndef RTL_TOOLS_PARTIAL_H
#define RTL_TOOLS_PARTIAL_H

#include <rtl/rtl_trace.h>

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct partial {
    const char *mode; /**< that left kernels out, NULL if none did; the trace's */
    uint64_t by_mode; /**< kernels */
    bool stopped;     /**< kernels were left out while recording was stopped */
    bool opaque;      /**< kernels are in packets that RTL cannot look into */
    bool lost;        /**< kernels were lost */
    bool unstored;    /**< kernels are under way to the file: the recording goes on */
};

struct account;

/** Adds what an account says of work that was to be in the trace and is not. */
void partial_add_missing(struct partial *partial, const struct account *account, bool recording);

/** Whether the recording of a trace goes on. */
bool partial_recording(rtl_trace_t *trace);

/** The mode of a process, NULL if that is full: it leaves nothing out. The trace's. */
const char *partial_mode(rtl_trace_t *trace, uint32_t process);

/** True if a launch is not whole: kernels of it are missing, or may be in packets of it that RTL
 * could not see. */
bool partial_is(const rtl_graph_launch_t *launch);

/** Reads why kernels of a process (0: of any) are not in the trace. */
rtl_status_t partial_read(rtl_trace_t *trace, uint32_t process, struct partial *partial);

/** The reasons in words, such as "left out by the mode hip, or lost"; "" if there are none. */
void partial_say(const struct partial *partial, char *text, size_t size);

/** Prints a line, indented by two: so many launches are not whole, for which reason, and what that
 * leaves them out of ("the times"). Nothing if there are none. */
void partial_show(const struct partial *partial, uint64_t launches, const char *what, FILE *out);

/** Prints, of a trace without graphs, what the mode may have left out of them; nothing if it left
 * out nothing. */
void partial_show_none(const struct partial *partial, FILE *out);

/** The reasons: "mode", "stopped", "opaque", "lost", "unstored", as far as they are there. A new
 * reference. */
json_t *partial_json(const struct partial *partial, uint64_t launches);

#endif
