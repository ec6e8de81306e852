#include "made.h"

#include "collect/collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum rtl_mode made_mode = RTL_MODE_FULL;

const char *const made_names[2] = {"_Z3addPi", "_Z3mulPf"};

const char *made_begin(struct made *made)
{
    char error[512] = "";
    struct rtl_writer_options options = {.command = "made up", .replace = false};
    memset(made, 0, sizeof *made);
    (void)snprintf(made->folder, sizeof made->folder, "/tmp/rtl-tools-XXXXXX");
    CHECK(mkdtemp(made->folder) != NULL);
    (void)snprintf(made->trace, sizeof made->trace, "%s/trace.db", made->folder);
    (void)snprintf(made->truth, sizeof made->truth, "%s/truth", made->folder);
    CHECK(rtl_ring_dir_create(made->session, sizeof made->session) == 0);
    made->writer = rtl_writer_open(made->trace, &options, error, sizeof error);
    CHECK(made->writer != NULL);
    return NULL;
}

pid_t made_process(const struct made *made, made_work work)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct rtl_ring ring;
        if (rtl_ring_create(&ring, made->session, 1u << 20) != 0)
            _exit(1);
        (void)rtl_ring_reserve_piece(&ring, SIZE_MAX);
        work(&ring);
        _exit(0);
    }
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return pid;
}

const char *made_end(struct made *made)
{
    char error[512] = "";
    struct rtl_collector *collector = rtl_collector_new(made->session, made->writer, NULL, NULL);
    CHECK(collector != NULL);
    (void)rtl_collector_round(collector);
    rtl_collector_end(collector);
    CHECK(rtl_writer_close(made->writer, 0, error, sizeof error) == 0);
    made->writer = NULL;
    return NULL;
}

void made_clean(struct made *made)
{
    char command[MADE_PATH];
    rtl_ring_dir_remove(made->session);
    (void)snprintf(command, sizeof command, "rm -rf %s", made->folder);
    (void)made_shell(command);
}

static void push(struct rtl_ring *ring, enum rtl_wire_type type, const void *body, size_t size,
                 const char *texts)
{
    const struct rtl_piece pieces[] = {{body, size}, {texts, strlen(texts)}};
    if (!rtl_ring_push(ring, type, pieces, 2))
        _exit(2);
}

static void push_clock(struct rtl_ring *ring, uint64_t ticks)
{
    struct rtl_wire_clock clock = {.ticks = ticks, .system_ns = ticks * MADE_TICK_NS, .agent = 0};
    push(ring, RTL_WIRE_CLOCK, &clock, sizeof clock, "");
}

void made_definitions(struct rtl_ring *ring)
{
    struct rtl_wire_process process = {.time_ns = MADE_BEGIN_NS,
                                       .pid = (uint32_t)getpid(),
                                       .mode = made_mode,
                                       .interception = RTL_INTERPOSED,
                                       .command_length = 4,
                                       .host_length = 4};
    struct rtl_wire_agent agent = {.clock_hz = 100000000,
                                   .device_type = 1,
                                   .name_length = 6,
                                   .product_length = 4,
                                   .uuid_length = 5};
    struct rtl_wire_clock_snapshot snapshot = {.system_ns = MADE_BEGIN_NS,
                                               .boottime_ns = MADE_BEGIN_NS,
                                               .monotonic_ns = MADE_BEGIN_NS,
                                               .realtime_ns = MADE_BEGIN_NS,
                                               .width_ns = 100};
    push(ring, RTL_WIRE_PROCESS, &process, sizeof process, "fakehost");
    push(ring, RTL_WIRE_AGENT, &agent, sizeof agent, "gfx906cardGPU-1");
    push(ring, RTL_WIRE_CLOCK_SNAPSHOT, &snapshot, sizeof snapshot, "");
    push_clock(ring, MADE_BEGIN);
    push_clock(ring, 10 * MADE_BEGIN);
    for (uint32_t i = 0; i < 2; ++i) {
        struct rtl_wire_symbol symbol = {
            .kernel_object = 64 + i, .symbol = i, .name_length = (uint16_t)strlen(made_names[i])};
        struct rtl_wire_shape shape = {.shape = i,
                                       .symbol = i,
                                       .grid = {64, 1, 1},
                                       .block = {64, 1, 1},
                                       .kernel_object = 64 + i};
        push(ring, RTL_WIRE_SYMBOL, &symbol, sizeof symbol, made_names[i]);
        push(ring, RTL_WIRE_SHAPE, &shape, sizeof shape, "");
    }
}

