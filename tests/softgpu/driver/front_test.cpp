#include "front.h"

#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <fstream>
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <map>
#include <set>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>

namespace
{

const std::string TOPOLOGY = "/sys/devices/virtual/kfd/kfd/topology";

/* The properties of a file of the topology. */
std::map<std::string, uint64_t> properties(const std::string &path)
{
    std::map<std::string, uint64_t> found;
    std::ifstream file(path);
    std::string name;
    uint64_t value = 0;
    while (file >> name >> value)
        found[name] = value;
    return found;
}

std::set<std::string> folder(const std::string &path)
{
    std::set<std::string> found;
    DIR *opened = opendir(path.c_str());
    while (dirent *entry = opened ? readdir(opened) : nullptr)
        found.insert(entry->d_name);
    if (opened)
        (void)closedir(opened);
    return found;
}

TEST_F(Front, TellsTheTopologyInFiles)
{
    ASSERT_EQ(setenv("SOFTGPU_DEVICES", "3", 1), 0); // NOLINT(concurrency-mt-unsafe): one thread
    EXPECT_EQ(folder(TOPOLOGY + "/nodes"), (std::set<std::string>{".", "..", "0", "1", "2", "3"}));
    EXPECT_EQ(folder("/sys/class/kfd/kfd//topology/nodes/").size(), 6U);
    auto host = properties(TOPOLOGY + "/nodes/0/properties");
    EXPECT_EQ(host["simd_count"], 0U);
    EXPECT_EQ(host["cpu_cores_count"], static_cast<uint64_t>(sysconf(_SC_NPROCESSORS_ONLN)));
    for (unsigned node = 1; node <= 3; node++) {
        std::string path = TOPOLOGY + "/nodes/" + std::to_string(node);
        auto gpu_node = properties(path + "/properties");
        EXPECT_EQ(gpu_node["gfx_target_version"], 90006U);
        EXPECT_EQ(gpu_node["drm_render_minor"], 127U + node);
        /* As many folders as the properties say. */
        EXPECT_EQ(folder(path + "/mem_banks").size(), gpu_node["mem_banks_count"] + 2);
        EXPECT_EQ(folder(path + "/caches").size(), gpu_node["caches_count"] + 2);
        EXPECT_EQ(folder(path + "/io_links").size(), gpu_node["io_links_count"] + 2);
        std::set<uint64_t> linked;
        for (uint64_t i = 0; i < gpu_node["io_links_count"]; i++) {
            auto link = properties(path + "/io_links/" + std::to_string(i) + "/properties");
            EXPECT_EQ(link["node_from"], node);
            linked.insert(link["node_to"]);
        }
        linked.insert(node);
        EXPECT_EQ(linked, (std::set<uint64_t>{0, 1, 2, 3}));
    }
}

/* The properties by which thunks and runtimes know a GPU, as Linux's driver gives them. */
TEST_F(Front, LooksLikeTheGpuThatIsAskedFor)
{
    struct Expected {
        const char *name;
        uint64_t version, device, wave_size, compute_units;
    };
    for (Expected isa : {Expected{"gfx906", 90006, 0x66a1, 64, 60},
                         {"gfx908", 90008, 0x738c, 64, 120},
                         {"gfx90a", 90010, 0x7408, 64, 104},
                         {"gfx942", 90402, 0x74a1, 64, 304},
                         {"gfx1100", 110000, 0x744c, 32, 96}}) {
        pid_t child = fork();
        if (child == 0) {                             /* the environment is read once */
            (void)setenv("SOFTGPU_ISA", isa.name, 1); // NOLINT(concurrency-mt-unsafe): one thread
            auto found = properties(TOPOLOGY + "/nodes/1/properties");
            bool good = found["gfx_target_version"] == isa.version &&
                        found["device_id"] == isa.device &&
                        found["wave_front_size"] == isa.wave_size &&
                        found["simd_count"] == isa.compute_units * found["simd_per_cu"];
            _exit(good ? 0 : 1);
        }
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0) << isa.name;
    }
}

