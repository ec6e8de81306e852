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


def check_hta(path, events):
    """How HTA finds a file's rank, and tells the GPU's work from the host's: by whether `stream` is there and not negative."""
    with open(path, encoding="utf-8") as file:
        if not re.search(r'"rank":\s+(\d+)', file.read(4096)):
            fail(f"HTA's pattern finds no rank in {path}")
    on_gpu = {event["cat"] for event in events if event["ph"] == "X" and event["args"].get("stream", -1) >= 0}
    if not on_gpu <= {"kernel", "gpu_memcpy", "gpu_memset"}:
        fail(f"HTA takes for the GPU's work: {on_gpu}")


def read_chrome(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file, parse_float=lambda text: nanoseconds(text) if re.search(r"\.\d{3}$", text) else text)
    equal("schemaVersion", document["schemaVersion"], 1)
    for key in ("deviceProperties", "distributedInfo", "displayTimeUnit", "baseTimeNanoseconds", "traceEvents"):
        if key not in document:
            fail(f"{path} has no {key}")
    equal("type of the rank", type(document["distributedInfo"]["rank"]), int)
    check_hta(path, document["traceEvents"])
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
    equal(f"type of the stream of {event}", type(args.get("stream", -1)), int)
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
                           event["args"].get("graph node id"), tuple(event["args"]["block"]), event["args"].get("External id"),
                           event["args"].get("capture id")) for event in kernels],
              [(row["name"], row["start"], row["end"], row["correlation"] or -1, row["queue"], row["graph"], row["node"],
                (row["block_x"], row["block_y"], row["block_z"]), row["range"], row["capture_range"])
               for row in ask("SELECT * FROM kernels")])
    same_rows("host calls", [(event["name"], event["start"], event["end"], event["args"]["correlation"], event["tid"])
                             for event in of["cuda_runtime"]],
              [(row["name"], row["start"], row["end"], row["correlation"], row["thread"]) for row in ask("SELECT * FROM api")])
    same_rows("ranges", [(event["name"], event["start"], event["args"]["External id"]) for event in of["user_annotation"]],
              [(row["name"], row["start"], row["id"]) for row in ask("SELECT * FROM ranges")])
    same_rows("copies", [(event["start"], event["end"], event["args"]["bytes"]) for event in of["gpu_memcpy"]],
              [(row["start"], row["end"], row["bytes"]) for row in ask("SELECT * FROM copies WHERE end > 0")])
    check_spans(documents, of)


def check_spans(documents, of):
    """A kernel in a range has the range around it, on its stream; one that was captured in a range has that around it as well, once
    for each replay."""
    parents = {row["id"]: row["parent"] for row in ask("SELECT id, parent FROM ranges")}
    spans = collections.defaultdict(list)
    for event in of["gpu_user_annotation"]:
        spans[event["args"].get("captured", False), event["pid"], event["tid"], event["args"]["External id"]].append(
            (event["start"], event["end"]))

    def around(event, captured, span):
        return [(start, end) for start, end in spans[captured, event["pid"], event["args"]["stream"], span]
                if start <= event["start"] and event["end"] <= end]

    def lineage(span):
        while span:
            yield span
            span = parents[span]

    replays = collections.defaultdict(set)
    for event in of["kernel"] if len(documents) == 1 else ():
        launched, captured = event["args"].get("External id"), event["args"].get("capture id")
        if launched and not around(event, False, launched):
            fail(f"a kernel outside of its range: {event}")
        if captured and captured not in lineage(launched):
            found = around(event, True, captured)
            if not found:
                fail(f"a kernel outside of the range that it was captured in: {event}")
            for span in found:
                replays[event["pid"], event["args"]["stream"], captured, span].add(
                    (event["args"]["graph id"], event["args"]["graph launch"]))
    for span, launches in replays.items():
        if len(launches) > 1:
            fail(f"a captured range on a stream is of several replays: {span}, {launches}")


# Perfetto. FILE is what protoc has decoded.


