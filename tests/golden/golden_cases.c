/* The golden traces as the reader of today sees them: every field of every event. The values are
 * those that make.c puts in. Times are worked out by hand: agent 1 of process 1 ticks every 10 ns
 * (every 10.005 between ticks 101000 and 201000) and stood at 6000020 + 10 x (tick - 1000) ns of
 * the trace's clock; agent 2 ticks every 40 ns, from 1000020 on. */
#include "../store/fixture.h"

#include <stdlib.h>
#include <string.h>

#define NONE           RTL_TRACE_NONE
#define SAME(one, two) (strcmp((one), (two)) == 0)

/* Restoring. */

static char *read_sql(unsigned minor)
{
    static char text[1 << 17];
    char path[512];
    (void)snprintf(path, sizeof path, GOLDEN_FOLDER "/trace-1.%u.sql", minor);
    FILE *file = fopen(path, "re");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        (void)fclose(file);
    text[size] = '\0';
    return size && size < sizeof text - 1 ? text : NULL;
}

static rtl_trace_t *open_golden(unsigned minor, char *path)
{
    char error[512] = "";
    rtl_trace_t *trace = NULL;
    sqlite3 *db = NULL;
    const char *sql = read_sql(minor);
    if (!sql || !fixture_path(path))
        return NULL;
    bool made = sqlite3_open(path, &db) == SQLITE_OK &&
                sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
    (void)sqlite3_close(db);
    if (!made || rtlTraceOpen(path, &trace, error, sizeof error) != RTL_OK)
        (void)fprintf(stderr, "golden trace 1.%u: %s\n", minor, error);
    return trace;
}

/* Definitions. */

static const char *check_info(rtl_trace_t *trace, unsigned minor)
{
    rtl_trace_info_t info;
    CHECK(rtlTraceInfo(trace, &info) == RTL_OK);
    CHECK(info.format_major == 1 && info.format_minor == minor);
    CHECK(SAME(info.creator, "rtl golden") && SAME(info.command, "./app --golden"));
    CHECK(SAME(info.host, "golden-host") && SAME(info.mode, "full"));
    CHECK(info.start == 500000 && info.end == 10000000);
    CHECK(info.realtime_offset == 1700000000000000 && info.finished == 1 && info.exit_status == 3);
    CHECK(info.kernels == (minor < 2 ? 4 + 600 + 5 : 4 + 600 + 5 + 10 + 9));
    CHECK(info.copies == (minor < 1 ? 0 : 3));
    CHECK(info.calls == (minor < 2 ? 0 : 405) && info.ranges == (minor < 2 ? 0 : 6));
    return NULL;
}

static const char *check_processes(rtl_trace_t *trace, unsigned minor)
{
    const rtl_process_t *it = NULL;
    size_t count = 0;
    CHECK(rtlTraceProcesses(trace, &it, &count) == RTL_OK && count == (minor < 5 ? 2 : 4));
    CHECK(it->process == 1 && it->pid == 4242 && it->ppid == 4200);
    CHECK(SAME(it->command, "./app --golden 'a b'") && SAME(it->host, "golden-host"));
    CHECK(SAME(it->rank, "3") && SAME(it->mode, "full") && SAME(it->way, "interpose"));
    CHECK(SAME(it->library, "/opt/rtl/librtl.so") && SAME(it->state, "closed"));
    CHECK(it->start == 1000000 && it->end == 9500000 && it->torn == 0);
    it++;
    CHECK(it->process == 2 && it->pid == 4243 && it->ppid == 4242 && SAME(it->command, ""));
    CHECK(SAME(it->mode, "lite") && SAME(it->way, "pass") && SAME(it->state, "died"));
    CHECK(it->start == 3000000 && it->end == 4000000 && it->torn == 5 && SAME(it->rank, ""));
    if (minor >= 5) {
        it++;
        CHECK(it->process == 3 && it->pid == 4244 && SAME(it->state, "replaced"));
        it++;
        CHECK(it->process == 4 && it->pid == 301 && SAME(it->state, "unrecorded"));
    }
    return NULL;
}

static const char *check_agents(rtl_trace_t *trace)
{
    const rtl_agent_t *it = NULL;
    size_t count = 0;
    CHECK(rtlTraceAgents(trace, &it, &count) == RTL_OK && count == 4);
    CHECK(it->process == 1 && it->agent == 0 && it->gpu == NONE && SAME(it->type, "CPU"));
    CHECK(SAME(it->name, "CPU") && it->compute_units == 2 && it->clock_hz == 1000000000);
    for (uint32_t gpu = 0; gpu < 2; gpu++) {
        it++;
        CHECK(it->process == 1 && it->agent == gpu + 1 && it->gpu == gpu && SAME(it->type, "GPU"));
        CHECK(SAME(it->name, "gfx906") && SAME(it->product, "Vega20"));
        CHECK(SAME(it->uuid, gpu ? "GPU-0002" : "GPU-0001") && it->node == gpu + 1);
        CHECK(it->bdf == 0x300 && it->compute_units == 60);
        CHECK(it->clock_hz == (gpu ? 25000000 : 100000000));
    }
    it++;
    CHECK(it->process == 2 && it->agent == 0 && it->gpu == 0 && SAME(it->name, "gfx90a?"));
    CHECK(it->clock_hz == 1000000000);
    return NULL;
}

