#!/usr/bin/env python3
"""export_readers.py rocpd|rpd RTL TRACE FILE [memory|captured|marks|devices]: what readers of these databases find, by their own joins, keys and JSON paths,
is what the trace has. `memory` and `captured` are programs: what they did is known here as well."""
import collections
import json
import sqlite3
import subprocess
import sys

what, rtl, trace, path = sys.argv[1:5]
program = sys.argv[5] if len(sys.argv) > 5 else ""
db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)


def fail(text):
    sys.exit(f"export_readers.py: {text}")


def ask(query):
    return [tuple(row.values()) for row in
            json.loads(subprocess.run([rtl, "sql", "--json", trace, query], check=True, capture_output=True).stdout)]


def read(query, *values):
    return db.execute(query, values).fetchall()


def same(name, got, wanted):
    """Rows, in whatever order; no rows are a failure, too."""
    got, wanted = collections.Counter(got), collections.Counter(wanted)
    if not wanted:
        fail(f"{name}: no rows in the trace")
    if got != wanted:
        fail(f"{name}: {list((got - wanted).items())[:3]} instead of {list((wanted - got).items())[:3]}")


# Columns by which the tables of rocpd's CSV files are read, without those that are joined again.
COLUMNS = {
    "kernels": "guid agent_abs_index agent_log_index agent_type_index agent_type queue_id stream_id graph_exec_id graph_node_id tid"
               " dispatch_id kernel_id name region stack_id start end lds_size scratch_size vgpr_count accum_vgpr_count sgpr_count workgroup_x"
               " workgroup_y workgroup_z grid_x grid_y grid_z event_id",
    "kernel_symbols": "id guid code_object_id kernel_name display_name sgpr_count arch_vgpr_count accum_vgpr_count kernel_symbol_size kernel_id"
                      " kernel_code_entry_byte_offset formatted_kernel_name demangled_kernel_name truncated_kernel_name kernel_address",
    "memory_copies": "guid name stream_id graph_exec_id graph_node_id src_agent_abs_index dst_agent_abs_index stack_id start end",
    "memory_allocations": "guid type level agent_abs_index agent_log_index agent_type agent_type_index size address stack_id start end",
    "scratch_memory": "guid operation agent_abs_index queue_id tid alloc_flags start end",
    "graph_launches": "guid agent_abs_index queue_id tid stack_id start end duration graph_exec_id kernel_dispatch_count",
    "code_objects": "id guid nid pid agent_abs_index uri load_base load_size load_delta storage_type_str code_object_size storage_type memory_base"
                    " memory_size",
    "samples": "id guid category name nid pid tid timestamp event_id stack_id parent_stack_id corr_id extdata call_stack line_info",
    "sample_regions": "id guid category name nid pid tid start end duration event_id stack_id parent_stack_id corr_id extdata call_stack line_info",
    "regions_and_samples": "id guid category name pid tid start end duration event_id extdata call_stack line_info",
    "stream_args": "argument_id event_id arg_position arg_type arg_value stream_id nid pid stream_name extdata",
}

# What the converters ask of an agent's extdata: each key has to be there, an object's in turn.
AGENT_KEYS = """size id.handle type cpu_cores_count simd_count mem_banks_count caches_count io_links_count cpu_core_id_base simd_id_base
    max_waves_per_simd lds_size_in_kb gds_size_in_kb num_gws wave_front_size num_xcc cu_count array_count num_shader_banks simd_arrays_per_engine
    cu_per_simd_array simd_per_cu max_slots_scratch_cu gfx_target_version vendor_id device_id location_id domain drm_render_minor num_sdma_engines
    num_sdma_xgmi_engines num_sdma_queues_per_engine num_cp_queues max_engine_clk_ccompute max_engine_clk_fcompute sdma_fw_version.uCodeSDMA
    sdma_fw_version.uCodeRes fw_version.uCode fw_version.Major fw_version.Minor fw_version.Stepping capability.HotPluggable
    capability.HSAMMUPresent capability.SharedWithGraphics capability.QueueSizePowerOfTwo capability.QueueSize32bit capability.QueueIdleEvent
    capability.VALimit capability.WatchPointsSupported capability.WatchPointsTotalBits capability.DoorbellType capability.AQLQueueDoubleMap
    capability.DebugTrapSupported capability.WaveLaunchTrapOverrideSupported capability.WaveLaunchModeSupported
    capability.PreciseMemoryOperationsSupported capability.DEPRECATED_SRAM_EDCSupport capability.Mem_EDCSupport capability.RASEventNotify
    capability.ASICRevision capability.SRAM_EDCSupport capability.SVMAPISupported capability.CoherentHostAccess
    capability.DebugSupportedFirmware cu_per_engine max_waves_per_cu family_id workgroup_max_size grid_max_size local_mem_size hive_id gpu_id
    workgroup_max_dim.x workgroup_max_dim.y workgroup_max_dim.z grid_max_dim.x grid_max_dim.y grid_max_dim.z name vendor_name product_name
    model_name node_id logical_node_id logical_node_type_id mem_banks caches io_links gpu_index""".split()


