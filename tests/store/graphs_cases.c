/* Graphs, their nodes and launches, from the records of a process to the reader and SQL. */
#include "fixture.h"

#include "store/graph_plan.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Plans. */

static const struct rtl_graphs_step spoken[] = {
    {0, 0, true}, {1, 1, true}, {2, 2, true}, {4, RTL_NONE, false}, {6, 7, true}};

/* The example of docs/format.md. */
const char *Graphs_PlanHasTheBytesOfTheSpecification(void)
{
    static const unsigned char want[] = {0x07, 0x02, 0x02, 0x02, 0x02, 0x02,
                                         0x04, 0x05, 0x03, 0x04, 0x10};
    size_t size = 0;
    unsigned char *bytes = rtl_graph_plan_pack(spoken, 5, &size);
    CHECK(bytes && size == sizeof want && memcmp(bytes, want, size) == 0);
    free(bytes);
    return NULL;
}

const char *Graphs_PlansReturnWhatWentIn(void)
{
    uint64_t random = 3;
    for (int round = 0; round < 300; round++) {
        struct rtl_graphs_step in[200];
        struct rtl_graphs_step out[200];
        size_t count = fixture_random(&random) % 200;
        uint32_t ordinal = (uint32_t)fixture_random(&random) % 3;
        uint32_t node = 0;
        for (size_t i = 0; i < count; i++) {
            bool jump = fixture_random(&random) % 8 == 0;
            ordinal += jump ? 1 + (uint32_t)fixture_random(&random) % 70000 : 1;
            node = jump ? (uint32_t)fixture_random(&random) : node + 1;
            in[i] = (struct rtl_graphs_step){ordinal, jump && round % 2 ? RTL_NONE : node, !jump};
        }
        size_t size = 0;
        unsigned char *bytes = rtl_graph_plan_pack(in, count, &size);
        CHECK(bytes && rtl_graph_plan_count(bytes, size) == count);
        rtl_graph_plan_unpack(bytes, size, out);
        for (size_t i = 0; i < count; i++)
            CHECK(in[i].ordinal == out[i].ordinal && in[i].node == out[i].node &&
                  in[i].certain == out[i].certain);
        free(bytes);
    }
    return NULL;
}

const char *Graphs_PlansStayInsideWhateverTheBytes(void)
{
    uint64_t random = 4;
    for (int round = 0; round < 20000; round++) {
        size_t size = fixture_random(&random) % 40;
        unsigned char *bytes = malloc(size + 1);
        for (size_t i = 0; i < size; i++)
            bytes[i] = (unsigned char)(fixture_random(&random) >> (round % 2 ? 0 : 5));
        size_t count = rtl_graph_plan_count(bytes, size);
        if (count < 100000) {
            struct rtl_graphs_step *steps = malloc((count + 1) * sizeof *steps);
            rtl_graph_plan_unpack(bytes, size, steps);
            free(steps);
        }
        free(bytes);
    }
    return NULL;
}

/* A trace. */

struct node {
    uint32_t type, width, flags, dependency;
    uint64_t range, bytes;
    const char *name;
};

static void give_graph(struct rtl_writer *writer, uint32_t process, uint32_t generation,
                       const struct node *nodes, uint32_t count)
{
    const struct rtl_wire_graph graph = {.time_ns = 1000 + generation,
                                         .exec = 0xe0,
                                         .source = 0x50,
                                         .correlation = 30 + generation,
                                         .graph = 1,
                                         .generation = generation,
                                         .nodes = count};
    rtl_writer_graph(writer, process, &graph);
    for (uint32_t i = 0; i < count; i++) {
        unsigned char rest[32];
        bool kernel = nodes[i].type == RTL_NODE_KERNEL;
        const struct rtl_wire_node node = {
            .range = nodes[i].range,
            .bytes = nodes[i].bytes,
            .graph = 1,
            .generation = generation,
            .node = i,
            .parent = RTL_NONE,
            .type = nodes[i].type,
            .grid = {nodes[i].width, kernel, kernel},
            .block = {kernel ? 64 : 0, kernel, kernel},
            .flags = (uint16_t)nodes[i].flags,
            .dependencies = nodes[i].dependency != RTL_NONE,
            .name_length = (uint16_t)strlen(nodes[i].name),
        };
        memcpy(rest, &nodes[i].dependency, sizeof nodes[i].dependency);
        memcpy(rest + node.dependencies * sizeof(uint32_t), nodes[i].name, node.name_length);
        rtl_writer_node(writer, process, &node, rest);
    }
}

