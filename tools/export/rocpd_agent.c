#include "export/rocpd_agent.h"

#include <jansson.h>
#include <string.h>

enum { TYPE_NONE, TYPE_CPU, TYPE_GPU }; /* rocprofiler_agent_type_t */

/* What RTL does not know, by where it is: "" is the agent itself. Keys of rocprofiler_agent_v0_t,
 * as of ROCm 7. */
static const struct unknown {
    const char *within, *keys;
} unknowns[] = {
    {"", "size cpu_cores_count simd_count mem_banks_count caches_count io_links_count"
         " cpu_core_id_base simd_id_base max_waves_per_simd lds_size_in_kb gds_size_in_kb num_gws"
         " wave_front_size num_xcc array_count num_shader_banks simd_arrays_per_engine"
         " cu_per_simd_array simd_per_cu max_slots_scratch_cu gfx_target_version vendor_id"
         " device_id domain drm_render_minor num_sdma_engines num_sdma_xgmi_engines"
         " num_sdma_queues_per_engine num_cp_queues max_engine_clk_ccompute"
         " max_engine_clk_fcompute cu_per_engine max_waves_per_cu family_id workgroup_max_size"
         " grid_max_size local_mem_size hive_id gpu_id"},
    {"sdma_fw_version", "uCodeSDMA uCodeRes"},
    {"fw_version", "uCode Major Minor Stepping"},
    {"capability",
     "HotPluggable HSAMMUPresent SharedWithGraphics QueueSizePowerOfTwo QueueSize32bit"
     " QueueIdleEvent VALimit WatchPointsSupported WatchPointsTotalBits DoorbellType"
     " AQLQueueDoubleMap DebugTrapSupported WaveLaunchTrapOverrideSupported"
     " WaveLaunchModeSupported PreciseMemoryOperationsSupported DEPRECATED_SRAM_EDCSupport"
     " Mem_EDCSupport RASEventNotify ASICRevision SRAM_EDCSupport SVMAPISupported"
     " CoherentHostAccess DebugSupportedFirmware PreciseALUOperationsSupported"
     " PerQueueResetSupported"},
    {"workgroup_max_dim", "x y z"},
    {"grid_max_dim", "x y z"},
    {"firmware_info",
     "size mec2_fw_version mec_fw_version rlc_fw_version rlc_srlc_fw_version"
     " rlc_srlg_fw_version rlc_srls_fw_version sdma2_fw_version sdma_fw_version smc_fw_version"
     " sos_fw_version ta_ras_fw_version ta_xgmi_fw_version vcn_fw_version"},
};

static unsigned type_of(const rtl_agent_t *agent)
{
    if (strcmp(agent->type, "GPU") == 0)
        return TYPE_GPU;
    return strcmp(agent->type, "CPU") == 0 ? TYPE_CPU : TYPE_NONE;
}

const char *rocpd_agent_vendor(const rtl_agent_t *agent)
{
    return type_of(agent) == TYPE_CPU ? "CPU" : "AMD";
}

uint32_t rocpd_agent_type_index(const rtl_agent_t *items, size_t place)
{
    const rtl_agent_t *agent = &items[place];
    uint32_t before = 0;
    if (agent->gpu != RTL_TRACE_NONE)
        return agent->gpu;
    for (size_t i = 0; i < place; ++i)
        before += items[i].process == agent->process && strcmp(items[i].type, agent->type) == 0;
    return before;
}

static void put(json_t *object, const char *key, uint64_t number)
{
    (void)json_object_set_new(object, key, json_integer((json_int_t)number));
}

static void put_text(json_t *object, const char *key, const char *text)
{
    json_t *string = json_string(text);
    (void)json_object_set_new(object, key, string ? string : json_string(""));
}

static void put_unknown(json_t *object, const char *keys)
{
    char key[64];
    while (*keys) {
        size_t length = strcspn(keys, " ");
        memcpy(key, keys, length);
        key[length] = '\0';
        put(object, key, 0);
        keys += length + strspn(keys + length, " ");
    }
}

static void put_known(json_t *object, const rtl_agent_t *items, size_t place)
{
    const rtl_agent_t *agent = &items[place];
    put(object, "type", type_of(agent));
    put(object, "node_id", agent->node);
    put(object, "logical_node_id", agent->agent);
    put(object, "logical_node_type_id", rocpd_agent_type_index(items, place));
    put(object, "cu_count", agent->compute_units);
    put(object, "location_id", agent->bdf);
    put_text(object, "name", agent->name);
    put_text(object, "product_name", agent->product);
    put_text(object, "model_name", agent->product);
    put_text(object, "vendor_name", rocpd_agent_vendor(agent));
    (void)json_object_set_new(
        object, "gpu_index",
        json_integer(agent->gpu == RTL_TRACE_NONE ? -1 : (json_int_t)agent->gpu));
    (void)json_object_set_new(object, "id", json_pack("{s:I}", "handle", (json_int_t)agent->node));
}

char *rocpd_agent_json(const rtl_agent_t *items, size_t place)
{
    static const char *const lists[] = {"mem_banks", "caches", "io_links"};
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof unknowns / sizeof *unknowns; ++i) {
        json_t *within = unknowns[i].within[0] ? json_object() : object;
        put_unknown(within, unknowns[i].keys);
        if (within != object)
            (void)json_object_set_new(object, unknowns[i].within, within);
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
        (void)json_object_set_new(object, lists[i], json_array());
    put_known(object, items, place);
    char *text = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    return text;
}