static const char *check_queues(rtl_trace_t *trace, unsigned minor)
{
    static const struct {
        uint32_t process, queue, agent, gpu, size;
        uint64_t address, hsa_id, start, end, kernels, copies;
        const char *way;
        unsigned since;
    } want[] = {
        {1, 0, 1, 0, 16384, 0x7f0000001000, 17, 2000000, 0, 4, 0, "interpose", 0},
        {1, 1, 1, 0, 64, 0x7f0000002000, 18, 2000001, 9000000, 8, 0, "intercept", 0},
        {1, 2, 2, 1, 64, 0x7f0000003000, 19, 2000002, 0, 2, 0, "interpose", 0},
        {1, 3, 1, 0, 64, 0x7f0000004000, 20, 2000003, 0, 9, 0, "interpose", 0},
        {1, 4, 2, 1, UINT32_MAX, UINT64_MAX, UINT64_MAX, 2000004, 0, 600, 0, "interpose", 0},
        {1, 5, 1, 0, 64, 0x7f0000006000, 21, 2000005, 0, 0, 0, "pass", 0},
        {1, 9, 1, 0, 0, 0, 0, 0, 0, 0, 3, "copies", 1},
        {2, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, "interpose", 0},
        {2, 1, 7, NONE, 0, 0, 0, 0, 0, 3, 0, "interpose", 0},
    };
    const rtl_queue_t *it = NULL;
    size_t count = 0;
    CHECK(rtlTraceQueues(trace, &it, &count) == RTL_OK && count == 8 + (minor >= 1));
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        if (want[i].since > minor)
            continue;
        bool launched = minor >= 2 || want[i].process == 2 || want[i].queue == 0 ||
                        want[i].queue >= 4; /* the others have graphs alone */
        CHECK(it->process == want[i].process && it->queue == want[i].queue);
        CHECK(it->agent == want[i].agent && it->gpu == want[i].gpu && it->size == want[i].size);
        CHECK(it->address == want[i].address && it->hsa_id == want[i].hsa_id);
        CHECK(it->start == want[i].start && it->end == want[i].end && SAME(it->way, want[i].way));
        CHECK(it->kernels == (launched ? want[i].kernels : 0) && it->copies == want[i].copies);
        it++;
    }
    return NULL;
}

/* Those that nothing dispatches, and one that something does later. */
static const char *check_idle(const rtl_symbol_t *it)
{
    CHECK(it->process == 1 && it->symbol == 2 && it->agent == 1 && it->kernel_object == 0x3000);
    CHECK(SAME(it->name, "void idle<1>(double*)") && SAME(it->mangled, "_Z4idleILi1EEvPd"));
    CHECK(it->kernarg_size == 8 && it->group_size == 0 && it->private_size == 0);
    it++;
    CHECK(it->symbol == 3 && it->agent == 2 && it->kernel_object == UINT64_MAX);
    CHECK(SAME(it->name, "Cijk_\xc2\xb5") && SAME(it->mangled, it->name));
    CHECK(it->private_size == UINT32_MAX);
    it++;
    CHECK(it->symbol == 4 && it->kernel_object == 0x2800 && it->group_size == 300);
    CHECK(SAME(it->name, "void late<2>(float*, int)") && SAME(it->mangled, "_Z4lateILi2EEvPfi"));
    it++;
    CHECK(it->symbol == 6 && SAME(it->name, "") && SAME(it->mangled, ""));
    return NULL;
}

static const char *check_symbols(rtl_trace_t *trace, unsigned minor)
{
    const rtl_symbol_t *it = NULL;
    size_t count = 0;
    CHECK(rtlTraceSymbols(trace, &it, &count) == RTL_OK && count == (minor < 6 ? 2 : 6));
    CHECK(it->process == 1 && it->symbol == 0 && it->agent == 1 && it->kernel_object == 0x1000);
    CHECK(SAME(it->name, "void kernel<float>(float*, int)"));
    CHECK(SAME(it->mangled, "_Z6kernelIfEvPT_i"));
    CHECK(it->kernarg_size == 16 && it->group_size == 512 && it->private_size == 8);
    it++;
    CHECK(it->symbol == 1 && it->kernel_object == 0x2000 && it->kernarg_size == 24);
    CHECK(SAME(it->name, "fill") && SAME(it->mangled, "fill") && it->group_size == 0);
    return minor < 6 ? NULL : check_idle(it + 1);
}

static const char *check_account(rtl_trace_t *trace, unsigned minor)
{
    static const struct {
        uint32_t process, queue;
        uint64_t packets, seen, recorded, skipped, forwarded, borrowed, helped;
        uint64_t pool, ring, killed;
    } want[] = {
        {1, 0, 10, 4, 4, 0, 1, 2, 3, 0, 0, 0},
        {1, 1, 24, 9, 8, 0, 0, 0, 0, 0, 1, 0},
        {2, 1, 9, 8, 3, 1, 2, 1, 1, 1, 0, 3},
    };
    const rtl_ledger_t *ledger = NULL;
    const rtl_note_t *note = NULL;
    size_t count = 0;
    size_t found = 0;
    CHECK(rtlTraceLedger(trace, &ledger, &count) == RTL_OK);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        for (size_t k = 0; k < count; k++) {
            const rtl_ledger_t *it = &ledger[k];
            if (it->process != want[i].process || it->queue != want[i].queue || it->seen == 0)
                continue;
            found++;
            CHECK(it->packets == want[i].packets && it->seen == want[i].seen);
            CHECK(it->recorded == want[i].recorded && it->skipped == want[i].skipped);
            CHECK(it->forwarded == want[i].forwarded && it->borrowed == want[i].borrowed);
            CHECK(it->helped == want[i].helped && it->lost[RTL_LOSS_POOL] == want[i].pool);
            CHECK(it->lost[RTL_LOSS_RING] == want[i].ring);
            CHECK(it->lost[RTL_LOSS_KILLED] == want[i].killed);
        }
    /* A queue of graphs alone came with 1.2. */
    CHECK(found == (minor < 2 ? 2 : 3));
    CHECK(rtlTraceNotes(trace, &note, &count) == RTL_OK && count == (minor < 5 ? 1 : 2));
    CHECK(note->process == 2 && note->queue == 1 && note->time == 3500000);
    CHECK(SAME(note->text, "something odd ?"));
    return NULL;
}

