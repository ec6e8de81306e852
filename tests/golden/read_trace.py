#!/usr/bin/env python3
"""A reader of traces that was written from docs/format.md and shares nothing with RTL's own.

    read_trace.py TRACE              prints what it has, as JSON
    read_trace.py TRACE RTL          says where `RTL sql` says something else; status 1 if it does
    read_trace.py --seal TRACE       gives a database the digests of what it holds, as a recorder does at the end

TRACE may be a database or its SQL text. It checks what "Validity" asks for, and unpacks everything.
"""
import collections
import ctypes
import ctypes.util
import functools
import json
import re
import sqlite3
import struct
import subprocess
import sys

MASK = 2 ** 64 - 1
NONE = 2 ** 32 - 1
APPLICATION_ID = 0x52544C74


class Damaged(Exception):
    pass


def must(holds, what):
    if not holds:
        raise Damaged(what)


# Numbers.


def unsigned(value):
    return None if value is None else value & MASK


def signed(value):
    if value is None:
        return None
    value &= MASK
    return value - 2 ** 64 if value >= 2 ** 63 else value


def unfold(folded):
    """The inverse of zigzag; add it modulo 2**64 or 2**32."""
    return -(folded >> 1) - 1 if folded & 1 else folded >> 1


def varint(data, at):
    value = shift = 0
    while True:
        must(at < len(data) and shift < 70, "a varint is cut off or too long")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            must(value <= MASK, "a varint of more than 64 bits")
            return value, at


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def crc_row(byte):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    return byte


CRC_TABLE = [crc_row(byte) for byte in range(256)]


def check(checksum, fields, data, what):
    head = b"".join((field & MASK).to_bytes(8, "little") for field in fields)
    must(checksum == crc32c(head + data), f"the checksum of {what}")


@functools.lru_cache(None)
def zstd():
    return ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")


def decompress(frame, size):
    zstd().ZSTD_decompress.restype = ctypes.c_size_t
    room = ctypes.create_string_buffer(size or 1)
    got = zstd().ZSTD_decompress(room, ctypes.c_size_t(size), frame, ctypes.c_size_t(len(frame)))
    must(got == size, "a zstd frame")
    return room.raw[:size]


# Columns.


class Column:
    """Gives out the numbers of a column one by one."""

    def __init__(self, encoding, payload):
        self.constant = None
        self.data, self.at = payload, 0
        must(encoding in (0, 1, 2), "an encoding that is not known")
        if encoding == 0:
            self.constant, self.at = varint(payload, 0)
            must(self.at == len(payload), "a constant with something behind it")
        elif encoding == 2:
            size, at = varint(payload, 0)
            self.data = decompress(payload[at:], size)

    def take(self):
        if self.constant is not None:
            return self.constant
        value, self.at = varint(self.data, self.at)
        return value

    def end(self):
        must(self.constant is not None or self.at == len(self.data), "a column with too many numbers")


def columns_of(data, count):
    columns, at = [], 0
    for _ in range(count):
        must(at < len(data), "a column is missing")
        encoding = data[at]
        length, at = varint(data, at + 1)
        must(length <= len(data) - at, "a column is cut off")
        columns.append(Column(encoding, data[at:at + length]))
        at += length
    must(at == len(data), "something behind the last column")
    return columns


def kernels_of(chunk):
    """The kernels of a row of kernel_chunks: packet, start, end, shape, correlation, launch, ordinal."""
    count = chunk["kernels"]
    must(1 <= count <= 65536, "the number of kernels of a chunk")
    fields = [chunk[name] for name in ("process", "queue", "kernels", "packet_min", "packet_max", "start_min", "end_max")]
    check(chunk["checksum"], fields, chunk["data"], f"kernel chunk {chunk['chunk']}")
    columns = columns_of(chunk["data"], 7)
    low, high, first, last = (unsigned(chunk[name]) for name in ("packet_min", "packet_max", "start_min", "end_max"))
    gaps, durations = [0] * 4096, [0] * 4096
    packet, end, correlation, launch, ordinal = low - 1, first, 0, NONE, NONE
    before = end
    for _ in range(count):
        d_packet, d_gap, d_duration, shape, d_correlation, d_launch, d_ordinal = (column.take() for column in columns)
        must(max(shape, d_launch, d_ordinal) <= NONE, "a number of more than 32 bits")
        packet = packet + unfold(d_packet) & MASK
        correlation = correlation + unfold(d_correlation) & MASK
        launch = launch + unfold(d_launch) & NONE
        ordinal = ordinal + unfold(d_ordinal) & NONE
        pair = ((shape * 0x9E3779B1 ^ ordinal * 0x85EBCA77) & NONE) >> 20
        start = before + gaps[pair] + unfold(d_gap) & MASK
        end = start + durations[pair] + unfold(d_duration) & MASK
        gaps[pair] = learn(gaps[pair], start - before)
        durations[pair] = learn(durations[pair], end - start)
        before = end
        must(low <= packet <= high and first <= start <= last and end <= last, "a kernel outside of its chunk")
        yield packet, start, end, shape, correlation, launch, ordinal
    for column in columns:
        column.end()


def named(row):
    """A row with its mangled name, which is not there twice."""
    return {**row, "mangled": row["name"] if row["mangled"] is None else row["mangled"]}


def symbols_of(block):
    """The symbols of a row of symbol_blocks, as rows of symbols."""
    names = ("process", "symbols", "bytes", "symbol_min", "symbol_max")
    must(1 <= block["symbols"] <= 65536 and 0 <= block["bytes"] <= 1 << 24, "the number of symbols of a block")
    check(block["checksum"], [block[name] for name in names], block["data"], f"block {block['block']} of symbols")
    columns = columns_of(block["data"], 10)
    symbol, agent, kernel_object, total = NONE, 0, 0, 0
    for _ in range(block["symbols"]):
        d_symbol, d_agent, d_object, kernarg, group, private, mangled, name = (column.take() for column in columns[:8])
        must(max(d_symbol, d_agent, kernarg, group, private) <= NONE, "a number of more than 32 bits")
        symbol = symbol + 1 + unfold(d_symbol) & NONE
        agent = agent + unfold(d_agent) & NONE
        kernel_object = kernel_object + unfold(d_object) & MASK
        texts = [bytes(column.take() for _ in range(size)) for column, size in ((columns[8], mangled), (columns[9], max(name, 1) - 1))]
        total += sum(map(len, texts))
        must(block["symbol_min"] <= symbol <= block["symbol_max"] and 0 not in texts[0] + texts[1], "a symbol outside of its block")
        yield {"process": block["process"], "symbol": symbol, "agent": agent, "kernel_object": signed(kernel_object),
               "name": texts[1 if name else 0].decode(), "mangled": texts[0].decode(), "kernarg_size": kernarg, "group_size": group,
               "private_size": private}
    must(total == block["bytes"], "the bytes of a block's names")
    for column in columns:
        column.end()


