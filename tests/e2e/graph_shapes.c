/*
 * Replays of graphs at HSA level, with the packets that HIP submits for them in ROCm 7, and no help
 * from HIP: in batches that grow, from one flat buffer with a doorbell now and then, in segments on
 * several queues that wait for each other by barriers among their packets (CLR, rocvirtual.cpp:
 * dispatchGenericAqlPacketBatch, dispatchAqlPacketBatchFlat; hip_graph_internal.cpp). Each node has
 * kernargs of its own that stay, eager kernels have fresh ones.
 *
 *     graph_shapes SHAPE REPLAYS FILE
 *
 * FILE gets a line for each kernel: address of its queue, packet, kernarg, graph, replay, node (the
 * last three are - for an eager one). Says in one line on stdout what it did; a kernel that did not
 * run as often as it was submitted ends it with status 1.
 */
#include "gpu.h"

#include <hsa/hsa_ext_amd.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GRAPHS     7
#define SEGMENTS   4
#define QUEUES     3
#define QUEUE_SIZE 4096u
#define BATCH_MAX  256u /* DEBUG_HIP_GRAPH_BATCH_SIZE */
#define LAG        16   /* packets in flight that make the runtime take as many as it can */
#define NODES_MAX  1024u
#define EAGER      (1u << 17)
#define ARGUMENTS  64 /* bytes of kernargs of a kernel */

struct segment {
    uint32_t queue, nodes;
    uint32_t waits_for; /* segments before it, as bits */
};

struct graph {
    bool flat;
    bool apart; /* its segments are in batches, its barriers reserved alone */
    uint32_t segments, nodes;
    struct segment segment[SEGMENTS];
    char *arguments;             /* of all nodes */
    hsa_signal_t done[SEGMENTS]; /* completion of each segment */
    uint32_t replays;
};

/* What there is to know of a packet. */
struct line {
    const hsa_queue_t *queue;
    uint64_t packet;
    const void *arguments;
    uint32_t graph, replay, node; /* graph 0: eager */
};

struct world {
    struct gpu gpu;
    hsa_queue_t *queues[QUEUES];
    struct graph graphs[GRAPHS + 1]; /* from 1 */
    char *eager;
    _Atomic uint32_t eager_used;
    _Atomic uint64_t *counters; /* by kernel */
    uint64_t submitted[GPU_KERNELS];
    struct line *lines;
    size_t line_count, line_capacity;
    pthread_mutex_t lock; /* of the lines */
};

static uint32_t kernel_of(uint32_t node)
{
    return node % GPU_KERNELS;
}

static void note(struct world *world, const struct line *line)
{
    (void)pthread_mutex_lock(&world->lock);
    if (world->line_count == world->line_capacity) {
        world->line_capacity = world->line_capacity ? world->line_capacity * 2 : 4096;
        world->lines = realloc(world->lines, world->line_capacity * sizeof *world->lines);
        if (!world->lines)
            abort();
    }
    world->lines[world->line_count++] = *line;
    world->submitted[kernel_of(line->node)]++;
    (void)pthread_mutex_unlock(&world->lock);
}

/* Packets. */

static hsa_kernel_dispatch_packet_t kernel_packet(const struct world *world, uint32_t node,
                                                  void *arguments)
{
    const struct gpu_kernel *kernel = &world->gpu.kernels[kernel_of(node)];
    return (hsa_kernel_dispatch_packet_t){
        .header = HSA_PACKET_TYPE_KERNEL_DISPATCH,
        .setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS,
        .workgroup_size_x = 64,
        .workgroup_size_y = 1,
        .workgroup_size_z = 1,
        .grid_size_x = 64 * (1 + node % 5),
        .grid_size_y = 1,
        .grid_size_z = 1,
        .private_segment_size = kernel->private_size,
        .group_segment_size = kernel->group_size,
        .kernel_object = kernel->object,
        .kernarg_address = arguments,
    };
}

