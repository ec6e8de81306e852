/** Names and texts as they stand in a trace file. */
#ifndef RTL_STORE_TEXT_H
#define RTL_STORE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/** Of enum rtl_interception, for the columns `way`; "unknown" beyond it. */
const char *rtl_text_interception(uint32_t interception);

const char *rtl_text_mode(uint32_t mode); /**< of enum rtl_mode; "unknown" beyond it */
const char *rtl_text_copy_kind(uint32_t kind);
const char *rtl_text_copy_engine(uint32_t engine);
const char *rtl_text_range_kind(uint32_t kind); /**< of enum rtl_range_kind; "unknown" beyond it */
const char *rtl_text_named(uint32_t kind);      /**< of enum rtl_named; "unknown" beyond it */
const char *rtl_text_pause(uint32_t why);       /**< of enum rtl_pause_why; "unknown" beyond it */
const char *rtl_text_counting(uint32_t mode);   /**< of enum rtl_counting_mode; the same */
const char *rtl_text_uncounted(uint32_t why);   /**< of enum rtl_uncounted_why; the same */
const char *rtl_text_hip_calls(uint32_t calls); /**< of enum rtl_hip_calls; the same */
const char *rtl_text_kind(uint32_t kind);       /**< of enum rtl_kind; the same */
const char *rtl_text_device(uint32_t type);     /**< "CPU", "GPU", "DSP" of hsa_device_type_t, or
                                                     "other" */

/** Copies `length` bytes as a string that every reader can take: it ends at a NUL byte, and a byte
 * that is not UTF-8 (RFC 3629) becomes '?'. The caller frees it; NULL when memory is short. */
char *rtl_text_copy(const char *bytes, size_t length);

/** The name of a kernel as its author wrote it: demangled if it is an Itanium C++ ABI name, else as
 * it is. The caller frees it; NULL when memory is short. */
char *rtl_text_demangle(const char *mangled);

#endif