static void give_kernel(struct rtl_writer *writer, uint32_t process, uint32_t queue,
                        uint64_t packet, uint32_t shape, uint32_t launch, uint32_t ordinal)
{
    const struct rtl_wire_kernel kernel = {.packet = packet,
                                           .start = 1000 + packet * 100,
                                           .end = 1050 + packet * 100,
                                           .correlation = launch == RTL_NONE ? 0 : 40 + launch,
                                           .queue = queue,
                                           .shape = shape,
                                           .launch = launch,
                                           .ordinal = ordinal};
    rtl_writer_kernel(writer, process, &kernel);
}

static void give_launch(struct rtl_writer *writer, uint32_t process, uint32_t launch,
                        uint32_t generation, uint32_t kernels)
{
    const struct rtl_wire_launch body = {.time_ns = 2000 + launch,
                                         .correlation = 40 + launch,
                                         .range = 20,
                                         .launch = launch,
                                         .graph = 1,
                                         .generation = generation,
                                         .queue = 0,
                                         .thread = 77,
                                         .packets = kernels,
                                         .kernels = kernels};
    rtl_writer_launch(writer, process, &body);
}

static void give_range(struct rtl_writer *writer, uint32_t process, uint64_t id, uint64_t parent,
                       const char *name)
{
    const struct rtl_wire_range range = {.id = id,
                                         .start_ns = id,
                                         .parent = parent,
                                         .thread = 77,
                                         .text_length = (uint16_t)strlen(name)};
    rtl_writer_range(writer, process, &range, name);
}

static const struct node first[] = {
    {RTL_NODE_KERNEL, 64, RTL_NODE_RANGED, RTL_NONE, 11, 0, "a"},
    {RTL_NODE_KERNEL, 128, RTL_NODE_RANGED, 0, 12, 0, "b"},
    {RTL_NODE_MEMSET, 0, 0, 1, 0, 4096, ""},
};
static const struct node second[] = {
    {RTL_NODE_KERNEL, 64, RTL_NODE_RANGED, RTL_NONE, 11, 0, "a"},
    {RTL_NODE_KERNEL, 128, RTL_NODE_DISABLED, 0, 0, 0, "b"},
    {RTL_NODE_HOST, 0, 0, 1, 0, 0, ""},
};

/* Process 1: graph 1, launched twice as generation 1 (kernels on two queues) and once as generation
 * 2; an eager kernel; a kernel of a launch whose record was lost. */
static struct rtl_writer *begin_trace(const char *path, uint32_t *process)
{
    struct rtl_writer *writer = fixture_open(path);
    if (!writer)
        return NULL;
    *process = fixture_define(writer, 2, 3);
    give_range(writer, *process, 10, 0, "all");
    give_range(writer, *process, 11, 10, "outer");
    give_range(writer, *process, 12, 11, "inner");
    give_range(writer, *process, 20, 0, "replay");
    give_graph(writer, *process, 1, first, 3);
    for (uint32_t launch = 1; launch <= 2; launch++) {
        give_kernel(writer, *process, 1, UINT64_C(10) * launch + 1, 1, launch, 1);
        give_launch(writer, *process, launch, 1, 2);
        give_kernel(writer, *process, 0, UINT64_C(10) * launch, 0, launch, 0);
    }
    give_graph(writer, *process, 2, second, 3);
    give_launch(writer, *process, 3, 2, 1);
    give_kernel(writer, *process, 0, 40, 0, 3, 0);
    give_kernel(writer, *process, 0, 50, 0, RTL_NONE, RTL_NONE);
    give_kernel(writer, *process, 0, 51, 0, 99, 0);
    return writer;
}

static bool write_trace(const char *path)
{
    char error[512];
    uint32_t process = 0;
    struct rtl_writer *writer = begin_trace(path, &process);
    if (!writer)
        return false;
    rtl_writer_process_end(writer, process, "closed", 9000, 0);
    return rtl_writer_close(writer, 0, error, sizeof error) == 0;
}