def agents():
    of_type = collections.Counter()
    wanted = []
    for agent, kind, name, product, node, units, gpu in \
            ask("SELECT agent, type, name, product, node, compute_units, gpu FROM agents ORDER BY process, agent"):
        wanted.append((node, agent, of_type[kind], {"CPU": 1, "GPU": 2}[kind], name, product, units, -1 if gpu is None else gpu, kind))
        of_type[kind] += 1
    got = []
    for extdata, kind, absolute, logical, index in read("SELECT extdata, type, absolute_index, logical_index, type_index FROM rocpd_info_agent"):
        if len(extdata) <= 2:  # as converters decide whether there is any
            if kind is not None:
                fail(f"an agent of type {kind} has no extdata")
            continue
        described = json.loads(extdata)
        for key in AGENT_KEYS:
            at = described
            for part in key.split("."):
                if part not in at:
                    fail(f"an agent's extdata lacks {key}")
                at = at[part]
        numbers = tuple(described[k] for k in ("node_id", "logical_node_id", "logical_node_type_id"))
        if numbers != (absolute, logical, index):
            fail(f"extdata numbers an agent {numbers}, its row {(absolute, logical, index)}")
        got.append(numbers + tuple(described[k] for k in ("type", "name", "product_name", "cu_count", "gpu_index")) + (kind,))
    same("agents", got, wanted)


# The program `memory`, by the source of it: bytes at once on the GPU, and pinned.
MEMORY_PEAKS = {"GPU": 6 * 1048576 + 524288, "CPU": 65536}


def allocations():
    """Readers add up what an agent holds: a free is known by its address."""
    rows = read("SELECT type, agent_type, address, size, start, end, stack_id, level FROM memory_allocations ORDER BY start")
    held, sums, peaks = {}, collections.Counter(), collections.Counter()
    for kind, agent, address, size, *_ in rows:
        if kind == "ALLOC":
            held[address] = agent, size
            sums[agent] += size
        else:
            agent, size = held.pop(address)
            sums[agent] -= size
        peaks[agent] = max(peaks[agent], sums[agent])
    same("peaks of memory", peaks.items(), MEMORY_PEAKS.items())
    calls = []
    for name, args, start, end, call in ask("SELECT name, args, start, end, correlation FROM api WHERE result = 0 AND"
                                            " (name LIKE 'hip%Malloc' OR name LIKE 'hip%Free') AND args NOT LIKE '%ptr=NULL%' ORDER BY start"):
        of = dict(argument.split("=") for argument in args.split(", "))
        calls.append(("ALLOC" if "Malloc" in name else "FREE", int(of.get("*ptr") or of["ptr"], 16), int(of.get("size", 0)), start, end, call, "REAL"))
    same("allocations", [(row[0],) + row[2:] for row in rows], calls)
    if {agent for kind, agent, *_ in rows if kind == "FREE"} != {None}:
        fail("a free has an agent")
    # A row that has no queue, or no stream, is on no track of a viewer.
    same("queues and streams of allocations", read("SELECT m.id, q.name, s.name FROM rocpd_memory_allocate m JOIN rocpd_info_queue q"
                                                   " ON q.id = m.queue_id JOIN rocpd_info_stream s ON s.id = m.stream_id"),
         [(number + 1, "unknown", "unknown") for number in range(len(calls))])


