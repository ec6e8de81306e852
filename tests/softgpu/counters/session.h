/* A profile of the extension for performance counters, as a program uses it through the real ROCr:
 * buffers, packets, and values by event. */
#ifndef TESTS_SOFTGPU_COUNTERS_SESSION_H
#define TESTS_SOFTGPU_COUNTERS_SESSION_H

#include "../driver/fixture.h"

#include <hsa/hsa_ven_amd_aqlprofile.h>
#include <map>
#include <tuple>
#include <vector>

using Table = hsa_ven_amd_aqlprofile_pfn_t;
using Event = hsa_ven_amd_aqlprofile_event_t;

constexpr auto GRBM = HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GRBM;
constexpr auto SQ = HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SQ;
constexpr auto TA = HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TA;
constexpr auto TCC = HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TCC;

/* Ids of rocprofiler's definitions for gfx906. */
enum Id : uint32_t {
    GRBM_COUNT = 0,
    GRBM_GUI_ACTIVE = 2,
    SQ_BUSY_CYCLES = 3,
    SQ_WAVES = 4,
    SQ_ITEMS = 14,
    SQ_INSTS_VALU = 26,
    SQ_INSTS_VMEM_WR = 27,
    SQ_INSTS_VMEM_RD = 28,
    SQ_INSTS_SALU = 30,
    SQ_INSTS_SMEM = 31,
    SQ_INSTS_LDS = 34,
    SQ_WAVE_CYCLES = 46,
    SQ_THREAD_CYCLES_VALU = 85,
    SQ_LDS_BANK_CONFLICT = 93,
    TA_FLAT_READ_WAVEFRONTS = 101,
    TCC_REQ = 3,
    TCC_HIT = 20,
    TCC_MISS = 22,
    TCC_EA_WRREQ = 29,
    TCC_EA_WRREQ_64B = 30,
    TCC_EA_RDREQ = 41,
    TCC_EA_RDREQ_32B = 42
};

/* All instances of a block that has several. */
inline std::vector<Event> all_instances(hsa_ven_amd_aqlprofile_block_name_t block, uint32_t count,
                                        uint32_t id)
{
    std::vector<Event> events;
    for (uint32_t i = 0; i < count; i++)
        events.push_back({block, i, id});
    return events;
}

inline std::vector<Event> operator+(std::vector<Event> left, const std::vector<Event> &right)
{
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

inline hsa_status_t find_table(Table *table)
{
    return hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_AQLPROFILE, 1, sizeof *table,
                                                table);
}

class Session
{
  public:
    Session(const Table &functions, const gpu_machine_t &machine, hsa_agent_t agent,
            std::vector<Event> wanted)
        : functions_(functions), events_(std::move(wanted))
    {
        profile_.agent = agent;
        profile_.type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC;
        profile_.events = events_.data();
        profile_.event_count = static_cast<uint32_t>(events_.size());
        EXPECT_EQ(functions_.hsa_ven_amd_aqlprofile_start(&profile_, nullptr), HSA_STATUS_SUCCESS);
        profile_.command_buffer.ptr =
            gpu_memory(&machine, machine.host, profile_.command_buffer.size);
        profile_.output_buffer.ptr =
            gpu_memory(&machine, machine.host, profile_.output_buffer.size);
        EXPECT_EQ(functions_.hsa_ven_amd_aqlprofile_start(&profile_, &start_), HSA_STATUS_SUCCESS);
        EXPECT_EQ(functions_.hsa_ven_amd_aqlprofile_read(&profile_, &read_), HSA_STATUS_SUCCESS);
        EXPECT_EQ(functions_.hsa_ven_amd_aqlprofile_stop(&profile_, &stop_), HSA_STATUS_SUCCESS);
    }

    ~Session()
    {
        (void)hsa_amd_memory_pool_free(profile_.command_buffer.ptr);
        (void)hsa_amd_memory_pool_free(profile_.output_buffer.ptr);
    }

    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;

    void start(hsa_queue_t *queue, bool barrier = true)
    {
        submit(queue, start_, barrier);
    }

    void read(hsa_queue_t *queue, bool barrier = true)
    {
        submit_and_wait(queue, read_, barrier);
    }

    void stop(hsa_queue_t *queue)
    {
        submit_and_wait(queue, stop_, true);
    }

    static void submit(hsa_queue_t *queue, hsa_ext_amd_aql_pm4_packet_t packet, bool barrier,
                       hsa_signal_t done = hsa_signal_t{0})
    {
        packet.completion_signal = done;
        (void)gpu_submit(queue, &packet, gpu_header(HSA_PACKET_TYPE_VENDOR_SPECIFIC, barrier));
    }

