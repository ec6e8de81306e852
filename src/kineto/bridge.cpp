// IActivityProfiler over PrivateUse1TracingApi.h. Built against each Kineto's own headers, whose
// classes have other members and virtual functions from one release to the next: members are
// assigned by their names.

#include "kineto/bridge.h"

#include "kineto/abi.h"
#include "kineto/members.h"
#include "kineto/rows.h"
#include "kineto/scopes.h"
#include "kineto/session.h"
#include "kineto/text.h"

#include <libkineto.h>
#ifndef KINETO_NAMESPACE
#define KINETO_NAMESPACE libkineto // as PyTorch builds it
#endif
#include <output_base.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <cxxabi.h>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace
{

using libkineto::ActivityType;
using libkineto::GenericTraceActivity;

const char *const profiler_name = "PrivateUse1 plugins";

// A member that Kineto writes itself, next to a record's own.
const char *const kinetos_own = "External id";

// Flows count from here.
constexpr uint32_t first_flow = 1U << 30U;

constexpr size_t longest_mangled = 2048;
constexpr uint32_t most_devices = 1024; // of a vendor, that are told of

constexpr int64_t first_stream_row = 1 << 20; // of the order in which rows are shown

const pu1_vendors_t *vendors()
{
    return pu1_load(nullptr, nullptr);
}

void complain(void * /*context*/, pu1_severity_t severity, const char *sentence)
{
    if (severity != PU1_INFO) {
        std::fprintf(stderr, "kineto_privateuse1: %s\n", sentence);
    }
}

const std::set<ActivityType> &device_types()
{
    static const std::set<ActivityType> types = {
        ActivityType::CONCURRENT_KERNEL, ActivityType::GPU_MEMCPY, ActivityType::GPU_MEMSET};
    return types;
}

const std::set<ActivityType> &all_types()
{
    static const std::set<ActivityType> types = {
        ActivityType::CONCURRENT_KERNEL, ActivityType::GPU_MEMCPY, ActivityType::GPU_MEMSET,
        ActivityType::PRIVATEUSE1_RUNTIME, ActivityType::PRIVATEUSE1_DRIVER};
    return types;
}

uint32_t kind_of(ActivityType type)
{
    switch (type) {
    case ActivityType::CONCURRENT_KERNEL:
        return CONCURRENT_KERNEL;
    case ActivityType::GPU_MEMCPY:
        return GPU_MEMCPY;
    case ActivityType::GPU_MEMSET:
        return GPU_MEMSET;
    case ActivityType::PRIVATEUSE1_DRIVER:
        return PRIVATEUSE1_DRIVER;
    default:
        return PRIVATEUSE1_RUNTIME;
    }
}

ActivityType type_of(uint32_t kind)
{
    for (ActivityType type : all_types()) {
        if (kind_of(type) == kind) {
            return type;
        }
    }
    return ActivityType::ENUM_COUNT;
}

// Only what is a mangled name, for "i" is a type, too; and not without end, for a short one can
// stand for a very long one.
std::string demangled(const char *name)
{
    int status = 0;
    if (std::strncmp(name, "_Z", 2) != 0 || std::strlen(name) > longest_mangled) {
        return name;
    }
    std::unique_ptr<char, void (*)(void *)> plain(
        abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
    return status == 0 && plain != nullptr ? plain.get() : name;
}

std::string shown_name(const char *name)
{
    std::string text = demangled(name);
    pu1_plain_name(text.data());
    return text;
}

// As records have it.
int64_t now()
{
    timespec time = {};
    clock_gettime(CLOCK_REALTIME, &time);
    return static_cast<int64_t>(time.tv_sec) * INT64_C(1000000000) + time.tv_nsec;
}

std::string vendor_of(const pu1_row_t &row)
{
    return shown_name(vendors()->items[row.vendor].api.vendor);
}

// A device in the words of Kineto's own, which has them of CUDA's and ROCm's devices.
std::string shown_device(const pu1_vendor_t &vendor, int32_t process, uint32_t device,
                         const pu1DeviceProperties &properties)
{
    std::string text = "{\"id\": " + std::to_string(device) + ", \"vendor\": \"" +
                       shown_name(vendor.api.vendor) + "\", \"pid\": " + std::to_string(process);
    auto add = [&text](const char *key, uint64_t value) {
        text += value != 0 ? std::string(", \"") + key + "\": " + std::to_string(value) : "";
    };
    if (properties.name != nullptr) {
        text += ", \"name\": \"" + shown_name(properties.name) + "\"";
    }
    add("totalGlobalMem", properties.memory_bytes);
    add("numSms", properties.compute_units);
    add("warpSize", properties.wave_size);
    return text + "}";
}

// Of all vendors that the session has enabled, with commas between.
std::string properties_of_all(const pu1_session_t *session)
{
    std::string text;
    for (size_t i = 0; i < vendors()->count; i++) {
        const pu1_vendor_t &vendor = vendors()->items[i];
        for (uint32_t device = 0; device < most_devices; device++) {
            pu1DeviceProperties properties = {};
            properties.struct_size = sizeof properties;
            if (!pu1_session_has(session, i) || vendor.api.getDeviceProperties == nullptr ||
                vendor.api.getDeviceProperties(device, &properties) != PU1_SUCCESS) {
                break;
            }
            text += (text.empty() ? "" : ",") +
                    shown_device(vendor, pu1_process_of(i, device), device, properties);
        }
    }
    return text;
}

// An aggregate in newer releases, with the numbers in another order: the name is its fourth member
// either way, and the numbers are assigned.
template <typename Info>
Info make_resource(int64_t device, int64_t id, int64_t sort_index, std::string name)
{
    if constexpr (std::is_aggregate_v<Info>) {
        Info info{0, 0, 0, std::move(name)};
        info.id = id;
        info.sortIndex = sort_index;
        info.deviceId = device;
        return info;
    } else {
        return Info(device, id, sort_index, std::move(name));
    }
}

class Session : public libkineto::IActivityProfilerSession
{
  public:
    Session(uint32_t kinds, bool wants_annotations)
        : kinds_(kinds), wants_annotations_(wants_annotations),
          session_(pu1_session_new(vendors()), pu1_session_free),
          buffer_(std::make_unique<libkineto::CpuTraceBuffer>())
    {
        buffer_->span.name = profiler_name;
        buffer_->gpuOpCount = 0;
    }

    void start() override
    {
        status_ = libkineto::TraceStatus::RECORDING;
        if (session_ == nullptr) {
            note(this, "there is no memory for a session");
        } else {
            (void)pu1_session_start(session_.get(), kinds_, note, this);
        }
    }

    void stop() override
    {
        if (session_ != nullptr) {
            pu1_session_stop(session_.get());
        }
        status_ = libkineto::TraceStatus::PROCESSING;
    }

// Kineto's since July 2026; before, nobody calls it.
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winconsistent-missing-override"
#endif
    // Vendors go on: to stop and start them would be another session, and cost what they have. What
    // begins meanwhile is not shown.
    void toggleCollectionDynamic(bool enable) // NOLINT(modernize-use-override): not everywhere
    {
        std::lock_guard<std::mutex> guard(pauses_lock_);
        bool paused = !pauses_.empty() && pauses_.back().second == INT64_MAX;
        if (!enable && !paused) {
            pauses_.emplace_back(now(), INT64_MAX);
        } else if (enable && paused) {
            pauses_.back().second = now();
        }
    }
#ifdef __clang__
#pragma clang diagnostic pop
#endif

    std::vector<std::string> errors() override
    {
        return errors_;
    }

    void processTrace(libkineto::ActivityLogger &logger) override
    {
        processTrace(logger, nullptr, 0, 0);
    }

    void processTrace(libkineto::ActivityLogger &logger,
                      libkineto::getLinkedActivityCallback linked, int64_t start,
                      int64_t end) override
    {
        if (session_ == nullptr) {
            return;
        }
        pu1_session_finish(session_.get(), note, this);
        pu1_session_tell(session_.get(), note, this);
        std::vector<const pu1_item_t *> items = within(start, end);
        tell_outside();
        find_flows(items);
        find_rows();
        buffer_->span.startTime = start;
        buffer_->span.endTime = end;
        for (const pu1_item_t *item : items) {
            add(*item, linked);
            buffer_->activities.back()->log(logger);
        }
        add_annotations(logger, linked);
        name_devices(logger, start);
    }

    // There is one; devices are named in processTrace, and Kineto goes on to name its own.
    std::unique_ptr<libkineto::DeviceInfo> getDeviceInfo() override
    {
        return nullptr;
    }

    std::vector<libkineto::ResourceInfo> getResourceInfos() override
    {
        std::vector<libkineto::ResourceInfo> infos;
        for (const pu1_row_t *row : shown_) {
            infos.push_back(make_resource<libkineto::ResourceInfo>(
                row->process, row->thread, first_stream_row + row->thread,
                vendor_of(*row) + " stream " + std::to_string(row->stream)));
        }
        return infos;
    }

    std::string getDeviceProperties() override
    {
        return session_ != nullptr ? properties_of_all(session_.get()) : "";
    }

    std::unique_ptr<libkineto::CpuTraceBuffer> getTraceBuffer() override
    {
        return std::move(buffer_);
    }

    void pushCorrelationId(uint64_t id) override
    {
        scopes_.push_operation(id);
    }

    void popCorrelationId() override
    {
        scopes_.pop_operation();
    }

    void pushUserCorrelationId(uint64_t id) override
    {
        scopes_.push_annotation(id);
    }

    void popUserCorrelationId() override
    {
        scopes_.pop_annotation();
    }

  private:
    static void note(void *context, const char *sentence)
    {
        auto *session = static_cast<Session *>(context);
        session->errors_.emplace_back(sentence);
        session->status_ = libkineto::TraceStatus::ERROR;
        complain(nullptr, PU1_FAULT, sentence);
    }

    bool is_paused(int64_t time)
    {
        std::lock_guard<std::mutex> guard(pauses_lock_);
        return std::any_of(pauses_.begin(), pauses_.end(), [time](const auto &pause) {
            return time >= pause.first && time < pause.second;
        });
    }

    // What has begun in the capture window, and not while the profile was paused.
    std::vector<const pu1_item_t *> within(int64_t start, int64_t end)
    {
        std::vector<const pu1_item_t *> items;
        size_t count = 0;
        const pu1_item_t *all = pu1_session_items(session_.get(), &count);
        for (size_t i = 0; i < count; i++) {
            auto time = static_cast<int64_t>(all[i].record.start_time);
            bool inside = time >= start && (end == 0 || time <= end);
            outside_ += inside ? 0 : 1;
            if (inside && !is_paused(time)) {
                items.push_back(&all[i]);
            }
        }
        return items;
    }

    // Not an error, for a profile may end while the device works.
    void tell_outside()
    {
        size_t count = 0;
        (void)pu1_session_items(session_.get(), &count);
        if (outside_ > 0) {
            std::string sentence = std::to_string(outside_) + " of " + std::to_string(count) +
                                   " records began before or after the profiled window, and are "
                                   "not shown";
            complain(nullptr, PU1_WARNING, sentence.c_str());
            if (status_ != libkineto::TraceStatus::ERROR) {
                status_ = libkineto::TraceStatus::WARNING;
            }
        }
    }

    // A flow begins at a call that has work, and ends at work that has its call. Each gets a number
    // of its own, for other profilers in the trace number theirs by their correlation ids.
    void find_flows(const std::vector<const pu1_item_t *> &items)
    {
        std::set<uint64_t> work;
        for (const pu1_item_t *item : items) {
            if (pu1_is_device_work(item)) {
                work.insert(pu1_flow_id(vendors(), item));
            }
        }
        for (const pu1_item_t *item : items) {
            uint64_t id = pu1_flow_id(vendors(), item);
            if (!pu1_is_device_work(item) && item->record.correlation_id != 0 &&
                work.count(id) > 0) {
                flows_.emplace(id, first_flow + static_cast<uint32_t>(flows_.size()));
            }
        }
    }

    void find_rows()
    {
        size_t count = 0;
        const pu1_item_t *all = pu1_session_items(session_.get(), &count);
        rows_.reset(pu1_rows_new(all, count));
        if (rows_ == nullptr) {
            note(this, "there is no memory for the rows of streams");
        }
    }

    // Of the rows that are shown. They come behind the devices of Kineto's own.
    void name_devices(libkineto::ActivityLogger &logger, int64_t time) const
    {
        int32_t last = 0;
        for (const pu1_row_t *row : shown_) {
            if (row->process != last) {
                libkineto::DeviceInfo info{
                    row->process, libkineto::kExceedMaxPid + row->process, vendor_of(*row),
                    row->device == PU1_NO_DEVICE ? "no device"
                                                 : "device " + std::to_string(row->device)};
                logger.handleDeviceInfo(info, time);
            }
            last = row->process;
        }
    }

    void link(GenericTraceActivity &activity, const pu1_item_t &item) const
    {
        auto flow = flows_.find(pu1_flow_id(vendors(), &item));
        bool start = !pu1_is_device_work(&item);
        if (item.record.correlation_id == 0 || flow == flows_.end()) {
            return;
        }
        activity.flow.id = flow->second;
        activity.flow.type = libkineto::kLinkAsyncCpuGpu;
        activity.flow.start = start ? 1 : 0;
    }

    void place(GenericTraceActivity &activity, const pu1_item_t &item)
    {
        const pu1ActivityRecord &record = item.record;
        if (!pu1_is_device_work(&item)) {
            activity.device = static_cast<int32_t>(record.process_id);
            activity.resource = static_cast<int32_t>(record.thread_id);
            activity.threadId = static_cast<int32_t>(record.thread_id);
            return;
        }
        const pu1_row_t *row = rows_ != nullptr ? pu1_row_of(rows_.get(), &item) : nullptr;
        if (row != nullptr) {
            activity.device = row->process;
            activity.resource = row->thread;
            shown_.insert(row);
        }
        activity.threadId = 0;
        activity.addMetadata("device", record.device_id == PU1_NO_DEVICE
                                           ? std::string("-1")
                                           : std::to_string(record.device_id));
        activity.addMetadata("stream", std::to_string(record.stream_id));
        buffer_->gpuOpCount++;
    }

    static void describe(GenericTraceActivity &activity, const pu1_item_t &item)
    {
        activity.addMetadata("correlation", std::to_string(pu1_flow_id(vendors(), &item)));
        std::string text = item.record.metadata != nullptr ? item.record.metadata : "{}";
        pu1_plain_object(text.data());
        const char *at = text.c_str();
        pu1_member_t member = {};
        while (pu1_next_member(&at, &member)) {
            std::string key(member.key, member.key_length);
            if (key != kinetos_own) {
                activity.addMetadata(key, std::string(member.value, member.value_length));
            }
        }
    }

    // Kineto's activity of an operation or annotation, which it counts with 32 bits.
    static const libkineto::ITraceActivity *
    find_scope(const libkineto::getLinkedActivityCallback &linked, uint64_t id)
    {
        bool is_id = id != 0 && id <= INT32_MAX;
        return linked != nullptr && is_id ? linked(static_cast<int32_t>(id)) : nullptr;
    }

    // On each stream an annotation lasts from its first work to its last.
    void extend_annotations(const GenericTraceActivity &work, uint64_t external)
    {
        for (uint64_t id : scopes_.annotations(external)) {
            auto row = std::make_pair(work.deviceId(), work.resourceId());
            auto at =
                spans_
                    .emplace(std::make_pair(row, id), std::make_pair(work.startTime, work.endTime))
                    .first;
            at->second.first = std::min(at->second.first, work.startTime);
            at->second.second = std::max(at->second.second, work.endTime);
        }
    }

    void add_annotations(libkineto::ActivityLogger &logger,
                         const libkineto::getLinkedActivityCallback &linked)
    {
        for (const auto &[key, span] : spans_) {
            const libkineto::ITraceActivity *annotation = find_scope(linked, key.second);
            if (annotation == nullptr) {
                continue;
            }
            buffer_->emplace_activity(buffer_->span, ActivityType::GPU_USER_ANNOTATION,
                                      annotation->name());
            GenericTraceActivity &activity = *buffer_->activities.back();
            activity.startTime = span.first;
            activity.endTime = span.second;
            activity.id = static_cast<int32_t>(key.second); // not linked, it would count as work
            activity.device = static_cast<int32_t>(key.first.first);
            activity.resource = static_cast<int32_t>(key.first.second);
            activity.threadId = 0;
            activity.log(logger);
        }
    }

    void add(const pu1_item_t &item, const libkineto::getLinkedActivityCallback &linked)
    {
        const pu1ActivityRecord &record = item.record;
        buffer_->emplace_activity(buffer_->span, type_of(record.kind), shown_name(record.name));
        GenericTraceActivity &activity = *buffer_->activities.back();
        activity.startTime = static_cast<int64_t>(record.start_time);
        activity.endTime = static_cast<int64_t>(record.end_time);
        activity.id = static_cast<int32_t>(pu1_flow_id(vendors(), &item));
        activity.linked = find_scope(linked, scopes_.owner(record.external_id));
        place(activity, item);
        if (wants_annotations_ && pu1_is_device_work(&item)) {
            extend_annotations(activity, record.external_id);
        }
        link(activity, item);
        describe(activity, item);
    }

    uint32_t kinds_;
    bool wants_annotations_;
    pu1::Scopes scopes_;
    std::mutex pauses_lock_;
    std::vector<std::pair<int64_t, int64_t>> pauses_; // from and until
    size_t outside_ = 0;                              // of the capture window
    std::unique_ptr<pu1_session_t, void (*)(pu1_session_t *)> session_;
    std::unique_ptr<libkineto::CpuTraceBuffer> buffer_;
    std::vector<std::string> errors_;
    std::map<uint64_t, uint32_t> flows_; // numbers by pu1_flow_id
    std::unique_ptr<pu1_rows_t, void (*)(pu1_rows_t *)> rows_{nullptr, pu1_rows_free};
    std::set<const pu1_row_t *> shown_; // of these, in their order
    // By device and stream of the trace, and annotation: start and end.
    std::map<std::pair<std::pair<int64_t, int64_t>, uint64_t>, std::pair<int64_t, int64_t>> spans_;
};

class Profiler : public libkineto::IActivityProfiler
{
  public:
    const std::string &name() const override
    {
        static const std::string name = profiler_name;
        return name;
    }

    const std::set<ActivityType> &availableActivities() const override
    {
        static const std::set<ActivityType> types = [] {
            std::set<ActivityType> all = all_types();
            all.insert(ActivityType::GPU_USER_ANNOTATION);
            return all;
        }();
        return types;
    }

    // The kinds of calls are among those of every trace of the CPU: alone they ask for nothing.
    std::unique_ptr<libkineto::IActivityProfilerSession>
    configure(const std::set<ActivityType> &types, const libkineto::Config & /*config*/) override
    {
        uint32_t kinds = 0;
        bool device = false;
        for (ActivityType type : types) {
            device = device || device_types().count(type) > 0;
            kinds |= all_types().count(type) > 0 ? PU1_KIND_BIT(kind_of(type)) : 0;
        }
        if (!device || vendors()->count == 0) {
            return nullptr;
        }
        return std::make_unique<Session>(kinds, types.count(ActivityType::GPU_USER_ANNOTATION) > 0);
    }

    std::unique_ptr<libkineto::IActivityProfilerSession>
    configure(int64_t /*start_ms*/, int64_t /*duration_ms*/, const std::set<ActivityType> &types,
              const libkineto::Config &config) override
    {
        return configure(types, config);
    }
};

} // namespace

// Once: how many vendors there are, or -1.
static int register_once()
{
    if (std::string mismatch = pu1_mismatch(); !mismatch.empty()) {
        complain(nullptr, PU1_FAULT, mismatch.c_str());
        return -1;
    }
    size_t found = pu1_load(complain, nullptr)->count;
    if (found > 0) {
        libkineto::api().registerProfilerFactory([] { return std::make_unique<Profiler>(); });
    }
    return static_cast<int>(found);
}

int pu1KinetoRegister()
{
    static const int count = register_once();
    return count;
}

const char *pu1KinetoBuiltFor()
{
    static const std::string text = pu1_built_for();
    return text.c_str();
}