TEST_F(Front, OpensFilesInEveryWay)
{
    std::string path = TOPOLOGY + "/nodes/1/gpu_id";
    char by_stream[32] = "";
    char by_descriptor[32] = "";
    FILE *file = fopen(path.c_str(), "r");
    ASSERT_NE(file, nullptr);
    EXPECT_NE(fgets(by_stream, sizeof by_stream, file), nullptr);
    (void)fclose(file);
    for (int descriptor :
         {open(path.c_str(), O_RDONLY), openat(AT_FDCWD, path.c_str(), O_RDONLY)}) {
        ASSERT_GE(descriptor, 0);
        ssize_t length = read(descriptor, by_descriptor, sizeof by_descriptor - 1);
        by_descriptor[length > 0 ? length : 0] = '\0';
        EXPECT_STREQ(by_descriptor, by_stream);
        (void)close(descriptor);
    }
    open_gpu();
    EXPECT_EQ(std::to_string(gpu) + "\n", by_stream);
    std::ifstream state("/sys/module/amdgpu/initstate");
    std::string word;
    EXPECT_TRUE(state >> word);
    EXPECT_EQ(word, "live");
}

TEST_F(Front, WhatIsNotThereIsNotThere)
{
    struct stat status = {};
    for (const std::string &path :
         {TOPOLOGY + "/nodes/2/properties", TOPOLOGY + "/nodes/1/caches/7", TOPOLOGY + "/nodes/01x",
          TOPOLOGY + "/other", std::string("/dev/dri/renderD129")}) {
        errno = 0;
        EXPECT_EQ(open(path.c_str(), O_RDONLY), -1) << path;
        EXPECT_EQ(errno, ENOENT) << path;
        EXPECT_EQ(access(path.c_str(), R_OK), -1) << path;
        EXPECT_EQ(stat(path.c_str(), &status), -1) << path;
    }
    EXPECT_EQ(opendir((TOPOLOGY + "/nodes/2").c_str()), nullptr);
    EXPECT_EQ(opendir((TOPOLOGY + "/generation_id").c_str()), nullptr);
    EXPECT_EQ(errno, ENOTDIR);
    EXPECT_EQ(fopen((TOPOLOGY + "/nodes").c_str(), "r"), nullptr);
    ASSERT_EQ(stat("/dev/kfd", &status), 0);
    EXPECT_TRUE(S_ISCHR(status.st_mode));
    ASSERT_EQ(stat(TOPOLOGY.c_str(), &status), 0);
    EXPECT_TRUE(S_ISDIR(status.st_mode));
    ASSERT_EQ(stat((TOPOLOGY + "/generation_id").c_str(), &status), 0);
    EXPECT_TRUE(S_ISREG(status.st_mode));
    EXPECT_EQ(access("/dev/kfd", R_OK | W_OK), 0);
}

TEST_F(Front, OtherFilesAreTheSystems)
{
    EXPECT_GT(folder("/proc/self/fd").size(), 2U);
    char path[] = "/tmp/softgpu-front-XXXXXX";
    int made = mkstemp(path);
    ASSERT_GE(made, 0);
    (void)close(made);
    int opened = open(path, O_RDWR | O_CREAT, 0640);
    ASSERT_GE(opened, 0);
    EXPECT_EQ(write(opened, "text", 4), 4);
    EXPECT_EQ(ioctl(opened, AMDKFD_IOC_GET_VERSION, path), -1);
    EXPECT_EQ(errno, ENOTTY);
    EXPECT_EQ(close(opened), 0);
    EXPECT_EQ(close(opened), -1);
    struct stat status = {};
    EXPECT_EQ(stat(path, &status), 0);
    EXPECT_EQ(status.st_size, 4);
    EXPECT_EQ(unlink(path), 0);
}

template <typename Function> Function *find(const char *name)
{
    return reinterpret_cast<Function *>(dlsym(RTLD_DEFAULT, name));
}