def groups_of(block):
    """The groups of a row of stat_blocks."""
    must(0 <= block["groups"] <= 65536 and 0 <= block["bins"] <= 1 << 20, "the number of groups of a block")
    check(block["checksum"], [block[name] for name in ("process", "groups", "bins", "kernels")], block["data"],
          f"block {block['block']} of statistics")
    columns = columns_of(block["data"], 14)
    place, kernels, bins = [0] * 5, 0, 0
    for _ in range(block["groups"]):
        place = [before + unfold(column.take()) & NONE for before, column in zip(place, columns[:5])]
        count, least, more, total, low, high, steps = (column.take() for column in columns[5:12])
        histogram, step = {}, -1
        for _ in range(steps):
            step += columns[12].take() + 1
            histogram[step] = columns[13].take() + 1
        must(step < 3776 and count > 0 and sum(histogram.values()) == count, "the steps of a group")
        kernels, bins = kernels + count, bins + steps
        yield [None if number == NONE else number for number in place], {
            "kernels": count, "least": least, "greatest": least + more, "total": total + count * least,
            "squares": high << 64 | low, "histogram": histogram}
    must(kernels == block["kernels"] and bins == block["bins"], "the kernels of a block of statistics")
    for column in columns:
        column.end()


def shares_of(row):
    """What the kernels of a chunk add up to by shape: a row of stat_chunks."""
    must(0 < row["shapes"] <= 65536, "the number of shapes of a chunk")
    check(row["checksum"], [row[name] for name in ("chunk", "shapes", "busy")], row["data"], f"the statistics of chunk {row['chunk']}")
    columns, shape, shares = columns_of(row["data"], 3), 0, {}
    for _ in range(row["shapes"]):
        shape += columns[0].take()
        must(shape <= NONE and shape not in shares, "the shapes of a chunk")
        shares[shape] = columns[1].take() + 1, columns[2].take()
    for column in columns:
        column.end()
    return shares


def step_of(duration):
    exponent = duration.bit_length() - 1
    return duration if duration < 64 else 64 * (exponent - 5) + (duration >> (exponent - 6)) % 64


def add_up(durations):
    return {"kernels": len(durations), "least": min(durations), "greatest": max(durations), "total": sum(durations),
            "squares": sum(min(duration, 1 << 50) ** 2 for duration in durations),
            "histogram": dict(sorted(collections.Counter(map(step_of, durations)).items()))}


def depths(intervals):
    """For how long so many were open at once."""
    edges = sorted([(start, 1) for start, _ in intervals] + [(end, -1) for _, end in intervals])
    found, opened = collections.Counter(), 0
    for (time, step), (after, _) in zip(edges, edges[1:]):
        opened += step
        found[opened] += after - time
    return found


def span_of(intervals):
    found = depths(intervals)
    return {"kernels": len(intervals), "start": signed(min(start for start, _ in intervals)),
            "end": signed(max(end for _, end in intervals)), "busy": sum(ns for count, ns in found.items() if count > 0),
            "overlap": sum(ns for count, ns in found.items() if count > 1)}


def learn(expected, came):
    difference = signed(came - expected)
    if expected:
        difference = abs(difference) // 4 * (1 if difference >= 0 else -1)
    return expected + difference & MASK


def calls_of(chunk):
    """The calls of a row of api_chunks: start, end, correlation, range, stream, call, thread, result, words."""
    count = chunk["calls"]
    must(1 <= count <= 65536 and 0 <= chunk["words"] <= 1048576, "the number of calls of a chunk")
    names = ("process", "calls", "words", "start_min", "end_max", "correlation_min", "correlation_max")
    check(chunk["checksum"], [chunk[name] for name in names], chunk["data"], f"chunk {chunk['chunk']} of calls")
    columns = columns_of(chunk["data"], 17)
    first, last, low, high = (unsigned(chunk[name]) for name in names[3:])
    places = [[first, 0, 0] for _ in range(256)]  # end, range, stream
    remembered = [0] * 4096
    correlation, thread, total = low - 1, 0, 0
    for _ in range(count):
        gap, duration, d_correlation, d_range, d_stream, call, d_thread, result, words = (column.take() for column in columns[:9])
        must(max(d_stream, call, d_thread, result) <= NONE, "a number of more than 32 bits")
        thread = thread + unfold(d_thread) & NONE
        place = places[(thread * 0x9E3779B1 & NONE) >> 24]
        start = place[0] + unfold(gap) & MASK
        end = start + unfold(duration) & MASK
        correlation = correlation + unfold(d_correlation) & MASK
        span = place[1] + unfold(d_range) & MASK
        stream = place[2] + unfold(d_stream) & NONE
        place[:] = end, span, stream
        total += words
        must(total <= chunk["words"], "more words than the chunk has")
        arguments = []
        for i in range(words):
            slot = ((call * 0x9E3779B1 ^ i * 0x85EBCA77 ^ thread * 0xC2B2AE3D) & NONE) >> 20
            remembered[slot] = remembered[slot] + unfold(columns[9 + i % 8].take()) & MASK
            arguments.append(remembered[slot])
        must(first <= start <= last and end <= last and low <= correlation <= high, "a call outside of its chunk")
        outcome = unfold(result) & NONE
        yield (start, end, correlation, span, stream - 1 if stream else None, call, thread,
               outcome - 2 ** 32 if outcome >= 2 ** 31 else outcome, arguments)
    must(total == chunk["words"], "fewer words than the chunk has")
    for column in columns:
        column.end()


