/* The random programs against the truth log. */
#include "random.h"

#include "softgpu/truth.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY           UINT32_MAX
#define MOST_TRUE_QUEUES 64u
#define TICK_NS          10u

/* What the device did with a packet. */
struct execution {
    uint64_t start, end;
    uint32_t times;
};

struct lane_map {
    uint32_t *ids; /* by index; NOBODY: a drain's barrier */
    uint64_t count;
};

struct verification {
    struct random_world *world;
    softgpu_truth_t *log;
    struct execution *executions; /* by id */
    struct lane_map lanes[RANDOM_LANES];
    uint32_t lane_of[MOST_TRUE_QUEUES]; /* by the queue's number in the log */
};

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (memory == NULL)
        gpu_must(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "memory for the comparison");
    return memory;
}

/* ---- which packet is it ---- */

static void map_lane(struct verification *it, uint32_t lane)
{
    const struct random_world *world = it->world;
    struct lane_map *map = &it->lanes[lane];
    for (uint32_t id = 0; id < world->id_end; id++)
        if (world->packets[id].lane == lane && world->packets[id].index >= map->count)
            map->count = world->packets[id].index + 1;
    map->ids = allocate(map->count, sizeof *map->ids);
    memset(map->ids, 0xFF, map->count * sizeof *map->ids);
    for (uint32_t id = 0; id < world->id_end; id++) {
        const struct random_packet *packet = &world->packets[id];
        if (packet->lane != lane)
            continue;
        if (map->ids[packet->index] != NOBODY)
            random_complain("slot %" PRIu64 " of queue %u was given out twice", packet->index,
                            lane);
        map->ids[packet->index] = id;
    }
}

static uint32_t id_of_arguments(const struct random_world *world, uint64_t address)
{
    uint64_t first = (uint64_t)(uintptr_t)world->arguments;
    uint64_t at = (address - first) / sizeof *world->arguments;
    return address < first || at >= world->id_end ? NOBODY : (uint32_t)at;
}

/* A queue of the log is known by what it executed, else by its address: where a runtime puts a
 * queue of its own in front, the addresses are not the program's. */
static uint32_t lane_of(const struct random_world *world, const softgpu_truth_entry_t *entry)
{
    if (entry->kind == SOFTGPU_TRUTH_KERNEL) {
        uint32_t id = id_of_arguments(world, entry->kernarg);
        if (id != NOBODY)
            return world->packets[id].lane;
    }
    for (uint32_t lane = 0; lane < world->shape.lanes; lane++)
        if ((uint64_t)(uintptr_t)world->lanes[lane].queue == entry->queue_address)
            return lane;
    return NOBODY;
}

static void open_log(struct verification *it, const char *path)
{
    char error[512] = "";
    it->log = softgpu_truth_open(path, error, sizeof error);
    if (it->log == NULL)
        random_complain("%s", error);
}

static void map_queues(struct verification *it, const char *path)
{
    softgpu_truth_entry_t entry;
    memset(it->lane_of, 0xFF, sizeof it->lane_of);
    open_log(it, path);
    while (it->log != NULL && softgpu_truth_next(it->log, &entry) == 1)
        if (entry.queue < MOST_TRUE_QUEUES && it->lane_of[entry.queue] == NOBODY)
            it->lane_of[entry.queue] = lane_of(it->world, &entry);
    softgpu_truth_close(it->log);
}

/* ---- each packet, as it was written ---- */

static void compare_kernel(const struct random_world *world, uint32_t id,
                           const softgpu_truth_entry_t *entry)
{
    const struct random_packet *packet = &world->packets[id];
    uint32_t block = 64u * (packet->kind + 1u);
    if (entry->kernel_object != world->kernels[packet->kind].object ||
        entry->kernarg != (uint64_t)(uintptr_t)&world->arguments[id] || entry->block[0] != block ||
        entry->grid[0] != block * (1 + id % 5))
        random_complain("packet %u was executed as another kernel ('%s', arguments %" PRIx64 ")",
                        id, entry->name, entry->kernarg);
}

