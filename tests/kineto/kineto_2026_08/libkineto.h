// The interfaces of Kineto that a profiler's plugin meets, declared anew and no more than that, in
// the shape of the Kineto of August 2026: aggregates with another order of members, more types, and
// virtual functions in the middle of classes. A stand-in for tests: what is declared here has the
// names, members and virtual functions of the real one, none of its code.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace libkineto
{

enum class ActivityType {
    CPU_OP = 0,
    USER_ANNOTATION = 1,
    GPU_USER_ANNOTATION = 2,
    GPU_MEMCPY = 3,
    GPU_MEMSET = 4,
    CONCURRENT_KERNEL = 5,
    CUDA_RUNTIME = 7,
    MTIA_COUNTERS = 17,
    GLOW_RUNTIME = 18,
    PRIVATEUSE1_RUNTIME = 24,
    PRIVATEUSE1_DRIVER = 25,
    HARDWARE_COUNTERS = 28,
    ENUM_COUNT = 29
};

class ActivityLogger;
class Config;
class ITypedMetadataVisitor;

template <typename T> struct MetadataField {
    std::string_view name;
};

struct TraceSpan {
    TraceSpan(int64_t start, int64_t end, std::string title)
        : startTime(start), endTime(end), name(std::move(title))
    {
    }
    int64_t startTime = 0, endTime = 0;
    int opCount = 0, iteration = -1;
    std::string name, prefix;
};

struct ITraceActivity {
    virtual ~ITraceActivity() = default;
    virtual int64_t deviceId() const = 0;
    virtual int64_t resourceId() const = 0;
    virtual int32_t getThreadId() const = 0;
    virtual int64_t timestamp() const = 0;
    virtual int64_t duration() const = 0;
    virtual int64_t correlationId() const = 0;
    virtual int flowType() const = 0;
    virtual int64_t flowId() const = 0;
    virtual bool flowStart() const = 0;
    virtual ActivityType type() const = 0;
    virtual const std::string name() const = 0;
    virtual const ITraceActivity *linkedActivity() const = 0;
    virtual const TraceSpan *traceSpan() const = 0;
    virtual void log(ActivityLogger &logger) const = 0;
    virtual const std::string metadataJson() const = 0;
    virtual void visitTypedMetadata(ITypedMetadataVisitor & /*visitor*/) const
    {
    }
    virtual const std::string getMetadataValue(const std::string & /*key*/) const
    {
        return "";
    }
    virtual const std::vector<std::pair<std::string, double>> &counterValues() const
    {
        static const std::vector<std::pair<std::string, double>> none;
        return none;
    }
};

constexpr unsigned int kLinkFwdBwd = 1;
constexpr unsigned int kLinkAsyncCpuGpu = 2;

class GenericTraceActivity : public ITraceActivity
{
  public:
    GenericTraceActivity(const TraceSpan &span, ActivityType type, const std::string &name)
        : activityType(type), activityName(name), span_(&span)
    {
    }
    int64_t deviceId() const override
    {
        return device;
    }
    int64_t resourceId() const override
    {
        return resource;
    }
    int32_t getThreadId() const override
    {
        return threadId;
    }
    int64_t timestamp() const override
    {
        return startTime;
    }
    int64_t duration() const override
    {
        return endTime - startTime;
    }
    int64_t correlationId() const override
    {
        return id;
    }
    int flowType() const override
    {
        return flow.type;
    }
    int64_t flowId() const override
    {
        return flow.id;
    }
    bool flowStart() const override
    {
        return flow.start;
    }
    ActivityType type() const override
    {
        return activityType;
    }
    const std::string name() const override
    {
        return activityName;
    }
    const ITraceActivity *linkedActivity() const override
    {
        return linked;
    }
    const TraceSpan *traceSpan() const override
    {
        return span_;
    }
    void log(ActivityLogger &logger) const override;
    const std::string metadataJson() const override
    {
        std::ostringstream text;
        for (const auto &[key, value] : members_) {
            text << (text.tellp() > 0 ? ", " : "") << '"' << key << "\": " << value;
        }
        return text.str();
    }
    template <typename Value> void addMetadata(const std::string &key, const Value &value)
    {
        std::ostringstream text;
        text << value;
        members_.emplace(key, text.str());
    }
    template <typename T, typename V>
    void addMetadata(const MetadataField<T> &field, const V &value)
    {
        static_assert(std::is_same_v<T, std::decay_t<V>>);
        addMetadata(std::string(field.name), value);
    }

    int64_t startTime = 0, endTime = 0;
    int32_t id = 0, device = 0;
    int64_t resource = 0;
    int32_t threadId = 0;
    ActivityType activityType;
    std::string activityName;
    struct Flow {
        Flow() : id(0), type(0), start(0)
        {
        }
        uint32_t id;
        uint32_t type : 4;
        uint32_t start : 1;
    } flow;
    const ITraceActivity *linked = nullptr;

  private:
    const TraceSpan *span_;
    std::map<std::string, std::string> members_;
};

enum class TraceStatus { READY, WARMUP, RECORDING, PROCESSING, ERROR, WARNING };

struct DeviceInfo {
    int64_t id, sortIndex;
    const std::string name, label;
};

enum class ResourceType { UNKNOWN = 0, HOST_THREAD = 1 };

struct ResourceInfo {
    int64_t id, sortIndex, deviceId;
    const std::string name;
    ResourceType resourceType{ResourceType::UNKNOWN};
};

struct CpuTraceBuffer {
    template <typename... Arguments> void emplace_activity(Arguments &&...arguments)
    {
        activities.emplace_back(
            std::make_unique<GenericTraceActivity>(std::forward<Arguments>(arguments)...));
    }
    TraceSpan span{0, 0, "none"};
    int gpuOpCount;
    std::deque<std::unique_ptr<GenericTraceActivity>> activities;
};

using getLinkedActivityCallback = std::function<const ITraceActivity *(int32_t)>;

class IActivityProfilerSession
{
  public:
    virtual ~IActivityProfilerSession() = default;
    virtual void start() = 0;
    virtual void stop() = 0;
    TraceStatus status()
    {
        return status_;
    }
    virtual std::vector<std::string> errors() = 0;
    virtual void processTrace(ActivityLogger &logger) = 0;
    virtual void processTrace(ActivityLogger &logger, getLinkedActivityCallback /*linked*/,
                              int64_t /*start*/, int64_t /*end*/)
    {
        processTrace(logger);
    }
    virtual std::unique_ptr<DeviceInfo> getDeviceInfo() = 0;
    virtual std::vector<ResourceInfo> getResourceInfos() = 0;
    virtual std::unique_ptr<CpuTraceBuffer> getTraceBuffer() = 0;
    virtual void pushCorrelationId(uint64_t /*id*/)
    {
    }
    virtual void popCorrelationId()
    {
    }
    virtual void pushUserCorrelationId(uint64_t /*id*/)
    {
    }
    virtual void popUserCorrelationId()
    {
    }
    virtual void toggleCollectionDynamic(bool /*enable*/)
    {
    }
    virtual std::string getDeviceProperties()
    {
        return "";
    }
    virtual std::unordered_map<std::string, std::string> getMetadata()
    {
        return {};
    }

  protected:
    TraceStatus status_ = TraceStatus::READY;
};

class IActivityProfiler
{
  public:
    virtual ~IActivityProfiler() = default;
    virtual const std::string &name() const = 0;
    virtual const std::set<ActivityType> &availableActivities() const = 0;
    virtual std::unique_ptr<IActivityProfilerSession> configure(const std::set<ActivityType> &types,
                                                                const Config &config) = 0;
    virtual std::unique_ptr<IActivityProfilerSession> configure(int64_t start_ms,
                                                                int64_t duration_ms,
                                                                const std::set<ActivityType> &types,
                                                                const Config &config) = 0;
};

using ChildActivityProfilerFactory = std::function<std::unique_ptr<IActivityProfiler>()>;

class LibkinetoApi
{
  public:
    void registerProfilerFactory(const ChildActivityProfilerFactory &factory)
    {
        factories.push_back(factory);
    }
    std::vector<ChildActivityProfilerFactory> factories;
};

LibkinetoApi &api();

} // namespace libkineto
