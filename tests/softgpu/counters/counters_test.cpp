// Performance counters of the software GPU, through the real ROCr.
//
// Expected values are computed here from the formulas of docs/softgpu-counters.md.

#include "session.h"

namespace
{

class Counters : public Gpu
{
  protected:
    void begin()
    {
        open();
        ASSERT_EQ(find_table(&functions_), HSA_STATUS_SUCCESS);
        queue_ = gpu_queue(machine.gpu[0], 256);
    }

    void TearDown() override
    {
        if (queue_)
            (void)hsa_queue_destroy(queue_);
        Gpu::TearDown();
    }

    /* A one-dimensional dispatch. */
    static void run(hsa_queue_t *queue, uint64_t kernel, uint32_t grid, uint16_t group)
    {
        hsa_kernel_dispatch_packet_t packet = gpu_dispatch(kernel, nullptr, hsa_signal_t{0});
        packet.grid_size_x = grid;
        packet.workgroup_size_x = group;
        (void)gpu_submit(queue, &packet, kernel_header(true));
    }

    Table functions_ = {};
    hsa_queue_t *queue_ = nullptr;
};

TEST_F(Counters, AKernelsWavesAndRequestsAreCounted)
{
    setting("SOFTGPU_COUNTERS", "quick read=16 write=4 hit=25");
    begin();
    std::vector<Event> events = {{SQ, 0, SQ_WAVES}, {GRBM, 0, GRBM_COUNT}};
    Session counters(functions_, machine, machine.gpu[0],
                     events + all_instances(TCC, 16, TCC_HIT) + all_instances(TCC, 16, TCC_MISS));
    counters.start(queue_);
    run(queue_, kernels.quick, 1000, 128); /* 7 groups of 2 waves, and one of 104 work-items */
    counters.read(queue_);
    counters.stop(queue_);
    EXPECT_EQ(counters.value(SQ, SQ_WAVES), 16U);
    /* 250 read requests of which 62 hit, 63 written of which 15 */
    EXPECT_EQ(counters.value(TCC, TCC_HIT), 77U);
    EXPECT_EQ(counters.value(TCC, TCC_MISS), 236U);
    EXPECT_GT(counters.value(GRBM, GRBM_COUNT), 0U);
}

} // namespace
