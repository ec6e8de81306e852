#!/usr/bin/env python3
"""fleet.py BUILD FOLDER: the answers of rtl fleet over traces of several hosts are what the reader says of the same traces:
which runs, which kernels, slower builds, slower hosts and GPUs, idle shares, late ranks, launches; and what is said of
questions that there are none."""
import collections
import math
import os
import sqlite3
import subprocess
import sys

from cut import Instead
from server import CLUSTER, Rtl, Server, as_json, change, equal, fail, need_server

HOUR = 3600 * 10**9
HOSTS = {"node1": 1.0, "node2": 1.0, "node3": 1.25}
BUILDS = {"41": 1.0, "42": 1.1}


class Fleet:
    """Traces, and a server that has them."""

    def __init__(self, rtl, url):
        self.rtl, self.url = rtl, url
        self.traces = {}

    def make(self):
        """Each host has each build four times; runs of one build differ by up to 2 %."""
        for host, by_host in HOSTS.items():
            for build, by_build in BUILDS.items():
                for number in range(4):
                    trace = f"{host}-{build}-{number}.db"
                    self.rtl.bench_store(trace, "replay", 4000, "--queues", "2", "--shapes", "12")
                    change(trace, host=host, rank=host[-1], slower=by_host * by_build * (1 + 0.005 * number),
                           later=len(self.traces) * HOUR)
                    self.traces[trace] = {"host": host, "build": build, "kernels": self.kernels(trace)}

    def load(self, *words):
        for build in BUILDS:
            self.rtl.fine("export", "--to", "clickhouse", "--url", self.url, *words, "--label", f"build={build}",
                          *[name for name, trace in self.traces.items() if trace["build"] == build])

    def kernels(self, trace):
        """By name: durations."""
        found = collections.defaultdict(list)
        for name, duration in self.rtl.sql(trace, "SELECT name, duration FROM kernels"):
            found[name].append(int(duration))
        return found

    def ask(self, question, *words):
        return as_json(self.rtl.fine("fleet", "--url", self.url, "--json", "--top", "1000", question, *words))["rows"]

    def durations(self, **where):
        found = collections.defaultdict(list)
        for trace in self.traces.values():
            if all(trace[key] == value for key, value in where.items()):
                for name, durations in trace["kernels"].items():
                    found[name] += durations
        return found


def apart(rtl, server, database):
    """The same server with a database of its own."""
    server.ask(f"CREATE DATABASE {database}")
    return Fleet(rtl, f"{server.url}/{database}")


def near(what, found, wanted, part=1e-9):
    if not math.isclose(found, wanted, rel_tol=part, abs_tol=1e-6):
        fail(f"{what}: {found}, not {wanted}")


def test_runs(fleet):
    rows = fleet.ask("runs")
    equal("runs", sorted((row["trace"], row["kernels"], row["loaded"], row["recorded"]) for row in rows),
          sorted((name, sum(map(len, trace["kernels"].values())), "yes", "whole") for name, trace in fleet.traces.items()))
    row = next(row for row in fleet.ask("runs", "--where", "host=node2", "--where", "build=42")
               if row["trace"] == "node2-42-0.db")
    equal("one run", [found["trace"] for found in fleet.ask("runs", "--where", f"run={row['run']}")], ["node2-42-0.db"])
    equal("no run", fleet.ask("runs", "--where", "build=4' OR '1"), [])
    equal("runs of a time", fleet.ask("runs", "--where", "from=2100-01-01"), [])