def unquoted(text):
    """A string of protobuf's text format."""
    plain = text[1:-1].encode("latin-1").decode("unicode_escape")
    return plain.encode("latin-1").decode("utf-8")


def read_message(lines):
    """Fields by their names: lists of values, messages as dictionaries."""
    message = collections.defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        name, _, value = line.partition(" ")
        if name.rstrip(":").isdigit():
            fail(f"a field that Perfetto does not have: {line}")
        if value == "{":
            message[name].append(read_message(lines))
        else:
            message[name.rstrip(":")].append(unquoted(value) if value.startswith('"') else value)
    return message


def packets(path):
    with open(path, encoding="utf-8") as file:
        lines = iter(file)
        for line in lines:
            equal("what the file has", line, "packet {\n")
            yield read_message(lines)


class Sequence:
    """The tracks and slices of a sequence of packets; what is not allowed fails."""

    def __init__(self):
        self.tracks, self.events, self.slices, self.counters = {}, [], [], collections.defaultdict(list)
        self.interned, self.flows, self.parts, self.last = {}, collections.defaultdict(list), 0, 0

    def packet(self, packet):
        flags = int(packet["sequence_flags"][0])
        if flags & 1:
            self.interned, self.last = {}, 0
            self.parts += 1
        elif not flags & 2 or not packet["trusted_packet_sequence_id"]:
            fail("a packet that does not need the state that it uses")
        for data in packet["interned_data"]:
            for kind, texts in data.items():
                for text in texts:
                    if self.interned.setdefault((kind, text["iid"][0]), text["name"][0]) != text["name"][0]:
                        fail("a number of a text that is given twice")
        for track in packet["track_descriptor"]:
            self.tracks[track["uuid"][0]] = track
        for event in packet["track_event"]:
            if event["track_uuid"][0] not in self.tracks:
                fail("an event on a track that nobody has described")
            event["args"] = {self.interned["debug_annotation_names", argument["name_iid"][0]]: self.value(argument)
                             for argument in event["debug_annotations"]}
            if event["name_iid"]:
                event["name"] = [self.interned["event_names", event["name_iid"][0]]]
            event["category"] = [self.interned["event_categories", iid] for iid in event["category_iids"]]
            time = int(packet["timestamp"][0])
            if time < self.last:
                fail(f"packets are not in the order of time: {time} comes behind {self.last}")
            self.last = time
            self.events.append((time, event))

    def value(self, argument):
        if argument["string_value_iid"]:
            return self.interned["debug_annotation_string_values", argument["string_value_iid"][0]]
        if argument["double_value"]:
            return float(argument["double_value"][0])
        numbers = argument["uint_value"] + argument["int_value"]
        return int(numbers[0]) if numbers else argument["string_value"][0]

    def nest(self):
        """As the trace processor does it: by time, otherwise in the order of the file."""
        stacks = collections.defaultdict(list)
        for time, event in sorted(self.events, key=lambda timed: timed[0]):
            stack, kind = stacks[event["track_uuid"][0]], event["type"][0]
            if kind == "TYPE_COUNTER":
                self.counters[event["track_uuid"][0]].append((time, int(event["counter_value"][0])))
                continue
            if kind == "TYPE_SLICE_END":
                if not stack:
                    fail(f"an end without a begin at {time}")
                stack.pop()["end"] = time
                continue
            one = {"name": event["name"][0], "category": event["category"][0], "start": time, "args": event["args"],
                   "end": time if kind == "TYPE_INSTANT" else None, "parent": stack[-1] if stack else None}
            self.slices.append(one)
            for flow in event["flow_ids"]:
                self.flows[flow].append(one)
            if kind != "TYPE_INSTANT":
                stack.append(one)


