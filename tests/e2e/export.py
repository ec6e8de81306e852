#!/usr/bin/env python3
"""export.py FORMAT RTL TRACE FILE...: the files, parts of one export, say what SQL says of the trace."""
import collections
import csv
import json
import re
import subprocess
import sys

rtl, trace = sys.argv[2], sys.argv[3]


def fail(text):
    sys.exit(f"export.py: {text}")


def equal(what, got, wanted):
    if got != wanted:
        fail(f"{what}: got {got!r}, want {wanted!r}")


def ask(query):
    """Rows of a query, as a list of dictionaries."""
    return json.loads(subprocess.run([rtl, "sql", "--json", trace, query], check=True, capture_output=True).stdout)


def same_rows(what, got, wanted):
    got, wanted = collections.Counter(got), collections.Counter(wanted)
    if got != wanted:
        fail(f"{what}: {list((got - wanted).items())[:3]} instead of {list((wanted - got).items())[:3]}")


# CSV.


def text_of(value):
    return "" if value is None else str(value)


def check_csv(files):
    """FILE is TABLE=PATH."""
    for name in files:
        table, path = name.split("=")
        with open(path, newline="", encoding="utf-8") as file:
            raw = file.read()
        if raw.count("\r\n") != raw.count("\n"):
            fail(f"{path} has lines that do not end in CRLF")
        rows = list(csv.DictReader(raw.splitlines(keepends=True), strict=True))
        wanted = ask(f"SELECT * FROM {'graph_launches' if table == 'launches' else table}")
        if rows:
            columns = list(rows[0])
            missing = [column for column in columns if wanted and column not in wanted[0]]
            equal(f"columns of {table} that SQL has not", missing, [])
            same_rows(table, [tuple(row.values()) for row in rows],
                      [tuple(text_of(row[column]) for column in columns) for row in wanted])
        equal(f"rows of {table}", len(rows), len(wanted))


# Chrome.


def nanoseconds(text):
    """'12.345' in µs."""
    whole, decimals = text.split(".")
    if len(decimals) != 3:
        fail(f"{text} has not three decimals")
    return int(whole + decimals)


def read_chrome(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file, parse_float=lambda text: nanoseconds(text) if re.search(r"\.\d{3}$", text) else text)
    equal("schemaVersion", document["schemaVersion"], 1)
    for key in ("deviceProperties", "distributedInfo", "displayTimeUnit", "baseTimeNanoseconds", "traceEvents"):
        if key not in document:
            fail(f"{path} has no {key}")
    equal("type of the rank", type(document["distributedInfo"]["rank"]), int)
    ids = [device["id"] for device in document["deviceProperties"]]
    for event in document["traceEvents"]:
        if event["ph"] == "X":
            check_slice(event, ids)
    check_flows(document["traceEvents"])
    check_rows(document["traceEvents"])
    return document


def check_slice(event, devices):
    for key in ("cat", "name", "ts", "dur", "pid", "tid", "args"):
        if key not in event:
            fail(f"an event without {key}: {event}")
    args = event["args"]
    equal(f"type of the stream of {event}", type(args["stream"]), int)
    if event["cat"] in ("cuda_runtime", "kernel", "gpu_memcpy", "gpu_memset"):
        equal(f"type of the correlation of {event}", type(args["correlation"]), int)
    if event["cat"] in ("kernel", "gpu_memset"):
        equal("length of grid and block", (len(args["grid"]), len(args["block"])), (3, 3))
        if event["pid"] not in devices or "hsa_queue" not in args:
            fail(f"a kernel of no device or queue: {event}")