def test_kernels(fleet):
    for where, words in (({}, []), ({"build": "42"}, ["--where", "build=42"]), ({"host": "node3"}, ["--where", "host=node3"])):
        wanted = fleet.durations(**where)
        rows = fleet.ask("kernels", *words)
        equal("names", sorted(row["name"] for row in rows), sorted(wanted))
        for row in rows:
            durations = sorted(wanted[row["name"]])
            equal(row["name"], [row["calls"], row["total_ns"], row["min_ns"], row["max_ns"]],
                  [len(durations), sum(durations), durations[0], durations[-1]])
            for share, column in ((0.5, "p50_ns"), (0.99, "p99_ns")):
                near(f"{column} of {row['name']}", row[column], durations[math.ceil(share * len(durations)) - 1], 1 / 31)
    one = sorted(fleet.durations())[0]
    equal("of one kernel", [row["name"] for row in fleet.ask("kernels", "--kernel", one)], [one])
    equal("of none", fleet.ask("kernels", "--kernel", "' OR 1 OR '"), [])


def test_regressions(fleet):
    """Build 42 is slower by 10 %, which is more than runs of one host differ; the hosts themselves differ by more."""
    def means(where):
        found = collections.defaultdict(list)
        for trace in fleet.traces.values():
            if all(trace[key] == value for key, value in where.items()):
                for name, durations in trace["kernels"].items():
                    found[name].append(sum(durations) / len(durations))
        return found
    before, after = means({"host": "node1", "build": "41"}), means({"host": "node1", "build": "42"})
    rows = fleet.ask("regressions", "--before", "build=41", "--before", "host=node1", "--after", "build=42", "--after",
                     "host=node1")
    equal("names", sorted(row["name"] for row in rows), sorted(before))
    for row in rows:
        old, new = before[row["name"]], after[row["name"]]
        near("before", row["before_ns"], sum(old) / 4)
        near("after", row["after_ns"], sum(new) / 4)
        near("change", row["change_share"], sum(new) / sum(old) - 1, 1e-6)
        equal("runs", [row["runs_before"], row["runs_after"]], [4, 4])
        equal(f"verdict of {row['name']}", row["verdict"], "slower")
    # All hosts: their spread is larger than what the build costs.
    rows = fleet.ask("regressions", "--before", "build=41", "--after", "build=42")
    equal("verdicts over hosts that differ", {row["verdict"] for row in rows}, {verdict_of(fleet, means)})
    rows = fleet.ask("regressions", "--before", "build=42", "--before", "host=node1", "--after", "build=41", "--after",
                     "host=node1")
    equal("verdicts the other way", {row["verdict"] for row in rows}, {"faster"})
    one = [found["run"] for found in fleet.ask("runs", "--where", "host=node1", "--where", "build=42")][0]
    rows = fleet.ask("regressions", "--before", "build=41", "--after", f"run={one}")
    equal("verdicts of one run", {row["verdict"] for row in rows}, {"one run"})


def test_equal(fleet):
    """Runs whose kernels took the same time: no verdict but "same", however sums of their means round."""
    for number in range(8):
        trace = f"equal{number}.db"
        fleet.rtl.bench_store(trace, "replay", 4000, "--shapes", "12")
        change(trace, host="node1", rank="0", later=number * HOUR)
        fleet.rtl.fine("export", "--to", "clickhouse", "--url", fleet.url, "--label",
                       f"build={'old' if number < 3 else 'new'}", trace)
    rows = fleet.ask("regressions", "--before", "build=old", "--after", "build=new")
    if len(rows) < 10:
        fail(f"only {len(rows)} kernels are compared")
    equal("runs", {(row["runs_before"], row["runs_after"]) for row in rows}, {(3, 5)})
    equal("verdicts of equal runs", {row["verdict"] for row in rows}, {"same"})


