/* Which of the properties ROCr and HIP look at: topology.c of the thunk, amd_gpu_agent.cpp and
 * amd_topology.cpp of ROCr 5.2.3. */
#include "softgpu/kfd_topology.h"

#include "softgpu/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

enum {
    HOST_NODE = 0,
    FIRST_GPU_ID = 20001,
    CACHES_GPU = 2,
    PCI_VENDOR_AMD = 0x1002,
    PCIE_WEIGHT = 20,
    PEER_WEIGHT = 40,
    LINK_PCIE = 2,
    COUNTER_KHZ = 100000,
    GLOBAL_WAVE_SYNCS = 64,
};

/* Kinds of memory bank, and bits of a cache's type: hsakmttypes.h. */
enum { HEAP_SYSTEM = 0, HEAP_FRAME_BUFFER_PRIVATE = 2, CACHE_DATA = 1, CACHE_OF_CU = 8 };

/* Bits of a node's capability: queue sizes are powers of two, four watch points, doorbells for AQL
 * with a 64-bit write index; revision of the chip; shared virtual memory; firmware that debuggers
 * work with, without which ROCr 7.2 cannot shut down and be begun again. */
static const uint32_t CAPABILITY =
    1U << 3 | 1U << 7 | 2U << 8 | 2U << 12 | 1U << 22 | 1U << 27 | 1U << 29;

/* Apertures of the real driver on gfx9: ROCr asserts that the upper halves are not zero. */
static const uint64_t LDS_APERTURE = UINT64_C(0x1000000000000);
static const uint64_t SCRATCH_APERTURE = UINT64_C(0x2000000000000);
static const uint64_t APERTURE_BYTES = UINT64_C(1) << 32;
static const uint64_t GPUVM_BASE = UINT64_C(0x4000);
static const uint64_t GPUVM_LIMIT = UINT64_C(0x7fffffffffff);

static uint32_t node_count(void)
{
    return sg_settings()->gpus + 1;
}

int sg_kfd_gpu_of(uint32_t gpu_id)
{
    bool known = gpu_id >= FIRST_GPU_ID && gpu_id - FIRST_GPU_ID < sg_settings()->gpus;
    return known ? (int)(gpu_id - FIRST_GPU_ID) : -1;
}

uint32_t sg_kfd_id_of(uint32_t gpu)
{
    return FIRST_GPU_ID + gpu;
}

void sg_topology_facts(sg_gpu_facts_t *facts)
{
    const sg_isa_t *isa = sg_settings()->isa;
    *facts = (sg_gpu_facts_t){.name = isa->product,
                              .device = isa->device,
                              .family = isa->family,
                              .counter_khz = COUNTER_KHZ,
                              .frame_buffer_bytes = SG_FRAME_BUFFER_BYTES};
}

/* ---- files ---- */

static void put(FILE *out, const char *name, uint64_t value)
{
    (void)fprintf(out, "%s %" PRIu64 "\n", name, value);
}

static uint64_t host_memory(void)
{
    struct sysinfo info;
    if (sysinfo(&info) != 0)
        return SG_FRAME_BUFFER_BYTES;
    uint64_t bytes = (uint64_t)info.totalram * info.mem_unit;
    return bytes & ~UINT64_C(4095);
}

static void put_host(FILE *out)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    put(out, "cpu_cores_count", cores > 0 ? (uint64_t)cores : 1);
    put(out, "simd_count", 0);
    put(out, "mem_banks_count", 1);
    put(out, "caches_count", 0); /* the thunk asks the processor */
    put(out, "io_links_count", 0);
    put(out, "cpu_core_id_base", 0);
}

