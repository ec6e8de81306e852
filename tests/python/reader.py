"""reader.py RTL TRACE [--without-numpy]: what the Python module reads of a trace is what SQL says of it, row by row."""
import json
import subprocess
import sys

command, path = sys.argv[1:3]
if "--without-numpy" in sys.argv:
    sys.modules["numpy"] = None

import rtl

NONE = rtl._columns.NONE
failures = 0


def check(what, got, want):
    global failures
    if got != want:
        failures += 1
        print(f"{what}: got {got!r:.300}, want {want!r:.300}", file=sys.stderr)


def ask(statement):
    """Rows of SQL; numbers as the unsigned ones that they were stored as."""
    said = subprocess.run([command, "sql", "-j", path, statement], check=True, capture_output=True).stdout
    rows = json.loads(said.decode("utf-8", "surrogateescape"))
    return [tuple(value % 2**64 if isinstance(value, int) else value for value in row.values()) for row in rows]


def plain(rows, fields):
    """The same of records: None stays None, and a sign is the store's."""
    return [tuple(value % 2**64 if isinstance(value, int) and not isinstance(value, bool) else
                  int(value) if isinstance(value, bool) else value
                  for value in (getattr(row, field) for field in fields)) for row in rows]


def records(what, rows, fields, statement, texts=()):
    """Equal but for order where the rows have none of their own; a text that is not known is "" and NULL."""
    want = [tuple("" if value is None and field in texts else value for field, value in zip(fields, row))
            for row in ask(statement)]
    check(what, sorted(map(repr, plain(rows, fields))), sorted(map(repr, want)))
    return len(want)


