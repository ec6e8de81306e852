// bridge_driver BRIDGE CASE: Kineto's part in the bridge's life (the library BRIDGE, opened as
// ctypes would), with OpenReg as the device. What is wrong is said on stderr; the status is then 1.

#include "stand_in.h"

#include "kineto/openreg/openreg.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <fstream>
#include <functional>
#include <hsa/hsa.h>
#include <unistd.h>

using namespace libkineto;

namespace
{

int wrong = 0;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "bridge: line %d: not true: %s\n", __LINE__, #condition);         \
            wrong++;                                                                               \
        }                                                                                          \
    } while (0)

using Types = std::set<ActivityType>;

const Types cpu_types = {ActivityType::CPU_OP, ActivityType::USER_ANNOTATION,
                         ActivityType::PRIVATEUSE1_RUNTIME, ActivityType::PRIVATEUSE1_DRIVER};
const Types all_types = {ActivityType::CPU_OP, ActivityType::PRIVATEUSE1_RUNTIME,
                         ActivityType::GPU_MEMCPY, ActivityType::GPU_MEMSET,
                         ActivityType::CONCURRENT_KERNEL};

Config config;

// Device 0 of the first vendor: no process id, and no device of Kineto's own.
constexpr int64_t first_process = 1 << 24;

int64_t now()
{
    timespec time = {};
    clock_gettime(CLOCK_REALTIME, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

void must(int error)
{
    if (error != 0) {
        std::abort();
    }
}

// The profiler that the bridge has registered.
std::unique_ptr<IActivityProfiler> open_profiler(const char *bridge, int vendors)
{
    void *library = dlopen(bridge, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        std::fprintf(stderr, "bridge: %s\n", dlerror());
        std::exit(2);
    }
    auto *enter = reinterpret_cast<int (*)()>(dlsym(library, "pu1KinetoRegister"));
    auto *built_for = reinterpret_cast<const char *(*)()>(dlsym(library, "pu1KinetoBuiltFor"));
    CHECK(std::strncmp(built_for(), "PyTorch 2.", 10) == 0);
    CHECK(enter() == vendors);
    CHECK(enter() == vendors); // again: no second profiler
    CHECK(api().factories.size() == (vendors > 0 ? 1 : 0));
    return api().factories.empty() ? nullptr : api().factories[0]();
}

// Operations as PyTorch would have recorded them.
struct Operations {
    TraceSpan span{0, 0, "cpu"};
    std::map<int32_t, std::unique_ptr<GenericTraceActivity>> all;
    const ITraceActivity *find(int32_t id)
    {
        auto at = all.find(id);
        return at == all.end() ? nullptr : at->second.get();
    }
    void add(int32_t id, const char *name = "op")
    {
        all[id] = std::make_unique<GenericTraceActivity>(span, ActivityType::CPU_OP, name);
        all[id]->id = id;
    }
};

size_t count(const Recorder &logger, ActivityType type, const char *name = nullptr)
{
    size_t number = 0;
    for (const auto *activity : logger.activities) {
        number += activity->type() == type && (name == nullptr || activity->name() == name) ? 1 : 0;
    }
    return number;
}

bool is_device(const GenericTraceActivity &activity)
{
    return activity.type() != ActivityType::PRIVATEUSE1_RUNTIME;
}

void check_flows(const Recorder &logger, size_t ends)
{
    std::multiset<int64_t> starts, ended;
    for (const auto *activity : logger.activities) {
        if (activity->flowId() == 0) {
            continue;
        }
        CHECK(activity->flowType() == static_cast<int>(kLinkAsyncCpuGpu));
        CHECK(activity->flowId() > 1000000); // unlike the correlation ids of other profilers
        CHECK(activity->flowStart() == !is_device(*activity));
        (activity->flowStart() ? starts : ended).insert(activity->flowId());
    }
    for (int64_t id : starts) {
        CHECK(starts.count(id) == 1 && ended.count(id) > 0);
    }
    for (int64_t id : ended) {
        CHECK(starts.count(id) == 1);
    }
    CHECK(ended.size() == ends);
}

void check_rows(const Recorder &logger)
{
    for (const auto *activity : logger.activities) {
        CHECK(activity->duration() >= 0 && activity->traceSpan() != nullptr);
        if (is_device(*activity)) {
            CHECK(activity->deviceId() == first_process && activity->resourceId() <= 1);
            CHECK(activity->metadataJson().find("\"stream\": ") != std::string::npos);
        } else {
            CHECK(activity->deviceId() == getpid() && activity->resourceId() == gettid());
            CHECK(activity->getThreadId() == gettid());
        }
    }
}

// ---- cases ----

void run_trace(IActivityProfiler &profiler)
{
    openregStream_t stream = nullptr;
    must(openregStreamCreate(&stream));
    must(openregSpin("before", 10, stream));
    auto session = profiler.configure(0, 500, all_types, config);
    CHECK(session != nullptr && !profiler.name().empty());
    CHECK(profiler.availableActivities().count(ActivityType::CONCURRENT_KERNEL) == 1);
    int64_t begin = now();
    session->start();
    CHECK(session->status() == TraceStatus::RECORDING);
    Operations operations;
    char memory[64];
    for (int32_t id = 100; id < 110; id++) {
        operations.add(id);
        session->pushCorrelationId(static_cast<uint64_t>(id));
        must(openregSpin("_Z6kernelPii", 50, stream));
        must(openregMemsetAsync(memory, 1, sizeof memory, nullptr));
        session->popCorrelationId();
    }
    must(openregSpin("of nobody", 50, stream));
    session->pushUserCorrelationId(7); // an annotation, with an operation in it and one around
    operations.add(7);
    must(openregSpin("annotated", 50, stream));
    session->pushCorrelationId(105);
    session->pushUserCorrelationId(8);
    must(openregSpin("_Z6kernelPii", 50, stream));
    session->popUserCorrelationId();
    session->popCorrelationId();
    session->popUserCorrelationId();
    session->pushCorrelationId(999); // of which Kineto has no activity
    must(openregSpin("of nobody", 50, stream));
    session->popCorrelationId();
    must(openregDeviceSynchronize());
    session->stop();
    int64_t end = now();
    must(openregSpin("after", 10, stream));
    Recorder logger;
    session->processTrace(
        logger, [&](int32_t id) { return operations.find(id); }, begin, end);
    CHECK(session->errors().empty());
    CHECK(count(logger, ActivityType::CONCURRENT_KERNEL) == 14);
    CHECK(count(logger, ActivityType::CONCURRENT_KERNEL, "kernel(int*, int)") == 11);
    CHECK(count(logger, ActivityType::GPU_MEMSET) == 10);
    CHECK(count(logger, ActivityType::PRIVATEUSE1_RUNTIME) == 25);
    CHECK(count(logger, ActivityType::PRIVATEUSE1_RUNTIME, "openregDeviceSynchronize") == 1);
    std::map<int64_t, int> by_operation;
    for (const auto *activity : logger.activities) {
        CHECK(activity->timestamp() >= begin && activity->timestamp() <= end);
        if (is_device(*activity)) {
            by_operation[activity->linkedActivity() != nullptr
                             ? activity->linkedActivity()->correlationId()
                             : 0]++;
        }
    }
    for (int32_t id = 100; id < 110; id++) {
        CHECK(by_operation[id] == (id == 105 ? 3 : 2));
    }
    CHECK(by_operation[7] == 1 && by_operation[0] == 2);
    check_flows(logger, 24);
    check_rows(logger);
    auto infos = session->getResourceInfos();
    CHECK(session->getDeviceProperties().find(
              "{\"id\": 0, \"vendor\": \"OpenReg\", \"pid\": " + std::to_string(first_process) +
              ", \"name\": \"OpenReg\", \"totalGlobalMem\": ") == 0);
    CHECK(infos.size() == 2 && session->getDeviceInfo() == nullptr);
    for (const ResourceInfo &info : infos) {
        CHECK(info.deviceId == first_process && info.id <= 1 && info.sortIndex > 1000);
        CHECK(info.name == "OpenReg stream " + std::to_string(info.id));
    }
    CHECK(logger.named == 1 && logger.devices.count(first_process) == 1);
    CHECK(logger.devices.at(first_process).name == "OpenReg");
    CHECK(logger.devices.at(first_process).label == "device 0");
    CHECK(logger.devices.at(first_process).sortIndex > kExceedMaxPid + 15); // behind Kineto's
    auto buffer = session->getTraceBuffer();
    CHECK(buffer != nullptr && buffer->activities.size() == 49 && buffer->gpuOpCount == 24);
    session.reset();
    CHECK(buffer->activities.front()->traceSpan() == &buffer->span); // it outlives the session
    must(openregStreamDestroy(stream));
}

std::atomic<bool> holding{false};

// Runs until it is let go.
void hold(void * /*unused*/)
{
    holding = true;
    while (holding) {
        usleep(100);
    }
}

// Of the records those that begin in the window are shown, and flows go to no other.
void run_window(IActivityProfiler &profiler)
{
    auto session = profiler.configure(all_types, config);
    session->start();
    must(openregSpin("early", 100, nullptr));
    must(openregDeviceSynchronize());
    int64_t begin = now();
    must(openregSpin("within", 100, nullptr));
    must(openregDeviceSynchronize());
    must(openregLaunchKernel("held up", hold, nullptr, nullptr));
    must(openregSpin("late", 100, nullptr)); // launched in the window, and begins behind it
    while (!holding) {
        usleep(100);
    }
    int64_t end = now();
    must(openregSpin("outside", 100, nullptr));
    holding = false;
    session->stop();
    Recorder logger;
    session->processTrace(logger, nullptr, begin, end);
    CHECK(count(logger, ActivityType::CONCURRENT_KERNEL) == 2);
    CHECK(count(logger, ActivityType::CONCURRENT_KERNEL, "within") == 1);
    CHECK(count(logger, ActivityType::CONCURRENT_KERNEL, "held up") == 1);
    CHECK(count(logger, ActivityType::PRIVATEUSE1_RUNTIME) == 4);
    check_flows(logger, 2);
    CHECK(session->errors().empty() && session->status() == TraceStatus::WARNING);
}

const GenericTraceActivity *find(const Recorder &logger, const char *name)
{
    for (const auto *activity : logger.activities) {
        if (activity->type() == ActivityType::CONCURRENT_KERNEL && activity->name() == name) {
            return activity;
        }
    }
    std::abort();
}

// An annotation has a row of the device on each stream that it has work on, from its first to its
// last.
void run_annotations(IActivityProfiler &profiler)
{
    Types types = all_types;
    types.insert(ActivityType::GPU_USER_ANNOTATION);
    openregStream_t stream = nullptr;
    must(openregStreamCreate(&stream));
    Operations operations;
    operations.add(1, "outer");
    operations.add(2, "inner");
    operations.add(3, "within an operation");
    operations.add(100);
    for (bool wanted : {true, false}) {
        auto session = profiler.configure(wanted ? types : all_types, config);
        session->start();
        session->pushUserCorrelationId(1);
        must(openregSpin("k1", 100, nullptr));
        session->pushUserCorrelationId(2);
        session->pushCorrelationId(100);
        must(openregSpin("k2", 100, stream));
        session->pushUserCorrelationId(3);
        must(openregSpin("k3", 100, stream));
        session->popUserCorrelationId();
        must(openregSpin("k4", 100, stream));
        session->popCorrelationId();
        must(openregSpin("k5", 100, nullptr));
        session->popUserCorrelationId();
        session->pushUserCorrelationId(4); // which Kineto does not know
        must(openregSpin("k6", 100, nullptr));
        session->popUserCorrelationId();
        session->popUserCorrelationId();
        must(openregSpin("k7", 100, nullptr));
        must(openregDeviceSynchronize());
        session->stop();
        Recorder logger;
        session->processTrace(
            logger, [&](int32_t id) { return operations.find(id); }, 0, 0);
        const struct {
            const char *kernel;
            int32_t owner;
        } owners[] = {{"k1", 1}, {"k2", 100}, {"k3", 100}, {"k4", 100},
                      {"k5", 2}, {"k6", 4},   {"k7", 0}};
        for (const auto &each : owners) {
            CHECK(find(logger, each.kernel)->linkedActivity() == operations.find(each.owner));
        }
        const struct {
            const char *name, *first, *last;
        } spans[] = {{"outer", "k1", "k6"},
                     {"outer", "k2", "k4"},
                     {"inner", "k5", "k5"},
                     {"inner", "k2", "k4"},
                     {"within an operation", "k3", "k3"}};
        CHECK(count(logger, ActivityType::GPU_USER_ANNOTATION) == (wanted ? 5 : 0));
        for (const auto &span : spans) {
            int found = 0;
            const auto *first = find(logger, span.first);
            const auto *last = find(logger, span.last);
            for (const auto *activity : logger.activities) {
                found += activity->type() == ActivityType::GPU_USER_ANNOTATION &&
                                 activity->name() == span.name &&
                                 activity->startTime == first->startTime &&
                                 activity->endTime == last->endTime &&
                                 activity->deviceId() == first->deviceId() &&
                                 activity->resourceId() == first->resourceId() &&
                                 activity->flowId() == 0 && activity->linkedActivity() == nullptr &&
                                 operations.find(static_cast<int32_t>(activity->correlationId()))
                                         ->name() == span.name
                             ? 1
                             : 0;
            }
            CHECK(found == (wanted ? 1 : 0));
        }
    }
    must(openregStreamDestroy(stream));
}

// Scopes that a session left open are none of the next one.
void run_left_open(IActivityProfiler &profiler)
{
    for (int i = 0; i < 2; i++) {
        auto session = profiler.configure(all_types, config);
        Operations operations;
        operations.add(1);
        session->start();
        session->pushUserCorrelationId(1);
        must(openregSpin("kernel", 10, nullptr));
        session->pushCorrelationId(2); // and neither is popped
        session->stop();
        Recorder logger;
        session->processTrace(
            logger, [&](int32_t id) { return operations.find(id); }, 0, 0);
        CHECK(find(logger, "kernel")->linkedActivity() == operations.find(1));
    }
}

// False where this Kineto has no such thing.
template <typename Session>
auto toggle(Session &session, bool enable, int /*first choice*/)
    -> decltype(session.toggleCollectionDynamic(enable), true)
{
    session.toggleCollectionDynamic(enable);
    return true;
}

template <typename Session> bool toggle(Session & /*session*/, bool /*enable*/, long /*other*/)
{
    return false;
}

// What begins while the profile is paused is not shown, and not said to be missing.
void run_paused(IActivityProfiler &profiler)
{
    auto session = profiler.configure(all_types, config);
    session->start();
    bool can = false;
    for (const char *name : {"a", "b", "c", "d"}) {
        can = toggle(*session, *name % 2 == 'a' % 2, 0);
        can = toggle(*session, *name % 2 == 'a' % 2, 0); // once more changes nothing
        must(openregSpin(name, 10, nullptr));
        must(openregDeviceSynchronize());
    }
    session->stop();
    Recorder logger;
    session->processTrace(logger, nullptr, 0, 0);
    CHECK(count(logger, ActivityType::CONCURRENT_KERNEL) == (can ? 2 : 4));
    CHECK(count(logger, ActivityType::CONCURRENT_KERNEL, "a") == 1);
    CHECK(count(logger, ActivityType::CONCURRENT_KERNEL, "c") == 1);
    check_flows(logger, can ? 2 : 4);
    CHECK(session->status() == TraceStatus::PROCESSING);
}

// OpenReg keeps 1024 ids in a thread.
void run_deep(IActivityProfiler &profiler)
{
    auto session = profiler.configure(all_types, config);
    Operations operations;
    session->start();
    for (int32_t id = 1; id <= 2024; id++) {
        operations.add(id);
        session->pushCorrelationId(static_cast<uint64_t>(id));
        if (id == 1000 || id == 2024) {
            must(openregSpin(id == 1000 ? "deep" : "too deep", 10, nullptr));
        }
    }
    for (int32_t id = 2024; id > 1; id--) {
        session->popCorrelationId();
    }
    must(openregSpin("last", 10, nullptr));
    session->popCorrelationId();
    must(openregSpin("out", 10, nullptr));
    session->stop();
    Recorder logger;
    session->processTrace(
        logger, [&](int32_t id) { return operations.find(id); }, 0, 0);
    CHECK(find(logger, "deep")->linkedActivity() == operations.find(1000));
    CHECK(find(logger, "too deep")->linkedActivity() == operations.find(1024));
    CHECK(find(logger, "last")->linkedActivity() == operations.find(1));
    CHECK(find(logger, "out")->linkedActivity() == nullptr);
    CHECK(session->errors().size() == 1);
}

void run_configure(IActivityProfiler &profiler)
{
    CHECK(profiler.configure(cpu_types, config) == nullptr);
    CHECK(profiler.configure(0, 1, cpu_types, config) == nullptr);
    CHECK(profiler.configure({}, config) == nullptr);
    for (ActivityType type :
         {ActivityType::CONCURRENT_KERNEL, ActivityType::GPU_MEMCPY, ActivityType::GPU_MEMSET}) {
        auto session = profiler.configure({type}, config);
        char memory[16];
        CHECK(session != nullptr);
        session->start();
        must(openregSpin("kernel", 10, nullptr));
        must(openregMemsetAsync(memory, 1, 8, nullptr));
        must(openregMemcpyAsync(memory, memory + 8, 8, nullptr));
        session->stop();
        Recorder logger;
        session->processTrace(logger);
        CHECK(logger.activities.size() == 1 && count(logger, type) == 1);
        check_flows(logger, 0); // the calls are not there
    }
}

// Sessions one after another, one that is never processed among them, and scopes left open.
void run_sessions(IActivityProfiler &profiler)
{
    for (int i = 0; i < 4; i++) {
        auto session = profiler.configure(all_types, config);
        session->pushCorrelationId(1); // before the start: for nobody
        session->start();
        session->pushCorrelationId(static_cast<uint64_t>(10 + i)); // and never popped
        for (int k = 0; k <= i; k++) {
            must(openregSpin("kernel", 1000, nullptr));
        }
        if (i == 1) {
            continue; // given up while it runs
        }
        session->stop();
        Recorder logger;
        Operations operations;
        operations.add(10 + i);
        session->processTrace(
            logger, [&](int32_t id) { return operations.find(id); }, 0, 0);
        CHECK(session->errors().empty());
        CHECK(count(logger, ActivityType::CONCURRENT_KERNEL) == static_cast<size_t>(i) + 1);
        for (const auto *activity : logger.activities) {
            CHECK(activity->linkedActivity() == operations.find(10 + i));
        }
    }
    // Two at once: the second says so, and disturbs nothing.
    auto first = profiler.configure(all_types, config);
    auto second = profiler.configure(all_types, config);
    first->start();
    second->start();
    CHECK(second->errors().size() == 1 && second->status() == TraceStatus::ERROR);
    must(openregSpin("kernel", 10, nullptr));
    second->stop();
    Recorder nothing, logger;
    second->processTrace(nothing);
    first->stop();
    first->processTrace(logger);
    CHECK(nothing.activities.empty());
    CHECK(count(logger, ActivityType::CONCURRENT_KERNEL) == 1 && first->errors().empty());
}

// ---- the file, by the rules of Kineto's own ----

// Kineto drops newlines, makes slashes of backslashes, and escapes nothing.
std::string in_file(std::string text)
{
    std::string shown;
    for (char c : text) {
        if (c != '\n') {
            shown += c == '\\' ? '/' : c;
        }
    }
    return shown;
}

std::string name_in_file(const std::string &name)
{
    std::string shown = in_file(name);
    for (char c : shown) {
        if (c < ' ' || c > '~') {
            return "unknown";
        }
    }
    return shown;
}

void write_file(const char *path, const Recorder &logger, IActivityProfilerSession &session)
{
    std::ofstream file(path, std::ios::binary);
    file << "[{\"ph\": \"properties\", \"args\": [" << session.getDeviceProperties() << "]},\n";
    for (const auto &[id, info] : logger.devices) {
        file << "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": " << id
             << ", \"tid\": 0, \"args\": {\"name\": \"" << in_file(info.name) << " "
             << in_file(info.label) << "\"}},\n";
    }
    for (const ResourceInfo &info : session.getResourceInfos()) {
        file << "{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": " << info.deviceId
             << ", \"tid\": " << info.id << ", \"args\": {\"name\": \"" << in_file(info.name)
             << "\"}},\n";
    }
    for (const auto *activity : logger.activities) {
        file << "{\"ph\": \"X\", \"cat\": " << static_cast<int>(activity->type())
             << ", \"name\": \"" << name_in_file(activity->name())
             << "\", \"pid\": " << activity->deviceId() << ", \"tid\": " << activity->resourceId()
             << ", \"ts\": " << activity->timestamp() << ", \"dur\": " << activity->duration()
             << ", \"args\": {\"External id\": "
             << (activity->linkedActivity() != nullptr ? activity->linkedActivity()->correlationId()
                                                       : 0)
             << ", " << in_file(activity->metadataJson()) << "}},\n";
    }
    file << "{\"ph\": \"E\"}]\n";
    CHECK(file.good());
}

// A vendor with the worst texts; bridge_file.py reads what comes of it.
void run_worst(IActivityProfiler &profiler)
{
    auto session = profiler.configure(all_types, config);
    int64_t begin = now();
    session->start();
    usleep(1000); // the records begin in here
    session->stop();
    Recorder logger;
    session->processTrace(logger, nullptr, begin, now());
    CHECK(session->errors().size() == 2);                              // which bridge.sh reads
    CHECK(static_cast<size_t>(logger.named) == logger.devices.size()); // each once
    write_file("trace.json", logger, *session);
}

// OpenReg, and behind it worst_vendor, whose ids and devices begin with the same numbers.
void run_two(IActivityProfiler &profiler)
{
    auto session = profiler.configure(all_types, config);
    int64_t begin = now();
    session->start();
    for (int i = 0; i < 20; i++) {
        must(openregSpin("of OpenReg", 10, nullptr));
    }
    must(openregDeviceSynchronize());
    session->stop();
    Recorder logger;
    session->processTrace(logger, nullptr, begin, now());
    std::set<std::string> correlations[2]; // of each
    std::set<int64_t> processes[2];
    for (const auto *activity : logger.activities) {
        if (activity->type() == ActivityType::PRIVATEUSE1_RUNTIME) {
            continue;
        }
        bool other = activity->name() != "of OpenReg";
        std::string text = activity->metadataJson();
        text = text.substr(text.find("\"correlation\": ") + 15);
        correlations[other ? 1 : 0].insert(text.substr(0, text.find(',')));
        processes[other ? 1 : 0].insert(activity->deviceId());
    }
    CHECK(correlations[0].size() == 20 && correlations[1].size() > 100);
    CHECK(processes[0].size() == 1 && processes[1].size() > 5);
    for (const std::string &text : correlations[0]) {
        CHECK(correlations[1].count(text) == 0);
    }
    CHECK(processes[1].count(first_process) == 0);
    CHECK(logger.devices.at(first_process).name == "OpenReg");
    CHECK(logger.devices.at(first_process + 65536).name == "wor'st/?");
    std::string properties = session->getDeviceProperties();
    CHECK(properties.find("\"vendor\": \"OpenReg\"") < properties.find("\"vendor\": \"wor'st/?\""));
    CHECK(properties.find("}{") == std::string::npos);
}

// RTL, which was not there when the HSA runtime came up.
void run_late(IActivityProfiler &profiler)
{
    auto session = profiler.configure(all_types, config);
    session->start();
    CHECK(session->errors().size() == 1);
    CHECK(session->errors()[0].find("RTL cannot be traced: RTL was not loaded") == 0);
    CHECK(session->status() == TraceStatus::ERROR);
    session->stop();
    Recorder logger;
    session->processTrace(logger);
    CHECK(logger.activities.empty());
}

} // namespace

int main(int argc, char **argv)
{
    static const std::map<std::string, std::function<void(IActivityProfiler &)>> cases = {
        {"trace", run_trace},
        {"window", run_window},
        {"configure", run_configure},
        {"sessions", run_sessions},
        {"late", run_late},
        {"worst", run_worst},
        {"two", run_two},
        {"annotations", run_annotations},
        {"deep", run_deep},
        {"left-open", run_left_open},
        {"paused", run_paused},
    };
    if (argc != 3) {
        return 2;
    }
    if (std::strcmp(argv[2], "late") == 0 && hsa_init() != HSA_STATUS_SUCCESS) {
        return 2;
    }
    bool is_other = std::strcmp(argv[2], "other") == 0; // a bridge for other headers
    if (is_other || std::strcmp(argv[2], "none") == 0) {
        CHECK(open_profiler(argv[1], is_other ? -1 : 0) == nullptr);
        return wrong > 0 ? 1 : 0;
    }
    auto profiler = open_profiler(argv[1], std::strcmp(argv[2], "two") == 0 ? 2 : 1);
    if (profiler == nullptr || cases.count(argv[2]) == 0) {
        return 2;
    }
    cases.at(argv[2])(*profiler);
    return wrong > 0 ? 1 : 0;
}