def check_flows(events):
    """Each arrow has one begin, inside of its call, and ends at the begin of a slice."""
    sources = [event["id"] for event in events if event["ph"] == "s"]
    calls = {event["args"]["correlation"]: event for event in events if event.get("cat") == "cuda_runtime"}
    ends = {(event["pid"], event["tid"], event["ts"], event["args"]["correlation"]) for event in events
            if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")}
    equal("begins of an arrow", len(sources), len(set(sources)))
    targets = [event for event in events if event["ph"] == "f"]
    equal("arrows with one end", set(sources) ^ {event["id"] for event in targets}, set())
    for event in targets:
        if event["bp"] != "e" or (event["pid"], event["tid"], event["ts"], event["id"]) not in ends:
            fail(f"an arrow to nowhere: {event}")
    for event in events:
        if event["ph"] != "s":
            continue
        call = calls[event["id"]]
        equal("begin of an arrow", (event["pid"], event["tid"], event["ts"]), (call["pid"], call["tid"], call["ts"]))


def check_rows(events):
    """What is on a row of a device does not overlap, and the row has a name."""
    named = {(event["pid"], event["tid"]) for event in events if event["ph"] == "M" and event["name"] == "thread_name"}
    busy = collections.defaultdict(int)
    for event in sorted((event for event in events if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")),
                        key=lambda event: event["ts"]):
        row = event["pid"], event["tid"]
        if row not in named or event["ts"] < busy[row]:
            fail(f"a row without a name, or with two things at once: {event}")
        busy[row] = event["ts"] + event["dur"]


def check_chrome(files):
    documents = [read_chrome(path) for path in files]
    offset = int(ask("SELECT value FROM meta WHERE key = 'realtime_offset'")[0]["value"])
    events = []
    for document in documents:
        shift = document["baseTimeNanoseconds"] - offset
        for event in document["traceEvents"]:
            if event["ph"] == "X":
                event["start"], event["end"] = event["ts"] + shift, event["ts"] + shift + event["dur"]
                events.append(event)
    of = collections.defaultdict(list)
    for event in events:
        of[event["cat"]].append(event)
    kernels = of["kernel"] + of["gpu_memset"]
    same_rows("kernels", [(event["args"].get("kernel", event["name"]), event["start"], event["end"],
                           event["args"]["correlation"], event["args"]["hsa_queue"], event["args"].get("graph id"),
                           event["args"].get("graph node id"), tuple(event["args"]["block"])) for event in kernels],
              [(row["name"], row["start"], row["end"], row["correlation"] or -1, row["queue"], row["graph"], row["node"],
                (row["block_x"], row["block_y"], row["block_z"])) for row in ask("SELECT * FROM kernels")])
    same_rows("host calls", [(event["name"], event["start"], event["end"], event["args"]["correlation"], event["tid"])
                             for event in of["cuda_runtime"]],
              [(row["name"], row["start"], row["end"], row["correlation"], row["thread"]) for row in ask("SELECT * FROM api")])
    same_rows("ranges", [(event["name"], event["start"], event["args"]["External id"]) for event in of["user_annotation"]],
              [(row["name"], row["start"], row["id"]) for row in ask("SELECT * FROM ranges")])
    same_rows("copies", [(event["start"], event["end"], event["args"]["bytes"]) for event in of["gpu_memcpy"]],
              [(row["start"], row["end"], row["bytes"]) for row in ask("SELECT * FROM copies WHERE end > 0")])
    check_spans(documents, of)


def check_spans(documents, of):
    """A kernel in a range has the range around it, on its stream."""
    spans = collections.defaultdict(list)
    for event in of["gpu_user_annotation"]:
        spans[event["pid"], event["args"]["stream"], event["args"]["External id"]].append((event["start"], event["end"]))
    for event in of["kernel"]:
        if "External id" not in event["args"] or len(documents) > 1:
            continue
        around = spans[event["pid"], event["args"]["stream"], event["args"]["External id"]]
        if not any(start <= event["start"] and event["end"] <= end for start, end in around):
            fail(f"a kernel outside of its range: {event}")


{"csv": check_csv, "chrome": check_chrome}[sys.argv[1]](sys.argv[4:])