/* Kernels. */

struct want_kernel {
    uint32_t process, queue, gpu, symbol;
    uint64_t packet, start_ticks, end_ticks, start, end, correlation;
    const char *name;
    uint32_t grid[3], block[3], group_size, private_size;
};

#define KERNEL "void kernel<float>(float*, int)"

static const struct want_kernel eager[] = {
    {1, 0, 0, 0, 5, 1100, 1350, 6001020, 6003520, 2, KERNEL, {1024, 1, 1}, {256, 1, 1}, 768, 8},
    {1, 0, 0, 1, 6, 101500, 102500, 7005022, 7015027, 3, "fill", {64, 32, 16}, {8, 4, 2}, 0, 0},
    {1, 0, 0, NONE, 7, 301000, 301000, 9000520, 9000520, 7, "unknown kernel", {0}, {0}, 0, 0},
    {1,
     0,
     0,
     NONE,
     8,
     500,
     900,
     5995020,
     5999020,
     0,
     "kernel object 0xdead00",
     {UINT32_MAX, 1, 1},
     {UINT16_MAX, 1, 1},
     UINT32_MAX,
     0},
};

#define HIGH ((uint64_t)INT64_MAX + 1)

static const struct want_kernel dead[] = {
    {2, 0, 0, NONE, 0, 1500000, 1600000, 26500000, 31600000, 0, "unknown kernel", {0}, {0}, 0, 0},
    {2, 0, 0, NONE, 1, 3000000, 3000001, 53000000, 53000001, 0, "unknown kernel", {0}, {0}, 0, 0},
    {2, 1, NONE, NONE, 0, 20, 10, 20, 10, 0, "unknown kernel", {0}, {0}, 0, 0},
    {2, 1, NONE, NONE, HIGH, HIGH, HIGH + 1, HIGH, HIGH + 1, 1, "unknown kernel", {0}, {0}, 0, 0},
    {2,
     1,
     NONE,
     NONE,
     UINT64_MAX,
     UINT64_MAX - 15,
     UINT64_MAX,
     UINT64_MAX - 15,
     UINT64_MAX,
     UINT64_MAX,
     "unknown kernel",
     {0},
     {0},
     0,
     0},
};

static const char *check_kernel(const rtl_kernel_t *it, const struct want_kernel *want)
{
    CHECK(it->process == want->process && it->queue == want->queue && it->gpu == want->gpu);
    CHECK(it->packet == want->packet && it->correlation == want->correlation);
    CHECK(it->start_ticks == want->start_ticks && it->end_ticks == want->end_ticks);
    CHECK(it->start == want->start && it->end == want->end);
    CHECK(SAME(it->name, want->name) && it->symbol == want->symbol);
    CHECK((it->mangled[0] != '\0') == (want->symbol != NONE));
    CHECK(memcmp(it->grid, want->grid, sizeof it->grid) == 0);
    CHECK(memcmp(it->block, want->block, sizeof it->block) == 0);
    CHECK(it->group_size == want->group_size && it->private_size == want->private_size);
    return NULL;
}

static const char *no_graph(const rtl_kernel_t *it)
{
    CHECK(it->graph == NONE && it->launch == NONE && it->node == NONE && it->generation == 0);
    CHECK(it->certain == 0 && it->node_range == 0);
    return NULL;
}

static const char *check_eager(const rtl_kernel_t *kernels, const struct want_kernel *want,
                               size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CHECK_DONE(check_kernel(&kernels[i], &want[i]));
        CHECK_DONE(no_graph(&kernels[i]));
        CHECK(kernels[i].launch_record == NONE && kernels[i].ordinal == NONE);
    }
    return NULL;
}

/* The 600 kernels of queue 4. */
static const char *check_row(const rtl_kernel_t *kernels)
{
    for (uint32_t i = 0; i < 600; i++) {
        uint64_t start = 200000 + 100 * (uint64_t)i + i * i % 7;
        uint64_t end = 200050 + 100 * (uint64_t)i + i * i % 11;
        struct want_kernel want = eager[i % 3 ? 0 : 1];
        want.queue = 4;
        want.gpu = 1;
        want.packet = i + i / 100;
        want.start_ticks = start;
        want.end_ticks = end;
        want.start = 1000020 + 40 * start;
        want.end = 1000020 + 40 * end;
        want.correlation = 1000 + i % 400;
        CHECK_DONE(check_kernel(&kernels[i], &want));
        CHECK_DONE(no_graph(&kernels[i]));
    }
    return NULL;
}

/* Where kernels of graphs are, by queue and packet: of graph 1 on queues 1 and 2, then of graph 2,
 * which was inferred from its packets. */