def test_gpus_apart(fleet):
    """Two ranks that each see a GPU of their own as number 0, in a trace each: two GPUs, as of the merged trace."""
    for rank, uuid in enumerate(("GPU-aa00", "GPU-bb11")):
        trace = f"visible{rank}.db"
        fleet.rtl.bench_store(trace, "replay", 2000 + 500 * rank, "--shapes", "6")
        change(trace, host="node9", rank=str(rank), slower=1 + rank, uuid=uuid)
        fleet.rtl.fine("export", "--to", "clickhouse", "--url", fleet.url, trace)
    fleet.rtl.fine("merge", "-o", "visible.db", "visible0.db", "visible1.db")
    gpus = as_json(fleet.rtl.fine("summary", "--json", "visible.db"))["gpus"]
    equal("GPUs of the merged trace", len(gpus), 2)
    rows = fleet.ask("gpus")
    equal("GPUs", sorted((row["host"], row["gpu"], row["device"], row["calls"]) for row in rows),
          [("node9", 0, "GPU-aa00", 2000), ("node9", 0, "GPU-bb11", 2500)])
    equal("the slowest one", rows[0]["device"], "GPU-bb11")
    equal("busy", sorted(row["recorded_ns"] - row["idle_ns"] for row in fleet.ask("idle")),
          sorted(gpu["busy_ns"] for gpu in gpus))
    equal("GPUs of the host", [row["gpus"] for row in fleet.ask("hosts")], [2])
    spread = fleet.ask("spread")
    equal("kernels that differ", {(row["gpus"], row["slowest_device"]) for row in spread}, {(2, "GPU-bb11")})
    for row in spread:
        means = [sum(kernels[row["name"]]) / len(kernels[row["name"]])
                 for kernels in map(fleet.kernels, ("visible0.db", "visible1.db"))]
        near("least", row["least_ns"], min(means))
        near("most", row["most_ns"], max(means))


def test_recorded(fleet):
    """Recordings that are not whole: of a recorder that was killed, and with kernels lost, as rtl check has it."""
    wanted = {}
    for name, statements, recorded in (
            ("whole", [], "whole"),
            ("killed", ["UPDATE meta SET value = 0 WHERE key = 'finished'"], "not finished"),
            ("lost", ["INSERT INTO ledger_losses VALUES (1, 0, 'ring', 5), (1, 0, 'pool', 2)"], "lost 7"),
            ("both", ["UPDATE meta SET value = 0 WHERE key = 'finished'",
                      "INSERT INTO ledger_losses VALUES (1, 0, 'ring', 3)"], "not finished, lost 3")):
        trace = f"{name}.db"
        fleet.rtl.bench_store(trace, "replay", 1000, "--shapes", "4")
        change(trace, host=name)
        with sqlite3.connect(trace) as db:
            db.execute("INSERT OR IGNORE INTO ledger_rows VALUES (1, 0, 1007, 1007, 0, 1000, 0, 0, 0)")
            for statement in statements:
                db.execute(statement)
        db.close()
        said = as_json(fleet.rtl.run("check", "--json", trace).stdout)
        equal(f"finished, of {trace}", said["finished"], "not finished" not in recorded)
        equal(f"lost, of {trace}", sum(said["total"]["lost"].values()),
              int(recorded.split("lost ")[1]) if "lost " in recorded else 0)
        fleet.rtl.fine("export", "--to", "clickhouse", "--url", fleet.url, trace)
        wanted[trace] = ("yes", recorded)
    equal("what was recorded", {row["trace"]: (row["loaded"], row["recorded"]) for row in fleet.ask("runs")}, wanted)
    equal("losses", [(row["host"], row["reason"], row["lost"]) for row in fleet.ask("losses")],
          [("lost", "ring", 5), ("both", "ring", 3), ("lost", "pool", 2)])


def test_one_kernel(fleet):
    """Quantiles are those of a histogram: what one kernel took is both of them all the same."""
    fleet.rtl.bench_store("single.db", "eager", 40, "--shapes", "40")
    fleet.rtl.fine("export", "--to", "clickhouse", "--url", fleet.url, "single.db")
    wanted = fleet.kernels("single.db")
    alone = 0
    for row in fleet.ask("kernels"):
        least, most = min(wanted[row["name"]]), max(wanted[row["name"]])
        if not least <= row["p50_ns"] <= row["p99_ns"] <= most:
            fail(f"quantiles of {row['name']}: {row['p50_ns']} and {row['p99_ns']}, not of {least} to {most}")
        alone += least == most
    if alone == 0:
        fail("no kernel has one duration")