static hsa_kernel_dispatch_packet_t barrier_packet(const hsa_signal_t *signals, uint32_t count,
                                                   hsa_signal_t done)
{
    hsa_barrier_and_packet_t barrier = {.header = HSA_PACKET_TYPE_BARRIER_AND |
                                                  1 << HSA_PACKET_HEADER_BARRIER,
                                        .completion_signal = done};
    hsa_kernel_dispatch_packet_t packet;
    for (uint32_t i = 0; i < count; i++)
        barrier.dep_signal[i] = signals[i];
    memcpy(&packet, &barrier, sizeof packet);
    return packet;
}

static void *slot_of(const hsa_queue_t *queue, uint64_t index)
{
    return (char *)queue->base_address + (index & (queue->size - 1)) * 64;
}

static void wait_for_room(const hsa_queue_t *queue, uint64_t end)
{
    while (end - hsa_queue_load_read_index_scacquire(queue) > queue->size)
        (void)usleep(20);
}

static void publish(const hsa_queue_t *queue, uint64_t index,
                    const hsa_kernel_dispatch_packet_t *packet)
{
    atomic_store_explicit((_Atomic uint32_t *)slot_of(queue, index),
                          packet->header | (uint32_t)packet->setup << 16, memory_order_release);
}

static void write_body(const hsa_queue_t *queue, uint64_t index,
                       const hsa_kernel_dispatch_packet_t *packet)
{
    hsa_kernel_dispatch_packet_t body = *packet;
    body.header = HSA_PACKET_TYPE_INVALID;
    memcpy(slot_of(queue, index), &body, sizeof body);
}

static void ring(const hsa_queue_t *queue, uint64_t index)
{
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

/* One reservation for all packets, in chunks: bodies, headers, the first one last, a doorbell each.
 */
static uint64_t submit_flat(hsa_queue_t *queue, const hsa_kernel_dispatch_packet_t *packets,
                            uint32_t count)
{
    uint64_t first = hsa_queue_add_write_index_screlease(queue, count);
    for (uint32_t done = 0; done < count;) {
        uint32_t end = done + BATCH_MAX < count ? done + BATCH_MAX : count;
        wait_for_room(queue, first + end);
        for (uint32_t i = done; i < end; i++)
            write_body(queue, first + i, &packets[i]);
        for (uint32_t i = done ? done : 1; i < end; i++)
            publish(queue, first + i, &packets[i]);
        if (done == 0)
            publish(queue, first, &packets[0]);
        ring(queue, first + end - 1);
        done = end;
    }
    return first;
}

static uint64_t submit_batch(hsa_queue_t *queue, const hsa_kernel_dispatch_packet_t *packets,
                             uint32_t count)
{
    uint64_t first = hsa_queue_add_write_index_screlease(queue, count);
    wait_for_room(queue, first + count);
    for (uint32_t i = 0; i < count; i++)
        write_body(queue, first + i, &packets[i]);
    for (uint32_t i = 1; i < count; i++)
        publish(queue, first + i, &packets[i]);
    publish(queue, first, &packets[0]);
    ring(queue, first + count - 1);
    return first;
}

/* The marker at the end of a launch. */
static void submit_marker(const struct world *world, hsa_queue_t *queue)
{
    const struct gpu_packet marker = {.kernel = GPU_BARRIER, .barrier = true};
    gpu_submit(&world->gpu, queue, &marker, 1);
}

/* Replays. */

static void note_nodes(struct world *world, const struct graph *graph, const hsa_queue_t *queue,
                       uint64_t packet, uint32_t node, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct line line = {queue,
                                  packet + i,
                                  graph->arguments + (size_t)(node + i) * ARGUMENTS,
                                  (uint32_t)(graph - world->graphs),
                                  graph->replays,
                                  node + i};
        note(world, &line);
    }
}

/* The nodes of a segment from `node` on in batches of 1, 2, 4, …; of 256 once more than a few
 * packets are on their way. */
