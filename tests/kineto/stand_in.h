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

struct Recorder : public ActivityLogger {
    std::vector<const GenericTraceActivity *> activities;
    std::map<int64_t, DeviceInfo> devices;
    int named = 0; // devices, how often

    // One of them is the interface's.
    virtual void handleDeviceInfo(const DeviceInfo &info, int64_t /*time*/)
    {
        devices.emplace(info.id, info);
        named++;
    }
    virtual void handleDeviceInfo(const DeviceInfo &info, uint64_t /*time*/)
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
    virtual void finalizeTrace(const Config & /*config*/,
                               std::unique_ptr<ActivityBuffers> /*buffers*/, int64_t /*end*/)
    {
    }
    virtual void
    finalizeTrace(const Config & /*config*/, std::unique_ptr<ActivityBuffers> /*buffers*/,
                  int64_t /*end*/,
                  std::unordered_map<std::string, std::vector<std::string>> & /*metadata*/)
    {
    }
};

} // namespace libkineto