static const struct {
    uint32_t graph, generation, launch, node, record, ordinal;
    uint64_t range;
} replayed[] = {
    {1, 1, 1, 0, 1, 0, 21},
    {1, 1, 1, 3, 1, 3, 0},
    {1, 1, 2, 0, 2, 0, 21},
    {1, 2, 3, 0, 3, 0, 21},
    {1, 2, 3, 3, 3, 3, 0},
    {1, 3, 4, 0, 4, 0, 21},
    {1, 3, 4, 3, 4, 3, 0},
    {NONE, 0, NONE, NONE, 99, 0, 0}, /* the record of its launch was lost */
    {1, 1, 1, 1, 1, 1, 22},
    {1, 1, 2, 1, 2, 1, 22},
    {2, 1, 1, 0, NONE, NONE, 0}, /* reserved alone, before anybody knew */
    {2, 1, 1, 1, 202, 0, 0},
    {2, 1, 1, 2, 202, 1, 0},
    {2, 1, 2, 0, 203, 0, 0},
    {2, 1, 2, 1, 204, 0, 0},
    {2, 1, 2, 2, 204, 1, 0},
    {2, 1, 3, 0, 205, 0, 0},
    {2, 1, 3, 1, 206, 0, 0},
    {2, 1, 3, 2, 206, 1, 0},
};

static const char *check_replayed(const rtl_kernel_t *kernels)
{
    for (size_t i = 0; i < sizeof replayed / sizeof *replayed; i++) {
        const rtl_kernel_t *it = &kernels[i];
        CHECK(it->graph == replayed[i].graph && it->generation == replayed[i].generation);
        CHECK(it->launch == replayed[i].launch && it->node == replayed[i].node);
        CHECK(it->launch_record == replayed[i].record && it->ordinal == replayed[i].ordinal);
        CHECK(it->node_range == replayed[i].range);
        CHECK(it->certain == (replayed[i].graph != NONE));
        CHECK(it->queue == (i < 8 ? 1 : i < 10 ? 2 : 3) && it->process == 1);
    }
    CHECK(kernels[1].packet == 3 && kernels[1].start == 6012020 && kernels[1].end == 6013020);
    CHECK(kernels[8].gpu == 1 && kernels[8].start == 6200020 && SAME(kernels[8].name, "fill"));
    return NULL;
}

static const char *check_kernels(rtl_trace_t *trace, unsigned minor)
{
    const rtl_kernel_filter_t filter = {0, 0, 0, RTL_TRACE_NONE, 1};
    size_t count = 0;
    rtl_status_t status = RTL_OK;
    rtl_kernel_t *kernels = fixture_read(trace, &filter, &count, &status);
    size_t graphs = minor < 2 ? 0 : 19;
    CHECK(kernels && count == 4 + graphs + 600 + 5);
    CHECK_DONE(check_eager(kernels, eager, 4));
    if (graphs)
        CHECK_DONE(check_replayed(kernels + 4));
    CHECK_DONE(check_row(kernels + 4 + graphs));
    CHECK_DONE(check_eager(kernels + 4 + graphs + 600, dead, 5));
    free(kernels);
    return NULL;
}

/* Copies. */

static const char *check_copies(rtl_trace_t *trace, unsigned minor)
{
    static const rtl_copy_t want[] = {
        {2, 1, 0, 9, 1, "device-to-host", "host", 1, NONE, 0, 0, 0, 0, UINT64_MAX, 0},
        {3, 1, 0, 9, 2, "peer", "kernel", 1, 2, 6005020, 6006020, 1500, 1600, 0, 0},
        {1, 1, 0, 9, 0, "host-to-device", "sdma", 0, 1, 6010020, 6011020, 2000, 2100, 4096, 4},
    };
    rtl_copy_iter_t *iter = NULL;
    rtl_copy_t it;
    CHECK(rtlTraceCopies(trace, NULL, &iter) == RTL_OK);
    for (size_t i = 0; i < 3 && minor >= 1; i++) {
        CHECK(rtlCopyNext(iter, &it) == RTL_OK);
        CHECK(it.id == want[i].id && it.process == 1 && it.gpu == 0 && it.queue == 9);
        CHECK(it.ordinal == want[i].ordinal && it.bytes == want[i].bytes);
        CHECK(SAME(it.kind, want[i].kind) && SAME(it.engine, want[i].engine));
        CHECK(it.src == want[i].src && it.dst == want[i].dst);
        CHECK(it.start == want[i].start && it.end == want[i].end);
        CHECK(it.start_ticks == want[i].start_ticks && it.end_ticks == want[i].end_ticks);
        CHECK(it.correlation == want[i].correlation);
    }
    CHECK(rtlCopyNext(iter, &it) == RTL_END);
    rtlCopyIterFree(iter);
    return NULL;
}

/* Host calls. */

static const char *check_first_calls(rtl_api_iter_t *iter)
{
    static const struct {
        uint64_t start, end, correlation, range;
        uint32_t thread, stream;
        int32_t result;
        uint32_t words;
        const char *name, *arguments;
    } want[] = {
        {1, UINT64_MAX, 5, 0, 101, NONE, INT32_MIN, 10, "hipEverything",
         "*out=?, real=1.5, less=-1, more=18446744073709551615, e=0x1, g=0x2, x=0x3, n=0x4,"
         " new=NULL, 0x9"},
        {5999999, 6002000, 4, 8, 101, 1, 719, 4, "hipMemcpyAsync",
         "dst=0x7f0000400000, bytes=4096, kind=hipMemcpyHostToDevice, stream=0xabc"},
        {6000000, 6000500, 2, 1, 100, 1, 0, 6, "hipLaunchKernel",
         "f=0x1000, grid={4, 1, 1}, block={256, 1, 1}, stream=0xabc"},
        {6001000, 6001001, 3, 0, 100, 0, 0, 6, "hipLaunchKernel",
         "f=0x1000, grid={4, 1, 1}, block={256, 1, 1}, stream=0xabc"},
        {7000000, 7000000, 6, 0, UINT32_MAX - 1, NONE, 1, 2, "call 77",
         "0x1234, 0x3ff8000000000000"},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        rtl_api_t it;
        char text[256];
        CHECK(rtlApiNext(iter, &it) == RTL_OK && it.process == 1);
        CHECK(it.start == want[i].start && it.end == want[i].end);
        CHECK(it.correlation == want[i].correlation && it.range == want[i].range);
        CHECK(it.thread == want[i].thread && it.stream == want[i].stream);
        CHECK(it.result == want[i].result && it.word_count == want[i].words);
        CHECK(SAME(it.name, want[i].name) && (it.definition == NULL) == (i == 4));
        CHECK(rtlApiArguments(&it, text, sizeof text) == strlen(want[i].arguments));
        CHECK(SAME(text, want[i].arguments));
    }
    return NULL;
}

