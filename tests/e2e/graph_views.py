"""graph_views.py RTL FIRST SECOND COPIER: compares the JSON of the views on FIRST.db and SECOND.db with SQL on FIRST.rpd and
SECOND.rpd, and with what graph_views.hip has planted. RPD knows of no nodes: they are the kernels of a hipGraphLaunch in
the order of their starts (graphs 1 and 2 are chains), and launches are counted from the first call. COPIER: what copies in
a graph, `engine`, or `kernel` as in HIP 7.2, where the copy is a node with a kernel and leaves no gap."""
import json
import math
import sqlite3
import subprocess
import sys

rtl, first, second, copier = sys.argv[1:]
REPLAYS, BRANCHING = 48, 24
COPIED = 9  # the place of what follows the copy, or of the copy
CHAIN = 13 if copier == "kernel" else 12
failed = 0


def must(condition, what):
    global failed
    if not condition:
        print("not so:", what)
        failed += 1


def near(got, wanted, what):
    must(math.isclose(got, wanted, rel_tol=1e-9, abs_tol=1e-9), f"{what}: got {got}, want {wanted}")


def equal(got, wanted, what):
    must(got == wanted, f"{what}: got {got}, want {wanted}")


def ask_rtl(*arguments):
    return json.loads(subprocess.run([rtl, *arguments, "--json"], check=True, capture_output=True).stdout)


