#!/usr/bin/env python3
"""export_parts.py FORMAT RTL TRACE SIZE FILE...: the parts of an export to rpd, rocpd or rocprofv3, in their order. Each is whole by itself; over all
of them each event of the trace is there once, ids are there once, and each part begins when the one before has ended."""
import collections
import json
import os
import sqlite3
import subprocess
import sys

what, rtl, trace, size, *paths = sys.argv[1:]


def fail(text):
    sys.exit(f"export_parts.py: {text}")


def ask(query):
    return [tuple(row.values()) for row in
            json.loads(subprocess.run([rtl, "sql", "--json", trace, query], check=True, capture_output=True).stdout)]


def same(name, got, wanted):
    """Rows, in whatever order."""
    got, wanted = collections.Counter(got), collections.Counter(wanted)
    if got != wanted:
        fail(f"{name}: {list((got - wanted).items())[:3]} instead of {list((wanted - got).items())[:3]}")


def once(name, lists):
    count = collections.Counter(item for items in lists for item in items)
    twice = [item for item, number in count.items() if number > 1]
    if twice:
        fail(f"{name}: {twice[:3]} are there more than once")


def joined(lists):
    return [item for items in lists for item in items]


# Ids of a process have 2^40 added for each process before it.
KERNELS = "SELECT name, start, end, coalesce(((process - 1) << 40) + correlation, 0) FROM kernels"
COPIES = "SELECT start, end, bytes FROM copies WHERE start > 0"
CALLS = "SELECT thread, name, start, end, ((process - 1) << 40) + correlation FROM api"
RANGES = "SELECT thread, name, start, ((process - 1) << 40) + id FROM ranges"
LAUNCHES = "SELECT graph, start, kernels FROM graph_launches"
COUNTED = "SELECT k.start, c.name, c.value FROM kernel_counters c JOIN kernels k ON k.id = c.kernel"


def begins(database):
    """Times at which the events of each part begin."""
    queries = {"rpd": "SELECT start FROM rocpd_op UNION ALL SELECT start FROM rocpd_api",
               "rocpd": "SELECT start FROM rocpd_kernel_dispatch UNION ALL SELECT start FROM rocpd_memory_copy"
                        " UNION ALL SELECT start FROM rocpd_region UNION ALL SELECT start FROM rocpd_graph_launch"
                        " UNION ALL SELECT timestamp FROM rocpd_sample"}
    return [start for start, in database.execute(queries[what])]


def in_order(starts):
    for before, after in zip(starts, starts[1:]):
        if max(before) >= min(after):
            fail("a part begins before the one before it has ended")


def opened(path):
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    if database.execute("PRAGMA integrity_check").fetchall() != [("ok",)] or database.execute("PRAGMA foreign_key_check").fetchall():
        fail(f"{path} is not sound")
    return database


def everywhere(databases, query):
    return [database.execute(query).fetchall() for database in databases]


def check_rpd():
    parts = [opened(path) for path in paths]
    in_order([begins(part) for part in parts])
    for table in "op", "api", "api_ops", "counter":
        once(f"ids of rocpd_{table}", everywhere(parts, f"SELECT id FROM rocpd_{table}"))
    same("kernels", joined(everywhere(parts, "SELECT description, start, end FROM op WHERE opType = 'KernelExecution'")), [row[:3] for row in ask(KERNELS)])
    same("copies", joined(everywhere(parts, "SELECT start, end FROM op WHERE opType LIKE 'Copy%'")), [row[:2] for row in ask(COPIES)])
    same("host calls", joined(everywhere(parts, "SELECT tid, apiName, start, end, id FROM api WHERE apiName <> 'UserMarker'")), ask(CALLS))
    same("markers", joined(everywhere(parts, "SELECT tid, args, start, id FROM api WHERE apiName = 'UserMarker'")), ask(RANGES))
    same("counters", joined(everywhere(parts, """SELECT o.start, n.string, c.value FROM rocpd_counter c JOIN rocpd_op o ON o.id = c.op_id
        JOIN rocpd_string n ON n.id = c.name_id""")), ask(COUNTED))
    # A kernel leads to its call where both are in one part.
    part_of = {row[0]: number for number, part in enumerate(parts) for row in part.execute("SELECT start FROM rocpd_api")}
    ops = [{start for start, in rows} for rows in everywhere(parts, "SELECT start FROM rocpd_op")]
    wanted = [(kernel, call) for kernel, call in ask("SELECT k.start, a.start FROM kernels k JOIN api a USING (process, correlation)")
              if kernel in ops[part_of[call]]]
    same("kernels and their calls", joined(everywhere(parts, """SELECT o.start, a.start FROM rocpd_api_ops l JOIN rocpd_op o ON o.id = l.op_id
        JOIN rocpd_api a ON a.id = l.api_id JOIN rocpd_string t ON t.id = o.opType_id WHERE t.string = 'KernelExecution'""")), wanted)
    sums = {}
    for name, calls in joined(everywhere(parts, "SELECT Name, TotalCalls FROM top")):
        sums[name] = sums.get(name, 0) + calls
    same("top", sums.items(), ask("SELECT Name, TotalCalls FROM top"))