def verdict_of(fleet, means):
    """By Welch's t of one kernel: all have the same factors."""
    name = sorted(fleet.durations())[0]
    return welch(means({"build": "41"})[name], means({"build": "42"})[name])[-1]


def critical(freedom):
    """What Student's t of so many degrees of freedom is beyond in 5 % of cases, on both sides: by Simpson's rule."""
    scale = math.gamma((freedom + 1) / 2) / math.sqrt(freedom * math.pi) / math.gamma(freedom / 2)
    def inside(t, steps=2000):
        values = [scale * (1 + (t * i / steps) ** 2 / freedom) ** (-(freedom + 1) / 2) for i in range(steps + 1)]
        return 2 * t / steps / 3 * (values[0] + values[-1] + 4 * sum(values[1:-1:2]) + 2 * sum(values[2:-1:2]))
    low, high = 0, 20
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle) < 0.95 else (low, middle)
    return low


def welch(old, new):
    """The deviations, and whether the second values are more."""
    def variance(values):
        mean = sum(values) / len(values)
        return sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    a, b = variance(old) / len(old), variance(new) / len(new)
    freedom = (a + b) ** 2 / (a * a / (len(old) - 1) + b * b / (len(new) - 1))
    t = (sum(new) / len(new) - sum(old) / len(old)) / math.sqrt(a + b)
    return math.sqrt(variance(old)), math.sqrt(variance(new)), "slower" if t > critical(math.floor(freedom)) else "same"


def test_by(fleet):
    """Ranks of a job in traces of their own, which differ less than jobs do, are one value with --by; who has no such label
    is one alone."""
    near("Student's t of 4", critical(4), 2.7764, 1e-4)
    units = collections.defaultdict(lambda: collections.defaultdict(list))  # by name, then side, job and trace: durations
    jobs = {"old": {"1": 1.0, "2": 1.1, "3": 1.05, None: 1.07}, "new": {"4": 1.07, "5": 1.15, "it's": 1.18, "2": 1.11}}
    for side, of_side in jobs.items():
        for number, (job, slower) in enumerate(of_side.items()):
            for rank in range(1 if job is None else 2 + number % 2):
                trace = f"{side}{number}-{rank}.db"
                fleet.rtl.bench_store(trace, "eager", 300 + 250 * rank + 70 * number, "--shapes", "4")
                change(trace, host=f"node{rank}", rank=str(rank), slower=slower * (1 + 0.01 * rank))
                labels = [] if job is None else ["--label", f"job={job}"]
                fleet.rtl.fine("export", "--to", "clickhouse", "--url", fleet.url, "--label", f"side={side}", *labels, trace)
                for name, durations in fleet.kernels(trace).items():
                    units[name][side, job, trace] = durations
    verdicts = {}
    for words in ([], ["--by", "job"]):
        rows = fleet.ask("regressions", "--before", "side=old", "--after", "side=new", *words)
        equal("names", sorted(row["name"] for row in rows), sorted(units))
        for row in rows:
            means = {"old": [], "new": []}
            calls = 0
            joined = collections.defaultdict(list)
            for (side, job, trace), durations in units[row["name"]].items():
                joined[side, job if words else trace] += durations
                calls += len(durations) if side == "new" else 0
            for (side, _), durations in joined.items():
                means[side].append(sum(durations) / len(durations))
            old, new = means["old"], means["new"]
            *deviations, verdict = welch(old, new)
            equal("runs", [row["runs_before"], row["runs_after"]], [len(old), len(new)])
            near("before", row["before_ns"], sum(old) / len(old))
            near("after", row["after_ns"], sum(new) / len(new))
            near("deviation before", row["deviation_before_ns"], deviations[0], 1e-5)
            near("deviation after", row["deviation_after_ns"], deviations[1], 1e-5)
            near("cost", row["cost_of_a_run_ns"], (sum(new) / len(new) - sum(old) / len(old)) * calls / len(new), 1e-6)
            equal(f"verdict of {row['name']} {words}", row["verdict"], verdict)
        verdicts[len(words)] = {row["verdict"] for row in rows}
    equal("verdicts of ranks", verdicts[0], {"slower"})
    if "same" not in verdicts[2]:
        fail(f"jobs are no less sure than ranks: {verdicts}")
    both = ["regressions", "--before", "side=old", "--after", "side=new"]
    fleet.rtl.wrong(["fleet", "--url", fleet.url, *both, "--by", "jib"], "--by jib", "none of the runs has this label")
    fleet.rtl.wrong(["fleet", "--url", fleet.url, *both, "--by", "' OR 1 OR '"], "none of the runs has this label")
    fleet.rtl.wrong(["fleet", "--url", fleet.url, *both, "--by", "job", "--by", "side"], "--by")