static const char *check_calls(rtl_trace_t *trace)
{
    rtl_api_iter_t *iter = NULL;
    rtl_api_t it;
    CHECK(rtlTraceApi(trace, NULL, &iter) == RTL_OK);
    CHECK_DONE(check_first_calls(iter));
    for (uint32_t i = 0; i < 400; i++) {
        CHECK(rtlApiNext(iter, &it) == RTL_OK && it.process == 1);
        CHECK(it.start == 8000000 + 1000 * (uint64_t)i + i * i % 13);
        CHECK(it.end == 8000500 + 1000 * (uint64_t)i + i * i % 17);
        CHECK(it.correlation == 1000 + i && it.range == 0 && it.thread == 100 + i % 3);
        CHECK(it.stream == 2 + i % 2 && it.result == 0 && SAME(it.name, "hipMemcpyAsync"));
        CHECK(it.word_count == 4 && it.words[0] == 0x7f0000000000 + 64 * (uint64_t)(i % 5));
        CHECK(it.words[1] == i && it.words[2] == 2 && it.words[3] == 0);
    }
    CHECK(rtlApiNext(iter, &it) == RTL_END);
    rtlApiIterFree(iter);
    return NULL;
}

static const char *check_streams(rtl_trace_t *trace, unsigned minor)
{
    static const rtl_stream_t streams[] = {{1, 0, 0, "", 1, 0, 0},
                                           {1, 1, 0xabc, "compute", 1, 0, 0},
                                           {1, 2, 0xd00, "", 1, 0, 0},
                                           {1, 3, 0xd01, "", 1, 0, 0},
                                           {1, 4, 0xe00, "early", 1, 9000000, 9100900},
                                           {1, 5, 0xe00, "again", 2, 9200000, 0}};
    const rtl_stream_t *stream = NULL;
    size_t count = 0;
    CHECK(rtlTraceStreams(trace, &stream, &count) == RTL_OK && count == (minor < 5 ? 4 : 6));
    for (size_t i = 0; i < count; i++) {
        CHECK(stream[i].process == 1 && stream[i].stream == i &&
              stream[i].handle == streams[i].handle && SAME(stream[i].name, streams[i].name));
        CHECK(stream[i].generation == streams[i].generation &&
              stream[i].created == streams[i].created &&
              stream[i].destroyed == streams[i].destroyed);
    }
    return NULL;
}

static const char *check_threads(rtl_trace_t *trace, unsigned minor)
{
    static const rtl_thread_t before_5[] = {{1, 77, "", 77, 1, ""},
                                            {1, 100, "worker", 100, 1, ""},
                                            {1, 101, "", 101, 1, ""},
                                            {1, 102, "", 102, 1, ""},
                                            {1, UINT32_MAX - 1, "", UINT32_MAX - 1, 1, ""}};
    static const rtl_thread_t since_5[] = {{1, 77, "", 77, 1, ""},
                                           {1, 100, "worker", 100, 1, "pool"},
                                           {1, 101, "", 101, 1, "app"},
                                           {1, 102, "first", 102, 1, "first"},
                                           {1, 102 + (1 << 22), "second", 102, 2, "second"},
                                           {1, UINT32_MAX - 1, "", UINT32_MAX - 1, 1, ""}};
    const rtl_thread_t *want = minor < 5 ? before_5 : since_5;
    const rtl_thread_t *thread = NULL;
    const rtl_process_t *process = NULL;
    size_t count = 0;
    CHECK(rtlTraceThreads(trace, &thread, &count) == RTL_OK && count == (minor < 5 ? 5 : 6));
    for (size_t i = 0; i < count; i++) {
        CHECK(thread[i].process == 1 && thread[i].thread == want[i].thread &&
              SAME(thread[i].name, want[i].name));
        CHECK(thread[i].tid == want[i].tid && thread[i].generation == want[i].generation &&
              SAME(thread[i].comm, want[i].comm));
    }
    CHECK(rtlTraceProcesses(trace, &process, &count) == RTL_OK && count >= 1);
    CHECK(SAME(process[0].title, minor < 5 ? "" : "app: idle"));
    CHECK(SAME(process[0].comm, minor < 5 ? "" : "app"));
    return NULL;
}