def launches_of(chunk):
    """The launches of a row of launch_chunks, as rows of graph_launch_rows that have spans."""
    count, total = chunk["launches"], chunk["spans"]
    must(1 <= count <= 65536 and 0 <= total <= 524288, "the number of launches of a chunk")
    names = ("process", "launches", "spans", "headed", "launch_min", "launch_max", "time_min", "time_max", "correlation_min",
             "correlation_max")
    fields = [chunk[name] for name in names]
    check(chunk["checksum"], fields, chunk["data"], f"chunk {chunk['chunk']} of launches")
    check(chunk["summary_checksum"], fields, chunk["summary"], f"the summary of chunk {chunk['chunk']}")
    columns = columns_of(chunk["data"], 19)
    take = [column.take for column in columns]
    low, high = chunk["launch_min"], chunk["launch_max"]
    before = collections.Counter(launch=low - 1, time=unsigned(chunk["time_min"]), correlation=unsigned(chunk["correlation_min"]))
    after, packets, kernels = collections.Counter(), collections.Counter(), collections.Counter()  # by likeness
    gaps, waits, durations = [0] * 256, [0] * 256, [0] * 256
    following, ends = collections.Counter(), collections.Counter()  # by place of a queue
    span_queue, spans, headed, like = 0, 0, 0, 0
    for _ in range(count):
        launch = {"launch": before["launch"] + 1 + unfold(take[0]()) & NONE}
        for i, name in ((1, "graph"), (2, "generation")):
            launch[name] = before[name] + unfold(take[i]()) & NONE
        launch["plan"] = after[like] + unfold(take[3]()) & NONE
        after[like] = launch["plan"]
        for i, name in ((4, "head_plan"), (5, "thread"), (6, "queue")):
            launch[name] = before[name] + unfold(take[i]()) & NONE
        like = likeness(launch, 0)
        packets[like] = launch["packets"] = packets[like] + unfold(take[7]()) & NONE
        kernels[like] = launch["kernels"] = kernels[like] + unfold(take[8]()) & NONE
        launch["recorded"] = launch["kernels"] + unfold(take[9]()) & NONE
        launch["unseen"] = take[10]()
        launch["time"] = before["time"] + gaps[like] + unfold(take[11]()) & MASK
        gaps[like] = learn(gaps[like], launch["time"] - before["time"])
        for i, name in ((12, "correlation"), (13, "range")):
            launch[name] = before[name] + unfold(take[i]()) & MASK
        before = collections.Counter(launch)
        launch["process"], launch["first"], launch["spans"] = chunk["process"], 0, []
        own = take[14]()
        if launch["graph"] == NONE:
            place = queue_place(launch["queue"])
            launch["first"] = following[place] + unfold(take[15]()) & MASK
            following[place] = launch["first"] + launch["packets"] & MASK
        for i in range(own):
            span_queue = span_queue + unfold(take[16]()) & NONE
            place, pair = queue_place(span_queue), likeness(launch, i)
            start = ends[place] + waits[pair] + unfold(take[17]()) & MASK
            end = start + durations[pair] + unfold(take[18]()) & MASK
            waits[pair] = learn(waits[pair], start - ends[place])
            durations[pair] = learn(durations[pair], end - start)
            ends[place] = end
            launch["spans"].append((span_queue, start, end))
        spans += own
        headed += launch["head_plan"] != 0
        must(low <= launch["launch"] <= high, "a launch outside of its chunk")
        for name in ("graph", "queue"):
            launch[name] = None if launch[name] == NONE else launch[name]
        for name in ("plan", "head_plan", "correlation", "range"):
            launch[name] = signed(launch[name]) or None
        yield launch
    must(spans == total and headed == chunk["headed"], "the counts of a chunk of launches")
    for column in columns:
        column.end()


def samples_of(chunk):
    """The samples of a row of sample_chunks: owner, agent, flags, counts."""
    count, total = chunk["samples"], chunk["counts"]
    must(1 <= count <= 65536 and 0 <= total <= 1048576, "the number of samples of a chunk")
    queue = NONE if chunk["queue"] is None else chunk["queue"]
    fields = [chunk["process"], queue, count, total, chunk["owner_min"], chunk["owner_max"]]
    check(chunk["checksum"], fields, chunk["data"], f"chunk {chunk['chunk']} of samples")
    columns = columns_of(chunk["data"], 21)
    low, high = unsigned(chunk["owner_min"]), unsigned(chunk["owner_max"])
    owner, agent, used, before = low - 1, 0, 0, []
    for _ in range(count):
        d_owner, d_agent, own, flags, back = (column.take() for column in columns[:5])
        must(max(d_agent, own, flags) <= NONE and back <= len(before), "a number of a sample is too large")
        owner, agent = owner + unfold(d_owner) & MASK, agent + unfold(d_agent) & NONE
        used += own
        must(used <= total and low <= owner <= high, "a sample outside of its chunk")
        like = before[-back] if back else []
        counts = [(like[i] if i < len(like) else 0) + unfold(columns[5 + i % 16].take()) & MASK for i in range(own)]
        before.append(counts)
        yield owner, agent, flags, counts
    must(used == total, "fewer counts than the chunk has")
    for column in columns:
        column.end()


def likeness(launch, i):
    return ((launch["plan"] * 0x9E3779B1 ^ launch["graph"] * 0x85EBCA77 ^ i * 0xC2B2AE3D) & NONE) >> 24


def queue_place(queue):
    return (queue * 0x9E3779B1 & NONE) >> 24


def steps_of(plan):
    """Ordinal -> (node or None, certain)."""
    fields = [plan[name] for name in ("process", "plan", "graph", "generation", "begins", "kernels")]
    data = plan["data"] or b""
    check(plan["checksum"], fields, data, f"plan {plan['plan']}")
    steps, at, ordinal, node = {}, 0, -1, 0
    while at < len(data):
        head, at = varint(data, at)
        count, certain = head >> 1, head & 1
        must(count > 0, "a run of no kernels")
        differences = []
        for _ in range(4 if count > 1 else 2):
            folded, at = varint(data, at)
            differences.append(unfold(folded))
        ordinal, node = ordinal + differences[0] & NONE, node + differences[1] & NONE
        for i in range(count):
            if i:
                ordinal, node = ordinal + differences[2] & NONE, node + differences[3] & NONE
            steps[ordinal] = (node - 1 if node else None, certain)
    return steps


# Clocks.


