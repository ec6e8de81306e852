/**
 * Kernel symbols by kernel object.
 *
 * A code object may be unloaded and another loaded at the same address, so a kernel object alone
 * does not name a kernel: each symbol is valid for a span of *code epochs*. The epoch moves when an
 * executable with kernels is destroyed; a packet's record carries the epoch at its submission.
 */
#ifndef RTL_INTERCEPT_BASE_SYMBOLS_H
#define RTL_INTERCEPT_BASE_SYMBOLS_H

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

/** Takes memory for the table, before the first symbol. False: there is none. */
bool rtl_symbols_begin(void);

/** The current code epoch; one relaxed load. Any thread. */
uint32_t rtl_symbols_epoch(void);

/** What a look-up finds. */
struct rtl_symbol_found {
    uint32_t symbol;       /**< RTL_NONE: not known, the rest is 0 */
    uint32_t private_size; /**< static, bytes */
    bool marked;           /**< by rtl_symbols_mark; true where that was never called */
};

/** The symbol that `kernel_object` was in `epoch`. Lock-free, any thread. */
struct rtl_symbol_found rtl_symbols_find(uint64_t kernel_object, uint32_t epoch);

/** One kernel of an executable. */
struct rtl_symbol_facts {
    uint64_t kernel_object;
    uint64_t executable; /**< handle */
    uint32_t agent;      /**< id, RTL_NONE if unknown */
    uint32_t kernarg_size, group_size, private_size;
    const char
        *name; /**< as in the code object: mangled, perhaps with `.kd`; need not be terminated */
    uint32_t name_length;
};

/** Enters a symbol and sends its definition. Takes a lock. */
void rtl_symbols_add(const struct rtl_symbol_facts *facts);

/** Has each symbol that is entered from now on marked, or not, by its name (as in the code object:
 * `length` bytes, not terminated). `matches` is called under a lock, on the thread that loads the
 * code. Call it before symbols are entered. */
void rtl_symbols_mark(bool (*matches)(const char *name, size_t length));

/** Ends the symbols of an executable that is about to be destroyed. Takes a lock. */
void rtl_symbols_end(uint64_t executable);

/** Hooks hsa_executable_freeze and hsa_executable_destroy. `rocclr` is told of code that has loaded
 * kernels of ROCclr's, by an address in it. */
void rtl_symbols_hook(void (*rocclr)(const void *address));

#endif