static void replay_in_batches(struct world *world, const struct graph *graph,
                              const struct segment *segment, uint32_t node,
                              const hsa_kernel_dispatch_packet_t *packets)
{
    hsa_queue_t *queue = world->queues[segment->queue];
    uint32_t batch = 1;
    for (uint32_t done = 0; done < segment->nodes;) {
        uint64_t read = hsa_queue_load_read_index_scacquire(queue);
        if (hsa_queue_load_write_index_relaxed(queue) - read >= LAG)
            batch = BATCH_MAX;
        uint32_t left = segment->nodes - done;
        uint32_t count = batch < left ? batch : left;
        uint64_t first = submit_batch(queue, packets + done, count);
        note_nodes(world, graph, queue, first, node + done, count);
        done += count;
        batch = batch < BATCH_MAX ? batch * 2 : batch;
    }
}

/* The segments that a segment waits for; returns how many. */
static uint32_t waits_of(const struct graph *graph, uint32_t number, hsa_signal_t *signals)
{
    uint32_t waits = 0;
    for (uint32_t i = 0; i < number; i++)
        if (graph->segment[number].waits_for >> i & 1)
            signals[waits++] = graph->done[i];
    return waits;
}

/* A segment as HIP 7.2 has it: a lone barrier that waits, batches, a lone one that tells its end.
 */
static void replay_apart(struct world *world, const struct graph *graph, uint32_t number,
                         uint32_t node, const hsa_kernel_dispatch_packet_t *nodes)
{
    const struct segment *segment = &graph->segment[number];
    hsa_signal_t signals[SEGMENTS];
    uint32_t waits = waits_of(graph, number, signals);
    hsa_kernel_dispatch_packet_t wait = barrier_packet(signals, waits, (hsa_signal_t){0});
    hsa_kernel_dispatch_packet_t done = barrier_packet(NULL, 0, graph->done[number]);
    if (waits)
        (void)submit_batch(world->queues[segment->queue], &wait, 1);
    replay_in_batches(world, graph, segment, node, nodes);
    (void)submit_batch(world->queues[segment->queue], &done, 1);
}

/* A segment waits by a barrier at its begin and tells its end by one. */
static void replay_segment(struct world *world, const struct graph *graph, uint32_t number,
                           uint32_t node, const hsa_kernel_dispatch_packet_t *nodes)
{
    static _Thread_local hsa_kernel_dispatch_packet_t packets[NODES_MAX + 2];
    const struct segment *segment = &graph->segment[number];
    hsa_queue_t *queue = world->queues[segment->queue];
    hsa_signal_t signals[SEGMENTS];
    uint32_t waits = waits_of(graph, number, signals);
    uint32_t count = 0;
    if (waits)
        packets[count++] = barrier_packet(signals, waits, (hsa_signal_t){0});
    uint32_t before = count;
    memcpy(packets + count, nodes, segment->nodes * sizeof *packets);
    count += segment->nodes;
    if (graph->segments > 1)
        packets[count++] = barrier_packet(NULL, 0, graph->done[number]);
    uint64_t first = submit_flat(queue, packets, count);
    note_nodes(world, graph, queue, first + before, node, segment->nodes);
}

/* None is armed again before all are done: others wait for it. */
static void wait_for_segments(const struct graph *graph)
{
    uint32_t count = graph->segments > 1 ? graph->segments : 0;
    for (uint32_t i = 0; i < count; i++)
        while (hsa_signal_wait_scacquire(graph->done[i], HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                         HSA_WAIT_STATE_BLOCKED) >= 1)
            ;
    for (uint32_t i = 0; i < count; i++)
        hsa_signal_store_relaxed(graph->done[i], 1);
}

static void replay(struct world *world, uint32_t number)
{
    static _Thread_local hsa_kernel_dispatch_packet_t packets[NODES_MAX];
    struct graph *graph = &world->graphs[number];
    graph->replays++;
    for (uint32_t i = 0; i < graph->nodes; i++)
        packets[i] = kernel_packet(world, i, graph->arguments + (size_t)i * ARGUMENTS);
    uint32_t node = 0;
    for (uint32_t i = 0; i < graph->segments; i++) {
        if (graph->flat)
            replay_segment(world, graph, i, node, packets + node);
        else if (graph->apart)
            replay_apart(world, graph, i, node, packets + node);
        else
            replay_in_batches(world, graph, &graph->segment[i], node, packets + node);
        node += graph->segment[i].nodes;
    }
    submit_marker(world, world->queues[graph->segment[0].queue]);
    wait_for_segments(graph);
}

