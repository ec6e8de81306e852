"""filters.py RTL SERVE DEMO BOTH: compares what commands show with filters with what SQL has of the trace. What a
filter leaves is computed here, from the rows; of the server's phases the plan is known (steps.hip)."""
import collections
import csv
import io
import json
import os
import re
import sqlite3
import subprocess
import sys

rtl, serve, demo, both = sys.argv[1:]
REQUESTS, TOKENS, PREFILL, DECODE = 4, 25, 6, 4
failed = 0
compared = 0


def equal(got, wanted, what):
    global failed, compared
    compared += 1
    if got != wanted:
        print(f"{what}: got {str(got)[:300]}, want {str(wanted)[:300]}")
        failed += 1


def run(*arguments):
    return subprocess.run([rtl, *arguments], check=True, capture_output=True, text=True)


def ask(*arguments):
    return json.loads(run(*arguments, "--json").stdout)


def sql(trace, statement):
    return ask("sql", trace, statement)


class Trace:
    def __init__(self, path):
        self.path = path
        self.kernels = sql(path, "SELECT * FROM kernels")
        self.copies = sql(path, "SELECT * FROM copies")
        self.calls = sql(path, "SELECT id, process, stream, name, start, end, correlation FROM api")
        self.launches = sql(path, "SELECT * FROM graph_launches")
        self.ranges = sql(path, "SELECT id, process FROM ranges")
        streams = {(call["process"], call["correlation"]): call["stream"] for call in self.calls}
        for launch in self.launches:
            launch["stream"] = streams.get((launch["process"], launch["correlation"]))
            launch["end"] = launch["end"] or launch["time"]
            launch["start"] = launch["start"] or launch["time"]


class Part:
    """What filters are to leave of a trace: the words of the command line and what they mean."""

    def __init__(self, trace, *words, name=None, stream=None, process=None, gpu=None, window=None, steps=None):
        self.trace, self.words = trace, words
        self.name, self.gpu = name, gpu

        def passes(row, of_stream=True):
            return ((process is None or row["process"] == process) and
                    (stream is None or not of_stream or row["stream"] == stream))

        def in_time(row):
            if window and not (row["start"] < window[1] and (row["end"] > window[0] or row["start"] >= window[0])):
                return False
            return steps is None or any(begin <= row["start"] < end for begin, end in steps)

        def on_gpu(row):
            return gpu is None or row["gpu"] == gpu

        self.kernels = [k for k in trace.kernels if passes(k) and in_time(k) and on_gpu(k) and
                        (name is None or re.search(name, k["name"]))]
        self.copies = [c for c in trace.copies if passes(c) and in_time(c) and on_gpu(c) and name is None]
        self.calls = [c for c in trace.calls if passes(c) and in_time(c)]
        self.launches = [l for l in trace.launches if passes(l) and in_time(l)]
        self.ranges = [r for r in trace.ranges if passes(r, False)]
        self.window, self.steps = window, steps
        self.what = f"{os.path.basename(trace.path)} {' '.join(words)}"


def union(intervals):
    """Time in which one or more are open."""
    sum_, last = 0, 0
    for start, end in sorted(intervals):
        sum_ += max(0, end - max(start, last))
        last = max(last, end)
    return sum_


def cut(part, kernel):
    """The part of a kernel's time that lies in the window, or before the end of its steps in a row."""
    start, end = kernel["start"], kernel["end"]
    if part.window:
        start, end = max(start, part.window[0]), min(end, part.window[1])
    for begin, last in part.steps or ():
        if begin <= kernel["start"] < last:
            end = min(end, last)
    return start, end


def check_summary(part):
    said = ask("summary", part.trace.path, "--top", "0", *part.words)
    names = collections.defaultdict(list)
    for kernel in part.kernels:
        names[kernel["name"]].append(kernel["end"] - kernel["start"])
    equal(said["kernel_count"], len(part.kernels), f"summary of {part.what}: kernels")
    equal({row["name"]: (row["calls"], row["total_ns"]) for row in said["kernels"]},
          {name: (len(times), sum(times)) for name, times in names.items()}, f"summary of {part.what}: names")
    equal(said["copy_count"], len(part.copies), f"summary of {part.what}: copies")
    hosts = None if part.name or part.gpu is not None else (len(part.calls), len(part.launches))
    equal(said["call_count"] if hosts is None else (said["call_count"], said["graph_launch_count"]), hosts,
          f"summary of {part.what}: calls and launches")
    equal((said["filter"]["shown"], said["filter"]["all"]), (len(part.kernels), len(part.trace.kernels)),
          f"summary of {part.what}: how many")
    equal(said["complete"], True, f"summary of {part.what}: the verdict is that of the whole")
    check_busy(part, said)


