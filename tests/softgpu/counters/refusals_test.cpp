// What the extension for performance counters and the device behind it refuse, and how they
// misbehave on request.

#include "session.h"

#include <atomic>
#include <cstring>
#include <functional>
#include <unistd.h>

namespace
{

class Refusals : public Counters
{
  protected:
    hsa_ven_amd_aqlprofile_profile_t profile_of(const std::vector<Event> &events)
    {
        hsa_ven_amd_aqlprofile_profile_t profile = {};
        profile.agent = machine.gpu[0];
        profile.type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC;
        profile.events = events.data();
        profile.event_count = static_cast<uint32_t>(events.size());
        return profile;
    }

    hsa_status_t start_of(const std::vector<Event> &events)
    {
        hsa_ven_amd_aqlprofile_profile_t profile = profile_of(events);
        return functions.hsa_ven_amd_aqlprofile_start(&profile, nullptr);
    }

    bool valid(const Event &event)
    {
        bool result = false;
        EXPECT_EQ(functions.hsa_ven_amd_aqlprofile_validate_event(machine.gpu[0], &event, &result),
                  HSA_STATUS_SUCCESS);
        return result;
    }

    uint32_t slots_of(hsa_ven_amd_aqlprofile_block_name_t block)
    {
        uint32_t slots = 77;
        std::vector<Event> events = {{block, 0, 1}};
        hsa_ven_amd_aqlprofile_profile_t profile = profile_of(events);
        EXPECT_EQ(functions.hsa_ven_amd_aqlprofile_get_info(
                      &profile, HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_COUNTERS, &slots),
                  HSA_STATUS_SUCCESS);
        return slots;
    }

