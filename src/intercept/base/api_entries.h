/**
 * Which entries of the HSA API tables RTL and the tools of its tests use, and where they lie.
 *
 * The core table has had one order from ROCr 5.2 to August 2025; the AMD extension table got two
 * entries inserted in ROCm 5.6. Source: hsa_api_trace.h of ROCr 5.2.3 and 6.2.4;
 * tests/intercept/base/layout_test.cpp compares with the installed one. Late in ROCm 7 entries at
 * its end came and went: those are taken from tables alone whose size and step name one layout.
 */
#ifndef RTL_INTERCEPT_BASE_API_ENTRIES_H
#define RTL_INTERCEPT_BASE_API_ENTRIES_H

#include <stdint.h>

/* X(entry, position in the core table) */
#define RTL_CORE_ENTRIES(X)                                                                        \
    X(hsa_system_get_info, 2)                                                                      \
    X(hsa_iterate_agents, 5)                                                                       \
    X(hsa_agent_get_info, 6)                                                                       \
    X(hsa_queue_create, 7)                                                                         \
    X(hsa_queue_destroy, 9)                                                                        \
    X(hsa_queue_inactivate, 10)                                                                    \
    X(hsa_queue_load_read_index_scacquire, 11)                                                     \
    X(hsa_queue_load_read_index_relaxed, 12)                                                       \
    X(hsa_queue_load_write_index_scacquire, 13)                                                    \
    X(hsa_queue_load_write_index_relaxed, 14)                                                      \
    X(hsa_queue_store_write_index_relaxed, 15)                                                     \
    X(hsa_queue_store_write_index_screlease, 16)                                                   \
    X(hsa_queue_cas_write_index_scacq_screl, 17)                                                   \
    X(hsa_queue_cas_write_index_scacquire, 18)                                                     \
    X(hsa_queue_cas_write_index_relaxed, 19)                                                       \
    X(hsa_queue_cas_write_index_screlease, 20)                                                     \
    X(hsa_queue_add_write_index_scacq_screl, 21)                                                   \
    X(hsa_queue_add_write_index_scacquire, 22)                                                     \
    X(hsa_queue_add_write_index_relaxed, 23)                                                       \
    X(hsa_queue_add_write_index_screlease, 24)                                                     \
    X(hsa_signal_destroy, 38)                                                                      \
    X(hsa_signal_load_relaxed, 39)                                                                 \
    X(hsa_signal_load_scacquire, 40)                                                               \
    X(hsa_signal_store_relaxed, 41)                                                                \
    X(hsa_signal_store_screlease, 42)                                                              \
    X(hsa_signal_wait_relaxed, 43)                                                                 \
    X(hsa_signal_wait_scacquire, 44)                                                               \
    X(hsa_signal_and_relaxed, 45)                                                                  \
    X(hsa_signal_and_scacquire, 46)                                                                \
    X(hsa_signal_and_screlease, 47)                                                                \
    X(hsa_signal_and_scacq_screl, 48)                                                              \
    X(hsa_signal_or_relaxed, 49)                                                                   \
    X(hsa_signal_or_scacquire, 50)                                                                 \
    X(hsa_signal_or_screlease, 51)                                                                 \
    X(hsa_signal_or_scacq_screl, 52)                                                               \
    X(hsa_signal_xor_relaxed, 53)                                                                  \
    X(hsa_signal_xor_scacquire, 54)                                                                \
    X(hsa_signal_xor_screlease, 55)                                                                \
    X(hsa_signal_xor_scacq_screl, 56)                                                              \
    X(hsa_signal_exchange_relaxed, 57)                                                             \
    X(hsa_signal_exchange_scacquire, 58)                                                           \
    X(hsa_signal_exchange_screlease, 59)                                                           \
    X(hsa_signal_exchange_scacq_screl, 60)                                                         \
    X(hsa_signal_add_relaxed, 61)                                                                  \
    X(hsa_signal_add_scacquire, 62)                                                                \
    X(hsa_signal_add_screlease, 63)                                                                \
    X(hsa_signal_add_scacq_screl, 64)                                                              \
    X(hsa_signal_subtract_relaxed, 65)                                                             \
    X(hsa_signal_subtract_scacquire, 66)                                                           \
    X(hsa_signal_subtract_screlease, 67)                                                           \
    X(hsa_signal_subtract_scacq_screl, 68)                                                         \
    X(hsa_signal_cas_relaxed, 69)                                                                  \
    X(hsa_signal_cas_scacquire, 70)                                                                \
    X(hsa_signal_cas_screlease, 71)                                                                \
    X(hsa_signal_cas_scacq_screl, 72)                                                              \
    X(hsa_executable_destroy, 84)                                                                  \
    X(hsa_executable_freeze, 86)                                                                   \
    X(hsa_executable_symbol_get_info, 93)                                                          \
    X(hsa_system_get_major_extension_table, 98)                                                    \
    X(hsa_signal_silent_store_relaxed, 102)                                                        \
    X(hsa_signal_silent_store_screlease, 103)                                                      \
    X(hsa_signal_group_wait_any_scacquire, 106)                                                    \
    X(hsa_signal_group_wait_any_relaxed, 107)                                                      \
    X(hsa_executable_iterate_agent_symbols, 123)