def check_busy(part, said):
    if len({kernel["process"] for kernel in part.kernels}) > 1:
        return  # GPUs of several processes may be one
    busy = union(cut(part, kernel) for kernel in part.kernels)
    equal(sum(gpu["busy_ns"] for gpu in said["gpus"]), busy, f"summary of {part.what}: busy")
    if part.window and not part.steps:
        info = ask("info", part.trace.path)
        length = min(part.window[1], info["end_ns"]) - max(part.window[0], info["start_ns"])
        equal(said["window_ns"], length, f"summary of {part.what}: window")
    idle = [gpu["idle_ns"] for gpu in said["gpus"]]
    if said["window_ns"] is not None and len(idle) == 1 and idle[0] is not None:
        equal(idle[0], said["window_ns"] - busy, f"summary of {part.what}: idle is the window's rest")


def exported(part, table):
    text = run("export", part.trace.path, "-F", "csv", "--table", table, "-o", "-", *part.words).stdout
    return list(csv.DictReader(io.StringIO(text)))


def check_tables(part):
    wanted = {"kernels": part.kernels, "copies": part.copies, "api": part.calls, "ranges": part.ranges}
    for table, rows in wanted.items():
        equal(sorted(int(row["id"]) for row in exported(part, table)), sorted(row["id"] for row in rows),
              f"CSV of {table} of {part.what}")
    equal(sorted((int(row["process"]), int(row["graph"]), int(row["launch"])) for row in exported(part, "launches")),
          sorted((row["process"], row["graph"], row["launch"]) for row in part.launches),
          f"CSV of launches of {part.what}")


def check_files(part):
    """The other formats, as their readers see them."""
    names = collections.Counter(kernel["name"] for kernel in part.kernels)

    def export(form, path):
        said = run("export", part.trace.path, "-f", "-F", form, "-o", path, *part.words).stderr
        equal(f"{len(part.kernels):,} of {len(part.trace.kernels):,} kernels".replace(",", " ") in said, True,
              f"{form} of {part.what} says how much: {said}")

    export("chrome", "part.json")
    events = json.load(open("part.json"))["traceEvents"]
    equal(collections.Counter(e["name"] for e in events if e.get("cat") == "kernel"), names, f"chrome of {part.what}")
    export("rocprofv3", "part.v3.json")
    tool = json.load(open("part.v3.json"))["rocprofiler-sdk-tool"]
    equal(sum(len(of["buffer_records"]["kernel_dispatch"]) for of in tool), len(part.kernels),
          f"rocprofv3 of {part.what}")
    export("rpd", "part.rpd")
    run("import", "-f", "-o", "part.db", "part.rpd")
    equal(sql("part.db", "SELECT count(*) AS n FROM kernels")[0]["n"], len(part.kernels),
          f"RPD of {part.what}, read again")
    export("rocpd", "part.rocpd")
    equal(sqlite3.connect("part.rocpd").execute("SELECT count(*) FROM kernels").fetchone()[0], len(part.kernels),
          f"rocpd of {part.what}")
    export("perfetto", "part.perfetto")
    export("html", "part.html")


def check_timeline(part):
    said = ask("timeline", part.trace.path, *part.words)
    equal(sum(lane["events"] for lane in said["lanes"] if lane["of"] == "kernels"), len(part.kernels),
          f"timeline of {part.what}: kernels")
    equal(sum(lane["events"] for lane in said["lanes"] if lane["of"] == "copies"),
          sum(copy["start"] is not None for copy in part.copies), f"timeline of {part.what}: copies")


