"""steps.py RTL SERVE TRAIN DEMO MAKE SLOW FUSED STOP PARTS PEERS TWO: compares `rtl steps` with what the programs did (steps.hip, the
demo), and its times and causes of idle times with what a slower way makes of the tables of the trace."""
import collections
import json
import subprocess
import sys

rtl, serve, train, demo, make, slow, fused, stop, parts, peers, two = sys.argv[1:]
REQUESTS, TOKENS, PLANTED = 4, 25, 300_000
KINDS = ("graphs_ns", "eager_ns", "copies_ns", "idle_ns")
failed = 0


def equal(got, wanted, what):
    global failed
    if got != wanted:
        print(f"{what}: got {got}, want {wanted}")
        failed += 1


def run(*arguments):
    return subprocess.run([rtl, *arguments], check=False, capture_output=True, text=True)


def ask(*arguments):
    return json.loads(subprocess.run([rtl, *arguments, "--json"], check=True, capture_output=True).stdout)


def sql(trace, statement):
    return ask("sql", trace, statement)


class Work:
    """All that ran on a GPU: (start, end, kind, correlation, launch), and when others ran: (start, end)."""

    def __init__(self, trace, gpu=0):
        kernels = sql(trace, f"SELECT start, end, graph, launch, correlation FROM kernels WHERE gpu = {gpu}")
        copies = sql(trace, f"SELECT start, end, correlation FROM copies WHERE gpu = {gpu}")
        self.others = [(other["start"], other["end"]) for table in ("kernels", "copies")
                       for other in sql(trace, f"SELECT start, end FROM {table} WHERE gpu <> {gpu}")]
        self.items = [(k["start"], k["end"], 0 if k["graph"] is not None else 1, k["correlation"],
                       (k["graph"], k["launch"])) for k in kernels]
        self.items += [(c["start"], c["end"], 2, c["correlation"], None) for c in copies]
        self.items.sort(key=lambda item: (item[0], -item[2]))
        calls = sql(trace, "SELECT correlation, thread, name, start, end FROM api ORDER BY start")
        self.pauses = [(pause["start"], pause["end"] or 1 << 63) for pause in sql(trace, "SELECT start, end FROM pauses")]
        self.calls = {call["correlation"]: call for call in calls}
        self.threads = collections.defaultdict(list)
        for call in calls:
            self.threads[call["thread"]].append(call)

    def times(self, begin, end):
        """Time of each kind in a window, and its idle intervals: the best kind between any two edges counts."""
        inside = [item for item in self.items if item[0] < end and item[1] > begin]
        edges = sorted({begin, end} | {t for item in inside for t in item[:2] if begin < t < end})
        sums, idle = [0, 0, 0, 0], []
        for a, b in zip(edges, edges[1:]):
            kind = min((item[2] for item in inside if item[0] <= a and item[1] >= b), default=3)
            sums[kind] += b - a
            if kind == 3:
                idle.append((a, b))
        return sums, idle

    def causes(self, a, b):
        """What an idle time is due to: {cause: ns}. While recording was stopped nobody knows."""
        edges = sorted({a, b} | {t for pause in self.pauses for t in pause if a < t < b})
        found = collections.Counter()
        for x, y in zip(edges, edges[1:]):
            stopped = any(pause[0] <= x and pause[1] >= y for pause in self.pauses)
            found.update({"stopped": y - x} if stopped else self.known_causes(x, y))
        return found

    def known_causes(self, a, b):
        """Instant by instant between the edges of calls."""
        after = [item for item in self.items if item[0] >= b]
        before = [item for item in self.items if item[0] <= a]
        graphs = [item for item in before if item[2] == 0]
        if after[0][2] == 0 and graphs and graphs[-1][4] == after[0][4]:
            return {"in_graph": b - a}
        call = self.calls.get(after[0][3])
        if not call:
            return {"unknown": b - a}
        found = collections.Counter()
        calls = [c for c in self.threads[call["thread"]] if c["start"] < b and c["end"] > a]
        edges = sorted({a, b} | {t for c in calls for t in (c["start"], c["end"]) if a < t < b} |
                       ({call["start"]} if a < call["start"] < b else set()))
        for x, y in zip(edges, edges[1:]):
            within = [c for c in calls if c["start"] <= x and c["end"] >= y]
            if y <= call["start"]:
                found[within[0]["name"] if within else "no_call"] += y - x
            else: # submitted: what the thread does then has no part in it
                found.update({call["name"]: y - x} if call in within else self.submitted(x, y, b))
        return found

    def submitted(self, x, y, end):
        """Work that another GPU had done by the end of the idle time may have been waited for."""
        others = [other for other in self.others if other[0] < y and x < other[1] <= end]
        edges = sorted({x, y} | {t for other in others for t in other if x < t < y})
        found = collections.Counter()
        for a, b in zip(edges, edges[1:]):
            found["other_gpu" if any(o[0] <= a and o[1] >= b for o in others) else "submitted"] += b - a
        return found