static void put_gpu(FILE *out, uint32_t node)
{
    const sg_isa_t *isa = sg_settings()->isa;
    put(out, "cpu_cores_count", 0);
    put(out, "simd_count", (uint64_t)isa->compute_units * isa->simds_per_cu);
    put(out, "mem_banks_count", 1);
    put(out, "caches_count", CACHES_GPU);
    put(out, "io_links_count", sg_settings()->gpus); /* the host and every other GPU */
    put(out, "cpu_core_id_base", 0);
    put(out, "simd_id_base", 0x80000000U + node * 0x1000U);
    put(out, "max_waves_per_simd", isa->waves_per_simd);
    put(out, "lds_size_in_kb", 64);
    put(out, "gds_size_in_kb", 0);
    put(out, "num_gws", GLOBAL_WAVE_SYNCS);
    put(out, "wave_front_size", isa->wave_size);
    put(out, "array_count", isa->engines);
    put(out, "simd_arrays_per_engine", 1);
    put(out, "cu_per_simd_array", isa->cu_per_array);
    put(out, "simd_per_cu", isa->simds_per_cu);
    put(out, "max_slots_scratch_cu", 32);
    put(out, "gfx_target_version", isa->version);
    put(out, "vendor_id", PCI_VENDOR_AMD);
    put(out, "device_id", isa->device);
    put(out, "location_id", node << 8); /* bus `node`, device 0, function 0 */
    put(out, "domain", 0);
    put(out, "drm_render_minor", SG_FIRST_RENDER_NODE + node - 1);
    put(out, "hive_id", 0);
    put(out, "num_sdma_engines", isa->sdma_engines);
    put(out, "num_sdma_xgmi_engines", isa->xgmi_engines);
    put(out, "num_sdma_queues_per_engine", 8);
    put(out, "num_cp_queues", 24);
    put(out, "max_engine_clk_fcompute", 1725);
    put(out, "max_engine_clk_ccompute", 0);
    put(out, "local_mem_size", SG_FRAME_BUFFER_BYTES);
    put(out, "fw_version", isa->firmware);
    put(out, "capability", CAPABILITY);
    put(out, "debug_prop", 0);
    put(out, "sdma_fw_version", isa->sdma_firmware);
    put(out, "unique_id", UINT64_C(0x50f7900000000000) + node);
    put(out, "num_xcc", isa->xccs);
}

static void put_properties(FILE *out, uint32_t node)
{
    if (node == HOST_NODE)
        put_host(out);
    else
        put_gpu(out, node);
}

/* The frame buffer is private, as on a card without resizable BAR: then ROCr and HIP copy with the
 * device where the program asks for a copy, and do not sneak small ones past it on the host. */
static void put_bank(FILE *out, uint32_t node)
{
    put(out, "heap_type", node == HOST_NODE ? HEAP_SYSTEM : HEAP_FRAME_BUFFER_PRIVATE);
    put(out, "size_in_bytes", node == HOST_NODE ? host_memory() : SG_FRAME_BUFFER_BYTES);
    put(out, "flags", 0);
    put(out, "width", node == HOST_NODE ? 64 : 4096);
    put(out, "mem_clk_max", node == HOST_NODE ? 0 : 1000);
}

static void put_cache(FILE *out, uint32_t node, uint32_t index)
{
    put(out, "processor_id_low", 0x80000000U + node * 0x1000U);
    put(out, "level", index + 1);
    put(out, "size", index == 0 ? 16 : 4096);
    put(out, "cache_line_size", 64);
    put(out, "cache_lines_per_tag", 1);
    put(out, "association", 0);
    put(out, "latency", 0);
    put(out, "type", CACHE_DATA | CACHE_OF_CU);
    (void)fprintf(out, "sibling_map 1\n");
}

/* Every GPU is linked with the host and with every other GPU, so that peers may use each other's
 * memory. The host has no link of its own: as with the real driver, a card whose frame buffer the
 * host cannot map has a link in one direction only, and ROCr tells from that. */
static void put_link(FILE *out, uint32_t node, uint32_t index)
{
    uint32_t other = index < node ? index : index + 1;
    put(out, "type", LINK_PCIE);
    put(out, "version_major", 0);
    put(out, "version_minor", 0);
    put(out, "node_from", node);
    put(out, "node_to", other);
    put(out, "weight", other == HOST_NODE ? PCIE_WEIGHT : PEER_WEIGHT);
    put(out, "min_latency", 0);
    put(out, "max_latency", 0);
    put(out, "min_bandwidth", 0);
    put(out, "max_bandwidth", 0);
    put(out, "recommended_transfer_size", 0);
    put(out, "recommended_sdma_engine_id_mask", 0);
    put(out, "flags", 1);
}

/* ---- paths ---- */

