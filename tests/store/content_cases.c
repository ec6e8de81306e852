/* What goes into a trace comes out of it. */
#include "fixture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const rtl_kernel_filter_t all = RTL_KERNEL_FILTER_ALL;

static const char *open_trace(const char *path, rtl_trace_t **trace)
{
    char error[512] = "";
    rtl_status_t status = rtlTraceOpen(path, trace, error, sizeof error);
    if (status != RTL_OK)
        (void)fprintf(stderr, "%s\n", error);
    CHECK(status == RTL_OK);
    return NULL;
}

static const char *close_writer(struct rtl_writer *writer)
{
    char error[512] = "";
    int result = rtl_writer_close(writer, 0, error, sizeof error);
    if (result != 0)
        (void)fprintf(stderr, "%s\n", error);
    CHECK(result == 0);
    return NULL;
}

static void write_definitions(struct rtl_writer *writer)
{
    const struct rtl_wire_process process = {.time_ns = 11,
                                             .pid = 12,
                                             .ppid = 13,
                                             .mode = RTL_MODE_STANDARD,
                                             .interception = RTL_INTERCEPTED,
                                             .command_length = 4,
                                             .host_length = 3,
                                             .library_length = 5,
                                             .rank_length = 2};
    const struct rtl_wire_agent cpu = {.agent = 0, .gpu = RTL_NONE, .name_length = 3};
    const struct rtl_wire_agent gpu = {.handle = 20,
                                       .clock_hz = 21,
                                       .agent = 1,
                                       .device_type = 1,
                                       .gpu = 0,
                                       .node = 24,
                                       .bdf = 25,
                                       .compute_units = 26,
                                       .name_length = 6,
                                       .product_length = 5,
                                       .uuid_length = 7};
    const struct rtl_wire_queue queue = {.time_ns = 30,
                                         .address = UINT64_C(0xfedcba9876543210),
                                         .hsa_id = 32,
                                         .queue = 9,
                                         .agent = 1,
                                         .size = 35,
                                         .hsa_type = 1,
                                         .interception = RTL_INTERCEPTED};
    const struct rtl_wire_queue_end end = {.time_ns = 39, .queue = 9};
    const struct rtl_wire_symbol symbol = {.kernel_object = 40,
                                           .symbol = 8,
                                           .agent = 1,
                                           .kernarg_size = 43,
                                           .group_size = 44,
                                           .private_size = 45,
                                           .name_length = 19};
    const struct rtl_wire_note note = {.time_ns = 50, .queue = 9, .text_length = 5};
    const struct rtl_wire_note about_process = {.time_ns = 51, .queue = RTL_NONE, .text_length = 3};
    uint32_t id = rtl_writer_process(writer, &process, "progbox/libr7");
    (void)rtl_writer_process(writer, &process, "PROGBOX/LIBR8");
    rtl_writer_agent(writer, id, &cpu, "cpu");
    rtl_writer_agent(writer, id, &gpu, "gfx906MI-50GPU-123");
    rtl_writer_queue(writer, id, &queue);
    rtl_writer_queue_end(writer, id, &end);
    rtl_writer_symbol(writer, id, &symbol, "_ZN2ns3addEPKfPfjXX");
    rtl_writer_note(writer, id, &note, "queue");
    rtl_writer_note(writer, id, &about_process, "all");
    struct rtl_writer_account account = {.packets = 60,
                                         .seen = 61,
                                         .skipped = 62,
                                         .recorded = 63,
                                         .forwarded = 64,
                                         .borrowed = 65,
                                         .helped = 66,
                                         .lost = {70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80}};
    rtl_writer_ledger(writer, id, 9, &account);
    (void)rtl_writer_checkpoint(writer);
    account.lost[RTL_LOST_PENDING] = 0;
    rtl_writer_ledger(writer, id, 9, &account);
    rtl_writer_process_end(writer, id, "died", 99, 98);
}

