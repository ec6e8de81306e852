/**
 * Made-up recordings: a fake profiled process writes known records into a ring, and the collector
 * makes a trace of them. Its GPU's clock has 100 MHz and agrees with the system clock.
 */
#ifndef RTL_TESTS_TOOLS_MADE_H
#define RTL_TESTS_TOOLS_MADE_H

#include "../common/check.h"
#include "ring/ring.h"
#include "store/writer.h"

#include <rtl/rtl_trace.h>
#include <sys/types.h>

#define MADE_PATH 512

/** Ticks at which the made-up world begins (1 s after the system clock's start) and that many ns.
 */
#define MADE_BEGIN    UINT64_C(100000000)
#define MADE_TICK_NS  UINT64_C(10)
#define MADE_BEGIN_NS (MADE_BEGIN * MADE_TICK_NS)

struct made {
    char folder[MADE_PATH / 2]; /**< scratch, removed by made_clean */
    char session[MADE_PATH / 2];
    char trace[MADE_PATH];
    char truth[MADE_PATH];
    struct rtl_writer *writer;
};

/** Makes the folder, the session and the writer. */
const char *made_begin(struct made *made);

/** What the fake process does. */
typedef void (*made_work)(struct rtl_ring *ring);

/** Runs the fake process in the session to its end; `work` may end it earlier. */
pid_t made_process(const struct made *made, made_work work);

/** Collects what is there and closes the trace. */
const char *made_end(struct made *made);

void made_clean(struct made *made);

/** The mode of the fake process; full unless a test says otherwise. */
extern enum rtl_mode made_mode;

/** Records of the fake process. Agent 0 is a GPU; symbols and shapes 0 and 1 are `made_names`. */
extern const char *const made_names[2];
void made_definitions(struct rtl_ring *ring);
void made_queue(struct rtl_ring *ring, uint32_t queue, uint64_t address, uint64_t time_ns);
void made_kernel(struct rtl_ring *ring, uint32_t queue, uint64_t packet, uint32_t shape,
                 uint64_t start, uint64_t end);
void made_copies(struct rtl_ring *ring, uint32_t queue);
void made_copy(struct rtl_ring *ring, uint32_t queue, uint64_t bytes, uint16_t kind,
               uint16_t engine, uint64_t start, uint64_t end);
void made_ledger(struct rtl_ring *ring, uint32_t queue, uint64_t seen, uint64_t recorded,
                 uint64_t skipped);

/** Host calls and ranges of thread 71; `words` are the arguments of a call. */
void made_define_call(struct rtl_ring *ring, uint32_t call, const char *name,
                      const char *arguments);
void made_call(struct rtl_ring *ring, const struct rtl_wire_api *api, const uint64_t *words);
void made_range(struct rtl_ring *ring, enum rtl_range_kind kind, uint64_t id, uint64_t parent,
                uint64_t start_ns, const char *name);
void made_range_end(struct rtl_ring *ring, uint64_t id, uint64_t end_ns);
void made_name(struct rtl_ring *ring, enum rtl_named kind, uint64_t handle, const char *name);

/** A kernel of queue 0 and shape 0 that came from a host call or range. */
void made_kernel_of(struct rtl_ring *ring, uint64_t packet, uint64_t correlation, uint64_t start,
                    uint64_t end);

/** Runs a shell command; its exit status. */
int made_shell(const char *command);

#endif