/* What a path of sysfs names. */
typedef enum sg_place {
    NOWHERE,
    ROOT, /* the driver's folder */
    TOPOLOGY,
    GENERATION,
    SYSTEM,
    NODES,
    NODE,
    GPU_ID,
    NAME,
    PROPERTIES,
    BANKS, /* each folder of parts is followed by one of its parts, and that by its properties */
    BANK,
    BANK_PROPERTIES,
    CACHES,
    CACHE,
    CACHE_PROPERTIES,
    LINKS,
    LINK,
    LINK_PROPERTIES,
    MODULE, /* the driver as a module of the kernel */
    MODULE_STATE,
    MODULE_VERSION,
} sg_place_t;

typedef struct sg_target {
    sg_place_t place;
    uint32_t node;
    uint32_t part;
} sg_target_t;

typedef struct sg_child {
    sg_place_t folder;
    const char *name;
    sg_place_t place;
} sg_child_t;

static const sg_child_t children[] = {
    {ROOT, "topology", TOPOLOGY},
    {TOPOLOGY, "generation_id", GENERATION},
    {TOPOLOGY, "system_properties", SYSTEM},
    {TOPOLOGY, "nodes", NODES},
    {NODE, "gpu_id", GPU_ID},
    {NODE, "name", NAME},
    {NODE, "properties", PROPERTIES},
    {NODE, "mem_banks", BANKS},
    {NODE, "caches", CACHES},
    {NODE, "io_links", LINKS},
    {BANK, "properties", BANK_PROPERTIES},
    {CACHE, "properties", CACHE_PROPERTIES},
    {LINK, "properties", LINK_PROPERTIES},
    {MODULE, "initstate", MODULE_STATE},
    {MODULE, "version", MODULE_VERSION},
};

enum { CHILDREN = sizeof(children) / sizeof(children[0]) };

static bool is_folder(sg_place_t place)
{
    if (place == NODES || place == BANKS || place == CACHES || place == LINKS)
        return true;
    for (size_t i = 0; i < CHILDREN; i++)
        if (children[i].folder == place)
            return true;
    return false;
}

/* How many numbered folders there are in this one. */
static uint32_t numbered(const sg_target_t *target)
{
    switch (target->place) {
    case NODES:
        return node_count();
    case BANKS:
        return 1;
    case CACHES:
        return target->node == HOST_NODE ? 0 : CACHES_GPU;
    case LINKS:
        return target->node == HOST_NODE ? 0 : sg_settings()->gpus;
    default:
        return 0;
    }
}

static bool enter_number(sg_target_t *target, const char *name)
{
    char *end = NULL;
    unsigned long number = strtoul(name, &end, 10);
    if (*name < '0' || *name > '9' || *end || number >= numbered(target))
        return false;
    if (target->place == NODES) {
        target->node = (uint32_t)number;
        target->place = NODE;
        return true;
    }
    target->part = (uint32_t)number;
    target->place++;
    return true;
}

static bool enter(sg_target_t *target, const char *name)
{
    for (size_t i = 0; i < CHILDREN; i++) {
        if (children[i].folder != target->place || strcmp(children[i].name, name) != 0)
            continue;
        target->place = children[i].place;
        return true;
    }
    return enter_number(target, name);
}

static sg_target_t follow(const char *path)
{
    static const struct {
        const char *path;
        sg_place_t place;
    } roots[] = {{"/sys/devices/virtual/kfd/kfd", ROOT},
                 {"/sys/class/kfd/kfd", ROOT},
                 {"/sys/module/amdgpu", MODULE}};
    sg_target_t target = {.place = NOWHERE};
    char rest[PATH_MAX] = "";
    for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
        size_t length = strlen(roots[i].path);
        if (strncmp(path, roots[i].path, length) != 0 || strlen(path) >= sizeof(rest) ||
            (path[length] != '/' && path[length] != '\0'))
            continue;
        target.place = roots[i].place;
        memcpy(rest, path + length, strlen(path + length) + 1);
    }
    char *state = NULL;
    for (char *name = strtok_r(rest, "/", &state); name; name = strtok_r(NULL, "/", &state))
        if (!enter(&target, name))
            return (sg_target_t){.place = NOWHERE};
    return target;
}