def check_step(work, step, what, causes):
    sums, idle = work.times(step["start_ns"], step["end_ns"])
    equal([step[kind] for kind in KINDS], sums, f"times of {what}")
    inside = [item[2] for item in work.items if step["start_ns"] <= item[0] < step["end_ns"]]
    equal((step["kernels_in_graphs"], step["eager_kernels"], step["copies"]),
          tuple(inside.count(kind) for kind in range(3)), f"what began in {what}")
    for a, b in idle:
        causes.update(work.causes(a, b))


def check_thread(work, thread):
    """All steps of a thread against the tables, and the sums of its phases against the steps."""
    calls = work.threads[thread["thread"]] if thread["thread"] else [c for t in work.threads.values() for c in t]
    equal([step["host_calls"] for step in thread["steps"]],
          [sum(step["start_ns"] <= c["start"] < step["end_ns"] for c in calls) for step in thread["steps"]],
          "host calls of steps")
    sums = collections.defaultdict(collections.Counter)
    for number, step in enumerate(thread["steps"]):
        check_step(work, step, f"step {number}", sums[step["phase"]])
    for phase in thread["phases"]:
        steps = [step for step in thread["steps"] if step["phase"] == phase["phase"]]
        what = f"phase {phase['phase']}"
        equal(phase["steps"], len(steps), f"steps of {what}")
        times = sorted(step["end_ns"] - step["start_ns"] for step in steps)
        for name, per_mille in (("p50", 500), ("p90", 900), ("p99", 990)):
            equal(phase["step_ns"][name], times[-(-len(times) * per_mille // 1000) - 1], f"{name} of {what}")
        for kind in KINDS:
            equal(phase[kind]["total"], sum(step[kind] for step in steps), f"{kind} of {what}")
        for count in ("launches", "kernels_in_graphs", "eager_kernels", "copies", "host_calls"):
            equal(phase[count], sum(step[count] for step in steps), f"{count} of {what}")
        equal({cause["cause"]: cause["ns"] for cause in phase["idle"]}, dict(sums[phase["phase"]]),
              f"causes of idle times in {what}")
    edges = [step["start_ns"] for step in thread["steps"]], [step["end_ns"] for step in thread["steps"]]
    equal(all(end <= start for end, start in zip(edges[1], edges[0][1:])), True, "steps stand one behind the other")


def check_all_told(work, thread):
    """Each instant and all work from the first start to the last end is in a step or outside."""
    outside = [thread["outside"][where] for where in ("before", "between", "behind")]
    told = sum(step[kind] for step in thread["steps"] for kind in KINDS) + sum(p[k] for p in outside for k in KINDS)
    equal(told, max(item[1] for item in work.items) - work.items[0][0], "time in steps and outside")
    for kind, count in enumerate(("kernels_in_graphs", "eager_kernels", "copies")):
        equal(sum(p[count] for p in outside) + sum(step[count] for step in thread["steps"]),
              sum(item[2] == kind for item in work.items), f"{count} in steps and outside")


def check_serve(*arguments):
    work = Work(serve)
    seen = ask("steps", serve, "--list", *arguments)
    equal((seen["by"], len(seen["threads"])), ("launches", 1), "how the server's steps are found")
    thread = seen["threads"][0]
    equal({phase["what"]: (phase["steps"], phase["launches"], phase["kernels_in_graphs"], phase["eager_kernels"])
           for phase in thread["phases"]},
          {"graph 1": (REQUESTS, REQUESTS, 6 * REQUESTS, 0),
           "graph 2": (REQUESTS * TOKENS, REQUESTS * TOKENS, 4 * REQUESTS * TOKENS, REQUESTS * TOKENS)},
          "phases of the server")
    check_thread(work, thread)
    check_all_told(work, thread)
    equal(thread["outside"]["before"]["eager_kernels"], 3, "kernels of the warm-up")
    decode = next(phase for phase in thread["phases"] if phase["what"] == "graph 2")
    idle = {cause["cause"]: cause["ns"] for cause in decode["idle"]}
    # The last token of a request is over before what is planted behind it.
    equal(idle["no_call"] >= (TOKENS - 1) * PLANTED, True, f"the sleep is idle time in no call, {idle}")
    equal(idle["hipStreamSynchronize"] >= (TOKENS - 1) * PLANTED, True, f"the wait is idle time in its call, {idle}")
    equal(thread["outside"]["between"]["idle_ns"] >= 2 * PLANTED, True, "what is planted between requests")
    steps = [step for step in thread["steps"] if step["phase"] == decode["phase"]]
    copies = [step["copies"] for step in steps]
    equal((copies[:TOKENS], sum(copies[-TOKENS:])), ([1] * TOKENS, 2 * TOKENS), "copies of tokens, a second one is planted")


def check_by_graph():
    seen = ask("steps", serve, "--by", "graph:1", "--list")["threads"][0]
    equal([step["launches"] for step in seen["steps"]], [1 + TOKENS] * REQUESTS, "launches of requests")
    check_thread(Work(serve), seen)


def check_by_range():
    seen = ask("steps", serve, "--by", "range:token", "--list")
    thread = seen["threads"][0]
    equal((seen["by"], len(thread["steps"])), ("range", REQUESTS * TOKENS), "steps by ranges")
    launches = sql(serve, "SELECT start FROM graph_launches WHERE graph = 2 ORDER BY start")
    equal([step["start_ns"] for step in thread["steps"]], [launch["start"] for launch in launches], "begins of ranges")
    check_thread(Work(serve), thread)
    reported = ask("report", serve, "--by", "range:token")["steps"]
    equal((reported["by"], [phase["steps"] for phase in reported["phases"]]), ("range", [REQUESTS * TOKENS]), "the report by ranges")
    hint = [line.strip() for line in run("steps", serve).stdout.splitlines() if "--by" in line]
    equal(hint, [f"other steps: --by 'range:token', {REQUESTS * TOKENS} steps"], "what tells that ranges repeat, too")
    equal("--by" in run("steps", serve, "--by", "launches").stdout, False, "that ranges repeat, where launches are asked for")
    equal(run("report", "-o", "-", "--by", "graph:9", serve).stderr, f"rtl: {serve} has no graph 9: it has 1, 2\n", "a report by no graph")


def check_train():
    seen = ask("steps", train, "--list")
    equal((seen["by"], seen["eager_kernels"], seen["eager_kernels_in_blocks"]), ("kernels", 285, 280), "the trainer")
    thread = seen["threads"][0]
    equal([(step["eager_kernels"], step["kernels_in_graphs"]) for step in thread["steps"]], [(7, 0)] * 40, "iterations")
    equal(thread["outside"]["before"]["eager_kernels"], 5, "kernels before the iterations")
    check_thread(Work(train), thread)
    check_all_told(Work(train), thread)


def check_two():
    """A trainer without graphs beside a server with them: each in the way that it has steps."""
    for command in ("steps", "report"):
        seen = ask(command, two)
        equal((seen.get("steps") or seen)["by"], "auto", f"how {command} found steps")
    def times(thread):
        return [(step["start_ns"], step["idle_ns"]) for step in thread["steps"]]
    threads = {thread["by"]: thread for thread in ask("steps", two, "--list")["threads"]}
    equal({phase["what"]: phase["steps"] for phase in threads["launches"]["phases"]},
          {"graph 1": REQUESTS, "graph 2": REQUESTS * TOKENS}, "phases of the server")
    equal([step["eager_kernels"] for step in threads["kernels"]["steps"]], [7] * 40, "iterations of the trainer")
    equal(sorted(thread["process"] for thread in threads.values()), [1, 2], "processes with steps")
    for by, thread in threads.items():
        alone = ask("steps", two, "--list", "--process", str(thread["process"]))
        equal((alone["by"], [times(each) for each in alone["threads"]]), (by, [times(thread)]), f"by {by} alone")
    equal([thread["by"] for thread in ask("steps", two, "--by", "launches")["threads"]], ["launches"], "by launches only")


def check_parts():
    seen = ask("steps", parts, "--list")
    thread = seen["threads"][0]
    equal([(phase["what"], phase["steps"], phase["launches"], phase["kernels_in_graphs"]) for phase in thread["phases"]],
          [("graphs 1 to 3", 30, 90, 360), ("graph 4.2", 5, 5, 15), ("graph 4.3", 5, 5, 15)], "phases of parts")
    # The prefills, which are in no graph, are in no token.
    equal([step["eager_kernels"] for step in thread["steps"]], [1] * 30 + [0] * 10, "eager kernels of tokens")
    equal([thread["outside"][where]["eager_kernels"] for where in ("before", "between", "behind")], [30, 60, 0],
          "eager kernels of prefills")
    check_thread(Work(parts), thread)
    check_all_told(Work(parts), thread)


def check_demo():
    seen = ask("steps", demo, "--list")
    thread = seen["threads"][0]
    equal([phase["steps"] for phase in thread["phases"]], [60], "steps of the demo")
    equal(len({step["kernels_in_graphs"] for step in thread["steps"]}), 1, "kernels in a step of the demo")
    check_thread(Work(demo), thread)
    check_all_told(Work(demo), thread)


def check_idle():
    """Of the whole GPU, and of a window."""
    work = Work(serve)
    begin, end = work.items[0][0], max(item[1] for item in work.items)
    third = (end - begin) // 3
    for first, last in ((begin, end), (begin + third, end - third)):
        gpu = ask("idle", serve, "--from", str(first), "--to", str(last), "--top", "1000")["gpus"][0]
        sums, idle = work.times(first, last)
        causes, gaps = collections.Counter(), collections.Counter()
        for a, b in idle:
            found = work.causes(a, b)
            causes.update(found)
            gaps.update(found.keys())
        equal([gpu[kind] for kind in KINDS], sums, "times of the GPU")
        equal((gpu["first_ns"], gpu["last_ns"], gpu["gaps"]), (first, last, len(idle)), "window, and gaps in it")
        equal({cause["cause"]: cause["ns"] for cause in gpu["causes"]}, dict(causes), "causes of the GPU's idle times")
        equal({cause["cause"]: cause["gaps"] for cause in gpu["causes"]}, dict(gaps), "gaps that causes have a part in")
        summed = ask("summary", serve, "--from", str(first), "--to", str(last))["gpus"][0]
        equal(summed["idle_causes"], gpu["causes"], "causes in the summary")
        equal(sorted((gap["start_ns"], gap["ns"]) for gap in gpu["longest"]), sorted((a, b - a) for a, b in idle), "gaps")


def check_peers():
    """Two GPUs: what waits for the other one is told from what does not."""
    long, rounds = 3_000_000, 20
    seen = {gpu["gpu"]: gpu for gpu in ask("idle", peers)["gpus"]}
    for number in (0, 1):
        work, causes = Work(peers, number), collections.Counter()
        for a, b in work.times(work.items[0][0], max(item[1] for item in work.items))[1]:
            causes.update(work.causes(a, b))
        equal({cause["cause"]: cause["ns"] for cause in seen[number]["causes"]}, dict(causes), f"causes of GPU {number}")
        alone = ask("idle", peers, "--gpu", str(number))["gpus"]
        equal(alone, [seen[number]], f"GPU {number} alone")
    waited = {cause["cause"]: cause for cause in seen[0]["causes"]}.get("other_gpu", {"ns": 0, "gaps": 0})
    # Where the program is stopped within another round, that may look the same: seldom, not in all of them.
    equal(long * rounds // 6 <= waited["ns"] <= long * rounds * 3 // 4, True, f"GPU 0 waits in even rounds, {waited}")
    equal(waited["gaps"] <= rounds * 3 // 4, True, f"and hardly in others, {waited}")


def check_between():
    """Between the launches of a graph other work runs, which is no idle time."""
    work = Work(serve)
    seen = ask("graph", "show", serve, "2")
    launches = sql(serve, "SELECT start, end FROM graph_launches WHERE graph = 2 ORDER BY start")
    idle = [work.times(a["end"], b["start"])[0][3] for a, b in zip(launches, launches[1:])]
    equal((seen["between"]["count"], seen["between_idle"]["count"]), (len(idle), len(idle)), "times between launches")
    equal(seen["between_idle"]["total_ns"], sum(idle), "idle time between launches")
    equal(seen["between_idle"]["p50_ns"], sorted(idle)[(len(idle) + 1) // 2 - 1], "p50 of idle times between launches")
    equal(seen["between"]["total_ns"] > sum(idle) + TOKENS * REQUESTS * 20_000, True, "other kernels run between launches")


def check_costs():
    """What the maker of graphs did, in the order of its calls."""
    work = Work(make)
    calls = sql(make, "SELECT name, start, end FROM api WHERE name REGEXP 'Capture$|Instantiate|Update|Destroy' ORDER BY start")
    begins = iter([call["start"] for call in calls if call["name"] == "hipStreamBeginCapture"])
    captures = [(next(begins), call["end"]) for call in calls if call["name"] == "hipStreamEndCapture"]
    named = lambda *names: [(call["start"], call["end"]) for call in calls if call["name"] in names]
    equal([len(captures), len(named("hipGraphInstantiate")), len(named("hipGraphExecUpdate"))], [8, 2, 5], "calls")
    wanted = {1: {"capture": captures[:6], "instantiate": named("hipGraphInstantiate")[:1],
                  "update": named("hipGraphExecUpdate"), "upload": [],
                  "destroy": named("hipGraphDestroy", "hipGraphExecDestroy")},
              2: {"capture": captures[6:7], "instantiate": named("hipGraphInstantiate")[1:],
                  "update": [], "upload": [], "destroy": []},
              None: {"capture": captures[7:], "instantiate": [], "update": [], "upload": [], "destroy": []}}
    seen = {graph["graph"]: graph for graph in ask("graph", "costs", make)["graphs"]}
    equal({number: (graph["generations"], graph["unused"]) for number, graph in seen.items()},
          # What is changed twice between two launches is one generation more.
          {1: (5, 1), 2: (1, 1), None: (0, 0)}, "generations, and those never launched")
    for number, kinds in wanted.items():
        for kind, spans in kinds.items():
            idle = sum(work.times(*span)[0][3] for span in spans)
            equal(seen[number][kind], {"count": len(spans), "ns": sum(b - a for a, b in spans), "idle_ns": idle},
                  f"{kind} of graph {number}")


def check_alike():
    """Of graph 1 of the maker, generations 1, 3 and 4 have one workgroup (1 is not launched), 2 and 5 have two."""
    lines = subprocess.run([rtl, "graph", "list", make], check=True, capture_output=True, text=True).stdout.splitlines()
    rows = [line.split() for line in lines if line.split()[0].startswith(("1.", "2")) and "is" not in line.split()]
    equal(sorted((row[0], row[2], row[-2]) for row in rows if row[0] != "2"), [("1.4", "2", "2"), ("1.5", "2", "2")],
          "lines of graph 1")
    equal([(graph["graph"], graph["generations"], graph["launches"]) for graph in ask("graph", "list", make)["graphs"]],
          [(1, 5, 4), (2, 1, 0)], "graphs in JSON")
    launches = ask("graph", "launches", make, "1")
    equal((launches["launches"], launches["other_launches"]), (2, 2), "launches of generations alike, and the others")


def check_diff():
    """The slow server's kernels take 22 us instead of 20; the fused one's decode graph has 3 kernels instead of 4."""
    for other, kernels, ns, name in ((slow, 4, 22000, "slow"), (fused, 3, 20000, "fused")):
        rows = {row["a"]["what"]: row for row in ask("diff", serve, other)["steps"]}
        equal(sorted(rows), ["graph 1", "graph 2"], f"phases against the {name} server")
        decode, prefill = rows["graph 2"], rows["graph 1"]
        equal((decode["b"]["what"], decode["b"]["steps"], decode["other_kernels"], prefill["other_kernels"]),
              ("graph 2", REQUESTS * TOKENS, other == fused, False), f"what matches of the {name} server")
        equal((decode["a"]["parts"]["graphs"]["p50_ns"], decode["b"]["parts"]["graphs"]["p50_ns"]),
              (4 * 20000, kernels * ns), f"p50 of the decode graph's kernels, {name}")
        equal([decode["parts"]["graphs"]["verdict"], decode["parts"]["eager"]["verdict"]],
              ["slower", "slower"] if other == slow else ["faster", "alike"], f"verdicts, {name}")
        equal(prefill["parts"]["graphs"]["verdict"], "too few", f"of {REQUESTS} prefills nothing is said, {name}")
        equal((decode["a"]["launches"], decode["a"]["eager_kernels"]), (REQUESTS * TOKENS,) * 2, "launches of tokens")
    same = ask("diff", serve, serve)["steps"]
    equal({row["verdict"] for row in same} - {"alike", "too few"}, set(), "of a trace against itself")


def check_stop():
    """A run ends where recording is stopped: no step goes over it, and it is no idle time of a step."""
    seen = ask("steps", stop, "--list")["threads"][0]
    equal([(phase["what"], phase["steps"]) for phase in seen["phases"]], [("graph 1", 40)], "steps around the stop")
    pauses = Work(stop).pauses
    equal(len(pauses), 1, "pauses")
    over = [s for s in seen["steps"] if s["start_ns"] < pauses[0][0] and s["end_ns"] > pauses[0][1]]
    equal(over, [], "steps over the pause")
    equal([cause for cause in seen["phases"][0]["idle"] if cause["cause"] == "stopped"], [], "pauses in steps")
    stopped = {cause["cause"]: cause["ns"] for cause in seen["outside"]["between"]["idle"]}
    equal(stopped["stopped"] > 2_000_000, True, "the pause between the steps")
    check_thread(Work(stop), seen)
    check_all_told(Work(stop), seen)


def check_families():
    """All kernels of the server are of one function, of which rules of the user tell the family; those of the demo are
    known (e2e.families): what is told of them is all that ran in steps."""
    phases = ask("steps", serve, "--families", "rules")["threads"][0]["phases"]
    equal({phase["what"]: phase["families"] for phase in phases},
          {"graph 1": [{"family": "takes", "ns": 6 * REQUESTS * 20000, "kernels": 6 * REQUESTS}],
           "graph 2": [{"family": "takes", "ns": 5 * TOKENS * REQUESTS * 20000, "kernels": 5 * TOKENS * REQUESTS}]},
          "families of the server")
    seen = ask("steps", demo, "--list")["threads"][0]
    first, last = seen["steps"][0]["start_ns"], seen["steps"][-1]["end_ns"]
    kernels = sql(demo, f"SELECT name, end - start AS ns FROM kernels WHERE start >= {first} AND start < {last}")
    families = {family["family"]: (family["ns"], family["kernels"]) for family in seen["phases"][0]["families"]}
    norms = [kernel["ns"] for kernel in kernels if kernel["name"].startswith("decode::norm(")]
    equal(families["norm"], (sum(norms), len(norms)), "norms of the demo")
    equal(tuple(map(sum, zip(*families.values()))), (sum(k["ns"] for k in kernels), len(kernels)), "kernels of the demo")


check_families()
check_stop()
check_diff()
check_alike()
check_costs()
check_serve()
check_between()
check_serve("--by", "launches")
check_idle()
check_peers()
check_by_graph()
check_by_range()
check_train()
check_two()
check_parts()
check_demo()
sys.exit(failed > 0)
