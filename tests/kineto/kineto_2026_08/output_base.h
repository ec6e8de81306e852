// What gets the pieces of a trace, in the shape of the Kineto of August 2026. A stand-in for tests,
// as libkineto.h.
#pragma once

#include "libkineto.h"

namespace libkineto
{

struct ActivityBuffers;

constexpr int64_t kExceedMaxPid = 5000000;

class ActivityLogger
{
  public:
    virtual ~ActivityLogger() = default;
    struct OverheadInfo {
        const std::string name;
    };
    virtual void handleDeviceInfo(const DeviceInfo &info, int64_t time) = 0;
    virtual void handleResourceInfo(const ResourceInfo &info, int64_t time) = 0;
    virtual void handleOverheadInfo(const OverheadInfo &info, int64_t time) = 0;
    virtual void handleTraceSpan(const TraceSpan &span) = 0;
    virtual void handleActivity(const ITraceActivity &activity) = 0;
    virtual void handleGenericActivity(const GenericTraceActivity &activity) = 0;
    virtual void handleTraceStart(const std::unordered_map<std::string, std::string> &metadata,
                                  const std::string &device_properties) = 0;
    virtual void finalizeMemoryTrace(const std::string &url, const Config &config) = 0;
    virtual void finalizeTrace(const Config & /*config*/,
                               std::unique_ptr<ActivityBuffers> /*buffers*/, int64_t /*end*/)
    {
    }
};

} // namespace libkineto