def check_perfetto(files):
    sequence = Sequence()
    for path in files:
        for packet in packets(path):
            sequence.packet(packet)
    sequence.nest()
    of = collections.defaultdict(list)
    for one in sequence.slices:
        of[one["category"]].append(one)
    names = [track["name"][0] for track in sequence.tracks.values() if track["name"]]
    same_rows("kernels", [(one["name"], one["start"], one["end"], one["args"].get("correlation"), one["args"]["queue"],
                           one["args"].get("node"), one["args"].get("range"), one["args"].get("capture_range")) for one in of["kernel"]],
              [(row["name"], row["start"], row["end"], row["correlation"], row["queue"], row["node"], row["range"],
                row["capture_range"])
               for row in ask("SELECT * FROM kernels")])
    same_rows("graphs of kernels", [(one["start"], one["args"].get("graph"), one["args"].get("launch")) for one in of["kernel"]],
              [(row["start"], row["graph"], row["launch"]) for row in ask("SELECT * FROM kernels")])
    same_rows("host calls", [(one["name"], one["start"], one["end"], one["args"]["correlation"]) for one in of["api"]],
              [(row["name"], row["start"], row["end"], row["correlation"]) for row in ask("SELECT * FROM api")])
    same_rows("ranges", [(one["name"], one["start"], one["end"], one["args"]["range"]) for one in of["range"]],
              [(row["name"], row["start"], row["end"], row["id"]) for row in ask("SELECT * FROM ranges")])
    same_rows("copies", [(one["start"], one["end"], one["args"]["bytes"]) for one in of["copy"]],
              [(row["start"], row["end"], row["bytes"]) for row in ask("SELECT * FROM copies WHERE end > 0")])
    check_replays(of)
    check_perfetto_flows(sequence, of)
    check_counters(sequence, names)


def check_replays(of):
    """A launch is one slice, however many branches and parts it has, and as long as it ran."""
    same_rows("graph launches", [(one["name"], one["args"]["launch"], one["start"], one["end"]) for one in of["graph"]],
              [(f"GRAPH {row['graph']}", row["launch"], row["start"], row["end"])
               for row in ask("SELECT * FROM graph_launches WHERE start IS NOT NULL")])
    equal("slices around launches and kernels", [one for one in of["graph"] + of["kernel"] if one["parent"]], [])


def check_perfetto_flows(sequence, of):
    """All arrows of a call are in one flow with it."""
    of_call = {one["args"]["correlation"]: flow for flow, ends in sequence.flows.items() for one in ends
               if one["category"] == "api"}
    equal("flows", len(of_call), len(sequence.flows))
    equal("flows of host calls", len(of_call), len(of["api"]))
    for one in of["kernel"] + of["copy"] + of["graph"]:
        if "correlation" not in one["args"] or (one["category"] == "kernel" and "graph" in one["args"]):
            continue
        if one not in sequence.flows[of_call[one["args"]["correlation"]]]:
            fail(f"no arrow to {one}")


def check_counters(sequence, names):
    """They never fall below 0, end with 0, and reach what the starts and ends of kernels say."""
    for track, samples in sequence.counters.items():
        name = sequence.tracks[track]["name"][0]
        equal(f"end of '{name}'", samples[-1][1], 0)
        equal(f"times of '{name}'", len({time for time, _ in samples}), len(samples))
        equal(f"least of '{name}'", min(value for _, value in samples), 0)
        if "running" in name or "depth" in name:
            edges = collections.Counter()
            which = f"gpu = {name.split()[1]}" if "running" in name else f"queue = {name.split()[1]}"
            # A queue is deeper from the host call on.
            begin = "k.start" if "running" in name else "min(k.start, coalesce(a.start, k.start))"
            for row in ask(f"SELECT {begin} AS start, k.end FROM kernels k LEFT JOIN api a USING (process, correlation) WHERE k.{which}"):
                edges[row["start"]] += 1
                edges[row["end"]] -= 1
            count, wanted = 0, []
            for time in sorted(edges):
                count += edges[time]
                wanted.append((time, count))
            equal(f"samples of '{name}'", samples, wanted)
    if ask("SELECT count(*) AS n FROM kernels")[0]["n"] and not any("depth" in name for name in names):
        fail("no queue has a depth")


if __name__ == "__main__":
    {"csv": check_csv, "chrome": check_chrome, "perfetto": check_perfetto}[sys.argv[1]](sys.argv[4:])
