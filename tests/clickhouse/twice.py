#!/usr/bin/env python3
"""twice.py BUILD FOLDER: a process is loaded once, in whatever trace it is: its own, one that rtl merge made, whose clock
may have been moved, or a merge of merges; one after the other, at once, over two servers, and after a run was taken out.
What is the same process for a merge is so for a load."""
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time

from load import TABLES, check_run, export, new_database, start, wait_for
from server import CLUSTER, Rtl, Server, change, equal, fail, need_server

HOSTS = 3
REALTIME = 1_790_000_000_000_000_000
WRONG = 7 * 10**9  # ns: a host's time of day is so much behind that of the one before


def make_job(rtl):
    """Traces of the hosts of a job, whose times of day are seconds apart, and merges, which know by the collectives."""
    for host in range(HOSTS):
        trace = f"job{host}.db"
        subprocess.run([os.path.join(rtl.build, "tests/bin/ranks_made"), trace, "11", str(HOSTS), str(host), "2", "60",
                        str(host * 10**9), "0"], check=True)
        change(trace, host=f"host{host}", boot=f"boot-{host}", offset=REALTIME + host * 10**9 - host * WRONG)
    for merged, parts in (("pair.db", "01"), ("job.db", "012")):
        told = json.loads(rtl.fine("merge", "--json", "-o", merged, *[f"job{part}.db" for part in parts]))
        moved = [abs(trace["time_of_day_off_ns"] or 0) for trace in told["traces"]]
        if max(moved) < WRONG / 2:
            fail(f"{merged} has times that were not moved: {told}")
    rtl.fine("merge", "-o", "all.db", "pair.db", "job2.db")


def processes(rtl, trace):
    """Host and pid of each."""
    return [tuple(row) for row in rtl.sql(trace, "SELECT host, pid FROM processes")]


def refused(rtl, url, trace, other, how="loaded"):
    """It is, for a process that it has with the other one. The statement that takes that out."""
    said = rtl.wrong(export(url, trace), f"{trace}: process ", f" of {other} too, which is {how}", "would count twice")
    pid, host, run = re.search(r"process (\d+) of host (\S+) is in run (\d+) ", said).groups()
    for name in (trace, other):
        if (host, pid) not in processes(rtl, name):
            fail(f"process {pid} of {host} is not in {name}: {said}")
    statement = re.search("'(ALTER TABLE .*)'", said).group(1)
    if not statement.endswith(f" WHERE run = {run}"):
        fail(f"a statement takes out another run: {said}")
    return statement


def take_out(server, database, statement):
    server.ask(statement, database)
    for _ in range(1000):
        if server.ask(f"SELECT count() FROM system.mutations WHERE database = '{database}' AND NOT is_done") == [["0"]]:
            return
        time.sleep(0.01)
    fail(f"{statement} does not end")


def whole_runs(server, database):
    return int(server.ask("SELECT uniqExact(run) FROM rtl_runs WHERE complete = 1", database)[0][0])


def rows_of(server, database):
    return {table: server.ask(f"SELECT run, count() FROM {table} GROUP BY run ORDER BY run", database)
            for table in [*TABLES, "rtl_runs"]}


def test_part_first(rtl, one):
    url = new_database(one, "part")
    rtl.fine(*export(url, "job1.db"))
    there = rows_of(one, "part")
    for merged in ("job.db", "pair.db", "all.db"):
        refused(rtl, url, merged, "job1.db")
    equal("rows after what was refused", rows_of(one, "part"), there)
    rtl.fine(*export(url, "job2.db"))
    for statement in (refused(rtl, url, "pair.db", "job1.db"), refused(rtl, url, "job2-again.db", "job2.db")):
        take_out(one, "part", statement)
    rtl.fine(*export(url, "all.db"))
    check_run(rtl, one, "part", "all.db")
    if "is all there already" not in rtl.fine(*export(url, "all.db")):
        fail("the second load of a merged trace does not find it there")


def test_parts(rtl, one):
    """One statement takes out all parts of a merge."""
    url = new_database(one, "parts")
    parts = ["job0.db", "job1.db", "job2.db"]
    rtl.fine(*export(url, *parts))
    runs = sorted(row[0] for row in one.ask("SELECT DISTINCT run FROM rtl_runs", "parts"))
    said = rtl.wrong(export(url, "all.db"), "all.db: process ", ", as others are in 2 more runs: ", " takes them out")
    statement = re.search("'(ALTER TABLE rtl_runs DELETE WHERE run IN [(](.*)[)])'", said)
    equal("runs that are to be taken out", sorted(statement.group(2).split(", ")), runs)
    take_out(one, "parts", statement.group(1))
    rtl.fine(*export(url, "all.db"))
    check_run(rtl, one, "parts", "all.db")
    refused(rtl, url, "job1.db", "all.db")