def check_rocpd():
    parts = [opened(path) for path in paths]
    in_order([begins(part) for part in parts])
    for table in "event", "arg", "pmc_event", "region", "kernel_dispatch", "memory_copy", "memory_allocate", "graph_launch", "sample", "track", "info_process", "info_thread":
        once(f"ids of rocpd_{table}", everywhere(parts, f"SELECT id FROM rocpd_{table}"))
    once("identities of files", everywhere(parts, "SELECT value FROM rocpd_metadata WHERE tag = 'guid'"))
    same("kernels", joined(everywhere(parts, "SELECT name, start, end, corr_id FROM kernels")), ask(KERNELS))
    same("threads of kernels", joined(everywhere(parts, "SELECT tid, start FROM kernels WHERE corr_id > 0")),
         ask("SELECT a.thread, k.start FROM kernels k JOIN api a USING (process, correlation)"))
    same("ranges of kernels", joined(everywhere(parts, "SELECT region, start FROM kernels")),
         ask("SELECT coalesce(r.name, k.name), k.start FROM kernels k LEFT JOIN ranges r ON r.process = k.process AND r.id = k.range"))
    same("numbers of kernels", joined(everywhere(parts, "SELECT dispatch_id FROM kernels")), [(number + 1,) for number in range(len(ask(KERNELS)))])
    same("copies", joined(everywhere(parts, "SELECT start, end, size FROM memory_copies")), ask(COPIES))
    same("host calls", joined(everywhere(parts, "SELECT tid, name, start, end, corr_id FROM regions WHERE category = 'HIP_RUNTIME_API'")), ask(CALLS))
    same("ranges", joined(everywhere(parts, """SELECT tid, json_extract(extdata, '$.message'), start, corr_id
        FROM regions_and_samples WHERE category LIKE 'MARKER_%'""")), ask(RANGES))
    same("launches", joined(everywhere(parts, "SELECT graph_exec_id, start, kernel_dispatch_count FROM graph_launches")), ask(LAUNCHES))
    same("counters", joined(everywhere(parts, "SELECT start, counter_name, counter_value FROM pmc_events")), ask(COUNTED))


def check_rocprofv3():
    tools = [json.load(open(path, encoding="utf-8"))["rocprofiler-sdk-tool"][0] for path in paths]
    records = [tool["buffer_records"] for tool in tools]
    in_order([[event["start_timestamp"] for kind in record.values() for event in kind] for record in records])

    def name(tool, kernel):
        return next(symbol["formatted_kernel_name"] for symbol in tool["kernel_symbols"] if symbol["kernel_id"] == kernel["dispatch_info"]["kernel_id"])

    def operation(tool, call):
        return tool["strings"]["buffer_records"][call["kind"]]["operations"][call["operation"]]

    def times(event):
        return event["start_timestamp"], event["end_timestamp"]

    same("kernels", [(name(tool, kernel), *times(kernel), kernel["correlation_id"]["internal"]) for tool in tools
                     for kernel in tool["buffer_records"]["kernel_dispatch"]], ask(KERNELS))
    same("copies", [(*times(copy), copy["bytes"]) for record in records for copy in record["memory_copy"]], ask(COPIES))
    same("host calls", [(call["thread_id"], operation(tool, call), *times(call), call["correlation_id"]["internal"]) for tool in tools
                        for call in tool["buffer_records"]["hip_api"]], ask(CALLS))
    texts = {text["key"]: text["value"] for tool in tools for text in tool["strings"]["marker_api"]}
    same("ranges", [(mark["thread_id"], texts[mark["correlation_id"]["internal"]], mark["start_timestamp"], mark["correlation_id"]["internal"])
                    for record in records for mark in record["marker_api"]], ask(RANGES))
    same("texts of ranges", texts.keys(), [row[3] for row in ask(RANGES)])
    same("numbers of kernels", [kernel["dispatch_info"]["dispatch_id"] for record in records for kernel in record["kernel_dispatch"]],
         [number + 1 for number in range(len(ask(KERNELS)))])
    same("counters", [(counted["dispatch_data"]["start_timestamp"],
                       next(counter["name"] for counter in tool["counters"] if counter["id"] == record["counter_id"]), record["value"])
                      for tool in tools for counted in tool["callback_records"]["counter_collection"] for record in counted["records"]], ask(COUNTED))
    # The time of the processes is parted, too: idle time of the parts adds up.
    (start, end), = ask("SELECT min(start), max(coalesce(end, start)) FROM processes")
    spans = [(tool["metadata"]["init_time"], tool["metadata"]["fini_time"]) for tool in tools]
    if spans[0][0] != start or spans[-1][1] != end or any(a[1] != b[0] for a, b in zip(spans, spans[1:])):
        fail(f"times of the parts: {spans}, not {start} to {end}")


if len(paths) < 3:
    fail(f"{len(paths)} parts")
for path in paths:
    if os.stat(path).st_size > int(size) * 5 // 4 + 16384:
        fail(f"{path} has {os.stat(path).st_size} bytes instead of {size}")
{"rpd": check_rpd, "rocpd": check_rocpd, "rocprofv3": check_rocprofv3}[what]()