static const char *check_names(rtl_trace_t *trace, unsigned minor)
{
    static const rtl_name_t names[] = {{1, "agent", 0xa1, "agentic"},
                                       {1, "device", 0, "the GPU"},
                                       {1, "stream", 0xabc, "compute"},
                                       {1, "thread", 100, "worker"},
                                       {1, "stream", 0xe00, "again"}};
    const rtl_name_t *name = NULL;
    const rtl_call_definition_t *call = NULL;
    size_t count = 0;
    CHECK(rtlTraceNames(trace, &name, &count) == RTL_OK && count == (minor < 5 ? 4 : 5));
    for (size_t i = 0; i < count; i++) { /* by kind and handle */
        const rtl_name_t *want = &names[minor >= 5 && i >= 3 ? 7 - i : i];
        CHECK(name[i].process == 1 && SAME(name[i].kind, want->kind) &&
              name[i].handle == want->handle && SAME(name[i].name, want->name));
    }
    CHECK_DONE(check_streams(trace, minor));
    CHECK_DONE(check_threads(trace, minor));
    CHECK(rtlTraceCallDefinitions(trace, &call, &count) == RTL_OK && count == 3);
    CHECK(call[0].call == 3 && SAME(call[0].name, "hipLaunchKernel"));
    CHECK(call[1].parameter_count == 4 && SAME(call[1].parameters[2].name, "kind"));
    CHECK(call[1].parameters[2].type == 'b');
    CHECK(SAME(call[1].parameters[2].enumeration, "hipMemcpyKind"));
    return NULL;
}

static const char *check_ranges(rtl_trace_t *trace)
{
    static const rtl_range_t want[] = {
        {21, 1, 77, "captured", "push", 3000000, 3000600, 0},
        {22, 1, 77, "deeper", "push", 3000001, 3000500, 21},
        {1, 1, 100, "step", "push", 5900000, 6500000, 0},
        {7, 1, 100, "half \"quoted\"", "push", 5950000, 6100000, 1},
        {8, 1, 101, "open", "start", 5960000, 0, 0},
        {9, 1, 100, "", "mark", 5970000, 5970000, 7},
    };
    rtl_range_iter_t *iter = NULL;
    rtl_range_t it;
    CHECK(rtlTraceRanges(trace, NULL, &iter) == RTL_OK);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        CHECK(rtlRangeNext(iter, &it) == RTL_OK && it.process == 1 && it.id == want[i].id);
        CHECK(it.thread == want[i].thread && SAME(it.name, want[i].name));
        CHECK(SAME(it.kind, want[i].kind) && it.parent == want[i].parent);
        CHECK(it.start == want[i].start && it.end == want[i].end);
    }
    CHECK(rtlRangeNext(iter, &it) == RTL_END);
    rtlRangeIterFree(iter);
    return NULL;
}

/* What correlations name: a call on a stream in a range, a range, and nothing. */
static const char *check_origins(rtl_trace_t *trace)
{
    rtl_trace_origin_t it;
    CHECK(rtlTraceOrigin(trace, 1, 2, &it) == RTL_OK);
    CHECK(it.call == 2 && it.range == 1 && it.stream == 1 && it.thread == 100);
    CHECK(it.start == 6000000);
    CHECK(rtlTraceOrigin(trace, 1, 7, &it) == RTL_OK);
    CHECK(it.call == 0 && it.range == 7 && it.stream == NONE && it.thread == 0);
    CHECK(rtlTraceOrigin(trace, 1, 41, &it) == RTL_OK && it.call == 0 && it.range == 0);
    CHECK(rtlTraceOrigin(trace, 2, 2, &it) == RTL_OK && it.call == 0 && it.range == 0);
    return NULL;
}

/* Graphs. */

static const char *check_graphs(rtl_trace_t *trace)
{
    static const struct {
        uint64_t launches, kernels, expected;
    } counts[] = {{2, 5, 6}, {1, 2, 2}, {1, 2, 2}};
    const rtl_graph_t *it = NULL;
    size_t count = 0;
    CHECK(rtlTraceGraphs(trace, &it, &count) == RTL_OK && count == 4);
    for (uint32_t i = 0; i < 3; i++, it++) {
        CHECK(it->process == 1 && it->graph == 1 && it->generation == i + 1 && it->nodes == 5);
        CHECK(SAME(it->source, "hip") && it->exec == 0xe0 && it->hip_graph == 0x50);
        CHECK(it->correlation == 31 + i && it->time == 3001001 + i);
        CHECK(it->launches == counts[i].launches && it->kernels == counts[i].kernels);
        CHECK(it->expected == counts[i].expected);
    }
    CHECK(it->graph == 2 && it->generation == 1 && it->nodes == 3 && SAME(it->source, "packets"));
    CHECK(it->exec == 0 && it->hip_graph == 0 && it->correlation == 0);
    CHECK(it->launches == 3 && it->kernels == 9 && it->expected == 9);
    return NULL;
}

static const char *check_nodes_of(rtl_trace_t *trace, const rtl_graph_t *graph)
{
    static const struct {
        const char *type, *name;
        uint32_t grid, group_size, parent, dependencies;
        uint64_t bytes, range;
    } want[] = {
        {"kernel", KERNEL, 1024, 768, NONE, 0, 0, 21},
        {"kernel", "fill", 64, 0, NONE, 0, 0, 22},
        {"graph", "", 0, 0, NONE, 2, 0, 0},
        {"kernel", KERNEL, 1024, 768, 2, 0, 0, 0},
        {"memset", "", 0, 0, 2, 1, 65536, 0},
    };
    const rtl_graph_node_t *it = NULL;
    size_t count = 0;
    CHECK(rtlTraceGraphNodes(trace, graph, &it, &count) == RTL_OK && count == 5);
    for (uint32_t i = 0; i < 5; i++) {
        CHECK(it[i].process == 1 && it[i].graph == 1 && it[i].node == i);
        CHECK(SAME(it[i].type, want[i].type) && SAME(it[i].name, want[i].name));
        CHECK(it[i].grid[0] == want[i].grid && it[i].group_size == want[i].group_size);
        CHECK(it[i].parent == want[i].parent && it[i].bytes == want[i].bytes);
        CHECK(it[i].range == want[i].range && it[i].dependency_count == want[i].dependencies);
        CHECK(it[i].enabled == !(graph->generation > 1 && i == 1));
    }
    CHECK(it[1].grid[1] == 32 && it[1].grid[2] == 16 && it[1].block[0] == 8);
    CHECK(it[1].block[1] == 4 && it[1].block[2] == 2 && SAME(it[0].mangled, "_Z6kernelIfEvPT_i"));
    CHECK(it[2].dependencies[0] == 0 && it[2].dependencies[1] == 1 && it[4].dependencies[0] == 3);
    return NULL;
}