/* libdrm's, as the thunk calls them. The counter's rate is in kHz at offset 72 of the struct. */
TEST_F(Front, AnswersForLibdrm)
{
    int descriptor = find<int(int)>("drmOpenRender")(128);
    ASSERT_GE(descriptor, 0);
    void *device = nullptr;
    uint32_t version[2] = {};
    ASSERT_EQ(find<int(int, uint32_t *, uint32_t *, void **)>("amdgpu_device_initialize")(
                  descriptor, &version[0], &version[1], &device),
              0);
    EXPECT_EQ(version[0], 3U);
    EXPECT_NE(
        strstr(find<const char *(void *)>("amdgpu_get_marketing_name")(device), "software GPU"),
        nullptr);
    uint32_t info[256] = {};
    EXPECT_EQ(find<int(void *, uint32_t *)>("amdgpu_query_gpu_info")(device, info), 0);
    EXPECT_EQ(info[72 / 4], 100000U);
    /* A descriptor of the handle's own, which outlives the one that it was made of. */
    EXPECT_EQ(find<int(int)>("drmClose")(descriptor), 0);
    int own = find<int(void *)>("amdgpu_device_get_fd")(device);
    void *page = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, own, 0);
    EXPECT_NE(page, MAP_FAILED);
    (void)munmap(page, 4096);
    EXPECT_EQ(find<int(void *)>("amdgpu_device_deinitialize")(device), 0);
    EXPECT_EQ(fcntl(own, F_GETFD), -1);
    EXPECT_LT(find<int(int)>("drmOpenRender")(129), 0);
}