def test_hosts(fleet):
    everywhere = {name: sum(values) / len(values) for name, values in fleet.durations().items()}
    for question in ("hosts", "gpus"):
        rows = fleet.ask(question)
        equal(question, sorted(row["host"] for row in rows), sorted(HOSTS))
        equal(f"slowest of {question}", rows[0]["host"], "node3")
        for row in rows:
            here = fleet.durations(host=row["host"])
            total = sum(map(sum, here.values()))
            equal(f"total of {row['host']}", row["total_ns"], total)
            near(row["host"], row["slower_share"],
                 total / sum(len(values) * everywhere[name] for name, values in here.items()) - 1, 1e-6)
    for row in fleet.ask("spread"):
        equal(f"slowest of {row['name']}", row["slowest"], "node3 GPU 0")
        means = [sum(values) / len(values) for values in (fleet.durations(host=host)[row["name"]] for host in HOSTS)]
        near("most", row["most_ns"], max(means))
        near("mean", row["mean_ns"], sum(means) / len(means))


def test_idle(fleet):
    busy = collections.Counter()
    for name, trace in fleet.traces.items():
        for gpu in as_json(fleet.rtl.fine("summary", "--json", name))["gpus"]:
            busy[trace["host"]] += gpu["busy_ns"]
    for row in fleet.ask("idle"):
        equal(f"busy of {row['host']}", row["recorded_ns"] - row["idle_ns"], busy[row["host"]])
        near("share", row["idle_share"], row["idle_ns"] / row["recorded_ns"], 1e-6)


def test_launches(fleet):
    wanted = collections.Counter()
    for name, trace in fleet.traces.items():
        lasted = [int(row[0]) for row in fleet.rtl.sql(name, "SELECT end - start FROM graph_launches WHERE end > 0")]
        wanted[(trace["host"], len(lasted), max(lasted))] += 1
    found = collections.Counter((row["host"], row["launches"], row["max_ns"]) for row in fleet.ask("launches"))
    equal("launches", found, wanted)


def test_trend(fleet):
    rows = fleet.ask("trend")
    equal("hours", len(rows), len(fleet.traces))
    # Those of the servers' time zone (server.py) begin half an hour later.
    equal("minutes of hours", {row["hour"][13:] for row in rows}, {":00:00"})
    wanted = [sum(map(sum, trace["kernels"].values())) for trace in fleet.traces.values()]
    equal("sums by hour", [row["total_ns"] for row in rows], wanted)
    hour = rows[1]["hour"]
    equal("from an hour on", len(fleet.ask("trend", "--from", hour)), len(rows) - 1)
    equal("until an hour", len(fleet.ask("trend", "--to", hour)), 1)
    few = as_json(fleet.rtl.fine("fleet", "--url", fleet.url, "--json", "--top", "3", "trend"))["rows"]
    equal("the last hours", few, rows[-3:])