static const char *check_process(rtl_trace_t *trace)
{
    const rtl_process_t *process = NULL;
    size_t count = 0;
    CHECK(rtlTraceProcesses(trace, &process, &count) == RTL_OK && count == 2);
    CHECK(process->process == 1 && process->pid == 12 && process->ppid == 13);
    CHECK(strcmp(process->command, "prog") == 0 && strcmp(process->host, "box") == 0);
    CHECK(strcmp(process->library, "/libr") == 0 && strcmp(process->rank, "7") == 0);
    CHECK(strcmp(process->mode, "standard") == 0 && strcmp(process->way, "intercept") == 0);
    CHECK(process->start == 11 && process->end == 99 && process->torn == 98);
    CHECK(strcmp(process->state, "died") == 0);
    CHECK(process[1].process == 2 && strcmp(process[1].state, "running") == 0);
    CHECK(process[1].end == 0 && strcmp(process[1].rank, "8") == 0);
    return NULL;
}

static const char *check_agents_and_queues(rtl_trace_t *trace)
{
    const rtl_agent_t *agent = NULL;
    const rtl_queue_t *queue = NULL;
    size_t count = 0;
    CHECK(rtlTraceAgents(trace, &agent, &count) == RTL_OK && count == 2);
    CHECK(agent->gpu == RTL_TRACE_NONE && strcmp(agent->type, "CPU") == 0);
    agent++;
    CHECK(agent->process == 1 && agent->agent == 1 && agent->gpu == 0 && agent->node == 24);
    CHECK(agent->bdf == 25 && agent->compute_units == 26 && agent->clock_hz == 21);
    CHECK(strcmp(agent->type, "GPU") == 0 && strcmp(agent->name, "gfx906") == 0);
    CHECK(strcmp(agent->product, "MI-50") == 0 && strcmp(agent->uuid, "GPU-123") == 0);
    CHECK(rtlTraceQueues(trace, &queue, &count) == RTL_OK && count == 1);
    CHECK(queue->process == 1 && queue->queue == 9 && queue->agent == 1 && queue->gpu == 0);
    CHECK(queue->address == UINT64_C(0xfedcba9876543210) && queue->hsa_id == 32);
    CHECK(queue->size == 35 && strcmp(queue->way, "intercept") == 0);
    CHECK(queue->start == 30 && queue->end == 39 && queue->kernels == 0);
    return NULL;
}

static const char *check_rest(rtl_trace_t *trace)
{
    const rtl_symbol_t *symbol = NULL;
    const rtl_note_t *note = NULL;
    const rtl_ledger_t *ledger = NULL;
    size_t count = 0;
    CHECK(rtlTraceSymbols(trace, &symbol, &count) == RTL_OK && count == 1);
    CHECK(symbol->process == 1 && symbol->symbol == 8 && symbol->agent == 1);
    CHECK(symbol->kernel_object == 40 && symbol->kernarg_size == 43);
    CHECK(symbol->group_size == 44 && symbol->private_size == 45);
    CHECK(strcmp(symbol->mangled, "_ZN2ns3addEPKfPfjXX") == 0);
    CHECK(rtlTraceNotes(trace, &note, &count) == RTL_OK && count == 2);
    CHECK(note->process == 1 && note->queue == 9 && note->time == 50);
    CHECK(strcmp(note->text, "queue") == 0);
    CHECK(note[1].queue == RTL_TRACE_NONE && strcmp(note[1].text, "all") == 0);
    CHECK(rtlTraceLedger(trace, &ledger, &count) == RTL_OK && count == 1);
    CHECK(ledger->process == 1 && ledger->queue == 9 && ledger->packets == 60);
    CHECK(ledger->seen == 61 && ledger->skipped == 62 && ledger->recorded == 63);
    CHECK(ledger->forwarded == 64 && ledger->borrowed == 65 && ledger->helped == 66);
    CHECK(ledger->stored == 0 && ledger->lost[RTL_LOSS_PENDING] == 0);
    for (uint64_t i = 0; i < RTL_LOSS_REASONS; i++)
        CHECK(i == RTL_LOSS_PENDING || ledger->lost[i] == 70 + i);
    return NULL;
}

