#!/usr/bin/env python3
"""size.py KIND: the pages KIND-*.html against what SQL says of KIND.db (KIND.*.json), see size.sh."""
import base64
import bisect
import json
import re
import sys
import zlib

kind = sys.argv[1]
UNITS = {"900K": 900 << 10, "300K": 300 << 10, "20K": 20 << 10}


def check(what, is_so):
    if not is_so:
        sys.exit(f"{page_name}: {what}")


def same(what, found, wanted):
    check(f"{what}: {found}, not {wanted}", found == wanted)


def load(name):
    with open(f"{kind}.{name}.json", encoding="utf-8") as file:
        return json.load(file)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def column(self, size):
        if self.varint():
            return [self.signed() for _ in range(size)]
        return [self.signed()] * size


def read_bins(reader, lane):
    """Each bin as (from, to, busy, count) in ns; a run of bins is one."""
    bins, at, width = [], 0, 1 << lane["shift"]
    for _ in range(lane["bins"]):
        at += reader.varint()
        length, busy, count = reader.varint(), reader.varint(), reader.varint()
        reader.varint()
        bins.append((at * width, (at + length) * width, busy, count))
        at += length
    return bins


def read_page(name):
    with open(name, encoding="utf-8") as file:
        text = file.read()
    parts = dict(re.findall(r'<script type="application/octet-stream" id="([^"]+)">([^<]*)</script>', text))
    parts = {part: zlib.decompress(base64.b64decode(data)) for part, data in parts.items()}
    reader = Reader(parts["rtl-head"])
    size = reader.varint()
    head = json.loads(reader.data[reader.at:reader.at + size])
    reader.at += size
    lanes = [read_bins(reader, lane) for lane in head["lanes"]]
    gpus = [read_bins(reader, gpu) for gpu in head["gpus"]]
    launches = []
    for _ in range(reader.varint()):
        launch = [reader.varint() for _ in range(4)] + [reader.signed()] + [reader.varint() for _ in range(7)]
        launches.append(launch)
    same("bytes behind the head", len(reader.data) - reader.at, 0)
    segments = {int(part.rsplit("-", 1)[1]): data for part, data in parts.items() if part.startswith("rtl-segment-")}
    return head, lanes, gpus, launches, segments, len(text.encode())


def read_segment(data):
    """Of each row its slices: (id, start, end)."""
    reader, rows = Reader(data), {}
    for _ in range(reader.varint()):
        place, size = reader.varint(), reader.varint()
        gaps, lengths, _, ids, *_ = [reader.column(size) for _ in range(11)]
        at = number = 0
        rows[place] = []
        for gap, length, step in zip(gaps, lengths, ids):
            at += gap
            number += step
            rows[place].append((number, at, at + length))
            at += length
    return rows


def overlap(bins, times):
    """How long and how often the times fall into each of the bins; both are in order."""
    sums, first = [], 0
    for begin, end, *_ in bins:
        busy = count = 0
        while first < len(times) and times[first][1] <= begin and times[first][0] < begin:
            first += 1
        at = first
        while at < len(times) and times[at][0] < end:
            busy += max(0, min(end, times[at][1]) - max(begin, times[at][0]))
            count += begin <= times[at][0]
            at += 1
        sums.append((busy, count))
    return sums


def union(times):
    joined = []
    for begin, end in sorted(times):
        if joined and begin <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([begin, end])
    return joined


