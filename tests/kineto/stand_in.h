// The library that a bridge is linked with, as PyTorch's has Kineto: what the headers declare and
// do not define, and a logger that keeps what it gets.
#pragma once

#include <output_base.h>

#include <vector>

namespace libkineto
{

struct ActivityBuffers {
};

class Config
{
};

// The second parameter of a function, which is not the same in all of them.
template <typename Function> struct Second;
template <typename Class, typename First, typename Type>
struct Second<void (Class::*)(First, Type)> {
    using type = Type;
};
using Time = Second<decltype(&ActivityLogger::handleDeviceInfo)>::type;

struct Recorder : public ActivityLogger {
    std::vector<const GenericTraceActivity *> activities;
    std::map<int64_t, DeviceInfo> devices;
    int named = 0; // devices, how often

    void handleDeviceInfo(const DeviceInfo &info, Time /*time*/) override
    {
        devices.emplace(info.id, info);
        named++;
    }
    void handleResourceInfo(const ResourceInfo & /*info*/, int64_t /*time*/) override
    {
    }
    void handleOverheadInfo(const OverheadInfo & /*info*/, int64_t /*time*/) override
    {
    }
    void handleTraceSpan(const TraceSpan & /*span*/) override
    {
    }
    void handleActivity(const ITraceActivity & /*activity*/) override
    {
    }
    void handleGenericActivity(const GenericTraceActivity &activity) override
    {
        activities.push_back(&activity);
    }
    void handleTraceStart(const std::unordered_map<std::string, std::string> & /*metadata*/,
                          const std::string & /*properties*/) override
    {
    }
    void finalizeMemoryTrace(const std::string & /*url*/, const Config & /*config*/) override
    {
    }
};

} // namespace libkineto