const char *Content_EveryFieldOfDefinitions(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    rtl_trace_info_t info;
    rtl_trace_t *trace = NULL;
    CHECK(fixture_path(path));
    const struct rtl_writer_options options = {.command = "prog --flag"};
    struct rtl_writer *writer = rtl_writer_open(path, &options, error, sizeof error);
    CHECK(writer != NULL);
    write_definitions(writer);
    CHECK(rtl_writer_close(writer, 256 + 9, error, sizeof error) == 0);
    CHECK_DONE(open_trace(path, &trace));
    CHECK_DONE(check_process(trace));
    CHECK_DONE(check_agents_and_queues(trace));
    CHECK_DONE(check_rest(trace));
    CHECK(rtlTraceInfo(trace, &info) == RTL_OK);
    CHECK(info.format_major == 1 && strncmp(info.creator, "rtl ", 4) == 0);
    CHECK(strcmp(info.command, "prog --flag") == 0 && strcmp(info.mode, "standard") == 0);
    CHECK(info.host[0] && info.start > 0 && info.end >= info.start && info.finished == 1);
    CHECK(info.exit_status == 265 && info.kernels == 0 && info.bytes > 0);
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

const char *Content_EveryFieldOfKernels(void)
{
    char path[FIXTURE_PATH];
    size_t count = 0;
    rtl_status_t status = RTL_OK;
    rtl_trace_t *trace = NULL;
    CHECK(fixture_path(path));
    struct rtl_writer *writer = fixture_open(path);
    uint32_t id = fixture_define(writer, 3, 0);
    const struct rtl_wire_symbol symbol = {.symbol = 5, .name_length = 13};
    const struct rtl_wire_shape shapes[] = {
        {.shape = 6,
         .symbol = 5,
         .grid = {UINT32_MAX, 2, 3},
         .block = {UINT16_MAX, 5, 6},
         .group_size = 70,
         .private_size = 80},
        {.shape = 7, .symbol = RTL_NONE, .kernel_object = 0xabc0}};
    const struct rtl_wire_kernel kernels[] = {{.packet = UINT64_MAX,
                                               .start = 100,
                                               .end = 250,
                                               .correlation = UINT64_MAX - 1,
                                               .queue = 2,
                                               .shape = 6,
                                               .launch = 90,
                                               .ordinal = 91},
                                              {.packet = 0,
                                               .start = 300,
                                               .end = 301,
                                               .queue = 2,
                                               .shape = 7,
                                               .launch = RTL_NONE,
                                               .ordinal = RTL_NONE}};
    rtl_writer_symbol(writer, id, &symbol, "_Z6squarePfS_");
    rtl_writer_shape(writer, id, &shapes[0]);
    rtl_writer_shape(writer, id, &shapes[1]);
    rtl_writer_kernel(writer, id, &kernels[0]);
    rtl_writer_kernel(writer, id, &kernels[1]);
    CHECK(rtl_writer_kernels(writer) == 2);
    CHECK_DONE(close_writer(writer));
    CHECK_DONE(open_trace(path, &trace));
    rtl_kernel_t *got = fixture_read(trace, &all, &count, &status);
    CHECK(got && count == 2);
    CHECK(got[0].id != got[1].id && got[0].process == 1 && got[0].gpu == 0 && got[0].queue == 2);
    CHECK(got[0].packet == UINT64_MAX && got[0].start_ticks == 100 && got[0].end_ticks == 250);
    CHECK(got[0].start == 1000 && got[0].end == 2500);
    CHECK(strcmp(got[0].name, "square(float*, float*)") == 0);
    CHECK(strcmp(got[0].mangled, "_Z6squarePfS_") == 0 && got[0].symbol == 5);
    CHECK(got[0].grid[0] == UINT32_MAX && got[0].grid[1] == 2 && got[0].grid[2] == 3);
    CHECK(got[0].block[0] == UINT16_MAX && got[0].block[1] == 5 && got[0].block[2] == 6);
    CHECK(got[0].group_size == 70 && got[0].private_size == 80);
    CHECK(got[0].correlation == UINT64_MAX - 1 && got[0].launch_record == 90 &&
          got[0].ordinal == 91);
    CHECK(got[0].graph == RTL_TRACE_NONE && got[0].launch == RTL_TRACE_NONE);
    CHECK(strcmp(got[1].name, "kernel object 0xabc0") == 0 && got[1].mangled[0] == '\0');
    CHECK(got[1].symbol == RTL_TRACE_NONE && got[1].correlation == 0);
    CHECK(got[1].launch_record == RTL_TRACE_NONE && got[1].ordinal == RTL_TRACE_NONE);
    CHECK(got[1].launch == RTL_TRACE_NONE && got[1].node == RTL_TRACE_NONE);
    free(got);
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

/* Random streams over processes and queues; what was written, by process and queue and packet. */
enum { STREAM_PROCESSES = 3, STREAM_QUEUES = 4, STREAM_KERNELS = 60000 };

struct written {
    uint32_t process;
    struct rtl_wire_kernel kernel;
};

static int by_packet(const void *left, const void *right)
{
    const struct written *a = left;
    const struct written *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->kernel.queue != b->kernel.queue)
        return a->kernel.queue < b->kernel.queue ? -1 : 1;
    return (a->kernel.packet > b->kernel.packet) - (a->kernel.packet < b->kernel.packet);
}

static struct written random_kernel(uint64_t *seed, const uint64_t *next)
{
    struct written written = {.process = 1 + (uint32_t)(fixture_random(seed) % STREAM_PROCESSES)};
    uint32_t queue = (uint32_t)(fixture_random(seed) % STREAM_QUEUES);
    uint64_t packet = next[(written.process - 1) * STREAM_QUEUES + queue];
    uint64_t start = 5000 + packet * 300 + fixture_random(seed) % 2000;
    written.kernel = (struct rtl_wire_kernel){
        /* Neighbours change places: packets of a queue do not come in order. */
        .packet = packet ^ 5,
        .start = start,
        .end = start + fixture_random(seed) % 700,
        .correlation = fixture_random(seed) >> fixture_random(seed) % 64,
        .queue = queue,
        .shape = (uint32_t)(fixture_random(seed) % 50),
        .launch = packet % 3 ? RTL_NONE : (uint32_t)fixture_random(seed),
        .ordinal = packet % 3 ? RTL_NONE : (uint32_t)(packet % 512)};
    return written;
}

static const char *write_stream(const char *path, uint64_t seed, struct written *stream)
{
    uint64_t next[STREAM_PROCESSES * STREAM_QUEUES] = {0};
    struct rtl_writer *writer = fixture_open(path);
    CHECK(writer != NULL);
    for (int i = 0; i < STREAM_PROCESSES; i++)
        (void)fixture_define(writer, STREAM_QUEUES, 50);
    for (int i = 0; i < STREAM_KERNELS; i++) {
        stream[i] = random_kernel(&seed, next);
        next[(stream[i].process - 1) * STREAM_QUEUES + stream[i].kernel.queue]++;
        rtl_writer_kernel(writer, stream[i].process, &stream[i].kernel);
        if (fixture_random(&seed) % 5000 == 0)
            CHECK(rtl_writer_checkpoint(writer) == 0);
    }
    CHECK(rtl_writer_kernels(writer) == STREAM_KERNELS);
    CHECK_DONE(close_writer(writer));
    qsort(stream, STREAM_KERNELS, sizeof *stream, by_packet);
    return NULL;
}

static bool same(const struct written *in, const rtl_kernel_t *out)
{
    const struct rtl_wire_kernel *kernel = &in->kernel;
    return out->process == in->process && out->queue == kernel->queue &&
           out->packet == kernel->packet && out->start_ticks == kernel->start &&
           out->end_ticks == kernel->end && out->start == kernel->start * 10 &&
           out->end == kernel->end * 10 && out->correlation == kernel->correlation &&
           out->symbol == kernel->shape && out->grid[0] == 64 * (kernel->shape + 1) &&
           out->launch_record == kernel->launch && out->ordinal == kernel->ordinal;
}

static int by_kernel_packet(const void *left, const void *right)
{
    const rtl_kernel_t *a = left;
    const rtl_kernel_t *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->queue != b->queue)
        return a->queue < b->queue ? -1 : 1;
    return (a->packet > b->packet) - (a->packet < b->packet);
}