TEST_F(Front, TellsItsVersion)
{
    kfd_ioctl_get_version_args version = {};
    kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
    ASSERT_EQ(ioctl(kfd, AMDKFD_IOC_GET_VERSION, &version), 0);
    EXPECT_EQ(version.major_version, 1U);
    EXPECT_GE(version.minor_version, 14U);
    errno = 0;
    EXPECT_EQ(ioctl(kfd, _IOWR('K', 0x7f, uint64_t), &version), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(ioctl(kfd, _IOWR('d', 0x01, uint64_t), &version), -1);
    EXPECT_EQ(errno, ENOTTY);
}

/* A runtime that debuggers may attach to, by the ioctl that older headers do not have: ROCr begins
 * and ends with it, and 7.2 does not end where firmware is said not to work with debuggers. */
TEST_F(Front, RuntimesBeginAndEndOneAtATime)
{
    struct Arguments {
        uint64_t r_debug;
        uint32_t mode, abilities;
    };
    enum { DISABLE, ENABLE, FIRMWARE_FOR_DEBUGGERS = 29, SIZE = 4096 };
    auto tell = [this](uint32_t mode) {
        Arguments args = {0, mode, UINT32_MAX};
        errno = 0;
        bool good = ioctl(kfd, _IOWR('K', 0x25, Arguments), &args) == 0;
        EXPECT_EQ(args.abilities, 0U);
        return good ? 0 : errno;
    };
    uint64_t capability = properties(TOPOLOGY + "/nodes/1/properties")["capability"];
    EXPECT_EQ(capability >> FIRMWARE_FOR_DEBUGGERS & 1U, 1U);
    open_gpu();
    for (int round = 0; round < 2; round++) {
        EXPECT_EQ(tell(ENABLE), 0);
        EXPECT_EQ(tell(ENABLE), EBUSY);
        EXPECT_EQ(tell(DISABLE), 0);
        EXPECT_EQ(tell(DISABLE), 0);
    }
    /* The device goes on while there is a queue, and begins anew for one behind the runtime. */
    auto memory = allocate(KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE, SIZE);
    map(memory.handle);
    const auto *data = reinterpret_cast<const void *>(memory.va_addr);
    EXPECT_EQ(tell(ENABLE), 0);
    {
        Engine engine(kfd, gpu);
        EXPECT_EQ(tell(DISABLE), 0);
        EXPECT_TRUE(engine.fill(data, 1, SIZE));
        EXPECT_EQ(tell(ENABLE), 0);
    }
    EXPECT_EQ(tell(DISABLE), 0);
    {
        Engine engine(kfd, gpu);
        EXPECT_TRUE(engine.fill(data, 2, SIZE));
    }
    EXPECT_EQ(tell(ENABLE), 0);
    TearDown();
    open_gpu();
    EXPECT_EQ(tell(ENABLE), 0);
}

/* What the process maps through the render node, and what the device sees at its address, are one;
 * what is given out anew is zero. */
TEST_F(Front, MemoryIsSharedByItsOffset)
{
    enum { SIZE = 4 << 20 };
    open_gpu();
    uint64_t before = available();
    for (int round = 0; round < 2; round++) {
        auto memory =
            allocate(KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE, SIZE);
        EXPECT_EQ(available(), before - SIZE);
        map(memory.handle);
        auto *device = reinterpret_cast<unsigned char *>(memory.va_addr);
        auto *host =
            static_cast<unsigned char *>(mmap(nullptr, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
                                              render, static_cast<off_t>(memory.mmap_offset)));
        ASSERT_NE(host, MAP_FAILED);
        EXPECT_EQ(host[12345], 0);
        host[12345] = 77;
        EXPECT_EQ(device[12345], 77);
        kfd_ioctl_free_memory_of_gpu_args args = {memory.handle};
        EXPECT_EQ(ioctl(kfd, AMDKFD_IOC_FREE_MEMORY_OF_GPU, &args), 0);
        EXPECT_EQ(ioctl(kfd, AMDKFD_IOC_FREE_MEMORY_OF_GPU, &args), -1);
        EXPECT_EQ(errno, EINVAL);
        EXPECT_EQ(available(), before);
        (void)munmap(host, SIZE);
        (void)munmap(device, SIZE);
    }
}

/* As releases have the arguments of a queue: 88 bytes, and from 6.4 on 96, with the number of an
 * SDMA engine. */
enum { QUEUE_UNTIL_6_3 = 88, QUEUE_FROM_6_4 = 96 };

union Queue {
    kfd_ioctl_create_queue_args args;
    uint32_t words[QUEUE_FROM_6_4 / sizeof(uint32_t)];
};

static_assert(sizeof(Queue) == QUEUE_FROM_6_4, "the driver's ABI");

TEST_F(Front, QueuesByTheArgumentsOfEveryRelease)
{
    open_gpu();
    for (size_t size : {QUEUE_UNTIL_6_3, QUEUE_FROM_6_4}) {
        alignas(64) amd_queue_t own = {};
        alignas(4096) static hsa_barrier_and_packet_t ring[64];
        alignas(64) amd_signal_t done = {};
        done.value = 1;
        for (hsa_barrier_and_packet_t &slot : ring)
            slot.header = HSA_PACKET_TYPE_INVALID;
        Queue queue = {};
        uint32_t &engine = queue.words[QUEUE_UNTIL_6_3 / sizeof(uint32_t)];
        engine = 0x1234;
        queue.args.gpu_id = gpu;
        queue.args.queue_type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL;
        queue.args.queue_percentage = 100;
        queue.args.ring_base_address = reinterpret_cast<uint64_t>(ring);
        queue.args.ring_size = sizeof ring;
        queue.args.read_pointer_address =
            reinterpret_cast<uint64_t>(const_cast<uint64_t *>(&own.read_dispatch_id));
        queue.args.write_pointer_address =
            reinterpret_cast<uint64_t>(const_cast<uint64_t *>(&own.write_dispatch_id));
        ASSERT_EQ(ioctl(kfd, _IOC(_IOC_READ | _IOC_WRITE, 'K', 0x02, size), &queue), 0);
        EXPECT_EQ(engine, 0x1234U);

        /* The thunk maps the page, and takes the low bits for the place in it. */
        auto *doorbells = static_cast<volatile uint64_t *>(
            mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, kfd,
                 static_cast<off_t>(queue.args.doorbell_offset & ~uint64_t{0xffffffff})));
        ASSERT_NE(doorbells, MAP_FAILED);
        ring[0].completion_signal.handle = reinterpret_cast<uint64_t>(&done);
        ring[0].header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE;
        own.write_dispatch_id = 1;
        usleep(2000);
        EXPECT_EQ(done.value, 1);
        doorbells[(queue.args.doorbell_offset & 8191) / 8] = 0;
        for (int i = 0; i < 30000 && done.value != 0; i++)
            usleep(1000);
        EXPECT_EQ(done.value, 0);
        kfd_ioctl_destroy_queue_args destroy = {queue.args.queue_id, 0};
        EXPECT_EQ(ioctl(kfd, AMDKFD_IOC_DESTROY_QUEUE, &destroy), 0);
        EXPECT_EQ(ioctl(kfd, AMDKFD_IOC_DESTROY_QUEUE, &destroy), -1);
        EXPECT_EQ(errno, EINVAL);
        (void)munmap(const_cast<uint64_t *>(doorbells), 8192);
    }
}

} // namespace