def load_ranks(fleet, job, seed, counts):
    """Loads hosts of a job with four ranks each, which have so many collectives. What each rank's took, in their order.
    Processes of two jobs are different ones."""
    took = collections.defaultdict(list)
    for host, count in enumerate(counts):
        trace = f"{job}{host}.db"
        subprocess.run([os.path.join(fleet.rtl.build, "tests/bin/ranks_made"), trace, str(seed), str(len(counts)), str(host),
                        "4", str(count), "0", "0"], check=True)
        change(trace, pids=1000 * seed)
        fleet.rtl.fine("export", "--to", "clickhouse", "--url", fleet.url, "--label", f"job={job}", trace)
        for rank, duration in fleet.rtl.sql(trace, "SELECT p.rank, k.duration FROM kernels k JOIN processes p USING(process) "
                                            "WHERE k.name LIKE '%AllReduce%' ORDER BY k.start"):
            took[rank].append(int(duration))
    return took


def check_stragglers(fleet, took, *words):
    """By the durations of the collectives that all ranks have."""
    steps = min(map(len, took.values()))
    last, waited = collections.Counter(), collections.Counter()
    for step in range(steps):
        least, rank = min((durations[step], rank) for rank, durations in took.items())
        wait = sum(durations[step] - least for durations in took.values())
        last[rank] += wait > 0
        waited[rank] += wait
    rows = fleet.ask("stragglers", *words)
    equal("stragglers", {row["rank"]: (row["slowest_in"], row["waited_ns"], row["steps"], row["left_out"]) for row in rows},
          {rank: (last[rank], waited[rank], steps, len(took[rank]) - steps) for rank in took})
    near("shares", sum(row["slowest_share"] for row in rows), sum(last.values()) / steps)


def test_stragglers(fleet):
    """Two hosts with four ranks each, whose plan says who is late; one of which has more collectives than the other."""
    check_stragglers(fleet, load_ranks(fleet, "late", 7, (50, 50)), "--where", "job=late")
    check_stragglers(fleet, load_ranks(fleet, "shorter", 8, (50, 30)), "--where", "job=shorter")
    # A rank chooses the run that it is in, with its other ranks.
    equal("kernels of the run with rank 0", sum(row["calls"] for row in fleet.ask("kernels", "--where", "rank=0", "--where",
                                                                                  "job=late")),
          int(fleet.rtl.sql("late0.db", "SELECT count(*) FROM kernels")[0][0]))
    # Of two jobs nothing belongs together.
    rows = fleet.ask("stragglers")
    equal("stragglers of two jobs", {(row["slowest_in"], row["waited_ns"], row["steps"]) for row in rows}, {(0, 0, 0)})
    equal("what is left out", sum(row["left_out"] for row in rows), 4 * (50 + 50 + 50 + 30))


def test_ties(fleet):
    """Ranks whose collectives take the same time: nobody waits, and nobody is late."""
    for rank in range(2):
        trace = f"tie{rank}.db"
        fleet.rtl.bench_store(trace, "replay", 60, "--shapes", "1")
        change(trace, host=f"node{rank}", rank=str(rank))
        with sqlite3.connect(trace) as db:
            db.execute("UPDATE symbols SET name = 'ncclDevKernel_AllReduce_Sum_f32(int)'")
        db.close()
        fleet.rtl.fine("export", "--to", "clickhouse", "--url", fleet.url, trace)
    equal("nobody is late", [(row["rank"], row["slowest_in"], row["slowest_share"], row["waited_ns"], row["steps"])
                             for row in fleet.ask("stragglers")], [("0", 0, 0, 0, 60), ("1", 0, 0, 0, 60)])


def test_losses(fleet):
    equal("losses", fleet.ask("losses"), [])


def test_proxy(fleet):
    """A proxy of the environment gets nothing: one that refuses all would be found out."""
    proxied = {name: value for name, value in os.environ.items() if name != "no_proxy"}
    for name in ("http_proxy", "all_proxy"):
        done = fleet.rtl.run("fleet", "--url", fleet.url, "--json", "losses", env={**proxied, name: "http://127.0.0.1:1"})
        equal(f"status with {name}, which says {done.stderr}", done.returncode, 0)