void made_queue(struct rtl_ring *ring, uint32_t queue, uint64_t address, uint64_t time_ns)
{
    struct rtl_wire_queue body = {.time_ns = time_ns,
                                  .address = address,
                                  .hsa_id = queue,
                                  .queue = queue,
                                  .size = 64,
                                  .interception = RTL_INTERPOSED};
    push(ring, RTL_WIRE_QUEUE, &body, sizeof body, "");
}

void made_kernel(struct rtl_ring *ring, uint32_t queue, uint64_t packet, uint32_t shape,
                 uint64_t start, uint64_t end)
{
    struct rtl_wire_kernel kernel = {.packet = packet,
                                     .start = start,
                                     .end = end,
                                     .queue = queue,
                                     .shape = shape,
                                     .launch = RTL_NONE,
                                     .ordinal = RTL_NONE};
    if (rtl_ring_push_kernels(ring, &kernel, 1) != 1)
        _exit(2);
}

void made_kernel_of(struct rtl_ring *ring, uint64_t packet, uint64_t correlation, uint64_t start,
                    uint64_t end)
{
    struct rtl_wire_kernel kernel = {.packet = packet,
                                     .start = start,
                                     .end = end,
                                     .correlation = correlation,
                                     .launch = RTL_NONE,
                                     .ordinal = RTL_NONE};
    if (rtl_ring_push_kernels(ring, &kernel, 1) != 1)
        _exit(2);
}

void made_define_call(struct rtl_ring *ring, uint32_t call, const char *name, const char *arguments)
{
    char texts[256];
    struct rtl_wire_call body = {.call = call,
                                 .name_length = (uint16_t)strlen(name),
                                 .arguments_length = (uint16_t)strlen(arguments)};
    (void)snprintf(texts, sizeof texts, "%s%s", name, arguments);
    push(ring, RTL_WIRE_CALL, &body, sizeof body, texts);
}

void made_call(struct rtl_ring *ring, const struct rtl_wire_api *api, const uint64_t *words)
{
    const struct rtl_piece pieces[] = {{api, sizeof *api}, {words, api->words * sizeof *words}};
    if (!rtl_ring_push(ring, RTL_WIRE_API, pieces, 2))
        _exit(2);
}

void made_range(struct rtl_ring *ring, enum rtl_range_kind kind, uint64_t id, uint64_t parent,
                uint64_t start_ns, const char *name)
{
    struct rtl_wire_range body = {.id = id,
                                  .start_ns = start_ns,
                                  .parent = parent,
                                  .thread = 71,
                                  .kind = (uint16_t)kind,
                                  .text_length = (uint16_t)strlen(name)};
    push(ring, RTL_WIRE_RANGE, &body, sizeof body, name);
}

void made_range_end(struct rtl_ring *ring, uint64_t id, uint64_t end_ns)
{
    struct rtl_wire_range_end body = {.id = id, .end_ns = end_ns};
    push(ring, RTL_WIRE_RANGE_END, &body, sizeof body, "");
}

void made_name(struct rtl_ring *ring, enum rtl_named kind, uint64_t handle, const char *name)
{
    struct rtl_wire_name body = {
        .handle = handle, .kind = kind, .text_length = (uint16_t)strlen(name)};
    push(ring, RTL_WIRE_NAME, &body, sizeof body, name);
}

void made_copies(struct rtl_ring *ring, uint32_t queue)
{
    struct rtl_wire_queue body = {
        .time_ns = MADE_BEGIN_NS, .queue = queue, .interception = RTL_COPIES_ONLY};
    push(ring, RTL_WIRE_QUEUE, &body, sizeof body, "");
}

void made_copy(struct rtl_ring *ring, uint32_t queue, uint64_t bytes, uint16_t kind,
               uint16_t engine, uint64_t start, uint64_t end)
{
    struct rtl_wire_copy copy = {.start = start,
                                 .end = end,
                                 .bytes = bytes,
                                 .queue = queue,
                                 .src = RTL_NONE,
                                 .dst = RTL_NONE,
                                 .kind = kind,
                                 .engine = engine};
    push(ring, RTL_WIRE_COPY, &copy, sizeof copy, "");
}

void made_ledger(struct rtl_ring *ring, uint32_t queue, uint64_t seen, uint64_t recorded,
                 uint64_t skipped)
{
    struct rtl_wire_ledger *row = &ring->header->ledger[queue];
    atomic_store(&row->seen, seen);
    atomic_store(&row->packets, seen);
    atomic_store(&row->recorded, recorded);
    atomic_store(&row->skipped, skipped);
    if (atomic_load(&ring->header->queues) <= queue)
        atomic_store(&ring->header->queues, queue + 1);
}

int made_shell(const char *command)
{
    int status =
        system(command); // NOLINT(cert-env33-c,concurrency-mt-unsafe): the test's own words
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}