    static void submit_and_wait(hsa_queue_t *queue, const hsa_ext_amd_aql_pm4_packet_t &packet,
                                bool barrier)
    {
        hsa_signal_t done = gpu_signal(1);
        submit(queue, packet, barrier, done);
        ASSERT_TRUE(gpu_wait(done));
        (void)hsa_signal_destroy(done);
    }

    /* Samples of an event, of all block instances, in order. */
    std::vector<uint64_t> samples(hsa_ven_amd_aqlprofile_block_name_t block, uint32_t id)
    {
        struct Wanted {
            hsa_ven_amd_aqlprofile_block_name_t block;
            uint32_t id;
            std::vector<uint64_t> values;
        } wanted = {block, id, {}};
        auto take = [](hsa_ven_amd_aqlprofile_info_type_t type,
                       hsa_ven_amd_aqlprofile_info_data_t *info, void *data) {
            auto *into = static_cast<Wanted *>(data);
            EXPECT_EQ(type, HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA);
            const Event &event = info->pmc_data.event;
            if (event.block_name == into->block && event.counter_id == into->id)
                into->values.push_back(info->pmc_data.result);
            return HSA_STATUS_SUCCESS;
        };
        EXPECT_EQ(functions_.hsa_ven_amd_aqlprofile_iterate_data(&profile_, take, &wanted),
                  HSA_STATUS_SUCCESS);
        return wanted.values;
    }

    uint64_t value(hsa_ven_amd_aqlprofile_block_name_t block, uint32_t id)
    {
        uint64_t sum = 0;
        for (uint64_t sample : samples(block, id))
            sum += sample;
        return sum;
    }

    hsa_ven_amd_aqlprofile_profile_t &profile()
    {
        return profile_;
    }

    const hsa_ext_amd_aql_pm4_packet_t &read_packet() const
    {
        return read_;
    }

  private:
    const Table &functions_;
    std::vector<Event> events_;
    hsa_ven_amd_aqlprofile_profile_t profile_ = {};
    hsa_ext_amd_aql_pm4_packet_t start_ = {}, read_ = {}, stop_ = {};
};

/* A machine with the extension and a queue. Settings come before begin(). */
class Counters : public Gpu
{
  protected:
    void begin()
    {
        open();
        ASSERT_EQ(find_table(&functions), HSA_STATUS_SUCCESS);
        queue = gpu_queue(machine.gpu[0], 256);
    }

    void TearDown() override
    {
        if (queue)
            (void)hsa_queue_destroy(queue);
        Gpu::TearDown();
    }

    /* A one-dimensional dispatch. */
    static void run(hsa_queue_t *on, uint64_t kernel, uint32_t grid, uint16_t group,
                    bool barrier = true)
    {
        hsa_kernel_dispatch_packet_t packet = gpu_dispatch(kernel, nullptr, hsa_signal_t{0});
        packet.grid_size_x = grid;
        packet.workgroup_size_x = group;
        (void)gpu_submit(on, &packet, kernel_header(barrier));
    }

    /* Enables or disables counting in a queue, and waits until that is done. */
    void enable(hsa_queue_t *on, bool yes)
    {
        auto what =
            yes ? HSA_VEN_AMD_AQLPROFILE_INFO_ENABLE_CMD : HSA_VEN_AMD_AQLPROFILE_INFO_DISABLE_CMD;
        hsa_ven_amd_aqlprofile_profile_t profile = {};
        profile.agent = machine.gpu[0];
        hsa_ext_amd_aql_pm4_packet_t packet = {};
        ASSERT_EQ(functions.hsa_ven_amd_aqlprofile_get_info(&profile, what, nullptr),
                  HSA_STATUS_SUCCESS);
        profile.command_buffer.ptr =
            gpu_memory(&machine, machine.host, profile.command_buffer.size);
        ASSERT_EQ(functions.hsa_ven_amd_aqlprofile_get_info(&profile, what, &packet),
                  HSA_STATUS_SUCCESS);
        Session::submit_and_wait(on, packet, true);
        (void)hsa_amd_memory_pool_free(profile.command_buffer.ptr);
    }

    // NOLINTBEGIN(misc-non-private-member-variables-in-classes): a fixture's members are for its
    // tests
    Table functions = {};
    hsa_queue_t *queue = nullptr;
    // NOLINTEND(misc-non-private-member-variables-in-classes)
};

#endif