class Rpd:
    """Kernels of graph launches: `ops` has launch (over all graphs, from 1), queue, place in it, start, end, gap before."""

    def __init__(self, path):
        self.db = sqlite3.connect(path)
        self.db.executescript("""
            CREATE TEMP TABLE launches AS SELECT a.id, row_number() OVER (ORDER BY a.start) AS launch
                FROM rocpd_api a JOIN rocpd_string s ON s.id = a.apiName_id WHERE s.string = 'hipGraphLaunch';
            CREATE TEMP TABLE ops AS SELECT launch, queue, start, end, end - start AS ns,
                row_number() OVER (PARTITION BY launch ORDER BY start) - 1 AS place,
                max(0, start - max(end) OVER (PARTITION BY launch ORDER BY start
                                              ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS gap
                FROM (SELECT l.launch, o.queueId AS queue, o.start, o.end FROM launches l
                      JOIN rocpd_api_ops ao ON ao.api_id = l.id JOIN rocpd_op o ON o.id = ao.op_id
                      JOIN rocpd_string t ON t.id = o.opType_id WHERE t.string = 'KernelExecution')""")

    def all(self, sql, *values):
        return self.db.execute(sql, values).fetchall()

    def one(self, sql, *values):
        return self.db.execute(sql, values).fetchone()[0]

    def quantile(self, per_mille, what, where, *values):
        count = self.one(f"SELECT count({what}) FROM ops WHERE {where}", *values)
        rank = -(-count * per_mille // 1000)
        return self.one(f"SELECT {what} FROM ops WHERE {where} AND {what} IS NOT NULL ORDER BY {what} LIMIT 1 OFFSET ?",
                        *values, rank - 1)


# Launches of graph 1, 2 and 3, as numbers over all graphs.
RANGES = {1: (1, REPLAYS), 2: (REPLAYS + 1, 2 * REPLAYS), 3: (2 * REPLAYS + 1, 2 * REPLAYS + BRANCHING)}


def nth_least(values, per_mille):
    return sorted(values)[-(-len(values) * per_mille // 1000) - 1]


def spans(rpd, graph):
    low, high = RANGES[graph]
    return rpd.all("SELECT launch, min(start), max(end) FROM ops WHERE launch BETWEEN ? AND ? GROUP BY launch ORDER BY 1",
                   low, high)


def check_list(trace, rpd):
    seen = ask_rtl("graph", "list", trace)
    equal(seen["kernel_ns"], rpd.one("SELECT sum(end - start) FROM rocpd_op o JOIN rocpd_string t ON t.id = o.opType_id"
                                     " WHERE t.string = 'KernelExecution'"), "the time of all kernels")
    equal(sorted(g["graph"] for g in seen["graphs"]), [1, 2, 3], "graphs")
    for graph in seen["graphs"]:
        number = graph["graph"]
        low, high = RANGES[number]
        times = [end - start for _, start, end in spans(rpd, number)]
        equal(graph["launches"], high - low + 1, f"launches of graph {number}")
        for name, per_mille in (("p50_ns", 500), ("p90_ns", 900), ("p99_ns", 990)):
            equal(graph[name], nth_least(times, per_mille), f"{name} of graph {number}")
        equal(graph["kernel_ns"], rpd.one("SELECT sum(ns) FROM ops WHERE launch BETWEEN ? AND ?", low, high),
              f"kernel time of graph {number}")


def check_chain(trace, rpd, graph):
    low, high = RANGES[graph]
    seen = ask_rtl("graph", "show", trace, str(graph), "--top", "0", "--sort", "node")
    nodes = seen["nodes"]
    equal(len(nodes), CHAIN, f"nodes of graph {graph}")
    equal(seen["branches"], False, "branches of a chain")
    must(nodes == sorted(nodes, key=lambda n: n["node"]), "nodes sorted by number")
    total = rpd.one("SELECT sum(ns) FROM ops WHERE launch BETWEEN ? AND ?", low, high)
    for place, node in enumerate(nodes):
        where, values = "place = ? AND launch BETWEEN ? AND ?", (place, low, high)
        what = f"node {place} of graph {graph}"
        name = "copyBuffer" if copier == "kernel" and place == COPIED else "hip_takes"
        must(name in node["name"], f"{what} has its name")
        for name, per_mille in (("p50_ns", 500), ("p90_ns", 900), ("p99_ns", 990)):
            equal(node["time"][name], rpd.quantile(per_mille, "ns", where, *values), f"{name} of {what}")
        equal(node["time"]["count"], REPLAYS, f"count of {what}")
        mean, square, own = rpd.all(f"SELECT avg(ns), avg(ns * ns), sum(ns) FROM ops WHERE {where}", *values)[0]
        must(math.isclose(node["time"]["cv"], math.sqrt(max(0, square - mean * mean)) / mean, abs_tol=1e-6), f"cv of {what}")
        near(node["share"], own / total, f"share of {what}")
        if place == 0:
            equal(node["gap"], None, f"gap before {what}")
        else:
            equal(node["gap"]["p50_ns"], rpd.quantile(500, "gap", where, *values), f"gap before {what}")
    equal(seen["idle"]["total_ns"], rpd.one("SELECT sum(gap) FROM ops WHERE launch BETWEEN ? AND ?", low, high), "idle time")
    equal(seen["time"]["p50_ns"], nth_least([end - start for _, start, end in spans(rpd, graph)], 500), "p50 of a launch")
    return nodes, seen["findings"]


def check_findings(nodes, findings, unsteady):
    number = {node["node"]: place for place, node in enumerate(nodes)}
    found = {kind: [number[f["node"]] for f in findings if f["kind"] == kind] for kind in ("slow", "unsteady", "gap")}
    equal(found["slow"], [4], "slow nodes")
    equal(sorted(found["unsteady"]), unsteady, "unsteady nodes")
    equal(COPIED in found["gap"], copier == "engine", f"the gap where the copy is, of {found['gap']}")
    slow = next(f for f in findings if f["kind"] == "slow")
    equal(slow["weight_ns"] + slow["usual_ns"], nodes[4]["time"]["p50_ns"], "p50 of the slow node")


def path_of(kernels):
    """Back from the kernel that ended last, each time to the one that ended last of those that it waited for: those that
    it depends on, and the one before it in its queue. Kernels are told apart by how long they last."""
    node_of = {300000: 1, 30000: 2}
    ends = [i for i, (_, start, end) in enumerate(kernels) if end - start == 20000]
    nodes = {i: node_of.get(end - start, 0 if i == ends[0] else 3) for i, (_, start, end) in enumerate(kernels)}
    place = {node: i for i, node in nodes.items()}
    waits = {0: [], 1: [0], 2: [0], 3: [1, 2]}
    path, at = [], max(place, key=lambda node: kernels[place[node]][2])
    while at is not None:
        path.append(at)
        queue, start, _ = kernels[place[at]]
        before = [i for i in range(place[at]) if kernels[i][0] == queue][-1:]
        last = [(kernels[place[node]][2], node) for node in waits[at]]
        last += [(kernels[i][2], nodes[i]) for i in before if kernels[i][2] <= start]
        at = max(last)[1] if last else None
    return path


def check_branches(trace, rpd):
    low, high = RANGES[3]
    seen = ask_rtl("graph", "show", trace, "3", "--top", "0", "--sort", "node")
    equal(seen["branches"], True, "branches of a graph with branches")
    paths, durations = [], {0: 20000, 1: 300000, 2: 30000, 3: 20000}
    for launch in range(low, high + 1):
        paths.append(path_of(rpd.all("SELECT queue, start, end FROM ops WHERE launch = ? ORDER BY start", launch)))
    equal([node["critical_launches"] for node in seen["nodes"]], [sum(n in p for p in paths) for n in range(4)],
          "launches in whose critical path a node is")
    equal(seen["critical_path"]["total_ns"], sum(durations[n] for p in paths for n in p), "time of the critical path")


def check_launches(trace, rpd):
    seen = ask_rtl("graph", "launches", trace, "1", "--top", "0", "--all")
    times = {launch: end - start for launch, start, end in spans(rpd, 1)}
    p50 = nth_least(times.values(), 500)
    distance = nth_least([abs(t - p50) for t in times.values()], 500)
    limit = p50 + max(5 * 1.4826 * distance, 0.05 * p50)
    must(abs(seen["outlier_limit_ns"] - limit) <= 1, f"the outliers' limit: {seen['outlier_limit_ns']}, {limit}")
    equal(sorted(o["launch"] for o in seen["outliers"]), [n for n, t in sorted(times.items()) if t > limit], "outliers")
    equal([(r["launch"], r["time_ns"]) for r in seen["all"]], sorted(times.items()), "times of all launches")
    blamed = {o["launch"]: o["blame"] for o in seen["outliers"]}
    numbers = [node["node"] for node in ask_rtl("graph", "show", trace, "1", "--sort", "node")["nodes"]]
    usual = {(what, place): rpd.quantile(500, what, "place = ? AND launch BETWEEN ? AND ?", place, *RANGES[1])
             for what in ("ns", "gap") for place in range(CHAIN) if (what, place) != ("gap", 0)}
    for launch, blame in blamed.items():
        excess = []
        for place, ns, gap in rpd.all("SELECT place, ns, gap FROM ops WHERE launch = ? ORDER BY place", launch):
            excess.append((ns - usual["ns", place], "kernel", numbers[place]))
            if place > 0:
                excess.append((gap - usual["gap", place], "gap", numbers[place]))
        equal((blame["excess_ns"], blame["what"], blame["node"]), max(excess, key=lambda e: e[0]), f"what made launch {launch} long")
    for launch in (13, 31):
        must(launch in blamed, f"launch {launch} is an outlier")
    must(any(blamed[launch]["node"] == 2 for launch in (13, 31) if launch in blamed), "the planted kernel is blamed")
    gaps = rpd.all("SELECT launch, sum(coalesce(gap, 0)) FROM ops WHERE launch <= ? GROUP BY 1 ORDER BY 1", REPLAYS)
    equal([r["time_ns"] - r["busy_ns"] for r in seen["all"]], [gap for _, gap in gaps], "idle time of launches")


def check_diff(one, other, slower, what):
    """`slower`: places in the chain that take longer on the right side."""
    seen = ask_rtl("graph", "diff", *one, *other)
    matched = [n for n in seen["nodes"] if n["a_node"] is not None and n["b_node"] is not None]
    equal((seen["matched"], len(matched), seen["only_a"], seen["only_b"]), (CHAIN, CHAIN, 0, 0), f"{what}: matched nodes")
    equal([p for p, n in enumerate(matched) if n["time"]["verdict"] == "slower"], slower, f"{what}: slower nodes")
    equal([p for p, n in enumerate(matched) if n["time"]["verdict"] == "faster"], [], f"{what}: faster nodes")
    return matched


def check_medians(matched, rpds, graphs):
    for place, node in enumerate(matched):
        for side, rpd, graph in (("a", rpds[0], graphs[0]), ("b", rpds[1], graphs[1])):
            equal(node["time"][side + "_p50_ns"],
                  rpd.quantile(500, "ns", "place = ? AND launch BETWEEN ? AND ?", place, *RANGES[graph]),
                  f"p50 of node {place} of graph {graph}")
        time = node["time"]
        must(time["low_ns"] <= time["difference_ns"] <= time["high_ns"], f"interval of node {place}")
        if time["verdict"] == "slower":
            must(time["low_ns"] > 0 and time["p"] < 0.01, f"confidence of node {place}")


def check_traces(rpds):
    seen = ask_rtl("diff", first + ".db", second + ".db")
    sums = [{name: (count, ns) for name, count, ns in rpd.all(
        "SELECT d.string, count(*), sum(o.end - o.start) FROM rocpd_op o JOIN rocpd_string d ON d.id = o.description_id"
        " JOIN rocpd_string t ON t.id = o.opType_id WHERE t.string = 'KernelExecution' GROUP BY 1")} for rpd in rpds]
    names = {k["name"]: k for k in seen["kernels"]}
    equal(set(names), set(sums[0]) | set(sums[1]), "kernels of two traces")
    for name, kernel in names.items():
        for side, total in (("a", sums[0]), ("b", sums[1])):
            equal((kernel[side]["count"], kernel[side]["total_ns"]), total[name], f"{name} of {side}")
    equal([(g["a"]["graph"], g["b"]["graph"]) for g in seen["graphs"]], [(1, 1), (2, 2), (3, 3)], "graphs of two traces")
    same = ask_rtl("diff", first + ".db", first + ".db")
    equal({k["verdict"] for k in same["kernels"]} - {"alike", "too few"}, set(), "differences of a trace from itself")


def union(intervals):
    total, reached = 0, 0
    for start, end in sorted(intervals):
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total


def check_timeline(trace, rpd):
    seen = ask_rtl("timeline", trace, "--launch", "1:13")
    ops = rpd.all("SELECT start, end FROM ops WHERE launch = 13")
    equal((seen["from_ns"], seen["to_ns"]), (min(s for s, _ in ops), max(e for _, e in ops)), "window of a launch")
    lane = next(l for l in seen["lanes"] if l["of"] == "kernels")
    equal(lane["busy_ns"], union(ops), "busy time of a launch")
    equal(sum(lane["column_busy_ns"]), lane["busy_ns"], "busy time by columns")
    equal(any(l["of"] == "copies" for l in seen["lanes"]), copier == "engine", "the copy of the launch")
    busiest = max(range(seen["columns"]), key=lambda column: lane["column_busy_ns"][column])
    equal(seen["names"][lane["column_name"][busiest]]["name"], next(iter(
        {r[0] for r in rpd.all("SELECT string FROM rocpd_string WHERE string LIKE 'hip_takes%'")})), "the name of the busiest column")
    from_ns, to_ns = seen["from_ns"] + 1000, seen["from_ns"] + 2000000
    part = ask_rtl("timeline", trace, "--from", str(from_ns), "--to", str(to_ns))
    lane = next(l for l in part["lanes"] if l["of"] == "kernels")
    equal(lane["busy_ns"], union([(max(s, from_ns), min(e, to_ns)) for s, e in ops if e > from_ns and s < to_ns]),
          "busy time of a window")


rpds = Rpd(first + ".rpd"), Rpd(second + ".rpd")
check_list(first + ".db", rpds[0])
check_findings(*check_chain(first + ".db", rpds[0], 1), unsteady=[2, 7])
check_findings(*check_chain(first + ".db", rpds[0], 2), unsteady=[7])
check_branches(first + ".db", rpds[0])
check_launches(first + ".db", rpds[0])
check_medians(check_diff((first + ".db",), ("1", "2"), [5], "two graphs"), (rpds[0], rpds[0]), (1, 2))
check_medians(check_diff((first + ".db",), (second + ".db", "2"), [6], "two traces"), rpds, (2, 2))
check_diff((first + ".db",), (second + ".db", "1"), [], "a graph that is the same in two traces")
check_traces(rpds)
check_timeline(first + ".db", rpds[0])
sys.exit(1 if failed else 0)