def check_graphs(part):
    """Those that begin between --from and --to."""
    if part.name or part.gpu is not None:
        return
    begun = [l for l in part.launches if not part.window or part.window[0] <= l["start"] < part.window[1]]
    graphs = collections.Counter((launch["process"], launch["graph"]) for launch in begun)
    said = ask("graph", "list", part.trace.path, *part.words)
    equal({(row["process"], row["graph"]): row["launches"] for row in said["graphs"]}, dict(graphs),
          f"graph list of {part.what}")
    for (process, graph), count in graphs.items():
        of = [l for l in begun if (l["process"], l["graph"]) == (process, graph)]
        shown = ask("graph", "show", part.trace.path, f"{process}:{graph}", *part.words)
        equal((shown["launches"], shown["whole_launches"]), (count, count), f"graph show of {part.what}")
        told = ask("graph", "launches", part.trace.path, f"{process}:{graph}", "--all", *part.words)
        equal([(l["launch"], l["start_ns"]) for l in told["all"]], sorted((l["launch"], l["start"]) for l in of),
              f"graph launches of {part.what}")


def check_all(part):
    check_summary(part)
    check_tables(part)
    check_timeline(part)
    check_graphs(part)


def middle(trace):
    """A window that begins and ends within kernels."""
    times = sorted((kernel["start"] + kernel["end"]) // 2 for kernel in trace.kernels)
    return times[len(times) // 3], times[2 * len(times) // 3]


def steps_of(trace, phase):
    """The steps of a phase of this name, those in a row put together."""
    said = ask("steps", trace.path, "--list")
    phase = next(p["phase"] for thread in said["threads"] for p in thread["phases"] if p["what"] == phase)
    found = []
    for thread in said["threads"]:
        for step in thread["steps"]:
            if step["phase"] == phase and found and found[-1][1] == step["start_ns"]:
                found[-1] = (found[-1][0], step["end_ns"])
            elif step["phase"] == phase:
                found.append((step["start_ns"], step["end_ns"]))
    return found


def check_plan(trace):
    """A token of the server is a launch of graph 2, a kernel, and a copy to the host."""
    tokens = REQUESTS * TOKENS
    said = ask("steps", trace.path)
    phases = {phase["what"]: phase["phase"] for thread in said["threads"] for phase in thread["phases"]}
    for words in (("--phase", "graph 2"), ("--phase", str(phases["graph 2"]))):
        decode = ask("summary", trace.path, *words)
        equal((decode["graph_launch_count"], decode["graph_kernel_count"], decode["kernel_count"]),
              (tokens, tokens * DECODE, tokens * (DECODE + 1)), f"what a server decodes, {words}")
        shown = ask("steps", trace.path, *words)
        equal([phase["steps"] for thread in shown["threads"] for phase in thread["phases"]], [tokens],
              f"steps with {words}")
        equal((shown["filter"]["shown"], shown["filter"]["all"]), (tokens, tokens + REQUESTS),
              f"how many steps, {words}")
    prefill = ask("summary", trace.path, "--phase", "graph 1")
    equal(prefill["graph_kernel_count"], REQUESTS * PREFILL, "what a server prefills")
    ranges = ask("steps", trace.path, "--phase", "token")
    equal((ranges["by"], [p["steps"] for t in ranges["threads"] for p in t["phases"]]), ("range", [tokens]),
          "a phase that is the name of ranges")
    equal(ask("summary", trace.path, "--phase", "token")["filter"]["phase"]["what"], "range token", "and a summary's")


def check_steps(trace):
    """Those that begin in a window, and how long they are idle, step by step."""
    whole = ask("steps", trace.path, "--list")["threads"][0]["steps"]
    begin, end = whole[len(whole) // 4]["start_ns"], whole[3 * len(whole) // 4]["start_ns"]
    wanted = [step for step in whole if begin <= step["start_ns"] < end]
    said = ask("steps", trace.path, "--list", "--from", str(begin), "--to", str(end))
    equal(said["threads"][0]["steps"], wanted, "steps of a window")
    idle = sum(cause["ns"] for phase in said["threads"][0]["phases"] for cause in phase["idle"])
    equal(idle, sum(step["idle_ns"] for step in wanted), "idle times of a window's steps, by cause")
    none = ask("steps", trace.path, "--list", "--to", "1")
    equal((none["threads"][0]["steps"], none["filter"]["shown"]), ([], 0), "no steps")


def check_nodes(trace):
    """Nodes of kernels of a name; launches stay as long as they are."""
    whole = ask("graph", "show", trace.path, "1")
    part = ask("graph", "show", trace.path, "1", "--kernel", "norm|add")
    equal(part["nodes"], [n for n in whole["nodes"] if re.search("norm|add", n["name"])], "nodes of a name")
    equal(part["time"], whole["time"], "time of launches of which some nodes are shown")


def check_processes(trace):
    """One process by its number, its pid, its name and its rank."""
    for process in sql(trace.path, "SELECT process, pid, rank, comm FROM processes"):
        number = process["process"]
        for words in (("--process", str(number)), ("--process", str(process["pid"])), ("--process", process["comm"]),
                      ("--rank", process["rank"]), ("--process", str(number), "--rank", process["rank"])):
            check_summary(Part(trace, *words, process=number))
        equal({gpu["process"] for gpu in ask("idle", trace.path, "--process", str(number))["gpus"]}, {number},
              "idle times of a process")
        ranked = ask("steps", trace.path, "--rank", process["rank"])
        equal({thread["process"] for thread in ranked["threads"]}, {number}, "steps of a rank")
        costs = ask("graph", "costs", trace.path, "--process", str(number))
        equal({graph["process"] for graph in costs["graphs"]}, {number}, "what the graphs of a process cost")
    all_ = ask("summary", trace.path, "--process", "1", "--process", "2")
    equal(all_["kernel_count"], len(trace.kernels), "both processes")


def check_text(trace):
    count = len([k for k in trace.kernels if re.search("norm", k["name"]) and k["stream"] == 1])
    line = f"  only kernels /norm/ of stream 1: {count:,} of {len(trace.kernels):,} kernels".replace(",", " ")
    for command in ("summary", "timeline"):
        text = run(command, trace.path, "--kernel", "norm", "--stream", "1").stdout
        equal(text.splitlines().count(line), 1, f"the line of rtl {command}")
        nothing = run(command, trace.path, "--kernel", "^none$").stdout
        equal(f"  only kernels /^none$/: none of {len(trace.kernels):,} kernels".replace(",", " ") in nothing, True,
              f"rtl {command} of nothing")
    for arguments in (("summary", trace.path), ("steps", trace.path), ("idle", trace.path), ("timeline", trace.path),
                      ("graph", "list", trace.path), ("graph", "show", trace.path, "1"),
                      ("graph", "launches", trace.path, "1"), ("graph", "costs", trace.path)):
        equal(ask(*arguments)["filter"], None, f"rtl {arguments[0]} without a filter")


def main():
    server, decoder, merged = Trace(serve), Trace(demo), Trace(both)
    streams = sorted({k["stream"] for k in decoder.kernels})
    equal(len(streams) >= 3, True, "the demo has streams")
    parts = [Part(decoder, "--kernel", "norm|add", name="norm|add"), Part(decoder, "--gpu", "0", gpu=0),
             Part(decoder, "--from", str(middle(decoder)[0]), "--to", str(middle(decoder)[1]), window=middle(decoder)),
             Part(decoder, "--phase", "1", steps=steps_of(decoder, "graph 1")),
             Part(decoder, "--phase", "1", "--stream", "2", steps=steps_of(decoder, "graph 1"), stream=2),
             Part(server, "--phase", "graph 2", steps=steps_of(server, "graph 2")),
             Part(merged, "--stream", "1", "--process", "2", stream=1, process=2),
             Part(merged, "--stream", "1", stream=1),
             Part(decoder, "--kernel", "norm", "--stream", "1", "--from", str(middle(decoder)[0]), name="norm",
                  stream=1, window=(middle(decoder)[0], 1 << 62))]
    parts += [Part(decoder, "--stream", str(stream), stream=stream) for stream in streams]
    for part in parts:
        check_all(part)
    check_files(parts[4])
    check_files(parts[6])
    check_plan(server)
    check_steps(server)
    check_nodes(decoder)
    check_processes(merged)
    check_text(decoder)
    print(f"{compared} comparisons")
    return 1 if failed else 0


sys.exit(main())