static void put_text(FILE *out, const sg_target_t *target)
{
    switch (target->place) {
    case GENERATION:
        (void)fprintf(out, "2\n");
        break;
    case SYSTEM:
        put(out, "platform_oem", 0);
        put(out, "platform_id", 0);
        put(out, "platform_rev", 0);
        break;
    case GPU_ID:
        (void)fprintf(out, "%u\n", target->node == HOST_NODE ? 0 : sg_kfd_id_of(target->node - 1));
        break;
    case NAME:
        (void)fprintf(out, "%s\n", target->node == HOST_NODE ? "" : sg_settings()->isa->asic);
        break;
    case PROPERTIES:
        put_properties(out, target->node);
        break;
    case BANK_PROPERTIES:
        put_bank(out, target->node);
        break;
    case CACHE_PROPERTIES:
        put_cache(out, target->node, target->part);
        break;
    case LINK_PROPERTIES:
        put_link(out, target->node, target->part);
        break;
    case MODULE_STATE:
        (void)fprintf(out, "live\n");
        break;
    default:
        (void)fprintf(out, "6.8.0\n");
        break;
    }
}

int sg_topology_text(const char *path, char **text, size_t *size)
{
    sg_target_t target = follow(path);
    if (target.place == NOWHERE)
        return -ENOENT;
    if (is_folder(target.place))
        return -EISDIR;
    FILE *out = open_memstream(text, size);
    if (!out)
        return -ENOMEM;
    put_text(out, &target);
    return fclose(out) == 0 ? 0 : -ENOMEM;
}

int sg_topology_entry(const char *path, unsigned index, sg_sysfs_entry_t *entry)
{
    sg_target_t target = follow(path);
    if (target.place == NOWHERE)
        return -ENOENT;
    if (!is_folder(target.place))
        return -ENOTDIR;
    if (index < numbered(&target)) {
        (void)snprintf(entry->name, sizeof(entry->name), "%u", index);
        entry->is_folder = true;
        return 1;
    }
    index -= numbered(&target);
    for (size_t i = 0; i < CHILDREN; i++) {
        if (children[i].folder != target.place || index-- > 0)
            continue;
        (void)snprintf(entry->name, sizeof(entry->name), "%s", children[i].name);
        entry->is_folder = is_folder(children[i].place);
        return 1;
    }
    return 0;
}

/* ---- what ioctls tell ---- */

int sg_kfd_apertures(struct kfd_ioctl_get_process_apertures_new_args *args)
{
    struct kfd_process_device_apertures *apertures =
        (struct kfd_process_device_apertures *)(uintptr_t)args->kfd_process_device_apertures_ptr;
    uint32_t room = args->num_of_nodes;
    uint32_t gpus = sg_settings()->gpus;
    args->num_of_nodes = gpus;
    for (uint32_t gpu = 0; apertures && gpu < gpus && gpu < room; gpu++)
        apertures[gpu] = (struct kfd_process_device_apertures){
            .lds_base = LDS_APERTURE,
            .lds_limit = LDS_APERTURE + APERTURE_BYTES - 1,
            .scratch_base = SCRATCH_APERTURE,
            .scratch_limit = SCRATCH_APERTURE + APERTURE_BYTES - 1,
            .gpuvm_base = GPUVM_BASE,
            .gpuvm_limit = GPUVM_LIMIT,
            .gpu_id = sg_kfd_id_of(gpu)};
    if (apertures && room < gpus)
        args->num_of_nodes = room;
    return 0;
}

/* Images do not work on a device that runs no shader code; ROCr's image manager only wants an
 * answer. */
int sg_kfd_tile_config(struct kfd_ioctl_get_tile_config_args *args)
{
    if (sg_kfd_gpu_of(args->gpu_id) < 0)
        return EINVAL;
    uint32_t *tiles = (uint32_t *)(uintptr_t)args->tile_config_ptr;
    uint32_t *macro_tiles = (uint32_t *)(uintptr_t)args->macro_tile_config_ptr;
    for (uint32_t i = 0; tiles && i < args->num_tile_configs; i++)
        tiles[i] = 0;
    for (uint32_t i = 0; macro_tiles && i < args->num_macro_tile_configs; i++)
        macro_tiles[i] = 0;
    args->gb_addr_config =
        0x22010042; /* register GB_ADDR_CONFIG of Vega in Linux's amdgpu driver */
    args->num_banks = 0;
    args->num_ranks = 0;
    return 0;
}