    std::string error()
    {
        const char *text = nullptr;
        EXPECT_EQ(functions.hsa_ven_amd_aqlprofile_error_string(&text), HSA_STATUS_SUCCESS);
        return text;
    }
};

TEST_F(Refusals, EventsThatThereAreNot)
{
    begin();
    EXPECT_TRUE(valid({SQ, 0, SQ_WAVES}));
    EXPECT_TRUE(valid({TCC, 15, TCC_HIT}));
    EXPECT_FALSE(valid({SQ, 1, SQ_WAVES}));
    EXPECT_FALSE(valid({TCC, 16, TCC_HIT}));
    EXPECT_FALSE(valid({SQ, 0, 512}));
    EXPECT_FALSE(valid({HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GL2C, 0, 1}));
    EXPECT_EQ(start_of({{SQ, 0, SQ_WAVES}, {TCC, 16, TCC_HIT}}), HSA_STATUS_ERROR);
    EXPECT_EQ(error(), "Bad block index, event(block 12 index 16 event 20)");
}

TEST_F(Refusals, MoreEventsThanSlots)
{
    begin();
    EXPECT_EQ(slots_of(GRBM), 2U);
    EXPECT_EQ(slots_of(SQ), 8U);
    EXPECT_EQ(slots_of(TA), 2U);
    EXPECT_EQ(slots_of(TCC), 4U);
    for (auto block : {GRBM, SQ, TA, TCC}) {
        std::vector<Event> events;
        for (uint32_t id = 0; id < slots_of(block); id++)
            events.push_back({block, 0, id});
        EXPECT_EQ(start_of(events), HSA_STATUS_SUCCESS) << block;
        events.push_back({block, 0, 100});
        EXPECT_EQ(start_of(events), HSA_STATUS_ERROR) << block;
        EXPECT_NE(error().find("out of block counter registers"), std::string::npos);
    }
}

TEST_F(Refusals, WhatIsNoProfileOfCounters)
{
    begin();
    std::vector<Event> events = {{SQ, 0, SQ_WAVES}};
    hsa_ven_amd_aqlprofile_profile_t profile = profile_of(events);
    hsa_ext_amd_aql_pm4_packet_t packet = {};
    profile.type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_TRACE;
    EXPECT_EQ(functions.hsa_ven_amd_aqlprofile_start(&profile, &packet),
              HSA_STATUS_ERROR_INVALID_ARGUMENT);
    profile.type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC;
    profile.agent = machine.cpu;
    EXPECT_EQ(functions.hsa_ven_amd_aqlprofile_start(&profile, &packet), HSA_STATUS_ERROR);
    profile.agent = machine.gpu[0];
    EXPECT_EQ(functions.hsa_ven_amd_aqlprofile_read(&profile, &packet), HSA_STATUS_ERROR);
    EXPECT_EQ(functions.hsa_ven_amd_aqlprofile_stop(&profile, &packet), HSA_STATUS_ERROR);
    EXPECT_EQ(functions.hsa_ven_amd_aqlprofile_legacy_get_pm4(&packet, &packet), HSA_STATUS_ERROR);
    uint64_t value = 0;
    EXPECT_EQ(functions.hsa_ven_amd_aqlprofile_get_info(
                  &profile, HSA_VEN_AMD_AQLPROFILE_INFO_TRACE_DATA, &value),
              HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(Refusals, BuffersThatAreTooSmall)
{
    begin();
    std::vector<Event> events = all_instances(TCC, 16, TCC_HIT) + all_instances(TCC, 16, TCC_MISS) +
                                all_instances(TA, 16, TA_FLAT_READ_WAVEFRONTS);
    hsa_ven_amd_aqlprofile_profile_t profile = profile_of(events);
    hsa_ext_amd_aql_pm4_packet_t packet = {};
    /* What get_info answers is not enough for so many. */
    ASSERT_EQ(functions.hsa_ven_amd_aqlprofile_get_info(
                  &profile, HSA_VEN_AMD_AQLPROFILE_INFO_COMMAND_BUFFER_SIZE,
                  &profile.command_buffer.size),
              HSA_STATUS_SUCCESS);
    std::vector<uint64_t> buffer(8192);
    std::vector<uint64_t> output(96);
    profile.command_buffer.ptr = buffer.data();
    profile.output_buffer = {output.data(), 96 * 8};
    EXPECT_EQ(functions.hsa_ven_amd_aqlprofile_start(&profile, &packet),
              HSA_STATUS_ERROR_INVALID_ARGUMENT);
    EXPECT_GT(profile.command_buffer.size, 0x2000U);
    ASSERT_LE(profile.command_buffer.size, buffer.size() * 8);
    EXPECT_EQ(functions.hsa_ven_amd_aqlprofile_start(&profile, &packet), HSA_STATUS_SUCCESS);
    profile.output_buffer.size -= 8;
    EXPECT_EQ(functions.hsa_ven_amd_aqlprofile_start(&profile, &packet),
              HSA_STATUS_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(profile.output_buffer.size, (16U + 16 + 64) * 8);
}

TEST_F(Refusals, BlocksByNameAndSumsByEvent)
{
    begin();
    hsa_ven_amd_aqlprofile_profile_t empty = profile_of({});
    hsa_ven_amd_aqlprofile_id_query_t query = {"TCC", 0, 0};
    EXPECT_EQ(functions.hsa_ven_amd_aqlprofile_get_info(
                  &empty, HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_ID, &query),
              HSA_STATUS_SUCCESS);
    EXPECT_EQ(query.id, 12U);
    EXPECT_EQ(query.instance_count, 16U);
    query.name = "XYZ";
    EXPECT_EQ(functions.hsa_ven_amd_aqlprofile_get_info(
                  &empty, HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_ID, &query),
              HSA_STATUS_ERROR);

    Session counters(functions, machine, machine.gpu[0], {{SQ, 0, SQ_ITEMS}, {SQ, 0, SQ_WAVES}});
    counters.start(queue);
    run(queue, kernels.quick, 64 * 6, 64);
    counters.read(queue);
    hsa_ven_amd_aqlprofile_info_data_t data = {};
    data.sample_id = UINT32_MAX;
    data.pmc_data.event = {SQ, 0, SQ_WAVES};
    EXPECT_EQ(functions.hsa_ven_amd_aqlprofile_get_info(
                  &counters.profile(), HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA, &data),
              HSA_STATUS_SUCCESS);
    EXPECT_EQ(data.pmc_data.result, 6U);
    data.sample_id = 3;
    EXPECT_EQ(functions.hsa_ven_amd_aqlprofile_get_info(
                  &counters.profile(), HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA, &data),
              HSA_STATUS_SUCCESS);
    EXPECT_EQ(data.pmc_data.result, 1U);
}

/* ---- the device ---- */

struct Errors {
    std::atomic<int> calls{0};
    std::atomic<int> status{0};
};

void on_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
    (void)queue;
    auto *errors = static_cast<Errors *>(data);
    errors->status = status;
    errors->calls++;
}

/* A buffer of PM4, and a way to spoil it. Offsets by the packets of docs/softgpu-counters.md. */
struct Spoiled {
    const char *what;
    std::function<void(std::vector<uint32_t> *buffer, uint32_t *jump)> spoil;
};

void PrintTo(const Spoiled &spoiled, std::ostream *out)
{
    *out << spoiled.what;
}

constexpr uint32_t header(uint32_t operation, uint32_t body)
{
    return 3U << 30 | (body - 1) << 16 | operation << 8;
}

const Spoiled SPOILED[] = {
    {"UnknownPacket",
     [](std::vector<uint32_t> *b, uint32_t *) {
         *b = {header(0x12, 1), 0};
     }},
    {"PacketOfType2",
     [](std::vector<uint32_t> *b, uint32_t *) {
         *b = {0x80000000U, 0};
     }},
    {"CutOff",
     [](std::vector<uint32_t> *b, uint32_t *) {
         *b = {header(0x79, 2), 0x200};
     }},
    {"UnknownUserRegister",
     [](std::vector<uint32_t> *b, uint32_t *) {
         *b = {header(0x79, 2), 0x1234, 0};
     }},
    {"UnknownShaderRegister",
     [](std::vector<uint32_t> *b, uint32_t *) {
         *b = {header(0x76, 2), 0x20c, 0};
     }},
    {"NinthSlotOfSq",
     [](std::vector<uint32_t> *b, uint32_t *) {
         *b = {header(0x79, 2), 0x19c8, 4};
     }},
    {"WriteToACounter",
     [](std::vector<uint32_t> *b, uint32_t *) {
         *b = {header(0x79, 2), 0x11c0, 4};
     }},
    {"UnknownState",
     [](std::vector<uint32_t> *b, uint32_t *) {
         *b = {header(0x79, 2), 0x1808, 5};
     }},
    {"InstanceThatThereIsNot",
     [](std::vector<uint32_t> *b, uint32_t *) {
         *b = {header(0x79, 2), 0x200, 16, header(0x79, 2), 0x1b80, 20};
     }},
    {"OtherEvent",
     [](std::vector<uint32_t> *b, uint32_t *) {
         *b = {header(0x46, 1), 0x10};
     }},
    {"CopyOfSeveralInstances",
     [](std::vector<uint32_t> *b, uint32_t *) {
         *b = {header(0x79, 2), 0x200, 0xe0000000U, header(0x40, 5), 5U << 8, 0xd380, 0, 0, 0};
     }},
    {"CopyOfNoCounter", [](std::vector<uint32_t> *b,
                           uint32_t *) { *b = {header(0x40, 5), 5U << 8, 0xd840, 0, 0, 0}; }},
    {"CopyToNowhere", [](std::vector<uint32_t> *b,
                         uint32_t *) { *b = {header(0x40, 5), 5U << 8, 0xd040, 0, 0x1000, 0}; }},
    {"CopyBetweenMemory",
     [](std::vector<uint32_t> *b, uint32_t *) {
         *b = {header(0x40, 5), 5U << 8 | 1, 0xd040, 0, 0x1000, 0};
     }},
    {"NoJump", [](std::vector<uint32_t> *, uint32_t *jump) { jump[0] = header(0x10, 3); }},
    {"JumpThatIsNotValid", [](std::vector<uint32_t> *, uint32_t *jump) { jump[3] &= 0xfffffU; }},
    {"JumpToNowhere",
     [](std::vector<uint32_t> *, uint32_t *jump) { jump[1] = 0x1000, jump[2] = 0; }},
    {"JumpBeyondTheBuffer", [](std::vector<uint32_t> *, uint32_t *jump) { jump[3] |= 0xfffffU; }},
    {"OtherRemainder", [](std::vector<uint32_t> *, uint32_t *jump) { jump[4] = 11; }},
};

class SpoiledCommands : public Refusals, public testing::WithParamInterface<Spoiled>
{
};

TEST_P(SpoiledCommands, StopTheQueue)
{
    begin();
    Errors errors;
    hsa_queue_t *victim = nullptr;
    ASSERT_EQ(hsa_queue_create(machine.gpu[0], 64, HSA_QUEUE_TYPE_MULTI, on_error, &errors,
                               UINT32_MAX, UINT32_MAX, &victim),
              HSA_STATUS_SUCCESS);
    std::vector<uint32_t> commands = {header(0x10, 1), 0};
    auto *buffer = static_cast<uint32_t *>(gpu_memory(&machine, machine.host, 4096));
    uint32_t jump[5] = {header(0x3f, 3), static_cast<uint32_t>(reinterpret_cast<uint64_t>(buffer)),
                        static_cast<uint32_t>(reinterpret_cast<uint64_t>(buffer) >> 32), 1U << 23,
                        10};
    GetParam().spoil(&commands, jump);
    std::memcpy(buffer, commands.data(), commands.size() * 4);
    jump[3] |= static_cast<uint32_t>(commands.size());
    hsa_ext_amd_aql_pm4_packet_t packet = {};
    packet.pm4_command[0] = 1;
    std::memcpy(&packet.pm4_command[1], jump, sizeof jump);
    hsa_signal_t done = gpu_signal(1);
    Session::submit(victim, packet, true, done);
    for (int i = 0; i < 3000 && errors.calls == 0; i++)
        usleep(1000);
    EXPECT_EQ(errors.calls, 1);
    EXPECT_EQ(errors.status, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
    EXPECT_EQ(hsa_signal_load_scacquire(done), 1);
    EXPECT_EQ(log_of(victim).at(0).kind, SOFTGPU_TRUTH_ERROR);
    EXPECT_EQ(hsa_queue_destroy(victim), HSA_STATUS_SUCCESS);
    EXPECT_TRUE(gpu_drain(queue)); /* the device lives on */
    (void)hsa_signal_destroy(done);
    (void)hsa_amd_memory_pool_free(buffer);
}

INSTANTIATE_TEST_SUITE_P(All, SpoiledCommands, testing::ValuesIn(SPOILED),
                         [](const testing::TestParamInfo<Spoiled> &info) {
                             return std::string(info.param.what);
                         });

/* ---- faults on request ---- */

TEST_F(Refusals, AbsentLibrary)
{
    setting("SOFTGPU_COUNTERS_FAULT", "absent");
    open();
    EXPECT_EQ(find_table(&functions), HSA_STATUS_ERROR);
}

TEST_F(Refusals, NoCounterIsFree)
{
    setting("SOFTGPU_COUNTERS_FAULT", "slots=0");
    begin();
    EXPECT_EQ(slots_of(SQ), 0U);
    EXPECT_EQ(start_of({{SQ, 0, SQ_WAVES}}), HSA_STATUS_ERROR);
    EXPECT_TRUE(valid({SQ, 0, SQ_WAVES}));
}

TEST_F(Refusals, FewerCountersAreFree)
{
    setting("SOFTGPU_COUNTERS_FAULT", "slots=3,slots=TCC:1");
    begin();
    EXPECT_EQ(slots_of(SQ), 3U);
    EXPECT_EQ(slots_of(TCC), 1U);
    EXPECT_EQ(slots_of(GRBM), 2U);
    EXPECT_EQ(start_of({{TCC, 0, TCC_HIT}, {TCC, 1, TCC_HIT}}), HSA_STATUS_SUCCESS);
    EXPECT_EQ(start_of({{TCC, 0, TCC_HIT}, {TCC, 0, TCC_MISS}}), HSA_STATUS_ERROR);
}

TEST_F(Refusals, EventsThatThisDeviceLacks)
{
    setting("SOFTGPU_COUNTERS_FAULT", "invalid=SQ:26,invalid=TCC:20");
    begin();
    EXPECT_FALSE(valid({SQ, 0, SQ_INSTS_VALU}));
    EXPECT_FALSE(valid({TCC, 7, TCC_HIT}));
    EXPECT_TRUE(valid({SQ, 0, SQ_INSTS_SALU}));
    EXPECT_EQ(start_of({{SQ, 0, SQ_INSTS_VALU}}), HSA_STATUS_ERROR);
}

/* The queue of a counter that never answers stands still; others go on, and it can be destroyed. */
TEST_F(Refusals, ACounterThatHangs)
{
    setting("SOFTGPU_COUNTERS_FAULT", "hang=SQ");
    begin();
    Session counters(functions, machine, machine.gpu[0], {{SQ, 0, SQ_WAVES}});
    Session others(functions, machine, machine.gpu[0], {{GRBM, 0, GRBM_COUNT}});
    hsa_queue_t *victim = gpu_queue(machine.gpu[0], 64);
    hsa_signal_t done = gpu_signal(1);
    counters.start(victim);
    Session::submit(victim, counters.read_packet(), true, done);
    run(victim, kernels.quick, 64, 64);
    others.start(queue);
    others.read(queue);
    EXPECT_GT(others.value(GRBM, GRBM_COUNT), 0U);
    EXPECT_EQ(hsa_signal_load_scacquire(done), 1);
    /* Nobody has waited for its first packet. */
    for (int i = 0; i < 5000 && log_of(victim).empty(); i++)
        usleep(1000);
    EXPECT_EQ(log_of(victim).size(), 1U);
    EXPECT_EQ(hsa_queue_destroy(victim), HSA_STATUS_SUCCESS);
    EXPECT_TRUE(gpu_drain(queue));
    (void)hsa_signal_destroy(done);
}

} // namespace