def test_merge_first(rtl, one):
    url = new_database(one, "merged")
    rtl.fine(*export(url, "all.db"))
    for part in ("job0.db", "job1.db", "job2.db", "pair.db", "job.db"):
        refused(rtl, url, part, "all.db")
    take_out(one, "merged", refused(rtl, url, "job0.db", "all.db"))
    rtl.fine(*export(url, "job0.db", "job1.db", "job2.db"))
    for host in range(HOSTS):
        check_run(rtl, one, "merged", f"job{host}.db")


def test_at_once(rtl, one):
    """The merge wins, or its parts do, whichever begins first."""
    won = set()
    for number in range(6):
        database = f"once{number}"
        url = new_database(one, database)
        rtl.fine(*export(url, "job2.db"))
        names = ["job1.db", "pair.db", "job0.db"]
        names = names[number % 3:] + names[:number % 3]
        loads = {name: start(rtl, *export(url, name)) for name in names}
        said = {name: load.communicate(timeout=90)[1] for name, load in loads.items()}
        fine = {name for name, load in loads.items() if load.returncode == 0}
        if fine not in ({"pair.db"}, {"job0.db", "job1.db"}):
            fail(f"{fine} of {names} are loaded: {said}")
        equal("whole runs", whole_runs(one, database), 1 + len(fine))
        equal("runs", one.ask("SELECT uniqExact(run) FROM rtl_runs", database), [[str(1 + len(fine))]])
        for name in fine:
            check_run(rtl, one, database, name)
        won |= fine
    print(f"won: {sorted(won)}")