def quantile(values, share):
    return sorted(values)[max(0, -(-len(values) * share // 100) - 1)]


def check_tables(head, kernels):
    rows = {head["texts"][row[0]]: row for row in head["tables"]["kernels"]}
    names = {}
    for kernel in kernels:
        names.setdefault(kernel["name"], []).append(kernel["end"] - kernel["start"])
    same("names", set(rows), set(names))
    for name, times in names.items():
        _, calls, total, least, p50, _, most, *_ = rows[name]
        same(f"sums of {name}", (calls, total, least, most), (len(times), sum(times), min(times), max(times)))
        wanted = quantile(times, 50)
        check(f"p50 of {name}", abs(p50 - wanted) <= wanted / 100)


def check_rows(head, lanes, gpus, kernels, zero):
    """Bins of rows and GPUs hold what ran in them, whatever their width."""
    for queue in {kernel["queue"] for kernel in kernels}:
        times = sorted((kernel["start"] - zero, kernel["end"] - zero) for kernel in kernels if kernel["queue"] == queue)
        found = [(lane, bins) for lane, bins in zip(head["lanes"], lanes) if lane["kind"] == "queue" and lane["queue"] == queue]
        same(f"kernels of queue {queue}", sum(lane["slices"] for lane, _ in found), len(times))
        same(f"busy time of queue {queue}", sum(lane["busy"] for lane, _ in found), sum(end - begin for begin, end in times))
        if len(found) == 1:
            same(f"bins of queue {queue}", [bin[2:] for bin in found[0][1]], overlap(found[0][1], times))
    busy = union((kernel["start"] - zero, kernel["end"] - zero) for kernel in kernels)
    same("busy time of the GPU", head["gpus"][0]["busy"], sum(end - begin for begin, end in busy))
    same("bins of the GPU", [bin[2] for bin in gpus[0]], [each[0] for each in overlap(gpus[0], busy)])


def check_idle(head, lanes, idle):
    causes = sum(cause["ns"] for cause in idle["gpus"][0]["causes"] if cause["cause"] != "in_graph")
    same("idle time", sum(lane["busy"] for lane in head["lanes"] if lane["kind"] == "idle"), causes)
    same("idle time in bins", sum(bin[2] for lane, bins in zip(head["lanes"], lanes) if lane["kind"] == "idle" for bin in bins), causes)


def check_graphs(head, launches, wanted, kernels, zero):
    every = head["replays_every"]
    same("replays", [(launch[0], launch[1], launch[3], launch[4]) for launch in launches],
         [(row["process"], row["graph"], row["launch"], row["start"] - zero) for row in wanted[::every]])
    nodes = {}
    for kernel in kernels:
        if kernel["node"] is not None:
            nodes.setdefault(kernel["node"], []).append(kernel["end"] - kernel["start"])
    rows = {row["node"]: row for graph in head["graphs"] for row in graph["rows"] if row["count"]}
    same("nodes", set(rows), set(nodes))
    for node, times in nodes.items():
        same(f"node {node}", (rows[node]["count"], rows[node]["duration"][0], rows[node]["duration"][7]), (len(times), min(times), max(times)))


def check_segments(head, segments, kernels, zero):
    """What is there is true, and what is left out is said, and spread over time."""
    by_id = {kernel["id"]: (kernel["start"] - zero, kernel["end"] - zero) for kernel in kernels}
    starts = sorted((start, end, number) for number, (start, end) in by_id.items())
    kept = {number for number, segment in enumerate(head["segments"]) if segment["kept"]}
    same("segments that are there", set(segments), kept)
    queues = {place for place, lane in enumerate(head["lanes"]) if lane["kind"] == "queue"}
    for number, data in segments.items():
        rows = read_segment(data)
        same(f"events of segment {number}", sum(len(row) for row in rows.values()), head["segments"][number]["events"])
        begin, end = head["segments"][number]["from"], head["segments"][number]["to"]
        first, behind = bisect.bisect_left(starts, (begin,)), bisect.bisect_left(starts, (end,))
        wanted = {number for _, last, number in starts[first:behind] if last <= end}
        found = [slice for place, row in rows.items() if place in queues for slice in row]
        same(f"kernels of segment {number}", {slice[0] for slice in found}, wanted)
        check(f"times in segment {number}", all(by_id[slice[0]] == slice[1:] for slice in found))
    total = sum(segment["events"] for segment in head["segments"]) + len(head["crossings"])
    check(f"{total} events", total >= len(kernels))
    if len(kept) > 1:
        gaps = [b - a for a, b in zip(sorted(kept), sorted(kept)[1:])]
        check(f"segments at {sorted(kept)} of {len(head['segments'])}", max(gaps) <= 3 * len(head["segments"]) / len(kept))
    return len(head["segments"]) - len(kept), len(head["segments"])


kernels, launches, idle = load("kernels"), load("launches"), load("idle")
least = {}
PARTS = ("all", "20K") if kind == "demo" else ("all", "900K", "300K", "20K", "detail")
for part in PARTS:
    page_name = f"{kind}-{part}.html"
    head, lanes, gpus, there, segments, size = read_page(page_name)
    zero = int(head["trace"]["zero"])
    check_tables(head, kernels)
    check_rows(head, lanes, gpus, kernels, zero)
    check_idle(head, lanes, idle)
    check_graphs(head, there, launches, kernels, zero)
    left, of = check_segments(head, segments, kernels, zero)
    least[part] = (size, left, sum(lane["bins"] for lane in head["lanes"]), head["replays_every"])
    if part == "all":
        same("segments that are left out", left, 0)
        same("replays that are left out", head["replays_every"], 1)
        continue
    with open(f"{kind}-{part}.err", encoding="utf-8") as file:
        said = file.read()
    same("what is said", re.findall(r"single events of (\d+) of (\d+) stretches", said), [(str(left), str(of))] if left else [])
    same("what is said of replays", re.findall(r"one in (\d+) is", said), [str(head["replays_every"])] if head["replays_every"] > 1 else [])
    check(f"{left} segments of {of} are left out", left > 0)
    if part in UNITS and part != "20K":
        check(f"{size} bytes", size <= UNITS[part])
        check(f"only {size} bytes", size > UNITS[part] / 2)
page_name = kind
if kind == "demo":
    check("nodes", any(kernel["node"] is not None for kernel in kernels))
    sys.exit()
same("order of what is left out", least["900K"][1] < least["300K"][1] <= least["20K"][1] == of, True)
check("coarser bins in smaller pages", least["all"][2] > least["300K"][2] > least["20K"][2])
if kind == "replay":
    check("fewer replays in smaller pages", least["20K"][3] > 1)