def test_sentences(fleet, server):
    rtl, url = fleet.rtl, fleet.url
    reads = rtl.fine("fleet", "--url", url.replace("//", "//reader@"), "--json", "kernels")
    equal("the answer to who may only read", as_json(reads)["rows"], fleet.ask("kernels")[:20])
    listed = rtl.fine("fleet")
    for question in ("runs", "kernels", "regressions", "hosts", "gpus", "idle", "stragglers", "launches", "losses", "spread",
                     "trend"):
        if f"\n  {question} " not in listed:
            fail(f"{question} is not listed: {listed}")
    rtl.wrong(["fleet", "--url", url, "everything"], "'everything'")
    rtl.wrong(["fleet", "--url", url, "../runs"], "'../runs'")
    rtl.wrong(["fleet", "runs"], "no server")
    rtl.wrong(["fleet", "--url", url, "regressions"], "--before")
    rtl.wrong(["fleet", "--url", url, "--where", "build", "runs"], "'build'", "KEY=VALUE")
    rtl.wrong(["fleet", "--url", url, "--where", "run=x", "runs"], "'run=x'")
    rtl.wrong(["fleet", "--url", url, "--from", "soon", "runs"], "'soon'", "--from")
    rtl.wrong(["fleet", "--url", url, "kernels", "--from", "2026-02-30"], "'2026-02-30'", "--from")
    rtl.wrong(["fleet", "--url", url, "kernels", "--to", "2026-11-28T25:61"], "'2026-11-28T25:61'", "--to")
    for time in ("2026-11-28T16:30:60", "2026-12-31T23:59:60"):
        rtl.wrong(["fleet", "--url", url, "kernels", "--from", time], f"'{time}'", "--from")
    rtl.wrong(["fleet", "--url", url, "kernels", "--from", "2026-11-28T16:30:05"], "--from 2026-11-28T16:30:05", "whole minute")
    for words in (["kernels", "--where", "build=40"], ["regressions", "--before", "build=40", "--after", "build=41"],
                  ["regressions", "--before", "build=41", "--after", "build=40"]):
        rtl.wrong(["fleet", "--url", url, *words], "build=40 chooses no run")
    rtl.wrong(["fleet", "--url", url, "regressions", "--before", "build=41", "--after", "host=node1"], "both choose 4 runs")
    rtl.wrong(["fleet", "--url", server.url, "runs"], server.url, "no tables of RTL")
    rtl.wrong(["fleet", "--url", "http://127.0.0.1:1/", "runs"], "does not answer")
    os.mkdir("own")
    for name, text in (("runs", "-- title: mine {nothing}\nSELECT 7 AS seven"), ("wrong", "SELECT {nothing}"), ("bad", "SELEC")):
        with open(f"own/{name}.sql", "w", encoding="utf-8") as file:
            file.write(text)
    equal("a question of one's own", as_json(rtl.fine("fleet", "--url", url, "-j", "--sql-dir", "own",
                                                              "runs"))["rows"], [{"seven": 7}])
    there = server.ask("SHOW TABLES", "fleet")
    for number, text in enumerate(("DROP TABLE rtl_lock", "CREATE TABLE other (number UInt8) ENGINE = Memory",
                                   "SELECT 1 SETTINGS readonly = 0")):
        with open(f"own/changes{number}.sql", "w", encoding="utf-8") as file:
            file.write(text)
        rtl.wrong(["fleet", "--url", url, "--sql-dir", "own", f"changes{number}"], url, "readonly")
    equal("the tables after questions that change some", server.ask("SHOW TABLES", "fleet"), there)
    equal("the version", server.ask("SELECT version FROM rtl_version", "fleet"), [["2"]])
    rtl.wrong(["fleet", "--url", url, "--sql-dir", "own", "wrong"], "{nothing}")
    rtl.wrong(["fleet", "--url", url, "--sql-dir", "own", "bad"], url, "Syntax error")
    equal("the query", rtl.fine("fleet", "--sql-dir", "own", "--show-sql", "runs"), "\nSELECT 7 AS seven\n")
    for question, option, value, part in (
            ("stragglers", "--from", "2026-11-28", "{in_time}"), ("runs", "--from", "2026-11-28", "{in_time}"),
            ("losses", "--to", "2026-11-28", "{in_time}"), ("idle", "--kernel", "x", "{of_kernel}"),
            ("kernels", "--before", "a=1", "{before}"), ("kernels", "--after", "a=1", "{after}"),
            ("runs", "--top", "5", "{top}"), ("hosts", "--by", "job", "{by}")):
        folder = ["--sql-dir", "own"] if option == "--top" else []
        rtl.wrong(["fleet", "--url", url, *folder, question, option, value], f"'{question}'", option, part)
    rtl.wrong(["fleet", "--url", url, "regressions", "--where", "a=1", "--before", "a=1", "--after", "a=2"], "--where", "{runs}")
    rtl.wrong(["fleet", "--url", url, "--sql-dir", "not/there", "runs"], "--sql-dir not/there", "No such file")
    rtl.wrong(["fleet", "--sql-dir", "not/there"], "--sql-dir not/there", "No such file")
    rtl.wrong(["fleet", "--url", url, "kernels", "--from", "2026-11-28", "--to", "2026-11-27"], "--from", "--to")
    rtl.wrong(["fleet", "--url", url, "kernels", "--top", "0"], "--top 0")
    if " %" not in rtl.fine("fleet", "--url", url, "hosts"):
        fail("the table has no shares")


