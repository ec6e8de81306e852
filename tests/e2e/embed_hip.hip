// embed_hip N: a HIP program that has RTL's events handed to it: N kernels on two streams, in
// ranges, each with the call that launched it, its stream and its range. librtl.so is linked before
// HIP.

#include "../softgpu/hip/check.h"

#include <rtl/rtl_callbacks.h>

#include <cinttypes>
#include <map>
#include <unistd.h>

namespace
{

struct Seen {
    std::map<uint64_t, rtl_call_event_t> calls; // by correlation
    std::vector<rtl_kernel_event_t> kernels;
    std::map<uint64_t, std::string> ranges;
    std::map<std::string, int> names; // how often each call was made
};

void take_calls(void *context, const rtl_batch_t *, const rtl_call_event_t *events, size_t count)
{
    Seen &seen = *static_cast<Seen *>(context);
    for (size_t i = 0; i < count; i++) {
        CHECK(events[i].name != nullptr && events[i].arguments != nullptr, "a call has a name");
        CHECK(events[i].start <= events[i].end, events[i].name);
        CHECK(events[i].thread == static_cast<uint32_t>(getpid()), events[i].name);
        CHECK(seen.calls.count(events[i].correlation) == 0, events[i].name);
        seen.calls[events[i].correlation] = events[i];
        seen.names[events[i].name]++;
    }
}

void take_kernels(void *context, const rtl_batch_t *, const rtl_kernel_event_t *events,
                  size_t count)
{
    Seen &seen = *static_cast<Seen *>(context);
    seen.kernels.insert(seen.kernels.end(), events, events + count);
}

void take_ranges(void *context, const rtl_batch_t *, const rtl_range_event_t *events, size_t count)
{
    Seen &seen = *static_cast<Seen *>(context);
    for (size_t i = 0; i < count; i++) {
        seen.ranges[events[i].id] = events[i].text;
    }
}

uint64_t handle(hipStream_t stream)
{
    return reinterpret_cast<uint64_t>(stream);
}

// Launch i is on stream i % 2 and has a grid of its own; every third is in a range.
void compare(const Seen &seen, int launches, const hipStream_t *streams)
{
    int lasts = 0;
    for (const rtl_kernel_event_t &kernel : seen.kernels) {
        if (kernel.name == nullptr || std::strcmp(kernel.name, "_Z9hip_lastsPij") != 0) {
            continue; // HIP's own, for the memset
        }
        unsigned launch = kernel.grid[0] / 64 - 1;
        std::string text = "launch " + std::to_string(launch);
        auto call = seen.calls.find(kernel.correlation);
        lasts++;
        if (call == seen.calls.end()) {
            CHECK(false, text + " has no call");
            continue;
        }
        CHECK(std::strcmp(call->second.name, "hipLaunchKernel") == 0, text);
        CHECK(call->second.start <= kernel.start, text);
        CHECK(call->second.has_stream == 1 && kernel.has_stream == 1, text);
        CHECK(call->second.stream == handle(streams[launch % 2]), text);
        CHECK(kernel.stream == call->second.stream && kernel.range == call->second.range, text);
        auto range = seen.ranges.find(kernel.range);
        std::string in = range == seen.ranges.end() ? "" : range->second;
        CHECK(in == (launch % 3 == 0 ? "third" : "all"), text + " is in '" + in + "'");
    }
    CHECK(lasts == launches, "kernels");
}

} // namespace

int main(int argc, char **argv)
{
    static Seen seen;
    int launches = argc > 1 ? std::atoi(argv[1]) : 0;
    rtl_callbacks_t callbacks = {};
    callbacks.size = sizeof callbacks;
    callbacks.kernels = take_kernels;
    callbacks.calls = take_calls;
    callbacks.ranges = take_ranges;
    CHECK(rtlSubscribe(&callbacks, &seen) == 0, "subscribe");
    hipStream_t streams[2] = {};
    void *counter = nullptr;
    MUST(hipMalloc(&counter, sizeof(int)));
    for (hipStream_t &stream : streams) {
        MUST(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    }
    MUST(hipMemset(counter, 0, sizeof(int)));
    CHECK(hipFree(&seen) != hipSuccess, "a call that fails");
    (void)hipGetLastError();
    rtlRangePush("all");
    for (int i = 0; i < launches; i++) {
        if (i % 3 == 0) {
            rtlRangePush("third");
        }
        hip_lasts<<<i + 1, 64, 0, streams[i % 2]>>>(static_cast<int *>(counter), 1000);
        MUST(hipGetLastError());
        if (i % 3 == 0) {
            rtlRangePop();
        }
    }
    rtlRangePop();
    MUST(hipDeviceSynchronize());
    CHECK(rtlFlush(20000) == 0, "flush");
    CHECK(rtlUnsubscribe() == 0, "unsubscribe");
    compare(seen, launches, streams);
    CHECK(seen.names["hipLaunchKernel"] == launches, "calls that launch");
    CHECK(seen.names["hipMalloc"] == 1 && seen.names["hipStreamCreateWithFlags"] == 2, "calls");
    CHECK(seen.names["hipFree"] == 1, "calls");
    return finish();
}