static bool same_kind(const struct random_packet *packet, softgpu_truth_kind_t kind)
{
    if (packet->kind < RANDOM_KERNELS)
        return kind == SOFTGPU_TRUTH_KERNEL;
    return kind == (packet->kind == RANDOM_AGENT ? SOFTGPU_TRUTH_AGENT : SOFTGPU_TRUTH_BARRIER);
}

static void add_to_use(struct random_use *use, const softgpu_truth_entry_t *entry)
{
    if (use->first_end == 0 || entry->end_ns < use->first_end)
        use->first_end = entry->end_ns;
    if (entry->end_ns > use->last_end)
        use->last_end = entry->end_ns;
    use->matched =
        use->matched || (use->start_ns == entry->start_ns && use->end_ns == entry->end_ns);
}

static void take(struct verification *it, uint32_t id, const softgpu_truth_entry_t *entry)
{
    struct random_world *world = it->world;
    const struct random_packet *packet = &world->packets[id];
    if (!same_kind(packet, entry->kind) || ((entry->header >> 8) & 1) != packet->bit)
        random_complain("packet %u was executed as another packet", id);
    else if (entry->kind == SOFTGPU_TRUTH_KERNEL)
        compare_kernel(world, id, entry);
    struct execution *execution = &it->executions[id];
    execution->start = entry->start_ns;
    execution->end = entry->end_ns;
    execution->times++;
    if (packet->use != 0)
        add_to_use(&world->uses[packet->use], entry);
}

static void read_log(struct verification *it, const char *path)
{
    softgpu_truth_entry_t entry;
    int more = 0;
    open_log(it, path);
    while (it->log != NULL && (more = softgpu_truth_next(it->log, &entry)) == 1) {
        uint32_t lane = entry.queue < MOST_TRUE_QUEUES ? it->lane_of[entry.queue] : NOBODY;
        if (entry.kind == SOFTGPU_TRUTH_ERROR)
            random_complain("the device found a malformed packet");
        if (lane == NOBODY || entry.kind == SOFTGPU_TRUTH_COPY)
            continue;
        const struct lane_map *map = &it->lanes[lane];
        uint32_t id = entry.index < map->count ? map->ids[entry.index] : NOBODY;
        if (id != NOBODY)
            take(it, id, &entry);
        else if (entry.kind != SOFTGPU_TRUTH_BARRIER)
            random_complain("the device executed a packet that nobody wrote, %" PRIu64
                            " of queue %u",
                            entry.index, lane);
    }
    if (more < 0)
        random_complain("%s", softgpu_truth_error(it->log));
    softgpu_truth_close(it->log);
}

/* ---- once ---- */

static void check_counts(const struct verification *it)
{
    const struct random_world *world = it->world;
    for (uint32_t id = 0; id < world->id_end; id++) {
        const struct random_packet *packet = &world->packets[id];
        uint32_t times = it->executions[id].times;
        uint32_t runs = atomic_load_explicit(&world->runs[id], memory_order_relaxed);
        bool kernel = packet->kind < RANDOM_KERNELS;
        if (times > 1 || (times == 0 && !packet->optional))
            random_complain("packet %u (slot %" PRIu64 " of queue %u) was executed %u times", id,
                            packet->index, packet->lane, times);
        if (runs > 1 || runs < (kernel ? times : 0) || (!kernel && runs > 0))
            random_complain("kernel of packet %u ran %u times", id, runs);
    }
}

/* ---- in order ---- */

/* How far a queue has come. */
struct progress {
    uint64_t last_start, last_end;  /* latest of the packets so far */
    uint64_t opened;                /* when its last barrier let it go on */
    uint32_t ids[RANDOM_PRODUCERS]; /* last packet of each producer */
    bool begun[RANDOM_PRODUCERS];
};

static uint32_t producer_of(const struct random_world *world, uint32_t id)
{
    uint32_t producer = 0;
    while (producer < world->shape.producers && id >= world->producers[producer].end)
        producer++;
    return producer;
}