static const char *check_graphs(rtl_trace_t *trace)
{
    const rtl_graph_t *graphs = NULL;
    const rtl_graph_node_t *nodes = NULL;
    size_t count = 0;
    CHECK(rtlTraceGraphs(trace, &graphs, &count) == RTL_OK && count == 2);
    CHECK(graphs[0].process == 1 && graphs[0].graph == 1 && graphs[0].generation == 1);
    CHECK(strcmp(graphs[0].source, "hip") == 0 && graphs[0].nodes == 3);
    CHECK(graphs[0].exec == 0xe0 && graphs[0].hip_graph == 0x50 && graphs[0].time == 1001);
    CHECK(graphs[0].correlation == 31 && graphs[0].launches == 2);
    CHECK(graphs[0].kernels == 4 && graphs[0].expected == 4);
    CHECK(graphs[1].generation == 2 && graphs[1].launches == 1 && graphs[1].kernels == 1);
    CHECK(rtlTraceGraphNodes(trace, NULL, &nodes, &count) == RTL_OK && count == 6);
    CHECK(rtlTraceGraphNodes(trace, &graphs[1], &nodes, &count) == RTL_OK && count == 3);
    CHECK(nodes[1].generation == 2 && nodes[1].enabled == 0 && nodes[0].enabled == 1);
    CHECK(strcmp(nodes[2].type, "host") == 0 && nodes[2].name[0] == '\0');
    CHECK(rtlTraceGraphNodes(trace, &graphs[0], &nodes, &count) == RTL_OK && count == 3);
    CHECK(strcmp(nodes[1].type, "kernel") == 0 && strcmp(nodes[1].name, "b") == 0);
    CHECK(strcmp(nodes[1].mangled, "b") == 0 && nodes[1].grid[0] == 128 && nodes[1].block[0] == 64);
    CHECK(nodes[1].range == 12 && nodes[1].parent == RTL_TRACE_NONE);
    CHECK(nodes[1].dependency_count == 1 && nodes[1].dependencies[0] == 0);
    CHECK(nodes[0].dependency_count == 0 && nodes[2].dependencies[0] == 1);
    CHECK(strcmp(nodes[2].type, "memset") == 0 && nodes[2].bytes == 4096);
    return NULL;
}

static const char *check_launches(rtl_trace_t *trace)
{
    const rtl_graph_launch_t *launches = NULL;
    size_t count = 0;
    CHECK(rtlTraceGraphLaunches(trace, &launches, &count) == RTL_OK && count == 3);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK(launches[i].launch == i + 1 && launches[i].graph == 1 && launches[i].thread == 77);
        CHECK(launches[i].generation == (i < 2 ? 1 : 2) && launches[i].certain == 1);
        CHECK(launches[i].time == 2001 + i && launches[i].correlation == 41 + i);
        CHECK(launches[i].range == 20 && launches[i].unseen == 0);
        CHECK(launches[i].kernels == (i < 2 ? 2 : 1) &&
              launches[i].expected == launches[i].kernels);
    }
    /* 100 MHz: 10 ns a tick. */
    CHECK(launches[1].start == 30000 && launches[1].end == 31500);
    return NULL;
}

const char *Graphs_EveryField(void)
{
    static const struct {
        uint32_t queue, graph, generation, launch, node;
        uint64_t packet, range;
    } want[] = {
        {0, 1, 1, 1, 0, 10, 11},
        {0, 1, 1, 2, 0, 20, 11},
        {0, 1, 2, 3, 0, 40, 11},
        {0, RTL_NONE, 0, RTL_NONE, RTL_NONE, 50, 0},
        {0, RTL_NONE, 0, RTL_NONE, RTL_NONE, 51, 0},
        {1, 1, 1, 1, 1, 11, 12},
        {1, 1, 1, 2, 1, 21, 12},
    };
    const rtl_kernel_filter_t by_queue = {0, 0, 0, RTL_TRACE_NONE, 1};
    char path[FIXTURE_PATH];
    char error[512];
    rtl_trace_t *trace = NULL;
    size_t count = 0;
    rtl_status_t status = RTL_OK;
    CHECK(fixture_path(path) && write_trace(path));
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    CHECK_DONE(check_graphs(trace));
    CHECK_DONE(check_launches(trace));
    rtl_kernel_t *kernels = fixture_read(trace, &by_queue, &count, &status);
    CHECK(kernels && count == sizeof want / sizeof *want);
    for (size_t i = 0; i < count; i++) {
        const rtl_kernel_t *it = &kernels[i];
        CHECK(it->queue == want[i].queue && it->packet == want[i].packet);
        CHECK(it->graph == want[i].graph && it->generation == want[i].generation);
        CHECK(it->launch == want[i].launch && it->node == want[i].node);
        CHECK(it->node_range == want[i].range && it->certain == (want[i].graph != RTL_NONE));
    }
    free(kernels);
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

const char *Graphs_InSql(void)
{
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path) && write_trace(path));
    CHECK(fixture_number(path, "SELECT count(*) FROM kernels WHERE graph = 1 AND certain = 1") ==
          5);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernels k JOIN graph_nodes n USING(process,"
                               " graph, generation, node) WHERE k.name = n.name AND"
                               " k.grid_x = n.grid_x") == 5);
    CHECK(fixture_number(path, "SELECT sum(launches) * 10 + sum(kernels) FROM graphs") == 35);
    CHECK(fixture_number(path, "SELECT count(*) FROM graph_launches l WHERE kernels ="
                               " (SELECT count(*) FROM kernels k WHERE k.process = l.process AND"
                               "  k.graph = l.graph AND k.launch = l.launch AND k.start >= l.start"
                               "  AND k.end <= l.end)") == 3);
    CHECK(fixture_number(path, "SELECT count(*) FROM graph_nodes WHERE dependencies = '1'"
                               " AND type IN ('memset', 'host')") == 2);
    CHECK(fixture_number(path,
                         "SELECT count(*) FROM kernels WHERE graph IS NULL AND launch IS NULL"
                         " AND generation IS NULL AND node IS NULL AND certain IS NULL") == 2);
    fixture_remove(path);
    return NULL;
}

