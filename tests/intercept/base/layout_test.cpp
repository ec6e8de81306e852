// The positions of API entries against the header of the installed ROCr, and against the sizes and
// offsets of other releases as their headers have them (computed once with offsetof over
// ROCr 6.2.4's hsa_api_trace.h).
#define AMD_INTERNAL_BUILD // makes the header find its neighbours
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <hsa/hsa_api_trace.h>
#pragma GCC diagnostic pop

extern "C" {
#include "intercept/base/api_entries.h"
}

#include <cstddef>
#include <gtest/gtest.h>
#include <type_traits>

TEST(Layout, CoreEntriesAreWhereTheInstalledHeaderHasThem)
{
#define X(name, at)                                                                                \
    EXPECT_EQ(rtl_api_offset(RTL_ENTRY_##name, sizeof(CoreApiTable), 0),                           \
              offsetof(CoreApiTable, name##_fn))                                                   \
        << #name;
    RTL_CORE_ENTRIES(X)
#undef X
}

TEST(Layout, ExtensionEntriesAreWhereTheInstalledHeaderHasThem)
{
#define X(name, old_at, at)                                                                        \
    EXPECT_EQ(rtl_api_offset(RTL_ENTRY_##name, sizeof(AmdExtTable), 0),                            \
              offsetof(AmdExtTable, name##_fn))                                                    \
        << #name;
    RTL_EXT_ENTRIES(X)
#undef X
}

// Where a table has the copies by an engine: up to ROCm 5.5 it has none.
template <typename Table, typename = void> struct CopyOnEngine {
    static constexpr size_t at = 0;
};
template <typename Table>
struct CopyOnEngine<Table, std::void_t<decltype(Table::hsa_amd_memory_async_copy_on_engine_fn)>> {
    static constexpr size_t at = offsetof(Table, hsa_amd_memory_async_copy_on_engine_fn);
};

TEST(Layout, OptionalEntriesAreWhereTheInstalledHeaderHasThem)
{
    EXPECT_EQ(rtl_api_offset(RTL_ENTRY_hsa_amd_memory_async_copy_on_engine, sizeof(AmdExtTable), 0),
              CopyOnEngine<AmdExtTable>::at);
#define CHECK_ENTRY(name)                                                                          \
    EXPECT_EQ(rtl_api_offset(RTL_ENTRY_##name, sizeof(AmdExtTable), 0),                            \
              offsetof(AmdExtTable, name##_fn))
    CHECK_ENTRY(hsa_amd_profiling_async_copy_enable);
    CHECK_ENTRY(hsa_amd_signal_async_handler);
    CHECK_ENTRY(hsa_amd_signal_wait_any);
    CHECK_ENTRY(hsa_amd_queue_cu_set_mask);
    CHECK_ENTRY(hsa_amd_memory_pool_get_info);
    CHECK_ENTRY(hsa_amd_agent_iterate_memory_pools);
    CHECK_ENTRY(hsa_amd_memory_pool_allocate);
    CHECK_ENTRY(hsa_amd_memory_pool_free);
    CHECK_ENTRY(hsa_amd_agents_allow_access);
    CHECK_ENTRY(hsa_amd_profiling_get_async_copy_time);
    CHECK_ENTRY(hsa_amd_memory_async_copy);
    CHECK_ENTRY(hsa_amd_memory_async_copy_rect);
    CHECK_ENTRY(hsa_amd_queue_intercept_create);
    CHECK_ENTRY(hsa_amd_queue_intercept_register);
    CHECK_ENTRY(hsa_amd_queue_set_priority);
#undef CHECK_ENTRY
    // From 5.6 on: queue_intercept_create at 312, memory_async_copy_rect at 336, on_engine at 144.
    for (uint32_t size : {456u, 552u, 576u, 608u}) {
        EXPECT_EQ(rtl_api_offset(RTL_ENTRY_hsa_amd_queue_intercept_create, size, 0), 312u);
        EXPECT_EQ(rtl_api_offset(RTL_ENTRY_hsa_amd_memory_async_copy_rect, size, 0), 336u);
        EXPECT_EQ(rtl_api_offset(RTL_ENTRY_hsa_amd_memory_async_copy_on_engine, size, 0), 144u);
    }
}

TEST(Layout, BatchedCopiesAreInLateTables)
{
    // hsa_api_trace.h of github.com/ROCm/rocm-systems, commit 0b2ca8ed: the entry at 640.
    EXPECT_EQ(rtl_api_offset(RTL_ENTRY_hsa_amd_memory_async_batch_copy, 640, 0), 0u);
    EXPECT_EQ(rtl_api_offset(RTL_ENTRY_hsa_amd_memory_async_batch_copy, 648, 0), 640u);
    EXPECT_EQ(rtl_api_offset(RTL_ENTRY_hsa_amd_memory_async_batch_copy, 400, 0), 0u);
}

TEST(Layout, EntriesThatComeAndGoAreInTheTableAloneThatHasThem)
{
    // hsa_api_trace.h of August 2026: hsa_amd_queue_create at 704, counted_queue_release at 632.
    EXPECT_EQ(rtl_api_offset(RTL_ENTRY_hsa_amd_queue_create, 744, 0x12), 704u);
    EXPECT_EQ(rtl_api_offset(RTL_ENTRY_hsa_amd_counted_queue_release, 744, 0x12), 632u);
    for (uint32_t size : {400u, 624u, 688u, 736u, 752u, 1000u})
        EXPECT_EQ(rtl_api_offset(RTL_ENTRY_hsa_amd_queue_create, size, 0x12), 0u);
    for (uint32_t step : {8u, 0x10u, 0x11u, 0x13u})
        EXPECT_EQ(rtl_api_offset(RTL_ENTRY_hsa_amd_queue_create, 744, step), 0u);
}

TEST(Layout, ExtensionEntriesMovedWithRocm56)
{
    // hsa_amd_signal_create: 264 up to ROCm 5.5 (tables of 400 and 424 bytes), 280 from 5.6 (456
    // and more).
    for (uint32_t size : {400u, 424u})
        EXPECT_EQ(rtl_api_offset(RTL_ENTRY_hsa_amd_signal_create, size, 0), 264u);
    for (uint32_t size : {456u, 552u, 576u, 608u})
        EXPECT_EQ(rtl_api_offset(RTL_ENTRY_hsa_amd_signal_create, size, 0), 280u);
    for (uint32_t size : {400u, 456u, 608u})
        EXPECT_EQ(rtl_api_offset(RTL_ENTRY_hsa_amd_profiling_set_profiler_enabled, size, 0), 32u);
}

TEST(Layout, EntriesBeyondATableAreNotThere)
{
    EXPECT_EQ(rtl_api_offset(RTL_ENTRY_hsa_queue_create, 72, 0), 0u);
    EXPECT_EQ(rtl_api_offset(RTL_ENTRY_hsa_queue_create, 80, 0), 72u);
    EXPECT_EQ(rtl_api_offset(RTL_ENTRY_hsa_amd_signal_create, 264, 0), 0u);
}