static void check_sequence(const struct random_world *world, struct progress *progress, uint32_t id)
{
    uint32_t producer = producer_of(world, id);
    if (producer == world->shape.producers)
        return;
    if (progress->begun[producer] && id < progress->ids[producer])
        random_complain("packets %u and %u of one producer changed places", id,
                        progress->ids[producer]);
    progress->begun[producer] = true;
    progress->ids[producer] = id;
}

static void check_needs(const struct random_world *world, uint32_t id, uint64_t end)
{
    const struct random_packet *packet = &world->packets[id];
    uint64_t earliest = packet->need_count > 0 ? UINT64_MAX : 0;
    for (uint32_t i = 0; i < packet->need_count; i++) {
        const struct random_use *use = &world->uses[world->needs[packet->needs + i].use];
        bool any = packet->kind == RANDOM_VALUE && packet->condition != HSA_SIGNAL_CONDITION_EQ &&
                   use->members > 1;
        uint64_t met = any ? use->first_end : use->last_end;
        if (packet->kind == RANDOM_AND && met > end)
            random_complain("barrier %u did not wait for its dependency", id);
        if (met < earliest)
            earliest = met;
    }
    if (packet->kind != RANDOM_AND && earliest > end)
        random_complain("barrier %u did not wait for a dependency", id);
}

static void check_packet(const struct verification *it, struct progress *progress, uint32_t id)
{
    const struct random_packet *packet = &it->world->packets[id];
    const struct execution *execution = &it->executions[id];
    if (execution->start < progress->last_start || execution->start < progress->opened)
        random_complain("packet %u began before one that stands in front of it", id);
    if (packet->bit && execution->start < progress->last_end)
        random_complain("packet %u did not wait for those before it", id);
    progress->last_start = execution->start;
    if (execution->end > progress->last_end)
        progress->last_end = execution->end;
    if (packet->kind >= RANDOM_AND) {
        check_needs(it->world, id, execution->end);
        progress->opened = execution->end;
    }
}

static void check_order(const struct verification *it, uint32_t lane)
{
    const struct lane_map *map = &it->lanes[lane];
    struct progress progress = {0};
    for (uint64_t index = 0; index < map->count; index++) {
        uint32_t id = map->ids[index];
        if (id == NOBODY)
            continue;
        check_sequence(it->world, &progress, id);
        if (it->executions[id].times > 0)
            check_packet(it, &progress, id);
    }
}

/* ---- as the program saw it ---- */

static void check_uses(const struct random_world *world)
{
    for (uint32_t p = 0; p < world->shape.producers; p++) {
        const struct random_producer *producer = &world->producers[p];
        for (uint32_t i = producer->first_use; i < producer->use; i++) {
            const struct random_use *use = &world->uses[i];
            if (use->seen_ns != 0 && use->seen_ns + TICK_NS < use->last_end)
                random_complain("the program saw a signal %" PRIu64
                                " ns before its packet was done",
                                use->last_end - use->seen_ns);
            if (use->timed && !use->matched)
                random_complain("the program read times %" PRIu64 " to %" PRIu64
                                ", the device's are %" PRIu64 " to %" PRIu64 " (%u packets)",
                                use->start_ns, use->end_ns, use->first_end, use->last_end,
                                use->members);
        }
    }
}

void random_verify(struct random_world *world, const char *path)
{
    struct verification it = {.world = world};
    it.executions = allocate(world->id_end, sizeof *it.executions);
    for (uint32_t lane = 0; lane < world->shape.lanes; lane++)
        map_lane(&it, lane);
    map_queues(&it, path);
    read_log(&it, path);
    check_counts(&it);
    for (uint32_t lane = 0; lane < world->shape.lanes; lane++)
        check_order(&it, lane);
    check_uses(world);
    for (uint32_t lane = 0; lane < world->shape.lanes; lane++)
        free(it.lanes[lane].ids);
    free(it.executions);
}
