/**
 * Makes the Nth call that asks for memory, that touches a file, or that goes into SQLite fail.
 *
 * shim.c defines malloc, open, pwrite and their like in the program itself, so that all libraries
 * (SQLite, zstd, libc's own scandir) use them; sqlite_shim.c stands before SQLite by the linker's
 * --wrap, and sees what RTL calls. Calls count only between fault_arm and fault_disarm. One thread.
 */
#ifndef RTL_TESTS_FAULTS_SHIM_H
#define RTL_TESTS_FAULTS_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fault_kind { FAULT_MEMORY, FAULT_FILE, FAULT_SQLITE };

/** In the place of an errno: a read or write does half of what it was asked for. */
#define FAULT_SHORT (-1)

/** What fails. Zeroed, nothing does. */
struct fault_plan {
    enum fault_kind kind;
    uint64_t at;      /**< the first call that fails, from 1; 0: none */
    uint64_t calls;   /**< how many calls fail, one after the other */
    int error;        /**< an errno or FAULT_SHORT; an SQLite result code; of memory nothing */
    bool room_only;   /**< of files: only calls that may take room on a disk */
    const char *path; /**< of files: only those whose name begins so; NULL: all */
};

/** Starts counting anew under a plan, disarmed; `stacks`: calls of the plan's kind are remembered
 * by the stack that they came through. */
void fault_begin(const struct fault_plan *plan, bool stacks);

void fault_arm(void);
void fault_disarm(void);

/** From now on clocks stand while armed and are put forward by fault_pass, waits are none, and
 * nothing is synchronised with a disk: what happens is the same each time. */
void fault_stop_time(void);

/** Calls of the plan's kind so far. */
uint64_t fault_calls(void);

/** The stacks of these calls, a hash each; they live until fault_begin. */
const uint64_t *fault_stacks(void);

/** The stack of the first call that failed, 0 if none did. */
uint64_t fault_failed(void);

/** Writes the stack of the first call that failed to stderr. */
void fault_show(void);

/** Blocks of memory that were asked for while armed and not given back. */
size_t fault_held(void);

/** Puts stopped clocks forward. */
void fault_pass(uint64_t ns);

/** For the shims: true if this call has to fail. */
bool fault_strikes(enum fault_kind kind);

/** The error of the plan. */
int fault_error(void);

#endif