class Line:
    """Points that rise; outside of them `dy` for every `dx`."""

    def __init__(self, points, rate):
        self.points = []
        for x, y in points:
            if not self.points or (x > self.points[-1][0] and y > self.points[-1][1]):
                self.points.append((x, y))
        self.rate = rate

    def at(self, x):
        points = self.points or [(0, 0)]
        dx, dy = self.rate
        origin = points[0] if x < points[0][0] else points[-1]
        for one, two in zip(points, points[1:]):
            if one[0] <= x < two[0]:
                origin, (dx, dy) = one, (two[0] - one[0], two[1] - one[1])
        return min(max(origin[1] + (x - origin[0]) * dy // dx, 0), MASK)


def ticks_line(points, clock_hz):
    line = Line(points, (clock_hz or 10 ** 9, 10 ** 9))
    if len(line.points) > 1:
        dx, dy = (line.points[-1][i] - line.points[0][i] for i in (0, 1))
        if dy >= 10 ** 9 or clock_hz == 0:
            line.rate = (dx, dy)
    return line


def system_line(brackets):
    """Brackets are (system, boottime, width), by system."""
    if all(abs(boottime - system) <= width for system, boottime, width in brackets):
        return Line([], (1, 1))
    best = min(brackets, key=lambda bracket: bracket[2])
    offset = best[1] - best[0]
    if all(abs(boottime - system - offset) <= width + best[2] for system, boottime, width in brackets):
        return Line([best[:2]], (1, 1))
    return Line([bracket[:2] for bracket in brackets], (1, 1))


# The trace.


# Digests.


def value_bytes(value):
    if value is None:
        return b"n"
    if isinstance(value, int):
        return b"i" + (value & MASK).to_bytes(8, "little")
    if isinstance(value, float):
        return b"f" + struct.pack("<d", value)
    letter, data = (b"t", value.encode()) if isinstance(value, str) else (b"b", value)
    return letter + len(data).to_bytes(8, "little") + data


COVERED = {"kernel_chunks": {"data"}, "api_chunks": {"data"}, "launch_chunks": {"data", "summary"}, "sample_chunks": {"data"}, "graph_plans": {"data"}}


def digests_of(db):
    """Name, rows and digest of all that is in a database; what a user has added, too."""
    found = {}
    for name, kind, table, sql in db.execute("SELECT name, type, tbl_name, sql FROM sqlite_master WHERE type IN ('table', 'index') AND sql IS NOT NULL").fetchall():
        data = [value_bytes(value) for value in (name, kind, table, sql)]
        count = None
        if kind == "table" and name != "digests":
            columns = [row[1] for row in db.execute(f'PRAGMA table_info("{name}")') if row[1] not in COVERED.get(name, ())]
            rows = db.execute(f"SELECT {', '.join(f'{chr(34)}{column}{chr(34)}' for column in columns)} FROM \"{name}\" NOT INDEXED").fetchall()
            data += [value_bytes(value) for row in rows for value in tuple(row)]
            count = len(rows)
        found[name] = count, crc32c(b"".join(data))
    head = [db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
    found["head"] = None, crc32c(b"".join((number & MASK).to_bytes(8, "little") for number in head))
    return found


def check_digests(db):
    key = db.execute("SELECT value FROM meta WHERE key = 'digests'").fetchone()
    there = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'digests'").fetchone()
    written = {name: (rows, digest) for name, rows, digest in (tuple(row) for row in db.execute("SELECT name, rows, digest FROM digests"))} if there else {}
    if key is None and not written:
        return
    must(key is not None and key[0] == len(written), "the number of digests")
    found = digests_of(db)
    for name, digest in written.items():
        must(found.get(name) == digest, f"the digest of {name}: {digest}, found {found.get(name)}")


def basis_of(digests):
    """What statistics are made of: name and digest of all but a few."""
    left_out = ("head", "meta", "digests", "stat_blocks", "stat_spans")
    return crc32c(b"".join(name.encode() + crc32c((digest & MASK).to_bytes(8, "little")).to_bytes(4, "little")
                           for name, digest in sorted(digests.items()) if name not in left_out))


def seal(path):
    db = sqlite3.connect(path)
    db.execute("DELETE FROM digests")
    db.execute("INSERT OR REPLACE INTO meta VALUES('digests', ?)", (len(digests_of(db)),))
    db.execute("UPDATE meta SET value = ? WHERE key = 'stats'", (basis_of({name: digest for name, (_, digest) in digests_of(db).items()}),))
    db.executemany("INSERT INTO digests VALUES(?, ?, ?)", [(name, *digest) for name, digest in digests_of(db).items()])
    db.commit()


class Trace:
    def __init__(self, path):
        with open(path, "rb") as file:
            is_database = file.read(16) == b"SQLite format 3\0"
        if is_database:
            self.db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        else:
            self.db = sqlite3.connect(":memory:")
            with open(path, encoding="utf-8") as file:
                self.db.executescript(file.read())
        self.db.row_factory = sqlite3.Row
        self.db.execute("BEGIN")
        must(self.value("PRAGMA application_id") == APPLICATION_ID, "this is no trace")
        self.major, self.minor = divmod(self.value("PRAGMA user_version"), 1000)
        must(self.major == 1, "a newer major version")
        check_digests(self.db)
        self.read_places()
        self.read_calls()
        self.read_graphs()

    def value(self, query):
        return self.db.execute(query).fetchone()[0]

    def rows(self, table, since=0):
        """The rows of a table, which came with a minor version."""
        return [dict(row) for row in self.db.execute(f"SELECT * FROM {table}")] if self.minor >= since else []

    def read_places(self):
        self.processes = {row["process"]: row for row in self.rows("processes")}
        self.agents = {(row["process"], row["agent"]): row for row in self.rows("agents")}
        self.queues = {(row["process"], row["queue"]): row for row in self.rows("queues")}
        self.symbols = {(block["process"], row["symbol"]): row for block in self.rows("symbol_blocks", 6) for row in symbols_of(block)}
        packed = set(self.symbols)
        self.symbols.update({(row["process"], row["symbol"]): named(row) for row in self.rows("symbols")})
        self.shapes = {(row["process"], row["shape"]): row for row in self.rows("shapes")}
        rows = {(row["process"], row["symbol"]) for row in self.rows("symbols")}
        for row in self.shapes.values():
            must((row["process"], row["symbol"]) not in packed - rows, "a symbol that was dispatched has no row")
        points, brackets = collections.defaultdict(list), collections.defaultdict(list)
        for row in self.rows("clock_points"):
            points[row["process"], row["agent"]].append((unsigned(row["ticks"]), unsigned(row["system"])))
        for row in self.rows("clock_brackets"):
            brackets[row["process"]].append(tuple(unsigned(row[name]) for name in ("system", "boottime", "width")))
        self.ticks = {key: ticks_line(sorted(points[key]), unsigned(row["clock_hz"] or 0)) for key, row in self.agents.items()}
        self.system = {process: system_line(sorted(brackets[process])) for process in self.processes}

    def agent_of(self, process, queue):
        return self.agents.get((process, self.queues.get((process, queue), {}).get("agent")))

    def ns(self, process, queue, ticks):
        """Ticks of a queue's agent on the trace's clock."""
        agent = self.agent_of(process, queue)
        if ticks is None or agent is None:
            return unsigned(ticks)
        return self.system[process].at(self.ticks[process, agent["agent"]].at(unsigned(ticks)))

    def read_calls(self):
        self.definitions = {(row["process"], row["call"]): row for row in self.rows("calls", 2)}
        self.ranges = {(row["process"], row["id"]): row for row in self.rows("ranges", 2) if row["start"] is not None}
        self.api, self.by_correlation = [], {}
        for chunk in self.rows("api_chunks", 2):
            for i, call in enumerate(calls_of(chunk)):
                start, end, correlation, span, stream, number, thread, result, words = call
                definition = self.definitions.get((chunk["process"], number))
                self.api.append({
                    "id": chunk["chunk"] * 65536 + i, "process": chunk["process"], "thread": thread,
                    "name": definition["name"] if definition else f"call {number}", "start": signed(start), "end": signed(end),
                    "correlation": signed(correlation), "duration": signed(end - start), "stream": stream,
                    "range": signed(span) or None, "result": result,
                    "args": arguments_of(definition["arguments"] if definition else "", words, result)})
                self.by_correlation[chunk["process"], correlation] = self.api[-1]

    def origin(self, process, correlation):
        """Call, stream and range that a correlation names."""
        call = self.by_correlation.get((process, unsigned(correlation))) if correlation else None
        if call:
            return call["correlation"], call["stream"], call["range"]
        named = (process, signed(correlation)) in self.ranges if correlation else False
        return None, None, signed(correlation) if named else None

    # Graphs.

    def read_graphs(self):
        self.names = {(row["process"], row["number"]): named(row) for row in self.rows("graph_names", 2)}
        self.plans = {(row["process"], row["plan"]): row for row in self.rows("graph_plans", 2)}
        for plan in self.plans.values():
            plan["steps"] = steps_of(plan)
        self.graphs = {(row["process"], row["graph"], row["generation"]): row for row in self.rows("graph_rows", 2)}
        self.nodes = collections.defaultdict(dict)
        for row in self.rows("graph_node_rows", 2):
            self.nodes[row["process"], row["graph"], row["generation"]][row["node"]] = row
        for process, graph, generation in sorted(self.graphs):
            if self.graphs[process, graph, generation]["flags"] & 2 and (process, graph, generation) not in self.nodes:
                self.nodes[process, graph, generation] = self.nodes[process, graph, generation - 1]
        self.read_launches()

    def blocks(self):
        """All records, in blocks: those of a chunk, and the rows that belong to it."""
        rows = collections.defaultdict(list)
        for row in self.rows("graph_launch_rows", 2):
            span = (row["clock_queue"], row["start_ticks"], row["end_ticks"])
            rows[row["process"]].append({**row, "spans": [span] if row["clock_queue"] is not None else []})
        chunks = collections.defaultdict(list)
        for chunk in sorted(self.rows("launch_chunks", 3), key=lambda chunk: chunk["launch_min"]):
            chunks[chunk["process"]].append(chunk)
        for process in sorted(set(rows) | set(chunks)):
            above = -1
            for i, chunk in enumerate(chunks[process] or [None]):
                last = i + 1 >= len(chunks[process])
                must(chunk is None or chunk["launch_min"] > above, "chunks of launches overlap")
                yield (list(launches_of(chunk)) if chunk else []) + [
                    row for row in rows[process] if row["launch"] > above and (last or row["launch"] <= chunk["launch_max"])]
                above = chunk["launch_max"] if chunk else above

    def in_order(self):
        for block in self.blocks():
            found = [row for row in block if row["graph"] is None]
            yield from sorted(block, key=lambda row: place_of(row, found))

    def read_launches(self):
        self.launches, self.of_record, self.heads = [], {}, {}
        counts, latest = collections.Counter(), {}
        late = {(row["process"], row["launch"]): row["recorded"] for row in self.rows("graph_launch_late", 3)}
        for row in self.in_order():
            plan = self.plans.get((row["process"], row["plan"]))
            head = self.plans.get((row["process"], row["head_plan"]))
            if head and (not plan or head["graph"] != plan["graph"]):
                head = None
            if row["graph"] is None and not plan:
                continue
            process, graph = row["process"], row["graph"] if row["graph"] is not None else plan["graph"]
            generation = row["generation"] if row["graph"] is not None else plan["generation"]
            launch = latest.get((process, graph, row["thread"]))
            if row["graph"] is not None or plan["begins"] or (head and head["begins"]) or not launch:
                counts[process, graph] += 1
                launch = {"graph": graph, "generation": generation, "launch": counts[process, graph], "start": None, "end": None,
                          "kernels": 0, "correlation": row["correlation"], "process": process, "expected": 0, "certain": 1,
                          "range": row["range"], "thread": row["thread"], "time": row["time"], "unseen": 0}
                self.launches.append(launch)
            latest[process, graph, row["thread"]] = launch
            row["recorded"] += late.get((process, row["launch"]), 0)
            launch["kernels"] += row["recorded"]
            launch["expected"] += row["kernels"] + (1 if head else 0)
            launch["unseen"] += row["unseen"]
            if row["recorded"] and not (plan and all(certain for _, certain in plan["steps"].values())):
                launch["certain"] = 0
            for span in row["spans"]:
                self.add_span(launch, *span)
            self.of_record[process, row["launch"]] = launch, plan
            if head:
                self.heads[process, row["queue"], unsigned(row["first"]) - 1] = launch, head
        for row in self.rows("graph_launch_spans", 2):
            launch = self.of_record.get((row["process"], row["launch"]))
            if launch:
                self.add_span(launch[0], row["queue"], row["start_ticks"], row["end_ticks"])
        self.add_heads()

    def add_heads(self):
        """The kernels of heads are those of their launches."""
        for chunk in self.rows("kernel_chunks") if self.heads else []:
            for packet, start, end, _, _, record, _ in kernels_of(chunk):
                place = self.heads.get((chunk["process"], chunk["queue"], packet)) if record == NONE else None
                if place:
                    place[0]["kernels"] += 1
                    self.add_span(place[0], chunk["queue"], start, end)

    def add_span(self, launch, queue, start, end):
        if queue is None:
            return
        start, end = self.ns(launch["process"], queue, start), self.ns(launch["process"], queue, end)
        launch["start"] = start if launch["start"] is None else min(launch["start"], start)
        launch["end"] = end if launch["end"] is None else max(launch["end"], end)

    def node_of(self, process, queue, packet, record, ordinal):
        """Graph, generation, launch, node, certain and captured range of a kernel."""
        place = self.of_record.get((process, record))
        if record == NONE:
            place, ordinal = self.heads.get((process, queue, packet)), 0
        if not place:
            return None, None, None, None, None, None
        launch, plan = place
        node, certain = plan["steps"].get(ordinal, (None, 0)) if plan else (None, 0)
        row = self.nodes[process, launch["graph"], launch["generation"]].get(node, {})
        return (launch["graph"], launch["generation"], launch["launch"], node, 1 if certain and node is not None else 0,
                row.get("range") or None)

    # What SQL sees.

    def kernels(self):
        for chunk in self.rows("kernel_chunks"):
            process, queue = chunk["process"], chunk["queue"]
            agent = self.agent_of(process, queue)
            for i, (packet, start, end, number, correlation, record, ordinal) in enumerate(kernels_of(chunk)):
                shape = self.shapes.get((process, number))
                graph, generation, launch, node, certain, captured = self.node_of(process, queue, packet, record, ordinal)
                call, stream, span = self.origin(process, correlation)
                from_ns, to_ns = self.ns(process, queue, start), self.ns(process, queue, end)
                row = {"id": chunk["chunk"] * 65536 + i, "process": process, "gpu": agent["gpu"] if agent else None,
                       "queue": queue, "stream": stream, "start": signed(from_ns), "end": signed(to_ns),
                       "duration": signed(to_ns - from_ns), "correlation": call, "graph": graph, "generation": generation,
                       "launch": launch, "node": node, "range": span, "packet": signed(packet),
                       "start_ticks": signed(start), "end_ticks": signed(end), "certain": certain,
                       "capture_range": captured}
                row.update(self.shape_of(process, shape))
                yield row

    def shape_of(self, process, shape):
        sizes = ("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "group_size", "private_size")
        if not shape:
            return {"name": "unknown kernel", "mangled": None, "symbol": None, **dict.fromkeys(sizes, 0)}
        symbol = self.symbols.get((process, shape["symbol"]))
        name = symbol["name"] if symbol else f"kernel object {unsigned(shape['kernel_object'] or 0):#x}"
        return {"name": name, "mangled": symbol["mangled"] if symbol else None, "symbol": shape["symbol"] if symbol else None,
                **{size: shape[size] for size in sizes}}

    def copies(self):
        for row in self.rows("copies", 1):
            agent = self.agent_of(row["process"], row["queue"])
            call, stream, span = self.origin(row["process"], row["correlation"])
            timed = row["start_ticks"] is not None
            start, end = (self.ns(row["process"], row["queue"], row[name]) if timed else None for name in ("start_ticks", "end_ticks"))
            row.update({"gpu": agent["gpu"] if agent else None, "correlation": call, "stream": stream, "range": span,
                        "start": signed(start), "end": signed(end), "duration": signed(end - start) if timed else None})
            yield row

    def graph_rows(self):
        for key, row in self.graphs.items():
            mine = [launch for launch in self.launches if (launch["process"], launch["graph"], launch["generation"]) == key]
            row = {name: value for name, value in row.items() if name != "flags"}
            yield {**row, "launches": len(mine), "kernels": sum(launch["kernels"] for launch in mine),
                   "expected": sum(launch["expected"] for launch in mine)}

    def graph_nodes(self):
        types = ("kernel", "memcpy", "memset", "host", "graph", "empty", "wait-event", "event-record")
        for key in self.graphs:
            for row in self.nodes[key].values():
                name = self.names.get((row["process"], row["name"]), {"name": None, "mangled": None})
                words = row["dependencies"] or b""
                yield {**row, "generation": key[2], "name": name["name"], "mangled": name["mangled"],
                       "type": types[row["type"]] if row["type"] < len(types) else "other", "range": row["range"] or None,
                       "dependencies": ",".join(str(int.from_bytes(words[i:i + 4], "little"))
                                                for i in range(0, len(words), 4)) or None}

    def range_rows(self):
        for (process, number), row in self.ranges.items():
            depth, around = 0, row["parent"]
            while around is not None:
                depth += 1
                around = self.ranges.get((process, around), {"parent": None})["parent"]
            yield {**row, "id": number, "depth": depth, "duration": None if row["end"] is None else row["end"] - row["start"]}

    def streams(self):
        names = {(row["process"], row["handle"]): row["name"] for row in self.rows("names", 2) if row["kind"] == "stream"}
        for row in self.rows("streams", 2):
            if "generation" not in row:
                row.update({"generation": 1, "name": names.get((row["process"], row["handle"])), "created": None,
                            "destroyed": None})
            yield row

    def threads(self):
        names = {(row["process"], row["handle"]): row["name"] for row in self.rows("names", 2) if row["kind"] == "thread"}
        rows = self.rows("threads", 2)
        comms = {(row["process"], row["thread"]): row.get("comm") for row in rows}
        for row in rows:
            process = self.processes[row["process"]]
            comm, main = row.get("comm"), row["thread"] == process["pid"]
            says = comm is not None and comm != process.get("comm") and (
                main or comm != comms.get((row["process"], process["pid"])))
            name = names.get((row["process"], row["thread"]))
            yield {"tid": row["thread"], "generation": 1, "comm": None, **row,
                   "name": name if name is not None else comm if says else None}

    def pauses(self):
        for row in self.rows("pauses", 3):
            yield {**row, "duration": None if row["end"] is None else row["end"] - row["start"]}

    def exchanges(self):
        """What each leaves possible of the peer's clock minus the trace's."""
        for row in self.rows("clock_exchanges", 7):
            yield {**row, "least": row["answered"] - row["returned"], "most": row["received"] - row["sent"]}

    def sample_rows(self):
        """A row for each counter of each sample; of those of kernels and of ranges."""
        passes = {row["process"]: row["pass"] for row in self.rows("counting", 4)}
        counters = collections.defaultdict(list)
        for row in sorted(self.rows("counters", 4), key=lambda row: row["counter"]):
            if passes.get(row["process"]) == row["pass"]:
                counters[row["process"], row["agent"]].append(row)
        for chunk in self.rows("sample_chunks", 4):
            for owner, agent, flags, counts in samples_of(chunk):
                known = counters[chunk["process"], agent]
                for counter, count in zip(known, counts) if len(known) == len(counts) else []:
                    yield chunk["queue"] is None, {
                        "process": chunk["process"], "queue": chunk["queue"], "packet": signed(owner), "range": signed(owner),
                        "name": counter["name"], "value": signed(count), "counter": counter["counter"], "agent": agent,
                        "shared": flags & 1}

    def counter_tables(self, kernels):
        ids = {(row["process"], row["queue"], row["packet"]): row["id"] for row in reversed(kernels)}
        of_kernels, of_ranges = [], []
        for is_range, row in self.sample_rows():
            if is_range:
                del row["queue"], row["packet"]
                of_ranges.append(row)
            else:
                del row["range"], row["shared"]
                of_kernels.append({**row, "kernel": ids.get((row["process"], row["queue"], row["packet"]))})
        return {"counting": self.rows("counting", 4), "counters": self.rows("counters", 4),
                "uncounted": self.rows("uncounted", 4), "kernel_counters": of_kernels, "range_counters": of_ranges}

    def stored(self):
        """How many of each kind of a process are in the file, where its rows tell."""
        found = collections.Counter((row["process"], "calls") for row in self.api)
        for row in self.rows("ranges", 2):
            if row["start"] is not None:
                found[row["process"], "marks" if row["kind"] == "mark" else "ranges"] += 1
            found[row["process"], "range_ends"] += row["end"] is not None and row["kind"] != "mark"
        for row in self.rows("sample_chunks", 4):
            found[row["process"], "samples"] += row["samples"]
        for row in self.graph_rows():
            found[row["process"], "launches"] += row["launches"] if row["source"] == "hip" else 0
        return found

    def kind_rows(self):
        stored, lost = self.stored(), collections.Counter()
        for row in self.rows("ledger_kind_losses", 5):
            lost[row["process"], row["kind"]] += row["lost"]
            yield {**row, **dict.fromkeys(("seen", "recorded", "stored", "waiting", "stopped", "withheld"), 0)}
        for row in self.rows("ledger_kind_rows", 5):
            key = row["process"], row["kind"]
            told = row["kind"] in ("calls", "ranges", "range_ends", "marks", "launches", "samples")
            there = stored[key] if told else row["recorded"] - row["dropped"]
            del row["dropped"]
            yield {**row, "seen": row["recorded"] + row["waiting"] + row["stopped"] + row["withheld"] + lost[key],
                   "stored": there, "lost": 0, "reason": None}

    def device_of(self, process, agent):
        """What is the same for all agents that are one GPU; None: it is none."""
        row = self.agents.get((process, agent))
        if not row or row["gpu"] is None:
            return None
        uuid = row["uuid"] or ""
        return (self.processes[process]["host"], uuid) + (() if uuid and "XX" not in uuid else (row["bdf"], row["node"]))

    def copy_times(self, device):
        for row in self.rows("copies", 1):
            queue = self.queues.get((row["process"], row["queue"]), {})
            if row["start_ticks"] is not None and device == self.device_of(row["process"], queue.get("agent")):
                start, end = (self.ns(row["process"], row["queue"], row[name]) for name in ("start_ticks", "end_ticks"))
                yield start, max(start, end)

    def check_stats(self):
        """Statistics are what the kernels add up to."""
        meta = dict(tuple(row) for row in self.db.execute("SELECT key, value FROM meta WHERE key IN ('stats', 'stats_graphs')"))
        if "stats" not in meta or not self.value("SELECT count(*) FROM sqlite_master WHERE name = 'digests'"):
            return
        digests = {row["name"]: row["digest"] for row in self.rows("digests")}
        if meta["stats"] != basis_of(digests):
            return
        if sum(row["kernels"] for row in self.rows("stat_blocks")) != sum(row["kernels"] for row in self.rows("kernel_chunks")):
            return
        known = [(key, row["kernels"]) for row in self.rows("kernel_chunks") for key in [(row["process"], row["queue"])] if key in self.queues]
        of_gpus = sum(kernels for key, kernels in known if self.device_of(key[0], self.queues[key]["agent"]))
        if sum(row["kernels"] for row in self.rows("stat_spans") if row["agent"] is None) != sum(kernels for _, kernels in known) or \
                sum(row["kernels"] for row in self.rows("stat_spans") if row["queue"] is None) != of_gpus:
            return
        groups, queues, devices = (collections.defaultdict(list) for _ in range(3))
        chunks = {}
        for chunk in self.rows("kernel_chunks"):
            process, queue = chunk["process"], chunk["queue"]
            intervals, shares = [], collections.defaultdict(list)
            chunks[chunk["chunk"]] = intervals, shares
            device = self.device_of(process, self.queues.get((process, queue), {}).get("agent"))
            for packet, start, end, number, _, record, ordinal in kernels_of(chunk):
                start, end = self.ns(process, queue, start), self.ns(process, queue, end)
                end = max(start, end)
                graph, generation, _, node, _, _ = self.node_of(process, queue, packet, record, ordinal)
                of_graph = (graph, generation or 0, node) if meta["stats_graphs"] else (None, 0, None)
                shape = json.dumps(self.shape_of(process, self.shapes.get((process, number))))
                groups[(process, queue, shape) + of_graph].append(end - start)
                queues[process, queue].append((start, end))
                devices[device].append((start, end))
                intervals.append((start, end))
                shares[shape].append(end - start)
        written = {}
        for block in self.rows("stat_blocks"):
            for (queue, number, *of_graph), group in groups_of(block):
                shape = json.dumps(self.shape_of(block["process"], self.shapes.get((block["process"], number))))
                written[(block["process"], queue, shape) + tuple(of_graph)] = group
        must(written == {key: add_up(durations) for key, durations in groups.items()}, "the groups of statistics")
        self.check_spans(queues, devices)
        self.check_chunks(chunks)

    def check_chunks(self, chunks):
        if not self.value("SELECT count(*) FROM sqlite_master WHERE name = 'stat_chunks'"):
            return
        processes = dict(self.db.execute("SELECT chunk, process FROM kernel_chunks").fetchall())
        for row in self.rows("stat_chunks"):
            intervals, shares = chunks[row["chunk"]]
            busy = sum(ns for count, ns in depths(intervals).items() if count > 0)
            process = processes[row["chunk"]]
            told = {json.dumps(self.shape_of(process, self.shapes.get((process, shape)))): share for shape, share in shares_of(row).items()}
            must(told == {shape: (len(durations), sum(durations)) for shape, durations in shares.items()} and row["busy"] == busy,
                 f"the statistics of chunk {row['chunk']}")

    def check_spans(self, queues, devices):
        spans = {}
        for row in self.rows("stat_spans"):
            of = (row["process"], row["queue"]) if row["agent"] is None else self.device_of(row["process"], row["agent"])
            spans[of] = {name: row[name] for name in ("kernels", "start", "end", "busy", "overlap", "copied")}
        wanted = {key: {**span_of(intervals), "copied": 0} for key, intervals in queues.items() if key in self.queues}
        for device, intervals in devices.items():
            if device is None:
                continue
            busy = {name: sum(ns for count, ns in depths(times).items() if count > 0)
                    for name, times in (("kernels", intervals), ("copies", list(self.copy_times(device))),
                                        ("both", intervals + list(self.copy_times(device))))}
            wanted[device] = {**span_of(intervals), "copied": busy["kernels"] + busy["copies"] - busy["both"]}
        must(spans == wanted, f"the spans of statistics: {spans}, and not {wanted}")

    def tables(self):
        kernels = list(self.kernels())
        self.check_stats()
        return {"kernels": kernels, "symbols": list(self.symbols.values()), "copies": list(self.copies()), "api": self.api,
                "graphs": list(self.graph_rows()), "graph_nodes": list(self.graph_nodes()), "graph_launches": self.launches,
                "ranges": list(self.range_rows()), "pauses": list(self.pauses()), "streams": list(self.streams()),
                "threads": list(self.threads()), "ledger_kinds": list(self.kind_rows()),
                "ledger_opaque": list(self.rows("ledger_opaque", 5)), "clock_exchanges": list(self.exchanges()), **self.counter_tables(kernels)}


def place_of(row, found):
    """Where a row of graph_launch_rows stands among those of its process."""
    behind = [other["launch"] for other in found if row["graph"] is None and row["packets"] == 1 and
              (other["process"], other["queue"]) == (row["process"], row["queue"]) and
              other["first"] > row["first"] and row["launch"] - 64 <= other["launch"] <= row["launch"]]
    return min(behind) - 0.5 if behind else row["launch"]


def arguments_of(definition, words, result):
    """As text, but that an enumeration's value is its number."""
    parts, words = [], list(words)
    known = [item.partition(":")[::2] for item in definition.split(",")] if definition else []
    while words:
        name, kind = known.pop(0) if known else ("", "p")
        word = words.pop(0)
        if kind[:1] == "3":
            if not words:
                break
            value = f"{{{word & NONE}, {word >> 32}, {words.pop(0) & NONE}}}"
        elif kind[:1] in ("u", "z"):
            value = str(word)
        elif kind[:1] in ("i", "b"):
            value = str(signed(word))
        elif kind[:1] == "d":
            value = f"{ctypes.c_double.from_buffer_copy(word.to_bytes(8, 'little')).value:.15g}"
        else:
            value = f"{word:#x}" if word else "NULL"
        if kind[:1] == "P":
            name, value = "*" + name, "?" if result else value
        parts.append(f"{name}={value}" if name else value)
    return ", ".join(parts)


# Comparing.


def same_arguments(one, two):
    """An enumeration's value has a name in SQL."""
    return re.sub(r"=hip\w+", "=#", two) == "".join(
        re.sub(r"=-?\d+$", "=#", part) if re.search(re.escape(part.partition("=")[0]) + r"=hip", two) else part
        for part in re.split(r"(, )", one))


def compare(trace, path, rtl):
    wrong = 0
    for table, rows in trace.tables().items():
        asked = json.loads(subprocess.run([rtl, "sql", "--json", path, f"SELECT * FROM {table}"], check=True,
                                          capture_output=True).stdout)
        rows.sort(key=json_key)
        asked.sort(key=json_key)
        if len(rows) != len(asked):
            print(f"{table}: {len(rows)} rows, and {len(asked)} in SQL")
            wrong += 1
        for row, other in zip(rows, asked):
            for name, value in other.items():
                mine = row.get(name, value)
                same = same_arguments(mine, value) if name == "args" else mine == value
                if not same:
                    wrong += 1
                    if wrong < 20:
                        print(f"{table}.{name}: {mine!r}, and {value!r} in SQL, of {other}")
        known = set(rows[0]) if rows else set()
        for name in (asked[0] if asked else {}):
            if name not in known | {"error"}:
                print(f"{table}.{name} is not read")
                wrong += 1
    return wrong


def json_key(row):
    names = ("process", "graph", "generation", "launch", "node", "id", "queue", "packet", "range", "agent", "counter", "why", "stream", "thread", "symbol")
    key = [row.get(name) or 0 for name in (names if "start_ticks" not in row else ("id",))]
    return key + [str(row.get("kind")), str(row.get("reason"))]


def main(arguments):
    try:
        if arguments[0] == "--seal":
            seal(arguments[1])
            return
        trace = Trace(arguments[0])
        if len(arguments) == 2:
            sys.exit(1 if compare(trace, *arguments) else 0)
        json.dump(trace.tables(), sys.stdout, indent=1)
    except (Damaged, sqlite3.Error, OSError) as error:
        sys.exit(f"read_trace.py: {arguments[0]}: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