/* `count` kernels that no graph has, reserved at once. */
static void eager(struct world *world, uint32_t queue, uint32_t count)
{
    hsa_kernel_dispatch_packet_t packets[8];
    uint32_t used = atomic_fetch_add(&world->eager_used, count);
    if (used + count > EAGER || count > 8)
        abort();
    for (uint32_t i = 0; i < count; i++)
        packets[i] = kernel_packet(world, used + i, world->eager + (size_t)(used + i) * ARGUMENTS);
    uint64_t first = submit_batch(world->queues[queue], packets, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct line line = {
            world->queues[queue], first + i, packets[i].kernarg_address, 0, 0, used + i};
        note(world, &line);
    }
}

/* Making. */

/* Kernargs for kernels `first` to `first + count`. */
static char *make_arguments(const struct world *world, uint32_t count)
{
    char *arguments = gpu_memory(&world->gpu, (size_t)count * ARGUMENTS);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t counter = (uint64_t)(uintptr_t)&world->gpu.counters[kernel_of(i)];
        memcpy(arguments + (size_t)i * ARGUMENTS, &counter, sizeof counter);
    }
    return arguments;
}

static void make_graph(struct world *world, uint32_t number, bool flat, uint32_t segments,
                       const struct segment *segment)
{
    struct graph *graph = &world->graphs[number];
    graph->flat = flat;
    graph->segments = segments;
    for (uint32_t i = 0; i < segments; i++) {
        graph->segment[i] = segment[i];
        graph->nodes += segment[i].nodes;
        graph->done[i] = gpu_signal(1);
    }
    graph->arguments = make_arguments(world, graph->nodes);
}

static void open_world(struct world *world)
{
    const struct segment fork[] = {{0, 40, 0}, {1, 30, 1}, {2, 35, 1}, {0, 20, 6}};
    const struct segment plain[] = {{0, 303, 0}};
    const struct segment small[] = {{0, 20, 0}};
    const struct segment large[] = {{1, 700, 0}};
    const struct segment branches[] = {{0, 12, 0}, {1, 1, 1}, {2, 35, 1}, {0, 2, 6}};
    const struct segment other[] = {{1, 7, 0}, {2, 2, 1}, {0, 1, 1}, {1, 4, 6}};
    const struct segment even[] = {{0, 32, 0}}; /* 1, 2, 4, 8, 16 and 1 that is left */
    gpu_open(&world->gpu);
    (void)pthread_mutex_init(&world->lock, NULL);
    for (int i = 0; i < QUEUES; i++)
        world->queues[i] = gpu_queue(&world->gpu, QUEUE_SIZE);
    make_graph(world, 1, false, 1, plain);
    make_graph(world, 2, false, 1, small);
    make_graph(world, 3, true, 1, large);
    make_graph(world, 4, true, 4, fork);
    make_graph(world, 5, false, 1, even);
    make_graph(world, 6, false, 4, branches);
    make_graph(world, 7, false, 4, other);
    world->graphs[6].apart = world->graphs[7].apart = true;
    world->eager = make_arguments(world, EAGER);
}

/* What is replayed. */

static void grow(struct world *world, uint32_t replays)
{
    for (uint32_t i = 0; i < replays; i++) {
        replay(world, 1);
        if (i % 4 == 3) {
            gpu_drain(&world->gpu, world->queues[0]);
            eager(world, 0, 1);
        }
    }
}

/* The last packet is reserved alone, if the device is not behind. */
static void alone(struct world *world, uint32_t replays)
{
    for (uint32_t i = 0; i < replays; i++) {
        replay(world, 5);
        if (i % 3)
            gpu_drain(&world->gpu, world->queues[0]);
    }
}

static void flat(struct world *world, uint32_t replays)
{
    for (uint32_t i = 0; i < replays; i++) {
        eager(world, 1, 1 + i % 8);
        replay(world, 3);
    }
}

