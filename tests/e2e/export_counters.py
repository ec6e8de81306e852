#!/usr/bin/env python3
"""export_counters.py WHAT RTL TRACE WINDOW PROCESSES FILE...: hardware counters in the files, parts of one export, are those that SQL has.
WINDOW is empty or "FROM TO", PROCESSES empty or "2 3"."""
import collections
import csv
import json
import sqlite3
import subprocess
import sys

what, rtl, trace, window, processes = sys.argv[1:6]
files = sys.argv[6:]


def fail(text):
    sys.exit(f"export_counters.py: {text}")


def output(*command):
    return subprocess.run([rtl, *command], check=True, capture_output=True).stdout


def ask(query):
    return json.loads(output("sql", "--json", trace, query))


def same_rows(name, got, wanted):
    got, wanted = collections.Counter(got), collections.Counter(wanted)
    if got != wanted:
        fail(f"{name}: {list((got - wanted).items())[:3]} instead of {list((wanted - got).items())[:3]}")


def overlaps(start, end):
    """As --from and --to have it."""
    first, last = map(int, window.split()) if window else (0, 1 << 63)
    return start < last and (end is None or end > first)


def chosen(row):
    return not processes or str(row["process"]) in processes.split()


info = {row["process"]: row for row in ask("SELECT * FROM processes")}
kernels = {row["id"]: row for row in ask("SELECT * FROM kernels") if chosen(row) and overlaps(row["start"], row["end"])}
ranges = {(row["process"], row["id"]): row for row in ask("SELECT * FROM ranges") if chosen(row) and overlaps(row["start"], row["end"])}
agents = {(row["process"], row["agent"]): row for row in ask("SELECT * FROM agents")}
counters = {(row["process"], row["counter"]): row for row in ask("SELECT * FROM counters") if chosen(row)}
# A row of SQL for each counter of a kernel in the export, beside its kernel, and of a range.
of_kernels = [(row, kernels[row["kernel"]]) for row in ask("SELECT * FROM kernel_counters") if row["kernel"] in kernels]
of_ranges = [row for row in ask("SELECT * FROM range_counters") if (row["process"], row["range"]) in ranges]


if not of_kernels and not of_ranges:
    fail("nothing was counted")


def read_csv():
    rows = []
    for path in files:
        with open(path, newline="", encoding="utf-8") as file:
            raw = file.read()
        if raw.count("\r\n") != raw.count("\n"):
            fail(f"{path} has lines that do not end in CRLF")
        rows += csv.DictReader(raw.splitlines(keepends=True), strict=True)
    return rows


def check_table(wanted):
    rows = read_csv()
    columns = list(rows[0])
    if columns != list(wanted[0]):
        fail(f"columns {columns}")
    same_rows("rows", [tuple(row.values()) for row in rows], [tuple(str(value) for value in row.values()) for row in wanted])


def check_collection():
    """As pandas reads what rocprofv3 writes; dispatches are counted by their start."""
    dispatch = {row["id"]: number for number, row in enumerate(sorted(kernels.values(), key=lambda row: row["start"]), 1)}
    rows = read_csv()
    same_rows("rows", [(row["Kernel_Name"], int(row["Process_Id"]), int(row["Start_Timestamp"]), int(row["End_Timestamp"]), int(row["Grid_Size"]),
                        int(row["Workgroup_Size"]), row["Counter_Name"], float(row["Counter_Value"]), int(row["Agent_Id"])) for row in rows],
              [(kernel["name"], info[kernel["process"]]["pid"], kernel["start"], kernel["end"], kernel["grid_x"] * kernel["grid_y"] * kernel["grid_z"],
                kernel["block_x"] * kernel["block_y"] * kernel["block_z"], row["name"], float(row["value"]),
                agents[row["process"], row["agent"]]["node"])
               for row, kernel in of_kernels])
    if len(info) > 1 and len({kernel["start"] for kernel in kernels.values()}) < len(kernels):
        same_rows("dispatches", [int(row["Dispatch_Id"]) <= len(dispatch) for row in rows], [True] * len(rows))
    for row in rows:
        if int(row["Queue_Id"]) < 1 or int(row["Kernel_Id"]) < 1 or int(row["LDS_Block_Size"]) % 512:
            fail(f"a row of nothing: {row}")


def check_rpd():
    with sqlite3.connect(files[0]) as db:
        rows = db.execute("SELECT o.queueId, o.sequenceId, o.start, o.gpuId, d.string, n.string, c.value FROM rocpd_counter c"
                          " JOIN rocpd_op o ON o.id = c.op_id JOIN rocpd_string d ON d.id = o.description_id"
                          " JOIN rocpd_string n ON n.id = c.name_id").fetchall()
    same_rows("counters", rows, [(row["queue"], row["packet"], kernel["start"], kernel["gpu"], kernel["name"], row["name"], float(row["value"]))
                                 for row, kernel in of_kernels])


def gpu_of(row):
    return agents[row["process"], row["agent"]]["gpu"]