def test_answers(fleet, server):
    """Numbers that are too large, and answers that break off in the ways of several releases."""
    os.makedirs("odd", exist_ok=True)
    with open("odd/big.sql", "w", encoding="utf-8") as file:
        file.write("SELECT toUInt64(18446744073709551615) AS big, toUInt64(7) AS seven")
    words = ["fleet", "--json", "--sql-dir", "odd", "big", "--url"]
    row, = as_json(fleet.rtl.fine(*words, fleet.url))["rows"]
    near("a large number", row["big"], 2**64 - 1)
    equal("a small one beside it", repr(row["seven"]), "7")
    begun = '{"meta": [{"name": "seven", "type": "UInt8"}], "data": [[7]'
    said = "Code: 241. DB::Exception: Memory limit exceeded: sum(x). (MEMORY_LIMIT_EXCEEDED) (version 25.3.1.1)"
    for text, parts in ((f"{begun}]", ["an answer that is none"]),
                        (f"{begun}\n{said}", ["an answer that is none"]),
                        (f'{begun}], "rows": 1,\n"exception": "{said}"}}',
                         ["Memory limit exceeded", "(MEMORY_LIMIT_EXCEEDED)\n"])):
        with Instead(server, "FORMAT JSONCompact", text) as instead:
            fleet.rtl.wrong([*words, f"{instead.url}/fleet"], instead.url, *parts)


def test_all(fleet, server):
    """Of a server that has all of the fleet's traces in its database `fleet`."""
    for test in (test_runs, test_kernels, test_regressions, test_hosts, test_idle, test_launches, test_trend, test_losses, test_proxy,
                 test_stragglers):
        test(fleet)
    test_sentences(fleet, server)
    test_answers(fleet, server)
    for test in (test_ties, test_equal, test_by, test_gpus_apart, test_recorded, test_one_kernel):
        test(apart(fleet.rtl, server, test.__name__))


def main():
    build, folder = sys.argv[1:3]
    need_server()
    rtl = Rtl(build)
    os.chdir(folder)
    os.environ["no_proxy"] = "*"
    servers = [Server("one"), Server("two")]
    for server in servers:
        server.configure(servers)
        server.start()
        server.ask("CREATE DATABASE fleet")
    fleet = Fleet(rtl, f"{servers[0].url}/fleet")
    fleet.make()
    fleet.load("--url", f"{servers[1].url}/fleet", "--cluster", CLUSTER)
    test_all(fleet, servers[0])


if __name__ == "__main__":
    main()