def kernels(trace):
    wide = ["id", "packet", "start", "end", "start_ticks", "end_ticks", "process", "queue", "generation",
            "group_size", "private_size", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z"]
    open_ones = ["gpu", "symbol", "graph", "node", "launch"]
    fields = wide + open_ones
    columns = trace.kernels(fields + ["name", "duration", "certain", "correlation"])
    rows = sorted(repr((*[int(columns[field][i]) for field in wide],
                        *[None if columns[field][i] == NONE else int(columns[field][i]) for field in open_ones],
                        columns.name_of(i), int(columns.duration[i]))) for i in range(len(columns)))
    asked = ask(f"SELECT {', '.join(field if field != 'generation' else 'coalesce(generation, 0)' for field in fields)}, "
                "name, max(0, duration) FROM kernels")
    asked = sorted(repr(row) for row in asked)
    check("kernels", [row for row in rows if row not in asked], [row for row in asked if row not in rows])
    check("how many kernels", len(rows), len(asked))
    # SQL leaves out those that name nothing in the trace.
    known = dict(ask("SELECT id, correlation FROM kernels WHERE correlation IS NOT NULL"))
    check("correlations", {int(row): int(value) for row, value in zip(columns.id, columns.correlation) if int(row) in known}, known)
    starts = [int(start) for start in columns.start]
    check("order of kernels", starts, sorted(starts))
    whole = [len(piece) for piece in trace.pieces(["id"])]
    check("kernels in pieces", sum(whole), len(columns))
    return len(columns)


def windows(trace):
    """A window, a process, a queue and a condition leave what SQL's leave."""
    (first, last), = ask("SELECT min(start), max(end) FROM kernels")
    if first is None or last - first < 4:
        return
    start, end = first + (last - first) // 4, last - (last - first) // 4
    got = trace.kernels(["id"], start=start, end=end)
    check("kernels of a window", sorted(map(int, got.id)),
          sorted(row[0] for row in ask("SELECT id, start, end FROM kernels")
                 if row[1] < end and (row[2] > start if row[2] > row[1] else row[1] >= start)))
    got = trace.kernels(["id", "queue"], process=1, where=lambda piece: [value == 0 for value in piece["queue"]])
    check("kernels of a queue", sorted(map(int, got.id)),
          sorted(row[0] for row in ask("SELECT id FROM kernels WHERE process = 1 AND queue = 0")))
    check("the same by its option", sorted(map(int, trace.kernels(["id"], process=1, queue=0, by_queue=True).id)),
          sorted(map(int, got.id)))


def sums(trace):
    got = [(group.name, group.count, group.total, group.min, group.max) for group in trace.summary()]
    want = ask("SELECT name, count(*), sum(max(0, duration)), min(max(0, duration)), max(max(0, duration)) FROM kernels GROUP BY name")
    check("sums by name", sorted(got), sorted(want))
    check("sums by name: order", [total for _, _, total, _, _ in got], sorted((row[2] for row in got), reverse=True))


def graphs(trace):
    records("graphs", trace.graphs, ["process", "graph", "generation", "source", "nodes", "launches", "kernels", "expected"],
            "SELECT process, graph, generation, source, nodes, launches, kernels, expected FROM graphs")
    fields = ["process", "graph", "generation", "launch", "thread", "kernels", "expected", "unseen", "certain"]
    launches = list(trace.launches())
    records("launches", launches, fields, f"SELECT {', '.join(fields)} FROM graph_launches")
    for launch in launches[:5]:
        check("a launch by its number", trace.launch(launch.graph, launch.launch, launch.process), launch)
        got = trace.launch_kernels(launch.graph, launch.launch, launch.process, ["id"])
        check("kernels of a launch", sorted(map(int, got.id)),
              sorted(row[0] for row in ask(f"SELECT id FROM kernels WHERE process = {launch.process} AND graph = {launch.graph} "
                                           f"AND launch = {launch.launch}")))
    try:
        trace.launch(4000000, 1)
        check("a launch that is not there", "found", "KeyError")
    except KeyError:
        pass
    for number in (0, 4000000):
        try:
            trace.launch_kernels(4000000, number)
            check("kernels of a launch that is not there", "found", "KeyError")
        except KeyError:
            pass


def lists(trace):
    records("processes", trace.processes, ["process", "pid", "ppid", "command", "state", "mode", "way"],
            "SELECT process, pid, ppid, command, state, mode, way FROM processes", ("command", "mode", "way"))
    records("agents", trace.agents, ["process", "agent", "gpu", "type", "name", "product", "compute_units", "clock_hz"],
            "SELECT process, agent, gpu, type, name, product, compute_units, clock_hz FROM agents", ("type", "name", "product"))
    records("queues", trace.queues, ["process", "queue", "gpu", "size", "way", "kernels", "copies"],
            "SELECT process, queue, gpu, size, way, kernels, copies FROM queues", ("way",))
    records("streams", trace.streams, ["process", "stream", "handle", "name"],
            "SELECT process, stream, handle, name FROM streams", ("name",))
    records("threads", trace.threads, ["process", "thread", "name", "tid"], "SELECT process, thread, name, tid FROM threads", ("name",))
    records("notes", trace.notes, ["process", "queue", "text"], "SELECT process, queue, text FROM notes")
    got = {(row.process, row.queue, row.seen, row.recorded, row.stored, row.skipped, sum(row.lost.values()))
           for row in trace.ledger if row.packets or row.seen or any(row.lost.values())}  # a queue without an account is in no row
    want = set(ask("SELECT process, queue, max(seen), max(recorded), max(stored), max(skipped), coalesce(sum(lost), 0) FROM ledger "
                   "GROUP BY process, queue"))
    check("ledger", sorted(got), sorted(want))
    lost = {}
    for row in trace.ledger:
        for reason, count in row.lost.items():
            if count:
                lost[reason] = lost.get(reason, 0) + count
    check("losses", lost, dict(ask("SELECT reason, sum(lost) FROM ledger WHERE lost > 0 GROUP BY reason")))


def events(trace):
    records("calls", trace.calls(), ["id", "process", "thread", "name", "correlation", "stream", "result", "arguments"],
            "SELECT id, process, thread, name, correlation, stream, result, args FROM api", ("arguments",))
    records("ranges", trace.ranges(), ["id", "process", "thread", "name", "kind"],
            "SELECT id, process, thread, name, kind FROM ranges", ("name",))
    records("copies", trace.copies(), ["id", "process", "gpu", "queue", "kind", "engine", "bytes", "src", "dst"],
            "SELECT id, process, gpu, queue, kind, engine, bytes, src, dst FROM copies")


with rtl.open(path) as trace:
    check("info", (trace.info.kernels, trace.info.copies, trace.info.calls, trace.info.ranges),
          ask("SELECT (SELECT count(*) FROM kernels), (SELECT count(*) FROM copies), (SELECT count(*) FROM api), "
              "(SELECT count(*) FROM ranges)")[0])
    count = kernels(trace)
    windows(trace)
    sums(trace)
    graphs(trace)
    lists(trace)
    events(trace)
    unread = trace.pieces(["id"])
    next(unread, None)
try:
    trace.info
    check("a trace that is closed", "read", "ValueError")
except ValueError:
    pass
check("what goes on in a trace that is closed", next(unread, "ended") if count == 0 else "closed", "ended" if count == 0 else "closed")
if rtl._columns.numpy is not None and count:
    check("columns of numpy", type(rtl.open(path).kernels(["start"]).start).__module__, "numpy")
print(f"{count} kernels")
sys.exit(failures > 0)