static const char *check_nodes(rtl_trace_t *trace)
{
    const rtl_graph_t *graphs = NULL;
    const rtl_graph_node_t *it = NULL;
    size_t count = 0;
    CHECK(rtlTraceGraphs(trace, &graphs, &count) == RTL_OK && count == 4);
    for (uint32_t i = 0; i < 3; i++)
        CHECK_DONE(check_nodes_of(trace, &graphs[i]));
    CHECK(rtlTraceGraphNodes(trace, &graphs[3], &it, &count) == RTL_OK && count == 3);
    CHECK(SAME(it[0].name, KERNEL) && SAME(it[1].name, "fill") && SAME(it[2].name, "fill"));
    CHECK(it[2].grid[1] == 32 && it[2].block[2] == 2);
    CHECK(rtlTraceGraphNodes(trace, NULL, &it, &count) == RTL_OK && count == 5 + 5 + 3);
    return NULL;
}

static const char *check_launches(rtl_trace_t *trace)
{
    static const struct {
        uint32_t graph, generation, launch, thread;
        uint64_t time, start, end, kernels, expected, correlation, range;
    } want[] = {
        {1, 1, 1, 77, 3002001, 6010020, 6200420, 3, 3, 41, 8},
        {1, 1, 2, 77, 3002002, 6020020, 6240420, 2, 3, 42, 8},
        {1, 2, 3, 77, 3002003, 6030020, 6033020, 2, 2, 43, 8},
        {1, 3, 4, 77, 3002004, 6040020, 6043020, 2, 2, 44, 8},
        {2, 1, 1, 78, 3100000, 6060020, 6062520, 3, 3, 0, 0},
        {2, 1, 2, 78, 3100001, 6070020, 6072520, 3, 3, 0, 0},
        {2, 1, 3, 78, 3100002, 6080020, 6082520, 3, 3, 0, 0},
    };
    const rtl_graph_launch_t *it = NULL;
    size_t count = 0;
    CHECK(rtlTraceGraphLaunches(trace, &it, &count) == RTL_OK);
    CHECK(count == sizeof want / sizeof *want);
    for (size_t i = 0; i < count; i++) {
        CHECK(it[i].process == 1 && it[i].graph == want[i].graph);
        CHECK(it[i].generation == want[i].generation && it[i].launch == want[i].launch);
        CHECK(it[i].thread == want[i].thread && it[i].time == want[i].time);
        CHECK(it[i].start == want[i].start && it[i].end == want[i].end);
        CHECK(it[i].kernels == want[i].kernels);
        CHECK(it[i].expected == want[i].expected && it[i].correlation == want[i].correlation);
        CHECK(it[i].range == want[i].range && it[i].unseen == 0 && it[i].certain == 1);
    }
    return NULL;
}

static const char *check_pauses(rtl_trace_t *trace, unsigned minor)
{
    const rtl_pause_t *it = NULL;
    size_t count = 0;
    CHECK(rtlTracePauses(trace, &it, &count) == RTL_OK && count == (minor < 3 ? 0 : 2));
    if (count == 0)
        return NULL;
    CHECK(it->process == 1 && it->start == 7500000 && it->end == 7600000 && SAME(it->why, "ctl"));
    it++;
    CHECK(it->process == 1 && it->start == 9000000 && it->end == 0 && SAME(it->why, "program"));
    return NULL;
}

/* Hardware counters. */

static const char *check_counter_lists(rtl_trace_t *trace)
{
    const rtl_trace_counting_t *counting = NULL;
    const rtl_trace_counter_t *it = NULL;
    const rtl_trace_uncounted_t *un = NULL;
    size_t count = 0;
    CHECK(rtlTraceCounting(trace, &counting, &count) == RTL_OK && count == 2);
    CHECK(counting->process == 1 && counting->pass == 1 && counting->passes == 3);
    CHECK(SAME(counting->mode, "kernel") && SAME(counting->metrics, "occupancy,SQ_WAVES"));
    CHECK(counting[1].process == 2 && counting[1].passes == 0 && SAME(counting[1].mode, "range"));
    CHECK(rtlTraceCounters(trace, &it, &count) == RTL_OK && count == 22);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(it[i].process == 1 && it[i].counter == i && it[i].agent == (i < 4 ? 2 : 1));
        CHECK(it[i].block == 20 - i % 3 && it[i].event == 26 + i && it[i].instances == 1 + i);
        CHECK(it[i].pass == (i != 1));
    }
    CHECK(SAME(it[0].name, "SQ_WAVES") && SAME(it[1].name, "GRBM_COUNT"));
    CHECK(SAME(it[2].name, "TCC_HIT") && SAME(it[21].name, "C21"));
    CHECK(rtlTraceUncounted(trace, &un, &count) == RTL_OK && count == 3);
    CHECK(un[0].agent == NONE && SAME(un[0].why, "memory") && un[0].count == 1);
    CHECK(un[1].agent == 1 && SAME(un[1].why, "stopped") && un[1].count == UINT64_MAX);
    CHECK(un[2].agent == 2 && SAME(un[2].why, "graph") && un[2].count == 6);
    return NULL;
}