/* A kernel belongs to the range that was open at its launch, wherever its node was captured. */
const char *Graphs_KernelsHaveTheRangeOfTheirLaunch(void)
{
    static const struct rtl_wire_api calls[] = {
        {.start_ns = 1900, .end_ns = 1950, .correlation = 41, .range = 20, .thread = 77},
        {.start_ns = 1960, .end_ns = 1990, .correlation = 42, .thread = 77},
    };
    char path[FIXTURE_PATH];
    char error[512];
    uint32_t process = 0;
    struct rtl_writer *writer = fixture_path(path) ? begin_trace(path, &process) : NULL;
    CHECK(writer != NULL);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        rtl_writer_api(writer, process, &calls[i], NULL);
    CHECK(rtl_writer_close(writer, 0, error, sizeof error) == 0);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernels WHERE range = 20 AND launch = 1 AND"
                               " correlation = 41 AND capture_range IN (11, 12)") == 2);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernels WHERE range IS NULL AND launch = 2"
                               " AND correlation = 42 AND capture_range IN (11, 12)") == 2);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernels WHERE range IS NOT NULL") == 2);
    fixture_remove(path);
    return NULL;
}

/* Each replay shows the ranges again that its nodes were captured in, and those around them. */
const char *Graphs_RangesAreShownAgain(void)
{
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path) && write_trace(path));
    CHECK(fixture_number(path, "SELECT count(*) FROM kernels WHERE capture_range = 11") == 3);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernels WHERE capture_range = 12") == 2);
    CHECK(fixture_number(path, "SELECT count(*) FROM graph_ranges") == 2 * 3 + 2);
    CHECK(fixture_number(path,
                         "SELECT kernels FROM graph_ranges WHERE launch = 2 AND range = 11") == 2);
    CHECK(fixture_number(path,
                         "SELECT kernels FROM graph_ranges WHERE launch = 2 AND range = 12") == 1);
    CHECK(fixture_number(path, "SELECT end - start FROM graph_ranges WHERE launch = 2 AND"
                               " range = 10") == 1500);
    CHECK(fixture_number(path, "SELECT end - start FROM graph_ranges WHERE launch = 2 AND"
                               " range = 12") == 500);
    fixture_remove(path);
    return NULL;
}