def test_crowd(rtl, one):
    """Of many that begin at once each gets its turn, and of those that have a process in common one is there."""
    url = new_database(one, "turns")
    loads = []
    for number in range(12):
        variant("eager.db", f"turn{number}.db", f"UPDATE meta SET value = value + {number} WHERE key = 'end'",
                pids=number // 2 * 10, boot=f"boot{number % 2}" if number > 5 else "boot")
        loads.append(start(rtl, *export(url, f"turn{number}.db")))
    codes = []
    for load in loads:
        error = load.communicate(timeout=90)[1]
        codes.append(load.returncode)
        if load.returncode and "would count twice" not in error:
            fail(f"a load among many: {error}")
    # Of the first six each two are of one process; the others of different boots.
    equal("loads that are refused", [sorted(codes[i:i + 2]) for i in range(0, 12, 2)], 3 * [[0, 2]] + 3 * [[0, 0]])
    equal("whole runs", whole_runs(one, "turns"), 9)


def test_two_servers(rtl, servers):
    """Loads over two servers of a cluster, which have no lock in common: never both."""
    urls = [f"{server.url}/apart" for server in servers]
    for server in servers:
        new_database(server, "apart")
    words = [["export", "--to", "clickhouse", "--url", urls[a], "--url", urls[1 - a], "--cluster", CLUSTER] for a in (0, 1)]
    rtl.fine(*words[0], "job2.db")
    loads = [start(rtl, *words[0], "job1.db"), start(rtl, *words[1], "pair.db")]
    said = [load.communicate(timeout=90)[1] for load in loads]
    fine = [load.returncode for load in loads].count(0)
    if fine > 1:
        fail("a part and its merge are loaded")
    equal(f"whole runs, after {said}", whole_runs(servers[0], "apart"), 1 + fine)


def test_seen_late(rtl, one):
    """Who began without this one's knowing is seen before it is whole."""
    url = new_database(one, "late")
    load = start(rtl, *export(url, "long.db"))
    wait_for(one, "late", 1)
    columns = [row[0] for row in one.ask("SELECT name FROM system.columns WHERE database = 'late' AND table = 'rtl_runs'")]
    other = ", ".join({"run": "7", "trace": "'other.db'"}.get(column, column) for column in columns)
    one.ask(f"INSERT INTO rtl_runs SELECT {other} FROM rtl_runs", "late")
    error = load.communicate(timeout=90)[1]
    equal("status of a load", load.returncode, 2)
    if " is in run 7 of other.db too" not in error:
        fail(f"the other run is not told: {error}")
    equal("whole runs", whole_runs(one, "late"), 0)
    take_out(one, "late", re.search("'(ALTER TABLE .*)'", error).group(1))
    rtl.fine(*export(url, "long.db"))
    check_run(rtl, one, "late", "long.db")


def test_left(rtl, one):
    """A load that was killed does not block for ever; with what it left there it goes on, if it is wanted after all."""
    url = new_database(one, "left")
    load = start(rtl, *export(url, "longer.db"))
    wait_for(one, "left", 1)
    load.send_signal(signal.SIGKILL)
    load.communicate()
    equal("whole runs", whole_runs(one, "left"), 0)
    take_out(one, "left", refused(rtl, url, "eager.db", "longer.db", "being loaded, or was left half loaded"))
    rtl.fine(*export(url, "eager.db"))
    check_run(rtl, one, "left", "eager.db")
    take_out(one, "left", refused(rtl, url, "longer.db", "eager.db"))
    rtl.fine(*export(url, "longer.db"))
    check_run(rtl, one, "left", "longer.db")


def variant(source, trace, *statements, **facts):
    with open(source, "rb") as file, open(trace, "wb") as copy:
        copy.write(file.read())
    change(trace, **facts)
    with sqlite3.connect(trace) as db:
        for statement in statements:
            db.execute(statement)
    db.close()


def test_as_merge(rtl, one):
    """Which process is the same, a load says as a merge does."""
    began = 10**12
    variant("eager.db", "p.db", host="node", boot="b", start=began, offset=REALTIME)
    variant("eager.db", "q.db", host="other", boot="c", start=began, offset=REALTIME, pids=1)
    rtl.fine("merge", "-o", "pq.db", "p.db", "q.db")
    # As an older rtl made it, which knew no more of processes than when they began on the new trace's clock.
    variant("pq.db", "old.db", "DROP TABLE process_clocks")
    no_boot = "DELETE FROM meta WHERE key = 'boot'"
    longer = "UPDATE meta SET value = value + 1 WHERE key = 'end'"  # so another run
    cases = [  # of a process with that of p.db: whether it is the same as in p.db, and as in old.db
        ("copy", (), {}, True, True),
        ("pid", (), {"pids": 5}, False, False),
        ("host", (), {"host": "third"}, False, False),
        ("boot", (), {"boot": "d"}, False, True),
        ("near", (), {"start": began + 1}, False, True),
        ("later", (), {"start": began + 10**9}, False, False),
        ("unknown", (no_boot,), {}, True, True),
        ("unknown near", (no_boot,), {"start": began + 10**9 - 1}, True, True),
        ("unknown later", (no_boot,), {"start": began + 10**9}, False, False),
        ("nobody", ("UPDATE processes SET pid = 0",), {}, False, False)]
    for other in ("p.db", "old.db"):
        for name, statements, facts, *same in cases:
            trace = f"{name}.db"
            variant("p.db", trace, longer, *statements, **facts)
            database = f"same_{other[0]}_{name.replace(' ', '_')}"
            url = new_database(one, database)
            rtl.fine(*export(url, other))
            wanted = same[other == "old.db"]
            done = rtl.run("merge", "-f", "-o", "made.db", other, trace)
            equal(f"whether a merge of {other} refuses {trace}: {done.stderr}", done.returncode, 2 if wanted else 0)
            if wanted:
                refused(rtl, url, trace, other)
            else:
                rtl.fine(*export(url, trace))
                equal(f"whole runs with {trace}", whole_runs(one, database), 2)


def test_many(rtl, one):
    """The last of more processes than one query asks for."""
    url = new_database(one, "many")
    more = ("INSERT INTO processes SELECT process + {0}, pid + {0}, ppid, command, host, rank, mode, way, library, hsa, "
            "core_table, ext_table, start, end, state, torn, title, comm FROM processes WHERE process = 1")
    variant("p.db", "crowd.db", *[more.format(number) for number in range(1, 2500)])
    variant("p.db", "last.db", "UPDATE processes SET pid = pid + 2499")
    variant("p.db", "next.db", "UPDATE processes SET pid = pid + 2500")
    rtl.fine(*export(url, "next.db", "last.db"))
    take_out(one, "many", refused(rtl, url, "crowd.db", "last.db"))
    rtl.fine(*export(url, "crowd.db"))
    check_run(rtl, one, "many", "crowd.db")
    refused(rtl, url, "last.db", "crowd.db")


def main():
    build, folder = sys.argv[1:3]
    need_server()
    rtl = Rtl(build)
    os.chdir(folder)
    os.environ["no_proxy"] = "*"
    make_job(rtl)
    variant("job2.db", "job2-again.db", "UPDATE meta SET value = value + 1 WHERE key = 'end'")
    rtl.bench_store("eager.db", "eager", 2000, "--shapes", "10")
    change("eager.db", host="node")
    # Over nine days, so of many blocks.
    rtl.bench_store("long.db", "replay", 500000, "--queues", "4", "--shapes", "200")
    change("long.db", slower=500000, host="node")
    rtl.fine("merge", "-o", "longer.db", "long.db", "eager.db")
    servers = [Server("one"), Server("two")]
    for server in servers:
        server.configure(servers)
        server.start()
    begun = time.monotonic()
    # What takes half of the time is for the whole run.
    for test in (test_part_first, test_parts, test_merge_first, test_crowd, test_seen_late, test_left,
                 *(() if os.environ.get("RTL_TEST_BRIEF") else (test_at_once, test_as_merge, test_many))):
        test(rtl, servers[0])
        print(f"{test.__name__}: {time.monotonic() - begun:.1f} s")
    test_two_servers(rtl, servers)
    print(f"all: {time.monotonic() - begun:.1f} s")


main()