/* X(entry, position up to ROCm 5.5, position from ROCm 5.6) */
#define RTL_EXT_ENTRIES(X)                                                                         \
    X(hsa_amd_profiling_set_profiler_enabled, 2, 2)                                                \
    X(hsa_amd_profiling_convert_tick_to_system_domain, 6, 6)                                       \
    X(hsa_amd_signal_create, 31, 33)

/* Entries that a runtime may lack; RTL then does without. The types of those that the oldest
 * headers do not know are in api_types.h. Positions from hsa_api_trace.h of ROCr 5.2.3 and 6.2.4.
 * X(entry, type of the function, position up to ROCm 5.5 or NOWHERE, position from ROCm 5.6) */
#define RTL_EXT_OPTIONAL(X)                                                                        \
    X(hsa_amd_profiling_async_copy_enable, __typeof__(hsa_amd_profiling_async_copy_enable), 3, 3)  \
    X(hsa_amd_profiling_get_async_copy_time, __typeof__(hsa_amd_profiling_get_async_copy_time), 5, \
      5)                                                                                           \
    X(hsa_amd_signal_async_handler, __typeof__(hsa_amd_signal_async_handler), 7, 7)                \
    X(hsa_amd_signal_wait_any, __typeof__(hsa_amd_signal_wait_any), 9, 9)                          \
    X(hsa_amd_signal_wait_all, rtl_signal_wait_all_t, RTL_NOWHERE, 72)                             \
    X(hsa_amd_queue_cu_set_mask, __typeof__(hsa_amd_queue_cu_set_mask), 10, 10)                    \
    X(hsa_amd_memory_pool_get_info, __typeof__(hsa_amd_memory_pool_get_info), 11, 11)              \
    X(hsa_amd_agent_iterate_memory_pools, __typeof__(hsa_amd_agent_iterate_memory_pools), 12, 12)  \
    X(hsa_amd_memory_pool_allocate, __typeof__(hsa_amd_memory_pool_allocate), 13, 13)              \
    X(hsa_amd_memory_pool_free, __typeof__(hsa_amd_memory_pool_free), 14, 14)                      \
    X(hsa_amd_agents_allow_access, __typeof__(hsa_amd_agents_allow_access), 17, 19)                \
    X(hsa_amd_memory_async_copy, __typeof__(hsa_amd_memory_async_copy), 15, 15)                    \
    X(hsa_amd_memory_async_copy_on_engine, rtl_async_copy_on_engine_t, RTL_NOWHERE, 16)            \
    X(hsa_amd_queue_intercept_create, rtl_intercept_create_t, 35, 37)                              \
    X(hsa_amd_queue_intercept_register, rtl_intercept_register_t, 36, 38)                          \
    X(hsa_amd_queue_set_priority, __typeof__(hsa_amd_queue_set_priority), 37, 39)                  \
    X(hsa_amd_memory_async_copy_rect, __typeof__(hsa_amd_memory_async_copy_rect), 38, 40)          \
    X(hsa_amd_memory_async_batch_copy, rtl_async_batch_copy_t, RTL_NOWHERE, 78)

#define RTL_NOWHERE 255

/* Entries of tables of exactly this size and step. Source: hsa_api_trace.h of August 2026,
 * interface 1.26 (github.com/iree-org/hsa-runtime-headers). X(entry, type of the function, bytes,
 * step, position) */
#define RTL_EXT_EXACT(X)                                                                           \
    X(hsa_amd_counted_queue_release, rtl_queue_release_t, 744, 0x12, 77)                           \
    X(hsa_amd_queue_create, rtl_queue_create_t, 744, 0x12, 86)

/** Names of the entries. */
enum rtl_entry {
#define X(name, ...) RTL_ENTRY_##name,
    RTL_CORE_ENTRIES(X) RTL_EXT_ENTRIES(X) RTL_EXT_OPTIONAL(X) RTL_EXT_EXACT(X)
#undef X
        RTL_ENTRIES
};

/** Byte offset of an entry in its table for a table of `table_size` bytes and that step, 0 if it
 * has none. For tests. */
uint32_t rtl_api_offset(enum rtl_entry entry, uint32_t table_size, uint32_t step);

#endif