/* A generation that has the nodes of the one before, and one that has those of that. */
const char *Graphs_GenerationsShareNodes(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    uint32_t process = 0;
    struct rtl_writer *writer = fixture_path(path) ? begin_trace(path, &process) : NULL;
    CHECK(writer != NULL);
    for (uint32_t generation = 3; generation <= 4; generation++) {
        const struct rtl_wire_graph same = {
            .graph = 1, .generation = generation, .nodes = 3, .flags = RTL_GRAPH_SAME};
        rtl_writer_graph(writer, process, &same);
        give_launch(writer, process, 1 + generation, generation, 1);
        give_kernel(writer, process, 0, 60 + generation, 0, 1 + generation, 0);
    }
    rtl_writer_process_end(writer, process, "closed", 9000, 0);
    CHECK(rtl_writer_close(writer, 0, error, sizeof error) == 0);

    rtl_trace_t *trace = NULL;
    const rtl_graph_t *graphs = NULL;
    const rtl_graph_node_t *nodes = NULL;
    size_t count = 0;
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    CHECK(rtlTraceGraphs(trace, &graphs, &count) == RTL_OK && count == 4);
    CHECK(graphs[3].generation == 4 && graphs[3].nodes == 3 && graphs[3].launches == 1);
    CHECK(rtlTraceGraphNodes(trace, NULL, &nodes, &count) == RTL_OK && count == 6);
    CHECK(rtlTraceGraphNodes(trace, &graphs[3], &nodes, &count) == RTL_OK && count == 3);
    CHECK(nodes[0].generation == 2 && strcmp(nodes[2].type, "host") == 0);
    rtlTraceClose(trace);
    CHECK(fixture_number(path, "SELECT count(*) FROM graph_node_rows") == 6);
    CHECK(fixture_number(path, "SELECT count(*) FROM graph_nodes") == 12);
    CHECK(fixture_number(path, "SELECT count(DISTINCT rowid) FROM graph_nodes") == 12);
    CHECK(fixture_number(path, "SELECT sum(enabled) FROM graph_nodes WHERE generation = 4") == 2);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernels WHERE generation > 2 AND node = 0"
                               " AND certain AND capture_range = 11") == 2);
    CHECK(fixture_number(path, "SELECT count(*) FROM graph_ranges WHERE generation = 3") == 2);
    fixture_remove(path);
    return NULL;
}

/* Three replays of five packets each, the first kernel of the first reserved alone; and a batch
 * that was seen once. */
static bool write_found(const char *path)
{
    char error[512];
    struct rtl_writer *writer = fixture_open(path);
    if (!writer)
        return false;
    uint32_t process = fixture_define(writer, 2, 3);
    uint32_t launch = 0;
    for (uint32_t replay = 0; replay < 3; replay++) {
        uint64_t packet = (uint64_t)replay * 10;
        struct rtl_wire_launch body = {.launch = ++launch,
                                       .graph = RTL_NONE,
                                       .thread = 5,
                                       .first = packet,
                                       .packets = 1,
                                       .kernels = 1,
                                       .fingerprint = 111};
        if (replay > 0)
            rtl_writer_launch(writer, process, &body);
        give_kernel(writer, process, 0, packet, 0, replay ? launch : RTL_NONE,
                    replay ? 0 : RTL_NONE);
        body.launch = ++launch;
        body.first = packet + 1;
        body.packets = body.kernels = 2;
        body.fingerprint = 222;
        body.head = 111;
        body.flags = replay ? 0 : RTL_LAUNCH_HEADED;
        rtl_writer_launch(writer, process, &body);
        give_kernel(writer, process, 0, packet + 1, 1, launch, 0);
        give_kernel(writer, process, 0, packet + 2, 2, launch, 1);
    }
    const struct rtl_wire_launch once = {.launch = ++launch,
                                         .graph = RTL_NONE,
                                         .thread = 5,
                                         .first = 90,
                                         .packets = 2,
                                         .kernels = 2,
                                         .fingerprint = 333};
    rtl_writer_launch(writer, process, &once);
    give_kernel(writer, process, 0, 90, 0, launch, 0);
    give_kernel(writer, process, 0, 91, 0, launch, 1);
    rtl_writer_process_end(writer, process, "closed", 9000, 0);
    return rtl_writer_close(writer, 0, error, sizeof error) == 0;
}

const char *Graphs_FoundByTheirPackets(void)
{
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path) && write_found(path));
    CHECK(fixture_number(path, "SELECT nodes FROM graphs WHERE source = 'packets'") == 3);
    CHECK(fixture_number(path, "SELECT count(*) FROM graph_nodes") == 3);
    CHECK(fixture_number(path, "SELECT count(*) FROM graph_launches WHERE kernels = 3 AND"
                               " expected = 3 AND certain = 1") == 3);
    CHECK(fixture_number(path,
                         "SELECT count(*) FROM kernels WHERE graph = 1 AND"
                         " launch = packet / 10 + 1 AND node = packet % 10 AND certain = 1") == 9);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernels WHERE graph IS NULL") == 2);
    CHECK(fixture_number(path, "SELECT start FROM graph_launches WHERE launch = 3") == 30000);
    CHECK(fixture_number(path, "SELECT count(*) FROM graph_launches l WHERE (start, end, kernels) ="
                               " (SELECT min(start), max(end), count(*) FROM kernels k WHERE"
                               "  k.process = l.process AND k.graph = l.graph AND"
                               "  k.launch = l.launch)") == 3);
    CHECK(fixture_number(path, "SELECT sum(kernels) FROM graphs") == 9);
    fixture_remove(path);
    return NULL;
}

