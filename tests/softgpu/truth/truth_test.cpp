// The truth log: what is written is read, whatever happens to the writer or to the file.
//
// The writer belongs to a process, so each log is written by a child.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern "C" {
#include "softgpu/exec.h"
#include "softgpu/truth.h"
#include "softgpu/truth_format.h"
}

namespace
{

using Entry = softgpu_truth_entry_t;

class Truth : public testing::Test
{
  protected:
    void SetUp() override
    {
        char folder[] = "/tmp/softgpu-truth-XXXXXX";
        ASSERT_NE(mkdtemp(folder), nullptr);
        folder_ = folder;
        path_ = folder_ + "/log";
    }
    void TearDown() override
    {
        ASSERT_EQ(std::system(("rm -r " + folder_).c_str()), 0);
    }
    std::string folder_, path_;
};

// Runs `work` in a child; returns its wait status.
int in_child(const std::function<void()> &work)
{
    fflush(nullptr);
    pid_t child = fork();
    if (child == 0) {
        work();
        _exit(0);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
}

void start(const std::string &path)
{
    setenv("SOFTGPU_TRUTH", path.c_str(), 1);
    sg_truth_start();
}

void write_all(const std::vector<Entry> &entries)
{
    for (const Entry &entry : entries) {
        sg_truth_write(&entry);
    }
}

void write_log(const std::string &path, const std::vector<Entry> &entries)
{
    ASSERT_EQ(in_child([&] {
                  start(path);
                  write_all(entries);
              }),
              0);
}

struct Reading {
    int result = 1;
    std::string error;
    std::vector<Entry> entries;
    std::deque<std::string> names; // own the entries' names
};

Reading read_log(const std::string &path)
{
    Reading reading;
    char error[512] = "";
    softgpu_truth_t *truth = softgpu_truth_open(path.c_str(), error, sizeof error);
    if (truth == nullptr) {
        reading.result = -1;
        reading.error = error;
        return reading;
    }
    Entry entry;
    while ((reading.result = softgpu_truth_next(truth, &entry)) == 1) {
        reading.names.emplace_back(entry.name);
        entry.name = reading.names.back().c_str();
        reading.entries.push_back(entry);
    }
    reading.error = softgpu_truth_error(truth);
    softgpu_truth_close(truth);
    return reading;
}

void expect_same(const Entry &want, const Entry &got, size_t number)
{
    SCOPED_TRACE("entry " + std::to_string(number));
    EXPECT_EQ(want.kind, got.kind);
    EXPECT_EQ(want.pid, got.pid);
    EXPECT_EQ(want.gpu, got.gpu);
    EXPECT_EQ(want.queue, got.queue);
    EXPECT_EQ(want.queue_address, got.queue_address);
    EXPECT_EQ(want.queue_hsa_id, got.queue_hsa_id);
    EXPECT_EQ(want.index, got.index);
    EXPECT_EQ(want.kernel_object, got.kernel_object);
    EXPECT_STREQ(want.name, got.name);
    EXPECT_EQ(want.kernarg, got.kernarg);
    EXPECT_EQ(want.signal, got.signal);
    EXPECT_EQ(want.start_ticks, got.start_ticks);
    EXPECT_EQ(want.end_ticks, got.end_ticks);
    EXPECT_EQ(want.start_ns, got.start_ns);
    EXPECT_EQ(want.end_ns, got.end_ns);
    for (int axis = 0; axis < 3; axis++) {
        EXPECT_EQ(want.grid[axis], got.grid[axis]);
        EXPECT_EQ(want.block[axis], got.block[axis]);
    }
    EXPECT_EQ(want.header, got.header);
    EXPECT_EQ(want.bytes, got.bytes);
    EXPECT_EQ(want.src, got.src);
    EXPECT_EQ(want.dst, got.dst);
}

void expect_start_of(const std::vector<Entry> &want, const std::vector<Entry> &got)
{
    ASSERT_LE(got.size(), want.size());
    for (size_t i = 0; i < got.size() && !testing::Test::HasFailure(); i++) {
        expect_same(want[i], got[i], i);
    }
}

// Entries as a device makes them, and every twentieth with values that no device makes.
class Maker
{
  public:
    explicit Maker(unsigned seed) : random_(seed)
    {
    }
    std::vector<Entry> make(size_t count, size_t queues, size_t names)
    {
        for (size_t i = names_.size(); i < names; i++) {
            names_.push_back("_Z" + std::to_string(i) + "kernel" +
                             std::string(random_() % 60, 'x'));
        }
        std::vector<Entry> entries;
        for (size_t i = 0; i < count; i++) {
            entries.push_back(i % 20 == 19 ? wild(queues) : tame(queues, names));
        }
        return entries;
    }

  private:
    Entry tame(size_t queues, size_t names)
    {
        Entry entry{};
        entry.kind = static_cast<softgpu_truth_kind_t>(1 + random_() % 6);
        entry.pid = 4711;
        entry.queue = static_cast<uint32_t>(random_() % queues);
        entry.gpu = entry.queue % 2;
        entry.queue_address = 0x7F0000000000U + 4096U * entry.queue;
        entry.queue_hsa_id = 3U + entry.queue;
        entry.index = ++index_;
        entry.name = "";
        if (entry.kind == SOFTGPU_TRUTH_KERNEL) {
            entry.name = names_[random_() % names].c_str();
            entry.kernel_object = 0x7F1200000000U + 64 * (random_() % names);
            entry.kernarg = 0x7F3400000000U + 256 * (random_() % 1000);
            for (int axis = 0; axis < 3; axis++) {
                entry.grid[axis] = random_() % 5 == 0 ? 1024 : 64;
                entry.block[axis] = 64;
            }
        } else if (entry.kind == SOFTGPU_TRUTH_COPY) {
            entry.bytes = random_() % 100000;
            entry.src = random_();
            entry.dst = random_();
        }
        entry.signal = random_() % 3 == 0 ? 0 : 0x7F5600000000U + 64 * (random_() % 500);
        entry.start_ticks = clock_ += random_() % 1000;
        entry.end_ticks = clock_ += random_() % 1000;
        entry.start_ns = entry.start_ticks * 10;
        entry.end_ns = entry.end_ticks * 10;
        entry.header = 0x1502;
        return entry;
    }
    Entry wild(size_t queues)
    {
        const std::array<uint64_t, 4> corners = {0, UINT64_MAX, uint64_t{1} << 63U, random_()};
        auto any = [&] { return corners[random_() % corners.size()]; };
        Entry entry{};
        entry.kind = SOFTGPU_TRUTH_KERNEL;
        entry.pid = static_cast<uint32_t>(any());
        entry.queue = static_cast<uint32_t>(random_() % queues);
        entry.gpu = static_cast<uint32_t>(any());
        entry.queue_address = any();
        entry.queue_hsa_id = any();
        entry.index = any();
        entry.kernel_object = any();
        entry.name = names_[0].c_str();
        entry.kernarg = any();
        entry.signal = any();
        entry.start_ticks = any();
        entry.end_ticks = any();
        entry.start_ns = any();
        entry.end_ns = any();
        entry.header = static_cast<uint16_t>(any());
        for (int axis = 0; axis < 3; axis++) {
            entry.grid[axis] = static_cast<uint32_t>(any());
            entry.block[axis] = static_cast<uint16_t>(any());
        }
        entry.bytes = any();
        entry.src = any();
        entry.dst = any();
        return entry;
    }
    std::mt19937_64 random_;
    std::deque<std::string> names_;
    uint64_t index_ = 0, clock_ = 1000000;
};

std::string slurp(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    std::stringstream content;
    content << file.rdbuf();
    return content.str();
}

void spill(const std::string &path, const std::string &content)
{
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
}

uint64_t committed(const std::string &content)
{
    sg_truth_header_t header;
    memcpy(&header, content.data(), sizeof header);
    return header.committed;
}

TEST_F(Truth, GivesBackWhatWasWritten)
{
    Maker maker(1);
    std::vector<Entry> entries = maker.make(100000, 40, 300);
    write_log(path_, entries);
    Reading reading = read_log(path_);
    EXPECT_EQ(reading.result, 0) << reading.error;
    ASSERT_EQ(reading.entries.size(), entries.size());
    expect_start_of(entries, reading.entries);
    EXPECT_GT(committed(slurp(path_)), size_t{1} << 20U) << "the file should have had to grow";
}

TEST_F(Truth, KeepsManyAndLongNames)
{
    Maker maker(2);
    std::vector<Entry> entries = maker.make(6000, 1, 5000);
    std::string name(3000, 'n');
    entries[100].kind = SOFTGPU_TRUTH_KERNEL;
    entries[100].name = name.c_str();
    entries[101] = entries[100];
    write_log(path_, entries);
    Reading reading = read_log(path_);
    EXPECT_EQ(reading.result, 0) << reading.error;
    ASSERT_EQ(reading.entries.size(), entries.size());
    expect_start_of(entries, reading.entries);
}

TEST_F(Truth, IsCompactForPlainDispatches)
{
    std::vector<Entry> entries;
    for (uint64_t i = 0; i < 1000; i++) {
        Entry entry{};
        entry.kind = SOFTGPU_TRUTH_KERNEL;
        entry.index = i;
        entry.name = "kernel";
        entry.kernel_object = 0x7F1200000040U;
        entry.kernarg = 0x7F3400000000U + i * 64;
        entry.signal = 0x7F5600000000U + (i % 64) * 128;
        entry.start_ticks = 100000 + i * 300;
        entry.end_ticks = entry.start_ticks + 200;
        entry.start_ns = entry.start_ticks * 10;
        entry.end_ns = entry.end_ticks * 10;
        entry.header = 0x1502;
        entries.push_back(entry);
    }
    write_log(path_, entries);
    EXPECT_LT(committed(slurp(path_)) - SG_TRUTH_HEADER_SIZE, entries.size() * 24);
    EXPECT_EQ(read_log(path_).entries.size(), entries.size());
}

TEST_F(Truth, SurvivesKill)
{
    Maker maker(3);
    std::vector<Entry> entries = maker.make(1000, 4, 10);
    int status = in_child([&] {
        start(path_);
        write_all(entries);
        raise(SIGKILL);
    });
    ASSERT_TRUE(WIFSIGNALED(status));
    Reading reading = read_log(path_);
    EXPECT_EQ(reading.result, 0) << reading.error;
    ASSERT_EQ(reading.entries.size(), entries.size());
    expect_start_of(entries, reading.entries);
}

TEST_F(Truth, ToldApartWhereverItIsCut)
{
    Maker maker(4);
    std::vector<Entry> entries = maker.make(40, 3, 4);
    write_log(path_, entries);
    std::string whole = slurp(path_);
    uint64_t end = committed(whole);
    size_t most = 0;
    for (uint64_t length = 0; length < end; length += length < sizeof(sg_truth_header_t) ? 1 : 7) {
        spill(path_, whole.substr(0, length));
        Reading reading = read_log(path_);
        ASSERT_EQ(reading.result, -1) << "cut to " << length;
        EXPECT_NE(reading.error.find(path_), std::string::npos) << reading.error;
        expect_start_of(entries, reading.entries);
        ASSERT_GE(reading.entries.size(), most);
        most = reading.entries.size();
    }
    EXPECT_GT(most, entries.size() / 2);
    spill(path_, whole.substr(0, end));
    EXPECT_EQ(read_log(path_).result, 0);
}

TEST_F(Truth, ToldApartWhereverAByteIsWrong)
{
    Maker maker(5);
    std::vector<Entry> entries = maker.make(30, 3, 4);
    write_log(path_, entries);
    const std::string whole = slurp(path_).substr(0, 16384);
    uint64_t end = committed(whole);
    ASSERT_LT(end, whole.size());
    for (uint64_t at = SG_TRUTH_HEADER_SIZE; at < end; at++) {
        std::string wrong = whole;
        wrong[at] = static_cast<char>(wrong[at] ^ (1 << (at % 8)));
        spill(path_, wrong);
        Reading reading = read_log(path_);
        ASSERT_EQ(reading.result, -1) << "byte " << at;
        EXPECT_NE(reading.error.find("damaged"), std::string::npos) << reading.error;
        expect_start_of(entries, reading.entries);
    }
}

// Damage that keeps the checks right: every kind of record with random payloads.
TEST_F(Truth, DecodesRandomRecordsWithoutHarm)
{
    std::mt19937 random(6);
    write_log(path_, {});
    const std::string head = slurp(path_).substr(0, SG_TRUTH_HEADER_SIZE);
    for (int round = 0; round < 600; round++) {
        std::string file = head;
        for (int record = 0; record < 20; record++) {
            std::array<uint8_t, 64> payload{};
            size_t length = 1 + random() % 40;
            for (size_t i = 0; i < length; i++) {
                payload[i] = static_cast<uint8_t>(random() % 3 == 0 ? random() : random() % 3);
            }
            auto kind = static_cast<uint8_t>(std::array<unsigned, 4>{1, 5, 16, 17}[random() % 4]);
            uint16_t check = sg_truth_check(kind, payload.data(), length);
            file += static_cast<char>(length);
            file += static_cast<char>(kind);
            file.append(reinterpret_cast<const char *>(&check), sizeof check);
            file.append(reinterpret_cast<const char *>(payload.data()), length);
        }
        sg_truth_header_t header;
        memcpy(&header, file.data(), sizeof header);
        header.committed = file.size();
        memcpy(file.data(), &header, sizeof header);
        spill(path_, file);
        Reading reading = read_log(path_);
        if (reading.result == -1) {
            EXPECT_NE(reading.error, "");
        }
    }
}

TEST_F(Truth, RefusesWhatIsNoLog)
{
    EXPECT_NE(read_log(folder_ + "/none").error.find("/none'"), std::string::npos);
    EXPECT_NE(read_log(folder_).error, "");
    spill(path_, "");
    EXPECT_NE(read_log(path_).error.find("empty"), std::string::npos);
    spill(path_, std::string(8192, 'x'));
    EXPECT_NE(read_log(path_).error.find("not a truth log"), std::string::npos);
    write_log(path_, {});
    std::string whole = slurp(path_);
    whole[offsetof(sg_truth_header_t, version)] = SG_TRUTH_VERSION + 1;
    spill(path_, whole);
    EXPECT_NE(read_log(path_).error.find("version"), std::string::npos);
    softgpu_truth_close(nullptr);
}

/* Counts go with the packet that they are of, however many; a log has the newer version from its
 * first counts on, and not before. */
TEST_F(Truth, CountsOfPerformanceCounters)
{
    auto version = [&] {
        std::string whole = slurp(path_);
        uint32_t value = 0;
        std::memcpy(&value, whole.data() + offsetof(sg_truth_header_t, version), sizeof value);
        return value;
    };
    Maker maker(3);
    std::vector<Entry> entries = maker.make(40, 2, 5);
    write_log(path_, entries);
    EXPECT_EQ(version(), 2U);
    std::vector<std::vector<softgpu_truth_count_t>> counts(entries.size());
    const size_t sizes[] = {0, 1, 12, 13, 64, 25};
    for (size_t i = 0; i < entries.size(); i++) {
        for (size_t k = 0; k < sizes[i % 6]; k++)
            counts[i].push_back({static_cast<uint32_t>(k % 5), static_cast<uint32_t>(k * 999983),
                                 k % 3 == 0 ? UINT64_MAX - k : k * i});
        entries[i].count_count = static_cast<uint32_t>(counts[i].size());
        entries[i].counts = counts[i].data();
    }
    write_log(path_, entries);
    EXPECT_EQ(version(), 3U);

    char error[512] = "";
    softgpu_truth_t *truth = softgpu_truth_open(path_.c_str(), error, sizeof error);
    ASSERT_NE(truth, nullptr) << error;
    Entry entry;
    for (size_t i = 0; i < entries.size(); i++) {
        ASSERT_EQ(softgpu_truth_next(truth, &entry), 1) << softgpu_truth_error(truth);
        expect_same(entries[i], entry, i);
        ASSERT_EQ(entry.count_count, counts[i].size());
        for (size_t k = 0; k < counts[i].size(); k++) {
            EXPECT_EQ(entry.counts[k].block, counts[i][k].block);
            EXPECT_EQ(entry.counts[k].event, counts[i][k].event);
            EXPECT_EQ(entry.counts[k].value, counts[i][k].value);
        }
    }
    EXPECT_EQ(softgpu_truth_next(truth, &entry), 0);
    softgpu_truth_close(truth);
}

// The reader follows a log that grows.
TEST_F(Truth, CanBeReadWhileItGrows)
{
    Maker maker(7);
    std::vector<Entry> entries = maker.make(200, 2, 5);
    int to_child[2], to_parent[2];
    ASSERT_EQ(pipe(to_child), 0);
    ASSERT_EQ(pipe(to_parent), 0);
    pid_t child = fork();
    char byte = 0;
    if (child == 0) {
        start(path_);
        for (size_t i = 0; i < entries.size(); i++) {
            if (i % 100 == 0 && read(to_child[0], &byte, 1) != 1) {
                _exit(1);
            }
            sg_truth_write(&entries[i]);
            if (i % 100 == 99 && write(to_parent[1], &byte, 1) != 1) {
                _exit(1);
            }
        }
        _exit(0);
    }
    softgpu_truth_t *truth = nullptr;
    size_t count = 0;
    Entry entry;
    for (int part = 1; part <= 2; part++) {
        ASSERT_EQ(write(to_child[1], &byte, 1), 1);
        ASSERT_EQ(read(to_parent[0], &byte, 1), 1);
        char error[256];
        truth = truth != nullptr ? truth : softgpu_truth_open(path_.c_str(), error, sizeof error);
        ASSERT_NE(truth, nullptr) << error;
        while (softgpu_truth_next(truth, &entry) == 1) {
            expect_same(entries[count], entry, count);
            count++;
        }
        EXPECT_EQ(count, 100U * static_cast<unsigned>(part));
    }
    softgpu_truth_close(truth);
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    for (int end : {to_child[0], to_child[1], to_parent[0], to_parent[1]}) {
        close(end);
    }
}

TEST_F(Truth, OneLogForEachProcess)
{
    Maker maker(8);
    std::vector<Entry> entries = maker.make(30, 1, 3);
    std::string pids = folder_ + "/pids";
    ASSERT_EQ(in_child([&] {
                  start(folder_ + "/log-%p");
                  write_all(entries);
                  std::ofstream(pids) << getpid() << "\n";
                  if (in_child([&] {
                          sg_truth_start();
                          write_all({entries[0]});
                          std::ofstream(pids, std::ios::app) << getpid() << "\n";
                      }) != 0) {
                      _exit(1);
                  }
              }),
              0);
    std::ifstream list(pids);
    std::string parent, child;
    list >> parent >> child;
    EXPECT_EQ(read_log(folder_ + "/log-" + parent).entries.size(), entries.size());
    EXPECT_EQ(read_log(folder_ + "/log-" + child).entries.size(), 1U);
}

TEST_F(Truth, ForkedChildLeavesItsParentsLogAlone)
{
    Maker maker(9);
    std::vector<Entry> entries = maker.make(30, 1, 3);
    ASSERT_EQ(in_child([&] {
                  start(path_);
                  write_all(entries);
                  if (in_child([&] {
                          sg_truth_start();
                          if (sg_truth_on()) {
                              _exit(1);
                          }
                          write_all(entries);
                      }) != 0) {
                      _exit(1);
                  }
                  write_all(entries);
              }),
              0);
    EXPECT_EQ(read_log(path_).entries.size(), 2 * entries.size());
}

TEST_F(Truth, StartedAgainInOneProcessContinues)
{
    Maker maker(10);
    std::vector<Entry> entries = maker.make(30, 1, 3);
    ASSERT_EQ(in_child([&] {
                  start(path_);
                  write_all(entries);
                  sg_truth_start();
                  write_all(entries);
              }),
              0);
    EXPECT_EQ(read_log(path_).entries.size(), 2 * entries.size());
}

// A process that executes another program, here this test, goes on in its log, with queues and
// names of its own.
TEST_F(Truth, ImageAfterAnExecContinues)
{
    Maker maker(13);
    Maker other(14);
    std::vector<Entry> entries = maker.make(30, 1, 3);
    std::vector<Entry> others = other.make(30, 2, 3);
    if (getenv("TRUTH_TEST_IMAGE") != nullptr) {
        sg_truth_start();
        write_all(others);
        return;
    }
    ASSERT_EQ(in_child([&] {
                  start(path_);
                  write_all(entries);
                  setenv("TRUTH_TEST_IMAGE", "1", 1);
                  (void)execl("/proc/self/exe", "truth_test", "--gtest_brief=1",
                              "--gtest_filter=Truth.ImageAfterAnExecContinues", nullptr);
                  _exit(1);
              }),
              0);
    Reading reading = read_log(path_);
    EXPECT_EQ(reading.result, 0) << reading.error;
    ASSERT_EQ(reading.entries.size(), entries.size() + others.size());
    std::vector<Entry> first(reading.entries.begin(), reading.entries.begin() + 30);
    std::vector<Entry> second(reading.entries.begin() + 30, reading.entries.end());
    expect_start_of(entries, first);
    expect_start_of(others, second);
    for (const Entry &entry : first) {
        EXPECT_EQ(entry.image, 0U);
    }
    for (const Entry &entry : second) {
        EXPECT_EQ(entry.image, 1U);
    }
}

// What another process has left is not continued, be its pid the same.
TEST_F(Truth, LogOfAnotherProcessIsEmptied)
{
    Maker maker(15);
    std::vector<Entry> entries = maker.make(30, 1, 3);
    for (bool same_pid : {false, true}) {
        write_log(path_, entries);
        ASSERT_EQ(in_child([&] {
                      std::string whole = slurp(path_);
                      sg_truth_header_t header;
                      memcpy(&header, whole.data(), sizeof header);
                      header.pid = same_pid ? static_cast<uint64_t>(getpid()) : header.pid;
                      header.start = same_pid ? 1 : header.start;
                      memcpy(whole.data(), &header, sizeof header);
                      spill(path_, whole);
                      start(path_);
                      write_all({entries[0]});
                  }),
                  0);
        EXPECT_EQ(read_log(path_).entries.size(), 1U);
    }
}

// Runs `work` in a child and returns what it said on stderr.
std::string stderr_of(const std::string &folder, const std::function<void()> &work)
{
    std::string file = folder + "/stderr";
    EXPECT_EQ(in_child([&] {
                  if (freopen(file.c_str(), "w", stderr) == nullptr) {
                      _exit(1);
                  }
                  work();
                  fflush(stderr);
              }),
              0);
    return slurp(file);
}

TEST_F(Truth, SecondProcessIsKeptOut)
{
    Maker maker(11);
    std::vector<Entry> entries = maker.make(30, 1, 3);
    write_log(path_, entries);
    int held = open(path_.c_str(), O_RDWR);
    ASSERT_EQ(flock(held, LOCK_EX | LOCK_NB), 0);
    std::string said = stderr_of(folder_, [&] { start(path_); });
    EXPECT_NE(said.find("another process"), std::string::npos) << said;
    EXPECT_EQ(read_log(path_).entries.size(), entries.size());
    close(held);
}

TEST_F(Truth, UnwritableFileIsNamed)
{
    std::string said = stderr_of(folder_, [&] {
        start(folder_ + "/no/such/log");
        if (sg_truth_on()) {
            _exit(1);
        }
    });
    EXPECT_NE(said.find("/no/such/log"), std::string::npos) << said;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
}

// A name from outside does not command the terminal.
TEST_F(Truth, NamesAreToldWithoutControlCharacters)
{
    std::string said = stderr_of(folder_, [&] { start(folder_ + "/no/\x1b[2J\n\x07log"); });
    EXPECT_NE(said.find("/no/?[2J??log"), std::string::npos) << said;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
}

TEST_F(Truth, EndsCleanlyWhenTheFileCannotGrow)
{
    Maker maker(12);
    std::vector<Entry> entries = maker.make(100000, 4, 20);
    std::string said = stderr_of(folder_, [&] {
        signal(SIGXFSZ, SIG_IGN);
        rlimit limit = {size_t{3} << 19U, size_t{3} << 19U};
        setrlimit(RLIMIT_FSIZE, &limit);
        start(path_);
        write_all(entries);
        if (sg_truth_on()) {
            _exit(1);
        }
    });
    EXPECT_NE(said.find("truth log ends"), std::string::npos) << said;
    Reading reading = read_log(path_);
    EXPECT_EQ(reading.result, 0) << reading.error;
    EXPECT_GT(reading.entries.size(), 1000U);
    expect_start_of(entries, reading.entries);
}

} // namespace