def marks():
    """What takes no time is a sample; the category is its name. Ranges that are open end with the process."""
    same("samples", read("SELECT name, category, json_extract(extdata, '$.message'), timestamp, tid, corr_id FROM samples"),
         [("MARKER_CORE_RANGE_API",) * 2 + row for row in ask("SELECT name, start, thread, id FROM ranges WHERE kind = 'mark'")])
    same("ranges", read("SELECT name, start, end FROM regions"),
         ask("SELECT name, r.start, coalesce(r.end, p.end) FROM ranges r JOIN processes p USING (process) WHERE kind <> 'mark'"))
    same("markers by their message", read("SELECT json_extract(extdata, '$.message'), count(*) FROM regions_and_samples GROUP BY 1"),
         ask("SELECT name, count(*) FROM ranges GROUP BY 1"))


def devices():
    """The program `memory devices`, by the source of it: on which GPU a stream's memory is; of other memory nobody knows."""
    mib = 1048576
    same("memory of streams", read("SELECT agent_type_index, size FROM memory_allocations WHERE type = 'ALLOC'"),
         [(1, 2 * mib), (0, mib), (None, mib // 16), (None, mib // 16)])


def check_rocpd():
    for view, columns in COLUMNS.items():
        read("SELECT " + ", ".join(f'm."{column}"' for column in columns.split()) + f" FROM {view} m")
    if program in ("marks", "devices"):
        {"marks": marks, "devices": devices}[program]()
        return
    for view, query in {"kernels": "SELECT start, end FROM kernels", "regions_and_samples": "SELECT start, end FROM api UNION ALL"
                        " SELECT start, end FROM ranges"}.items():
        if program != "memory" or view != "kernels":
            same(view, read(f"SELECT start, end FROM {view}"), ask(query))
    same("markers by their message",
         read("SELECT json_extract(extdata, '$.message'), count(*), sum(duration) FROM regions_and_samples WHERE category LIKE 'MARKER_%' GROUP BY 1"),
         ask("SELECT name, count(*), sum(duration) FROM ranges GROUP BY 1"))
    if read("SELECT 1 FROM regions WHERE category NOT LIKE 'MARKER_%' AND length(extdata) > 2"):
        fail("a host call has a message")
    same("names of threads", read("SELECT DISTINCT tid, name FROM threads WHERE name IS NOT NULL"),
         ask("SELECT thread, coalesce(name, comm) FROM threads WHERE coalesce(name, comm) IS NOT NULL"))
    agents()
    if program == "memory":
        allocations()
        return
    same("code objects of kernels", read("SELECT k.kernel_name, c.agent_abs_index FROM kernel_symbols k JOIN code_objects c"
                                         " ON c.id = k.code_object_id AND c.guid = k.guid WHERE k.kernel_id = k.id"),
         ask("SELECT mangled, node FROM symbols s JOIN agents a USING (process, agent)"))
    streams = {number: handle for number, handle in ask("SELECT stream, handle FROM streams")}
    same("streams of arguments",
         read("SELECT r.start, s.stream_name, s.arg_value FROM stream_args s JOIN rocpd_event e ON e.id = s.event_id"
              " JOIN rocpd_region r ON r.event_id = e.id WHERE s.arg_type = 'hipStream_t'"),
         [(start, f"Stream {stream}", hex(streams[stream])) for start, stream in
          ask("SELECT start, stream FROM api WHERE args LIKE '%stream=%' AND args NOT LIKE '%*stream=%'")])
    same("launches of graphs", read("SELECT graph_exec_id, kernel_dispatch_count, duration FROM graph_launches"),
         ask("SELECT graph, kernels, end - start FROM graph_launches"))


def subclass(*names):
    """As RPD's tools take arguments apart, of host calls that they find by the arguments' string."""
    marks = ", ".join("?" * len(names))
    for number, text in read("SELECT a.id, b.string FROM rocpd_api a JOIN rocpd_string b ON b.id = a.args_id WHERE a.apiName_id IN"
                             f" (SELECT id FROM rocpd_string WHERE string IN ({marks}))", *names):
        yield number, {key.strip(): value.strip() for key, _, value in (part.partition("=") for part in text.split("|"))}


def as_recorded(args):
    """RTL's text of arguments as RPD's recorder has it. No argument of these programs has a comma in it but dim3."""
    parts = []
    for part in args.replace("{", "\0{").split("\0"):
        inner, brace, rest = part.partition("}") if part.startswith("{") else ("", "", part)
        parts.append((inner.replace(", ", ",~") + brace if brace else "") + rest.replace(", ", " | "))
    text = []
    for argument in filter(None, "".join(parts).replace(",~", ", ").split(" | ")):
        name, value = argument.split("=", 1)
        if name.startswith("*"):
            name = name[1:]
            name = name[1].lower() + name[2:] if name[0] == "p" and name[1].isupper() else name
        text.append(f"{name} = {'0x0' if value == 'NULL' else value}")
    return " | ".join(text)


def check_rpd():
    tables = {name for name, in read("SELECT name FROM sqlite_master")}
    if made := tables & {"rocpd_graphapi", "rocpd_graphLaunchapi", "graphapi", "graphLaunchapi", "ext_graph", "ext_graph_kernelapis"}:
        fail(f"{made} is there already, which RPD's tools make")
    for view, columns in {"napi": "id node pid tid start end domain category apiName args", "stackframe": "id string depth",
                          "nop": "id node gpuId queueId sequenceId start end description opType",
                          "top": "Name TotalCalls TotalDuration_us Ave_us Percentage"}.items():
        read(f"SELECT {', '.join(columns.split())} FROM {view}")
    same("op of all nodes", read("SELECT 0, gpuId, queueId, start, description FROM op"), read("SELECT node, gpuId, queueId, start, description FROM nop"))
    same("host calls, by the strings", read("SELECT a.start, n.string, b.string FROM rocpd_api a JOIN rocpd_string b ON b.id = a.args_id"
                                            " JOIN rocpd_string n ON n.id = a.apiName_id WHERE n.string <> 'UserMarker'"),
         [(start, name, as_recorded(args)) for start, name, args in ask("SELECT start, name, args FROM api")])
    same("host calls, by the ustrings", read("SELECT start, apiName, args FROM napi WHERE node = 0 AND apiName <> 'UserMarker'"),
         [(start, name, as_recorded(args)) for start, name, args in ask("SELECT start, name, args FROM api")])
    same("markers that are asked for by their text",
         read("SELECT b.string, a.start FROM rocpd_api a JOIN rocpd_string b ON b.id = args_id"
              " WHERE apiName_id IN (SELECT id FROM rocpd_string WHERE string = 'UserMarker') AND args_id IN (SELECT id FROM rocpd_ustring)"),
         ask("SELECT name, start FROM ranges"))
    same("time by name, us", [(name, calls, us, round(each, 6)) for name, calls, us, each in
                              read("SELECT Name, TotalCalls, TotalDuration_us, Ave_us FROM top WHERE Name NOT LIKE 'Copy%'")],
         [(name, calls, time // 1000, round(time // calls / 1000, 6)) for name, calls, time in
          ask("SELECT name, count(*), sum(duration) FROM kernels GROUP BY name")])
    launches = {number: (int(of["graphExec"], 16), int(of["stream"], 16)) for number, of in subclass("hipGraphLaunch")}
    same("launches of graphs, from their arguments", launches.items(),
         [(call, (executable, handle)) for call, executable, handle in
          ask("SELECT l.correlation, g.exec, s.handle FROM graph_launches l JOIN graphs g USING (process, graph, generation)"
              " JOIN api a ON a.process = l.process AND a.correlation = l.correlation JOIN streams s ON s.process = a.process AND s.stream = a.stream")])
    if program == "captured":
        captured = {of["graph"]: of["stream"] for _, of in subclass("hipStreamEndCapture")}
        begun = {of["stream"] for _, of in subclass("hipStreamBeginCapture")}
        if not captured or set(captured.values()) != begun:
            fail(f"captures ended on {captured}, begun on {begun}")
        same("graphs that were captured and instantiated",
             {(int(of["graphExec"], 16), int(of["graph"], 16)) for _, of in subclass("hipGraphInstantiate") if of["graph"] in captured},
             set(ask("SELECT exec, hip_graph FROM graphs")))


{"rocpd": check_rocpd, "rpd": check_rpd}[what]()