static void segments(struct world *world, uint32_t replays)
{
    for (uint32_t i = 0; i < replays; i++) {
        replay(world, 4);
        if (i % 3)
            eager(world, i % QUEUES, 1 + i % 2);
        if (i % 5 == 1)
            replay(world, 3);
    }
}

/* Two graphs in turn, back to back. */
static void in_turn(struct world *world, uint32_t replays)
{
    for (uint32_t i = 0; i < replays; i++) {
        replay(world, 1);
        replay(world, 2);
    }
}

/* Two graphs that fork, in turn, an eager kernel before one of them now and then. */
static void apart(struct world *world, uint32_t replays)
{
    for (uint32_t i = 0; i < replays; i++) {
        if (i % 3 == 2)
            eager(world, 0, 1);
        replay(world, 6);
        replay(world, 7);
    }
}

/* A node gets other kernargs half-way, as hipGraphExecKernelNodeSetParams gives it. */
static void update(struct world *world, uint32_t replays)
{
    for (uint32_t i = 0; i < replays; i++) {
        if (i == replays / 2)
            world->graphs[3].arguments = make_arguments(world, world->graphs[3].nodes);
        replay(world, 3);
    }
}

static void *other_thread(void *context)
{
    struct world *world = context;
    for (uint32_t i = 0; i < world->graphs[0].replays; i++) {
        replay(world, 2);
        eager(world, 0, 1);
    }
    return NULL;
}

/* Two threads with a graph each, on one queue. */
static void threads(struct world *world, uint32_t replays)
{
    pthread_t thread;
    world->graphs[0].replays = replays;
    world->graphs[2].flat = true;
    world->graphs[3].segment[0].queue = 0;
    if (pthread_create(&thread, NULL, other_thread, world) != 0)
        abort();
    for (uint32_t i = 0; i < replays; i++)
        replay(world, 3);
    (void)pthread_join(thread, NULL);
}

static const struct {
    const char *name;
    void (*run)(struct world *world, uint32_t replays);
} shapes[] = {{"grow", grow},       {"flat", flat},     {"segments", segments},
              {"in-turn", in_turn}, {"update", update}, {"threads", threads},
              {"alone", alone},     {"apart", apart}};

static bool counts_are_right(const struct world *world)
{
    for (int i = 0; i < GPU_KERNELS; i++)
        if (atomic_load(&world->gpu.counters[i]) != world->submitted[i])
            return false;
    return true;
}

static bool write_lines(const struct world *world, const char *path)
{
    FILE *file = fopen(path, "we");
    if (!file)
        return false;
    for (size_t i = 0; i < world->line_count; i++) {
        const struct line *it = &world->lines[i];
        (void)fprintf(file, "%" PRIu64 " %" PRIu64 " %" PRIu64, (uint64_t)(uintptr_t)it->queue,
                      it->packet, (uint64_t)(uintptr_t)it->arguments);
        if (it->graph)
            (void)fprintf(file, " %u %u %u\n", it->graph, it->replay, it->node);
        else
            (void)fprintf(file, " - - -\n");
    }
    return fclose(file) == 0;
}

int main(int argc, char **argv)
{
    static struct world world;
    size_t shape = 0;
    while (argc == 4 && shape < sizeof shapes / sizeof *shapes &&
           strcmp(argv[1], shapes[shape].name) != 0)
        shape++;
    if (argc != 4 || shape == sizeof shapes / sizeof *shapes) {
        (void)fprintf(stderr, "usage: graph_shapes SHAPE REPLAYS FILE\n");
        return 2;
    }
    open_world(&world);
    shapes[shape].run(&world, (uint32_t)strtoul(argv[2], NULL, 10));
    for (int i = 0; i < QUEUES; i++)
        gpu_drain(&world.gpu, world.queues[i]);
    bool right = counts_are_right(&world) && write_lines(&world, argv[3]);
    (void)printf("%zu kernels: %s\n", world.line_count, right ? "all right" : "NOT RIGHT");
    return right ? 0 : 1;
}