def check_rocpd():
    with sqlite3.connect(files[0]) as db:
        pmcs = db.execute("SELECT p.pid, a.type_index, i.name, i.symbol, i.event_code, i.target_arch FROM rocpd_info_pmc i"
                          " JOIN rocpd_info_process p ON p.id = i.pid JOIN rocpd_info_agent a ON a.id = i.agent_id").fetchall()
        rows = db.execute("SELECT p.pid, k.start, k.end, y.display_name, i.name, e.value, a.type_index FROM rocpd_pmc_event e"
                          " JOIN rocpd_info_pmc i ON i.id = e.pmc_id JOIN rocpd_kernel_dispatch k ON k.event_id = e.event_id"
                          " JOIN rocpd_info_kernel_symbol y ON y.id = k.kernel_id JOIN rocpd_info_process p ON p.id = k.pid"
                          " JOIN rocpd_info_agent a ON a.id = i.agent_id AND a.id = k.agent_id").fetchall()
        regions = db.execute("SELECT p.pid, r.start, s.string, i.name, e.value, a.type_index FROM rocpd_pmc_event e"
                             " JOIN rocpd_info_pmc i ON i.id = e.pmc_id JOIN rocpd_region r ON r.event_id = e.event_id"
                             " JOIN rocpd_string s ON s.id = r.name_id JOIN rocpd_info_process p ON p.id = r.pid"
                             " JOIN rocpd_info_agent a ON a.id = i.agent_id").fetchall()
        all_rows, = db.execute("SELECT count(*) FROM rocpd_pmc_event").fetchone()
        views = [db.execute(query).fetchall() for query in (
            "SELECT pid, start, end, name, counter_name, counter_value FROM pmc_events",
            "SELECT pid, start, end, kernel_name, counter_name, value FROM counters_collection")]
        infos, = db.execute("SELECT count(*) FROM pmc_info").fetchone()
    same_rows("what counters there are", pmcs, [(info[row["process"]]["pid"], gpu_of(row), row["name"], row["name"], row["event"], "GPU")
                                                for row in counters.values()])
    wanted = [(info[kernel["process"]]["pid"], kernel["start"], kernel["end"], kernel["name"], row["name"], float(row["value"]), gpu_of(row))
              for row, kernel in of_kernels]
    same_rows("counters of kernels", rows, wanted)
    for view in views:
        same_rows("a view", view, [row[:6] for row in wanted])
    same_rows("counters of ranges", regions, [(info[row["process"]]["pid"], ranges[row["process"], row["range"]]["start"],
                                              ranges[row["process"], row["range"]]["name"], row["name"], float(row["value"]), gpu_of(row))
                                             for row in of_ranges])
    if all_rows != len(rows) + len(regions) or infos != len(pmcs):
        fail(f"{all_rows} counts, {infos} counters")


def check_rocprofv3():
    with open(files[0], encoding="utf-8") as file:
        tool, = json.load(file)["rocprofiler-sdk-tool"]
    names = {counter["id"]["handle"]: counter for counter in tool["counters"]}
    devices = {agent["id"]["handle"]: agent for agent in tool["agents"]}
    dispatches = {record["dispatch_info"]["dispatch_id"]: record for record in tool["buffer_records"]["kernel_dispatch"]}
    if len(names) != len(counters) or len(dispatches) != len(kernels):
        fail(f"{len(names)} counters, {len(dispatches)} kernels")
    got = []
    for record in tool["callback_records"]["counter_collection"]:
        data = record["dispatch_data"]
        twin = dispatches[data["dispatch_info"]["dispatch_id"]]
        if data["dispatch_info"] != twin["dispatch_info"] or record["thread_id"] != twin["thread_id"] or \
                (data["start_timestamp"], data["end_timestamp"], data["correlation_id"]) != \
                (twin["start_timestamp"], twin["end_timestamp"], twin["correlation_id"]):
            fail(f"what is counted is not what ran: {data} {twin}")
        for value in record["records"]:
            counter = names[value["counter_id"]["handle"]]
            if counter["agent_id"] != data["dispatch_info"]["agent_id"]:
                fail(f"a counter of another device: {record}")
            got.append((data["start_timestamp"], tool["kernel_symbols"][data["dispatch_info"]["kernel_id"]]["formatted_kernel_name"],
                        counter["name"], value["value"], devices[counter["agent_id"]["handle"]]["logical_node_type_id"]))
    same_rows("counter_collection", got, [(kernel["start"], kernel["name"], row["name"], row["value"], kernel["gpu"]) for row, kernel in of_kernels])


# What ranges' counters and metrics are, from another subcommand, and only of processes whose ranges it lists.
costs = {(row["process"], row["id"]): {**row["counters"], **{name: value for name, value in row["metrics"].items()
                                                             if name in counted and value is not None and row["counters"]}}
         for counted in [{"waves", "waves_max", "gpu_cycles", "gpu_busy", "l2_requests", "l2_hit"}]
         for row in json.loads(output("ranges", trace, "--json", "--metrics", "all"))["ranges"]} if what in ("chrome", "perfetto") else {}