/* Those of the kernels of queue 4, without every fiftieth, and of one that is not there. */
static const char *check_kernel_samples(rtl_trace_t *trace)
{
    rtl_sample_iter_t *iter = NULL;
    rtl_trace_sample_t it;
    rtl_kernel_t kernel;
    CHECK(rtlTraceKernelSamples(trace, NULL, &iter) == RTL_OK);
    for (uint32_t i = 0; i < 600; i++) {
        if (i % 50 == 49)
            continue;
        CHECK(rtlSampleNext(iter, &it) == RTL_OK && it.process == 1 && it.queue == 4);
        CHECK(it.agent == 2 && it.owner == i + i / 100 && it.shared == 0 && it.count == 3);
        CHECK(SAME(it.counters[0]->name, "SQ_WAVES") && it.values[0] == (i % 3 ? 1000 : 17));
        CHECK(it.values[1] == (i % 3 ? 50000 : 800) + i * i % 97 && it.values[2] == 12345);
        CHECK(it.counters[1]->counter == 2 && it.counters[2]->counter == 3);
        CHECK(rtlTraceKernelAt(trace, 1, 4, it.owner, &kernel) == RTL_OK);
        CHECK(kernel.start_ticks == 200000 + 100 * (uint64_t)i + i * i % 7);
    }
    CHECK(rtlSampleNext(iter, &it) == RTL_OK && it.owner == 10000 && it.values[1] == 0);
    CHECK(it.values[0] == UINT64_MAX && it.values[2] == UINT64_C(1) << 63);
    CHECK(rtlTraceKernelAt(trace, 1, 4, 10000, &kernel) == RTL_END);
    CHECK(rtlTraceKernelSample(trace, 1, 4, 49, &it) == RTL_END);
    CHECK(rtlSampleNext(iter, &it) == RTL_END);
    rtlSampleIterFree(iter);
    return NULL;
}

static const char *check_range_samples(rtl_trace_t *trace)
{
    static const struct {
        uint64_t range;
        uint32_t agent, count;
        int shared;
    } want[] = {{1, 1, 18, 0}, {7, 1, 18, 0}, {7, 2, 3, 1}, {10, 2, 3, 0}, {21, 1, 0, 0}};
    rtl_sample_iter_t *iter = NULL;
    rtl_trace_sample_t it;
    CHECK(rtlTraceRangeSamples(trace, NULL, &iter) == RTL_OK);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        CHECK(rtlSampleNext(iter, &it) == RTL_OK && it.process == 1 && it.queue == NONE);
        CHECK(it.owner == want[i].range && it.agent == want[i].agent);
        CHECK(it.count == want[i].count && it.shared == want[i].shared);
        for (uint32_t j = 0; j < it.count; j++)
            CHECK(it.values[j] == (it.count == 18 ? UINT64_C(1000) * j * j
                                   : j == 0       ? 1
                                   : j == 1       ? 22
                                                  : 333));
    }
    CHECK(rtlSampleNext(iter, &it) == RTL_END);
    rtlSampleIterFree(iter);
    return NULL;
}

static const char *check_counters(rtl_trace_t *trace, unsigned minor)
{
    const rtl_trace_counter_t *it = NULL;
    rtl_trace_info_t info;
    size_t count = 0;
    CHECK(rtlTraceInfo(trace, &info) == RTL_OK);
    CHECK(info.kernel_samples == (minor < 4 ? 0 : 589) &&
          info.range_samples == (minor < 4 ? 0 : 5));
    if (minor >= 4) {
        CHECK_DONE(check_counter_lists(trace));
        CHECK_DONE(check_kernel_samples(trace));
        CHECK_DONE(check_range_samples(trace));
    }
    CHECK(rtlTraceCounters(trace, &it, &count) == RTL_OK && count == (minor < 4 ? 0 : 22));
    return NULL;
}

/* All. */

static const char *check_golden(unsigned minor)
{
    char path[FIXTURE_PATH] = "";
    rtl_trace_t *trace = open_golden(minor, path);
    CHECK(trace != NULL);
    CHECK_DONE(check_info(trace, minor));
    CHECK_DONE(check_processes(trace, minor));
    CHECK_DONE(check_agents(trace));
    CHECK_DONE(check_queues(trace, minor));
    CHECK_DONE(check_symbols(trace, minor));
    CHECK_DONE(check_account(trace, minor));
    CHECK_DONE(check_kernels(trace, minor));
    CHECK_DONE(check_copies(trace, minor));
    CHECK_DONE(check_pauses(trace, minor));
    CHECK_DONE(check_counters(trace, minor));
    if (minor >= 2) {
        CHECK_DONE(check_calls(trace));
        CHECK_DONE(check_names(trace, minor));
        CHECK_DONE(check_ranges(trace));
        CHECK_DONE(check_origins(trace));
        CHECK_DONE(check_graphs(trace));
        CHECK_DONE(check_nodes(trace));
        CHECK_DONE(check_launches(trace));
    }
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

const char *Golden_Version10(void)
{
    return check_golden(0);
}

const char *Golden_Version11(void)
{
    return check_golden(1);
}

const char *Golden_Version12(void)
{
    return check_golden(2);
}

const char *Golden_Version13(void)
{
    return check_golden(3);
}

const char *Golden_Version14(void)
{
    return check_golden(4);
}

const char *Golden_Version15(void)
{
    return check_golden(5);
}

const char *Golden_Version16(void)
{
    return check_golden(6);
}