/* Until the process ends, what HIP told is there, and what was launched. */
const char *Graphs_KilledWriterLeavesWhatItStored(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    uint32_t process = 0;
    CHECK(fixture_path(path));
    struct rtl_writer *writer = begin_trace(path, &process);
    CHECK(writer && rtl_writer_checkpoint(writer) == 0);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernels WHERE graph = 1 AND certain = 1") ==
          5);
    CHECK(fixture_number(path, "SELECT count(*) FROM graph_launches") == 3);
    CHECK(rtl_writer_close(writer, 0, error, sizeof error) == 0);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernels WHERE graph = 1 AND certain = 1") ==
          5);
    fixture_remove(path);
    return NULL;
}

const char *Graphs_DamageIsTold(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    rtl_trace_t *trace = NULL;
    const rtl_graph_t *graphs = NULL;
    size_t count = 0;
    CHECK(fixture_path(path) && write_trace(path));
    CHECK(fixture_sql(path, "UPDATE graph_plans SET data = x'0302020202' WHERE plan = 1"));
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    CHECK(rtlTraceGraphs(trace, &graphs, &count) == RTL_E_DAMAGED);
    CHECK(strstr(rtlTraceError(trace), "damaged"));
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

const char *Graphs_OlderFilesHaveNone(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    rtl_trace_t *trace = NULL;
    const rtl_graph_t *graphs = NULL;
    const rtl_graph_node_t *nodes = NULL;
    const rtl_graph_launch_t *launches = NULL;
    size_t count = 1;
    CHECK(fixture_path(path) && write_trace(path));
    CHECK(fixture_sql(path, "DROP TABLE graph_rows; DROP TABLE graph_node_rows;"
                            "DROP TABLE graph_names; DROP TABLE graph_plans;"
                            "DROP TABLE graph_launch_rows; DROP TABLE graph_launch_spans;"));
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    CHECK(rtlTraceGraphs(trace, &graphs, &count) == RTL_OK && count == 0);
    CHECK(rtlTraceGraphNodes(trace, NULL, &nodes, &count) == RTL_OK && count == 0);
    CHECK(rtlTraceGraphLaunches(trace, &launches, &count) == RTL_OK && count == 0);
    rtlTraceClose(trace);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernels WHERE graph IS NULL") == 7);
    CHECK(fixture_number(path, "SELECT count(*) FROM graph_ranges") == 0);
    fixture_remove(path);
    return NULL;
}

/* What a replay adds to the file beside its kernels. */
const char *Graphs_ReplaysCostAFewBytes(void)
{
    enum { REPLAYS = 20000 };
    char path[FIXTURE_PATH];
    char error[512];
    struct stat small;
    struct stat large;
    CHECK(fixture_path(path));
    for (int round = 0; round < 2; round++) {
        (void)unlink(path);
        struct rtl_writer *writer = fixture_open(path);
        uint32_t process = fixture_define(writer, 2, 3);
        give_graph(writer, process, 1, first, 2);
        for (uint32_t launch = 1; launch <= (round ? REPLAYS : 1); launch++) {
            give_launch(writer, process, launch, 1, 2);
            give_kernel(writer, process, 0, UINT64_C(2) * launch, 0, launch, 0);
            give_kernel(writer, process, 0, UINT64_C(2) * launch + 1, 1, launch, 1);
        }
        CHECK(rtl_writer_close(writer, 0, error, sizeof error) == 0);
        CHECK(stat(path, round ? &large : &small) == 0);
        CHECK(fixture_number(path, "SELECT count(*) FROM main.graph_plans") == 1);
        CHECK(fixture_number(path, "SELECT count(*) FROM graph_launches WHERE kernels = 2") ==
              (round ? REPLAYS : 1));
    }
    CHECK((large.st_size - small.st_size) / REPLAYS < 12);
    fixture_remove(path);
    return NULL;
}