static int by_id(const void *left, const void *right)
{
    const rtl_kernel_t *a = left;
    const rtl_kernel_t *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

const char *Content_RandomStreams(void)
{
    char path[FIXTURE_PATH];
    size_t count = 0;
    rtl_status_t status = RTL_OK;
    rtl_trace_t *trace = NULL;
    rtl_kernel_filter_t filter = all;
    static struct written stream[STREAM_KERNELS];
    CHECK(fixture_path(path));
    CHECK_DONE(write_stream(path, 7, stream));
    CHECK_DONE(open_trace(path, &trace));

    filter.by_queue = 1;
    rtl_kernel_t *kernels = fixture_read(trace, &filter, &count, &status);
    CHECK(kernels && count == STREAM_KERNELS);
    for (size_t i = 0; i < count; i++)
        CHECK(same(&stream[i], &kernels[i]));
    qsort(kernels, count, sizeof *kernels, by_id);
    for (size_t i = 1; i < count; i++)
        CHECK(kernels[i].id != kernels[i - 1].id);
    free(kernels);

    filter.by_queue = 0;
    kernels = fixture_read(trace, &filter, &count, &status);
    CHECK(kernels && count == STREAM_KERNELS);
    for (size_t i = 1; i < count; i++)
        CHECK(kernels[i].start >= kernels[i - 1].start);
    qsort(kernels, count, sizeof *kernels, by_kernel_packet);
    for (size_t i = 0; i < count; i++)
        CHECK(same(&stream[i], &kernels[i]));
    free(kernels);
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

#define PIECE 997 /* kernels that columns have room for: no divisor of STREAM_KERNELS */

/* A column each for the fields of PIECE kernels. */
struct columns {
    uint64_t wide[8][PIECE];
    uint32_t narrow[16][PIECE];
    uint8_t certain[PIECE];
    const char *name[PIECE];
};

static rtl_kernel_columns_t columns_of(struct columns *to)
{
    rtl_kernel_columns_t columns = {.size = sizeof columns,
                                    .id = to->wide[0],
                                    .packet = to->wide[1],
                                    .start = to->wide[2],
                                    .end = to->wide[3],
                                    .start_ticks = to->wide[4],
                                    .end_ticks = to->wide[5],
                                    .correlation = to->wide[6],
                                    .node_range = to->wide[7],
                                    .process = to->narrow[0],
                                    .gpu = to->narrow[1],
                                    .queue = to->narrow[2],
                                    .symbol = to->narrow[3],
                                    .graph = to->narrow[4],
                                    .generation = to->narrow[5],
                                    .node = to->narrow[6],
                                    .launch = to->narrow[7],
                                    .group_size = to->narrow[8],
                                    .private_size = to->narrow[9],
                                    .certain = to->certain,
                                    .name = to->name};
    for (unsigned axis = 0; axis < 3; axis++) {
        columns.grid[axis] = to->narrow[10 + axis];
        columns.block[axis] = to->narrow[13 + axis];
    }
    return columns;
}

static bool has_row(const struct columns *columns, size_t place, const rtl_kernel_t *kernel)
{
    const uint64_t wide[8] = {kernel->id,          kernel->packet,      kernel->start,
                              kernel->end,         kernel->start_ticks, kernel->end_ticks,
                              kernel->correlation, kernel->node_range};
    const uint32_t narrow[16] = {
        kernel->process,    kernel->gpu,          kernel->queue,    kernel->symbol,
        kernel->graph,      kernel->generation,   kernel->node,     kernel->launch,
        kernel->group_size, kernel->private_size, kernel->grid[0],  kernel->grid[1],
        kernel->grid[2],    kernel->block[0],     kernel->block[1], kernel->block[2]};
    bool equal =
        columns->certain[place] == (kernel->certain != 0) && columns->name[place] == kernel->name;
    for (size_t i = 0; i < 8; i++)
        equal = equal && columns->wide[i][place] == wide[i];
    for (size_t i = 0; i < 16; i++)
        equal = equal && columns->narrow[i][place] == narrow[i];
    return equal;
}

const char *Content_ColumnsAreTheKernels(void)
{
    char path[FIXTURE_PATH];
    size_t count = 0;
    size_t got = 0;
    size_t read = 0;
    rtl_status_t status = RTL_OK;
    rtl_trace_t *trace = NULL;
    rtl_kernel_iter_t *iter = NULL;
    rtl_kernel_filter_t filter = all;
    static struct written stream[STREAM_KERNELS];
    static struct columns columns;
    rtl_kernel_columns_t wanted = columns_of(&columns);
    CHECK(fixture_path(path));
    CHECK_DONE(write_stream(path, 11, stream));
    CHECK_DONE(open_trace(path, &trace));
    rtl_kernel_t *kernels = fixture_read(trace, &filter, &count, &status);
    CHECK(kernels && count == STREAM_KERNELS);

    CHECK(rtlTraceKernels(trace, &filter, &iter) == RTL_OK);
    while ((status = rtlKernelColumns(iter, &wanted, PIECE, &got)) == RTL_OK) {
        CHECK(got > 0 && got <= PIECE && read + got <= count);
        for (size_t i = 0; i < got; i++)
            CHECK(has_row(&columns, i, &kernels[read + i]));
        read += got;
    }
    CHECK(status == RTL_END && got == 0 && read == count);
    rtlKernelIterFree(iter);

    /* What is not wanted is left alone, and what asks for nothing is refused. */
    wanted = (rtl_kernel_columns_t){.size = sizeof wanted, .end = columns.wide[3]};
    CHECK(rtlTraceKernels(trace, &filter, &iter) == RTL_OK);
    CHECK(rtlKernelColumns(iter, &wanted, 1, &got) == RTL_OK && got == 1);
    CHECK(columns.wide[3][0] == kernels[0].end);
    CHECK(rtlKernelColumns(iter, &wanted, 0, &got) == RTL_E_ARGUMENT);
    wanted.size = 0;
    CHECK(rtlKernelColumns(iter, &wanted, 1, &got) == RTL_E_ARGUMENT && got == 0);
    rtlKernelIterFree(iter);
    free(kernels);
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

static bool passes(const rtl_kernel_filter_t *filter, const struct written *written)
{
    uint64_t start = written->kernel.start * 10;
    uint64_t end = written->kernel.end * 10;
    bool overlaps = end > start ? end > filter->from : start >= filter->from;
    return overlaps && (filter->to == 0 || start < filter->to) &&
           (filter->process == 0 || filter->process == written->process) &&
           (filter->queue == RTL_TRACE_NONE || filter->queue == written->kernel.queue);
}

const char *Content_FiltersLeaveWhatTheySay(void)
{
    char path[FIXTURE_PATH];
    rtl_trace_t *trace = NULL;
    uint64_t seed = 8;
    static struct written stream[STREAM_KERNELS];
    CHECK(fixture_path(path));
    CHECK_DONE(write_stream(path, 9, stream));
    CHECK_DONE(open_trace(path, &trace));
    for (int round = 0; round < 24; round++) {
        size_t count = 0;
        rtl_status_t status = RTL_OK;
        rtl_kernel_filter_t filter = {
            .from = round % 3 ? 50000 + fixture_random(&seed) % 15000000 : 0,
            .process = round % 4 ? 0 : 1 + (uint32_t)(fixture_random(&seed) % STREAM_PROCESSES),
            .queue = round % 5 ? RTL_TRACE_NONE : (uint32_t)(fixture_random(&seed) % STREAM_QUEUES),
            .by_queue = 1};
        filter.to = round % 2 ? filter.from + 1 + fixture_random(&seed) % 500000 : 0;
        rtl_kernel_t *kernels = fixture_read(trace, &filter, &count, &status);
        CHECK(kernels != NULL);
        size_t next = 0;
        for (int i = 0; i < STREAM_KERNELS; i++) {
            if (!passes(&filter, &stream[i]))
                continue;
            CHECK(next < count && same(&stream[i], &kernels[next]));
            next++;
        }
        CHECK(next == count);
        free(kernels);
        filter.by_queue = 0;
        kernels = fixture_read(trace, &filter, &count, &status);
        CHECK(kernels && count == next);
        free(kernels);
    }
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

const char *Content_IdsStayWhileRecording(void)
{
    char path[FIXTURE_PATH];
    size_t early_count = 0;
    size_t count = 0;
    rtl_status_t status = RTL_OK;
    rtl_trace_t *trace = NULL;
    rtl_kernel_filter_t filter = all;
    filter.by_queue = 1;
    CHECK(fixture_path(path));
    struct rtl_writer *writer = fixture_open(path);
    uint32_t id = fixture_define(writer, 1, 2);
    fixture_kernels(writer, id, 0, 100, 400);
    CHECK(rtl_writer_checkpoint(writer) == 0);
    CHECK_DONE(open_trace(path, &trace));
    rtl_kernel_t *early = fixture_read(trace, &filter, &early_count, &status);
    CHECK(early && early_count == 300);
    rtlTraceClose(trace);
    fixture_kernels(writer, id, 0, 0, 100);
    fixture_kernels(writer, id, 0, 400, 90000);
    CHECK_DONE(close_writer(writer));
    CHECK_DONE(open_trace(path, &trace));
    rtl_kernel_t *kernels = fixture_read(trace, &filter, &count, &status);
    CHECK(kernels && count == 90000);
    for (size_t i = 0; i < early_count; i++)
        CHECK(kernels[100 + i].packet == early[i].packet && kernels[100 + i].id == early[i].id);
    free(early);
    free(kernels);
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

/* More queues than the writer has room for whole chunks of. */
const char *Content_ManyQueues(void)
{
    enum { QUEUES = 3000, EACH = 150 };
    char path[FIXTURE_PATH];
    rtl_trace_t *trace = NULL;
    const rtl_queue_t *queues = NULL;
    size_t count = 0;
    CHECK(fixture_path(path));
    struct rtl_writer *writer = fixture_open(path);
    uint32_t id = fixture_define(writer, QUEUES, 2);
    for (uint64_t i = 0; i < EACH; i++)
        for (uint32_t queue = 0; queue < QUEUES; queue++)
            fixture_kernels(writer, id, queue, i, i + 1);
    CHECK_DONE(close_writer(writer));
    CHECK(fixture_count(path) == (int64_t)QUEUES * EACH);
    CHECK_DONE(open_trace(path, &trace));
    CHECK(rtlTraceQueues(trace, &queues, &count) == RTL_OK && count == QUEUES);
    for (size_t i = 0; i < count; i++)
        CHECK(queues[i].kernels == EACH);
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

/* The last row of a process's ledger stands for all further queues; a queue that has kernels and
 * no row gets one, so that its kernels are not overlooked. */
const char *Content_LedgerOfManyQueues(void)
{
    char path[FIXTURE_PATH];
    rtl_trace_t *trace = NULL;
    const rtl_ledger_t *ledger = NULL;
    size_t count = 0;
    const struct rtl_writer_account account = {.seen = 5, .recorded = 5};
    CHECK(fixture_path(path));
    struct rtl_writer *writer = fixture_open(path);
    uint32_t id = fixture_define(writer, 2000, 2);
    fixture_kernels(writer, id, 3, 0, 4);
    fixture_kernels(writer, id, RTL_LEDGER_ROWS - 1, 0, 2);
    fixture_kernels(writer, id, 1500, 0, 3);
    rtl_writer_ledger(writer, id, RTL_LEDGER_ROWS - 1, &account);
    CHECK_DONE(close_writer(writer));
    CHECK_DONE(open_trace(path, &trace));
    CHECK(rtlTraceLedger(trace, &ledger, &count) == RTL_OK && count == 2);
    CHECK(ledger[0].queue == 3 && ledger[0].seen == 0 && ledger[0].stored == 4);
    CHECK(ledger[1].queue == RTL_LEDGER_ROWS - 1 && ledger[1].seen == 5 && ledger[1].stored == 5);
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

const char *Content_TextsAreSafe(void)
{
    char path[FIXTURE_PATH];
    rtl_trace_t *trace = NULL;
    const rtl_process_t *process = NULL;
    size_t count = 0;
    static const char texts[] = "a\xff\xc3\xa9\xed\xa0\x80z" /* a byte, an é, a surrogate */
                                "cut\0off"
                                "\xe2\x82"; /* half a character */
    const struct rtl_wire_process wire = {
        .command_length = 8, .host_length = 7, .library_length = 2};
    CHECK(fixture_path(path));
    struct rtl_writer *writer = fixture_open(path);
    (void)rtl_writer_process(writer, &wire, texts);
    CHECK_DONE(close_writer(writer));
    CHECK_DONE(open_trace(path, &trace));
    CHECK(rtlTraceProcesses(trace, &process, &count) == RTL_OK && count == 1);
    CHECK(strcmp(process->command, "a?\xc3\xa9???z") == 0);
    CHECK(strcmp(process->host, "cut") == 0 && strcmp(process->library, "??") == 0);
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

const char *Content_IsSmallerThanRaw(void)
{
    enum { KERNELS = 512 * 400 };
    char path[FIXTURE_PATH];
    struct stat status;
    uint64_t seed = 10;
    CHECK(fixture_path(path));
    struct rtl_writer *writer = fixture_open(path);
    uint32_t id = fixture_define(writer, 1, 40);
    uint64_t time = 5000;
    for (uint32_t i = 0; i < KERNELS; i++) {
        uint32_t node = i % 512;
        time += 150 + fixture_random(&seed) % 10;
        struct rtl_wire_kernel kernel = {.packet = i,
                                         .start = time,
                                         .end = time + 400 + node + fixture_random(&seed) % 20,
                                         .correlation = 1 + i / 512,
                                         .shape = node % 40,
                                         .launch = i / 512,
                                         .ordinal = node};
        time = kernel.end;
        rtl_writer_kernel(writer, id, &kernel);
    }
    CHECK_DONE(close_writer(writer));
    CHECK(stat(path, &status) == 0);
    (void)printf("%.2f bytes per kernel\n", (double)status.st_size / KERNELS);
    CHECK((size_t)status.st_size < KERNELS * sizeof(struct rtl_wire_kernel) / 8);
    fixture_remove(path);
    return NULL;
}