def check_costs(got):
    """GOT: what the arguments of each range's slice are but for those that all ranges have."""
    some = 0
    for key, args in got.items():
        wanted = costs.get(key, {})
        if set(args) != set(wanted):
            fail(f"range {key} has {sorted(args)}, want {sorted(wanted)}")
        for name, value in wanted.items():
            if abs(args[name] - value) > 1e-6 * max(1, abs(value)):
                fail(f"{name} of range {key}: got {args[name]}, want {value}")
        some += bool(wanted)
    if not some:
        fail("no range says what counters counted")


def check_samples(tracks):
    """TRACKS: of each (GPU, counter) its samples by time: a value from the begin of a kernel on, 0 from its end on."""
    wanted = collections.defaultdict(list)
    for row, kernel in of_kernels:
        wanted[kernel["process"], kernel["gpu"], row["name"]] += [(kernel["start"], row["value"]), (kernel["end"], 0)]
    if set(tracks) != set(wanted):
        fail(f"counter tracks {sorted(set(tracks) ^ set(wanted))[:5]}")
    for key, samples in tracks.items():
        same_rows(f"samples of {key}", samples, wanted[key])


def check_args(got):
    wanted = collections.defaultdict(dict)
    for row, kernel in of_kernels:
        wanted[kernel["process"], kernel["queue"], kernel["start"]][row["name"]] = row["value"]
    for key, args in got.items():
        if args != wanted.get(key, {}):
            fail(f"kernel {key} has {args}, want {wanted.get(key)}")
    if set(wanted) - set(got):
        fail("kernels that were counted are not there")


def check_chrome():
    offset = int(ask("SELECT value FROM meta WHERE key = 'realtime_offset'")[0]["value"])
    exported = [number for number in info if not processes or str(number) in processes.split()]
    names = {row["name"] for row in counters.values()}
    tracks, kernel_args, range_args = collections.defaultdict(list), {}, {}
    for path in files:
        with open(path, encoding="utf-8") as file:
            document = json.load(file, parse_float=lambda text: text)
        shift = document["baseTimeNanoseconds"] - offset

        def time(event):
            return int(event["ts"].replace(".", "")) + shift

        for event in document["traceEvents"]:
            if event["ph"] == "C":
                tracks[exported[event["pid"] // 1000], event["pid"] % 1000, event["name"]].append((time(event), event["args"]["value"]))
            elif event.get("cat") == "kernel":
                kernel_args[exported[event["pid"] // 1000], event["args"]["hsa_queue"], time(event)] = \
                    {name: value for name, value in event["args"].items() if name in names}
            elif event.get("cat") == "user_annotation":
                number = event["args"]["External id"]
                range_args[exported[number >> 40], number & (1 << 40) - 1] = \
                    {name: float(value) for name, value in event["args"].items() if name not in ("stream", "External id", "kind", "open")}
    check_samples(tracks)
    check_args(kernel_args)
    check_costs(range_args)


def check_perfetto():
    sys.argv[1:] = ["none", rtl, trace]
    import export as reader  # pylint: disable=import-outside-toplevel
    sequence = reader.Sequence()
    for path in files:
        for packet in reader.packets(path):
            sequence.packet(packet)
    by_pid = {str(row["pid"]): number for number, row in info.items()}

    def process_of(track):
        while not track["process"]:
            track = sequence.tracks[track["parent_uuid"][0]]
        return by_pid[track["process"][0]["pid"][0]]

    names = {row["name"] for row in counters.values()}
    tracks, kernel_args, range_args = collections.defaultdict(list), {}, {}
    for time, event in sequence.events:
        track = sequence.tracks[event["track_uuid"][0]]
        if event["type"][0] == "TYPE_COUNTER" and track["name"][0] in names:
            gpu = sequence.tracks[track["parent_uuid"][0]]["name"][0]
            tracks[process_of(track), int(gpu.split()[1].rstrip(":")), track["name"][0]].append((time, int(event["counter_value"][0])))
        elif event["type"][0] == "TYPE_SLICE_BEGIN" and event["category"] == ["kernel"]:
            kernel_args[process_of(track), event["args"]["queue"], time] = \
                {name: value for name, value in event["args"].items() if name in names}
        elif event["type"][0] == "TYPE_SLICE_BEGIN" and event["category"] == ["range"]:
            range_args[process_of(track), event["args"]["range"]] = {name: value for name, value in event["args"].items() if name != "range"}
    check_samples(tracks)
    check_args(kernel_args)
    check_costs(range_args)


{"kernel_counters": lambda: check_table([row for row, _ in of_kernels]), "range_counters": lambda: check_table(of_ranges),
 "counter_collection": check_collection, "rpd": check_rpd, "rocpd": check_rocpd, "rocprofv3": check_rocprofv3, "chrome": check_chrome,
 "perfetto": check_perfetto}[what]()
