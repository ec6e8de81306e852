// What has a name, and whose handle or id may come again: streams, threads, the process. The
// program writes what it knows into the file LABELS_EXPECTED.
//
//     labels streams THREADS EACH     threads make, name, use and destroy streams; "grid|name" of
//     each stream's kernel labels threads                  threads that are named before their
//     first call, after it, by others, by roctx or not
//                                     at all; "tid|name"
//     labels again                    a thread that gets the tid of one that has ended;
//     "tid|generation|name|grid". 77: the
//                                     kernel does not let us choose
//     labels exec                     runs another program in its place, which is none of the trace
//     labels title [wait]             gives itself another command line; `wait`: and stays

#include "../softgpu/hip/check.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <string>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{

using NameStream = int (*)(const char *, const void *);
using NameThread = void (*)(const char *);

NameStream name_stream;
NameThread name_thread;
FILE *expected;
std::mutex lock;

__global__ void label(int *p)
{
    if (p != nullptr)
        *p = 1;
}

void launch(unsigned groups, hipStream_t stream)
{
    label<<<groups, 64, 0, stream>>>(nullptr);
    MUST(hipGetLastError());
    MUST(hipStreamSynchronize(stream));
}

hipStream_t make_stream(unsigned how)
{
    const uint32_t mask[] = {0xffffffff, 0xffffffff};
    hipStream_t stream = nullptr;
    switch (how % 4) {
    case 0:
        MUST(hipStreamCreate(&stream));
        break;
    case 1:
        MUST(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
        break;
    case 2:
        MUST(hipStreamCreateWithPriority(&stream, hipStreamDefault, 0));
        break;
    default:
        MUST(hipExtStreamCreateWithCUMask(&stream, 2, mask));
    }
    return stream;
}

// Every third stream stays without a name, and every fifth gets another one.
void use_streams(unsigned thread, unsigned each)
{
    for (unsigned i = 0; i < each; i++) {
        unsigned number = thread * each + i;
        std::string name = number % 3 ? "stream " + std::to_string(number) : "";
        hipStream_t stream = make_stream(number);
        if (!name.empty() && number % 5 == 0)
            name_stream("for a while", stream);
        if (!name.empty())
            name_stream(name.c_str(), stream);
        launch(number + 1, stream);
        MUST(hipStreamDestroy(stream));
        std::lock_guard<std::mutex> guard(lock);
        std::fprintf(expected, "%u|%s\n", 64 * (number + 1), name.c_str());
    }
}

int streams(unsigned threads, unsigned each)
{
    std::vector<std::thread> all;
    for (unsigned i = 0; i < threads; i++)
        all.emplace_back(use_streams, i, each);
    for (auto &thread : all)
        thread.join();
    launch(threads * each + 1, nullptr);
    std::fprintf(expected, "%u|\n", 64 * (threads * each + 1));
    return 0;
}

void expect_thread(const char *name)
{
    std::lock_guard<std::mutex> guard(lock);
    std::fprintf(expected, "%d|%s\n", gettid(), name);
}

void call()
{
    MUST(hipDeviceSynchronize());
}

int threads()
{
    std::atomic<int> step{0};
    call();
    std::thread early([] {
        pthread_setname_np(pthread_self(), "early");
        call();
        expect_thread("early");
    });
    early.join();
    std::thread later([] {
        call();
        pthread_setname_np(pthread_self(), "later (\"a) b\"");
        expect_thread("later (\"a) b\"");
    });
    later.join();
    std::thread plain([] {
        call();
        expect_thread("");
    });
    plain.join();
    std::thread given([] {
        prctl(PR_SET_NAME, "hidden");
        name_thread("given");
        call();
        expect_thread("given");
    });
    given.join();
    std::thread outside([&] {
        call();
        expect_thread("outside");
        step = 1;
        for (;;)
            pause();
    });
    while (step == 0)
        sched_yield();
    pthread_setname_np(outside.native_handle(), "outside");
    outside.detach();
    prctl(PR_SET_NAME, "chief");
    expect_thread("chief");
    return 0;
}

// The next tid is to be `tid`. False if nobody may say so.
bool choose(pid_t tid)
{
    char text[16];
    int length = std::snprintf(text, sizeof text, "%d", tid - 1);
    int file = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
    bool done = file >= 0 && write(file, text, length) == length;
    if (file >= 0)
        close(file);
    return done;
}

int again()
{
    pid_t tid = 0;
    launch(3, nullptr);
    std::thread first([&] {
        tid = gettid();
        pthread_setname_np(pthread_self(), "first");
        launch(1, nullptr);
    });
    first.join();
    for (int tries = 0; tries < 1000; tries++) {
        bool same = false;
        if (!choose(tid))
            return 77;
        std::thread second([&] {
            same = gettid() == tid;
            if (!same)
                return;
            pthread_setname_np(pthread_self(), "second");
            launch(2, nullptr);
        });
        second.join();
        if (!same)
            continue;
        std::fprintf(expected, "%d|1|first|64\n%d|2|second|128\n", tid, tid);
        return 0;
    }
    return 77;
}

// As setproctitle does: over the words that lie one behind the other.
int title(int count, char **words, bool stay)
{
    static const char text[] = "worker: idle";
    char *end = words[count - 1] + std::strlen(words[count - 1]);
    call();
    std::memset(words[0], 0, end - words[0]);
    std::memcpy(words[0], text, sizeof text - 1);
    prctl(PR_SET_NAME, "idler");
    std::fprintf(expected, "%s|idler\n", text);
    std::fflush(expected);
    while (stay)
        pause();
    return 0;
}

} // namespace

int main(int count, char **words)
{
    const std::string what = count > 1 ? words[1] : "";
    void *roctx = dlopen("librocprofiler-sdk-roctx.so.1", RTLD_NOW);
    const char *path = std::getenv("LABELS_EXPECTED");
    expected = std::fopen(path != nullptr ? path : "/dev/null", "w");
    if (roctx == nullptr || expected == nullptr)
        return 1;
    name_stream = reinterpret_cast<NameStream>(dlsym(roctx, "roctxNameHipStream"));
    name_thread = reinterpret_cast<NameThread>(dlsym(roctx, "roctxNameOsThread"));
    int status = 2;
    if (what == "streams" && count == 4)
        status = streams(std::atoi(words[2]), std::atoi(words[3]));
    else if (what == "threads")
        status = threads();
    else if (what == "again")
        status = again();
    else if (what == "exec") {
        call();
        usleep(200000); // the collector may look now, and when it is the other program
        execlp("sleep", "sleep", "0.7", static_cast<char *>(nullptr));
    } else if (what == "title")
        status = title(count, words, count > 2);
    std::fclose(expected);
    return status;
}
