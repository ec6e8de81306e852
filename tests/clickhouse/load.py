#!/usr/bin/env python3
"""load.py BUILD FOLDER: traces loaded into ClickHouse have every kernel once: against what the reader says of them, with
servers and loaders that are killed, loaders that run beside each other, two shards, labels, samples; and what is said where
it cannot be done."""
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

from cut import Cutting
from server import CLUSTER, Rtl, Server, change, equal, fail, need_server, numbers, record_on, truth

TABLES = ["rtl_kernels", "rtl_kernel_stats", "rtl_gpus", "rtl_launches", "rtl_collectives", "rtl_losses"]


def export(url, *words):
    return ["export", "--to", "clickhouse", "--url", url, *words]


def run_of(rtl, url, trace):
    """The id of a run that is there."""
    return rtl.fine(*export(url, trace)).split("run ")[1].split()[0]


def check_run(rtl, server, database, trace, sample=None):
    """All of the trace is there, once, and the run is whole."""
    run = run_of(rtl, f"{server.url}/{database}", trace)
    wanted = truth(rtl, trace)
    where = f"WHERE run = {run}"
    processes, = rtl.sql(trace, "SELECT count(*) FROM processes")[0]
    equal(f"{trace}: states", server.ask(f"SELECT complete, count() FROM rtl_runs {where} GROUP BY complete ORDER BY 1",
                                         database), [["0", processes], ["1", processes]])
    sums = "sum(count), sum(sum), min(min), max(max)"
    equal(f"{trace}: kernel_stats", numbers(server.ask(
        f"SELECT name, {sums} FROM rtl_kernel_stats {where} GROUP BY name", database)), wanted)
    equal(f"{trace}: histograms", server.ask(f"SELECT sum(arraySum(counts)) FROM rtl_kernel_stats {where}", database),
          [[str(sum(row[0] for row in wanted.values()))]])
    busy = int(server.ask(f"SELECT sum(busy) FROM rtl_gpus {where}", database)[0][0])
    summary = json.loads(rtl.fine("summary", "--json", trace))
    equal(f"{trace}: busy", busy, sum(gpu["busy_ns"] for gpu in summary["gpus"]))
    launches = rtl.sql(trace, "SELECT count(*), coalesce(sum(kernels), 0) FROM graph_launches")[0]
    equal(f"{trace}: launches", server.ask(f"SELECT count(), sum(kernels) FROM rtl_launches {where}", database), [launches])
    if sample:
        return run
    equal(f"{trace}: kernels", numbers(server.ask(
        f"SELECT name, count(), sum(duration), min(duration), max(duration) FROM rtl_kernels {where} GROUP BY name",
        database)), wanted)
    fields = "sum(queue), sum(gpu), sum(launch), sum(node), max(start) - min(start)"
    here = "sum(queue), sum(gpu), sum(coalesce(launch, 0)), sum(coalesce(node, 4294967295)), max(start) - min(start)"
    equal(f"{trace}: columns", server.ask(f"SELECT {fields} FROM rtl_kernels {where}", database),
          rtl.sql(trace, f"SELECT {here} FROM kernels"))
    return run


def wait_for(server, database, rows):
    """Until so many kernels are there."""
    for _ in range(3000):
        try:
            found = int(server.ask("SELECT count() FROM rtl_kernels", database)[0][0])
        except (OSError, SystemExit):
            found = 0
        if found >= rows:
            return found
        time.sleep(0.01)
    return fail(f"{rows} kernels do not come")


def start(rtl, *words):
    return subprocess.Popen([rtl.program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process):
    out, err = process.communicate(timeout=90)
    equal(f"status of a load, which says {err}", process.returncode, 0)
    return out


def new_database(server, name):
    server.ask(f"CREATE DATABASE {name}")
    return f"{server.url}/{name}"


def test_once(rtl, one):
    url = new_database(one, "once")
    said = rtl.fine(*export(url, "replay.db", "eager.db", "--label", "job=42", "--label", "build=it's"))
    equal("sentences", said.count("\n"), 2)
    for trace in ("replay.db", "eager.db"):
        check_run(rtl, one, "once", trace)
    equal("labels", one.ask("SELECT DISTINCT label_keys, label_values FROM rtl_runs", "once"),
          [["['build','job']", "['it\\'s','42']"]])
    if "is all there already" not in rtl.fine(*export(url, "replay.db")):
        fail("the second load of a trace does not find it there")
    os.link("replay.db", "same.db")
    if "is all there already" not in rtl.fine(*export(url, "same.db")):
        fail("the same trace by another name is another run")
    rtl.wrong(export(url, "replay.db", "--label", "job=43"), "replay.db", "job=42, not job=43")
    rtl.wrong(export(url, "replay.db", "--sample", "5"), "replay.db", "--sample 1")


def test_ranks(rtl, one):
    """Collectives, and processes with ranks."""
    url = new_database(one, "ranks")
    made = os.path.join(rtl.build, "tests/bin/ranks_made")
    subprocess.run([made, "ranks.db", "7", "1", "0", "4", "50", "0", "0"], check=True)
    rtl.fine(*export(url, "ranks.db"))
    run = check_run_of_ranks(rtl, one, "ranks")
    equal("collectives", numbers(one.ask(f"SELECT rank, count(), sum(duration), max(number) FROM rtl_collectives WHERE "
                                         f"run = {run} GROUP BY rank", "ranks")),
          numbers(rtl.sql("ranks.db", "SELECT p.rank, count(*), sum(k.duration), count(*) FROM kernels k JOIN processes p "
                          "USING(process) WHERE k.name LIKE '%AllReduce%' GROUP BY 1")))


def check_run_of_ranks(rtl, one, database):
    run = run_of(rtl, f"{one.url}/{database}", "ranks.db")
    equal("ranks", numbers(one.ask(f"SELECT rank, count(), sum(duration) FROM rtl_kernels WHERE run = {run} GROUP BY rank",
                                   database)),
          numbers(rtl.sql("ranks.db", "SELECT p.rank, count(*), sum(k.duration) FROM kernels k JOIN processes p "
                          "USING(process) GROUP BY 1")))
    return run


def test_sample(rtl, one):
    url = new_database(one, "sampled")
    rtl.fine(*export(url, "replay.db", "--sample", "7"))
    run = rtl.fine(*export(url, "replay.db", "--sample", "7")).split("run ")[1].split()[0]
    equal("launches that are sampled", one.ask(
        f"SELECT count(), sum(duration), uniqExact(launch) FROM rtl_kernels WHERE run = {run}", "sampled"),
        rtl.sql("replay.db", "SELECT count(*), sum(duration), count(DISTINCT launch) FROM kernels WHERE launch % 7 = 0"))
    equal("sums are of all", numbers(one.ask(
        f"SELECT name, sum(count), sum(sum), min(min), max(max) FROM rtl_kernel_stats WHERE run = {run} GROUP BY name",
        "sampled")), truth(rtl, "replay.db"))


def test_no_kernels(rtl, one):
    """A process that never touched the GPU: alone in its trace, and beside one with kernels."""
    rtl.bench_store("alone.db", "eager", 50, "--shapes", "5")
    change("alone.db", host="quiet")
    with sqlite3.connect("alone.db") as db:
        for table in ("kernel_chunks", "kernel_chunk_launches", "shapes", "symbols", "queues", "agents", "clock_points",
                      "ledger_rows", "ledger_losses", "ledger_left_out", "ledger_kind_rows"):
            db.execute(f"DELETE FROM {table}")
    db.close()
    rtl.bench_store("busy.db", "replay", 3000, "--shapes", "6")
    rtl.bench_store("other.db", "eager", 70, "--shapes", "7")
    change("busy.db", host="loud")
    change("other.db", host="loud")
    rtl.fine("merge", "-o", "mixed.db", "alone.db", "busy.db")
    rtl.fine("merge", "-o", "three.db", "other.db", "mixed.db")
    for database, trace, processes, kernels in (("idle", "alone.db", 1, 0), ("mixed", "mixed.db", 2, 3000),
                                                ("three", "three.db", 3, 3070)):
        url = new_database(one, database)
        rtl.fine(*export(url, trace))
        run = run_of(rtl, url, trace)
        counts = rtl.sql(trace, "SELECT p.host, p.pid, count(k.id) FROM processes p LEFT JOIN kernels k USING(process) GROUP BY "
                         "process ORDER BY process")
        equal(f"{trace}: processes", one.ask("SELECT host, pid, kernels, complete FROM rtl_runs ORDER BY process, complete",
                                             database), [[*row, complete] for row in counts for complete in "01"])
        rows = json.loads(rtl.fine("fleet", "--url", url, "--json", "runs"))["rows"]
        equal(f"{trace}: runs",
              [(str(row["run"]), row["processes"], row["kernels"], row["loaded"], row["recorded"]) for row in rows],
              [(run, processes, kernels, "yes", "whole")])
        if kernels:
            check_run(rtl, one, database, trace)
            calls = sum(row["calls"] for row in json.loads(rtl.fine("fleet", "--url", url, "--json", "kernels"))["rows"])
            equal(f"{trace}: calls", calls, kernels)
            continue
        for table in TABLES:
            equal(f"{trace}: rows of {table}", one.ask(f"SELECT count() FROM {table}", database), [["0"]])
        for question in ("kernels", "hosts", "gpus", "idle", "launches", "spread", "trend", "stragglers", "losses"):
            equal(f"{trace}: {question}", json.loads(rtl.fine("fleet", "--url", url, "--json", question))["rows"], [])
        if "is all there already" not in rtl.fine(*export(url, trace)):
            fail("the second load of a trace without kernels does not find it there")


def test_server_killed(rtl, one):
    """Three times; the loader waits until it is there again."""
    url = new_database(one, "killed")
    load = start(rtl, *export(url, "long.db", "--jobs", "3"))
    found = 0
    for _ in range(3):
        found = wait_for(one, "killed", found + 1)
        one.kill()
        time.sleep(0.3)
        one.start()
    ended(load)
    check_run(rtl, one, "killed", "long.db")


def test_loader_killed(rtl, one):
    """A run of which a part is there does not look whole; the next load goes on."""
    url = new_database(one, "broken")
    for _ in range(3):
        load = start(rtl, *export(url, "long.db"))
        wait_for(one, "broken", 1)
        load.send_signal(signal.SIGKILL)
        load.communicate()
        if one.ask("SELECT max(complete) FROM rtl_runs", "broken") != [["0"]]:
            fail("a run is whole though its load was killed (or the machine is too fast for this test)")
    before = int(one.ask("SELECT count() FROM rtl_kernels", "broken")[0][0])
    said = rtl.fine(*export(url, "long.db"))
    rows, sent = said.split(", ")[1].split(" rows; ")
    if before == 0 or rows == sent.removesuffix(" sent"):
        fail(f"{before} kernels were there, and all was sent again: {said}")
    check_run(rtl, one, "broken", "long.db")


def test_beside(rtl, one):
    """The same trace from two hosts, and another one beside them."""
    url = new_database(one, "beside")
    loads = [start(rtl, *export(url, name)) for name in ("long.db", "long.db", "eager.db")]
    said = [ended(load) for load in loads]
    equal("one of the two found it there", sum("is all there already" in text for text in said), 1)
    check_run(rtl, one, "beside", "long.db")
    check_run(rtl, one, "beside", "eager.db")


def test_cut(rtl, one):
    """Connections that break where they like: also after the server has had a block, and before it could say so."""
    new_database(one, "cut")
    cuts = 0
    for seed in range(5):
        way = Cutting(one, seed, 0.1)
        trace = f"cut{seed}.db"
        rtl.bench_store(trace, "replay", 20000 + seed, "--queues", "2", "--shapes", "20")
        rtl.fine(*export(f"{way.url}/cut", trace))
        way.close()
        cuts += way.cuts
        check_run(rtl, one, "cut", trace)
    if cuts == 0:
        fail("no connection was cut")
    print(f"{cuts} connections were cut")


def test_shards(rtl, servers):
    for server in servers:
        new_database(server, "spread")
    urls = [word for server in servers for word in ("--url", f"{server.url}/spread")]
    load = start(rtl, "export", "--to", "clickhouse", *urls, "--cluster", CLUSTER, "long.db", "eager.db")
    wait_for(servers[0], "spread", 1)
    servers[1].kill()
    time.sleep(0.3)
    servers[1].start()
    ended(load)
    for trace in ("long.db", "eager.db"):
        check_run(rtl, servers[0], "spread", trace)
    parts = [int(server.ask("SELECT count() FROM rtl_kernels_local", "spread")[0][0]) for server in servers]
    if 0 in parts:
        fail(f"kernels are not on both shards: {parts}")
    equal("the other server's view", servers[1].ask("SELECT count() FROM rtl_kernels", "spread"), [[str(sum(parts))]])
    rtl.wrong(export(f"{servers[0].url}/spread", "--cluster", "three", "eager.db"), "--cluster three", "of cluster two")
    servers[1].ask("DROP TABLE rtl_losses", "spread")
    rtl.wrong(["export", "--to", "clickhouse", *urls, "--cluster", CLUSTER, "eager.db"], "has lost the table rtl_losses:")


def test_sentences(rtl, one):
    url = one.url
    rtl.wrong(export("http://127.0.0.1:1/", "--patience", "0", "eager.db"), "http://127.0.0.1:1/", "does not answer")
    rtl.wrong(export("localhost", "eager.db"), "--url is not of the form")
    said = rtl.wrong(export(url.replace("//", "//keeper:wrong%20word@"), "eager.db"), url, "'keeper'", "password")
    if "wrong" in said:
        fail(f"a password is told: {said}")
    rtl.wrong(export(url.replace("//", "//nobody@"), "eager.db"), "'nobody'")
    rtl.wrong(export(f"{url}/nowhere", "eager.db"), "'nowhere'", "database")
    rtl.wrong(export(f"http://127.0.0.1:{one.tcp}/", "eager.db"), "not as a ClickHouse does")
    if one.ask("SELECT version()")[0][0].startswith("18."):
        rtl.wrong(export(url, "--ttl", "30", "eager.db"), "--ttl", "18.16", "DROP PARTITION")
        rtl.wrong(export(f"{url}/once", "--ttl", "30", "eager.db"), "--ttl", "18.16", "DROP PARTITION")
    rtl.wrong(export(url, "none.db"), "none.db")
    rtl.bench_store("live.db", "eager", 100)
    change("live.db", host=os.uname().nodename)
    record_on("live.db")
    rtl.wrong(export(url, "live.db"), "live.db", "is being recorded")
    # One that was changed behind its digests would stand for the whole one, whose number it has.
    rtl.bench_store("torn.db", "eager", 100)
    with sqlite3.connect("torn.db") as db:
        db.execute("UPDATE symbols SET name = 'another' WHERE rowid = 1")
    db.close()
    new_database(one, "torn")
    rtl.wrong(export(f"{url}/torn", "torn.db"), "torn.db is damaged", "symbols")
    made = ["rtl_runs"] in one.ask("SHOW TABLES", "torn")
    equal("a damaged trace is a run", made and one.ask("SELECT count() FROM rtl_runs", "torn") != [["0"]], False)
    rtl.wrong(export(url, "eager.db", "--label", "job"), "--label", "'job'")
    rtl.wrong(export(url, "eager.db", "--label", "a=1", "--label", "a=2"), "--label a", "twice")
    for key in ("run", "host", "rank", "trace", "from", "to"):
        rtl.wrong(export(url, "eager.db", "--label", f"{key}=1"), f"--label {key}=1")
    for port in ("", "http", "0", "65536", "81x"):
        rtl.wrong(export(f"http://127.0.0.1:{port}/", "eager.db"), "--url", "port")
    rtl.wrong(export(f"{url}/my-db", "eager.db"), "--url", "database of letters")
    new_database(one, "newer")
    one.ask("CREATE TABLE rtl_version (version UInt32, cluster String) ENGINE = MergeTree() ORDER BY version", "newer")
    one.ask("INSERT INTO rtl_version VALUES (7, '')", "newer")
    rtl.wrong(export(f"{url}/newer", "eager.db"), f"{url}/newer", "version 7", "version 2")
    equal("nothing was made there", one.ask("SHOW TABLES", "newer"), [["rtl_version"]])
    new_database(one, "locked")
    password = {**os.environ, "RTL_CLICKHOUSE_PASSWORD": "open:sesame"}
    done = rtl.run(*export(url.replace("//", "//keeper@") + "/locked", "eager.db"), env=password)
    equal(f"status with a password: {done.stderr}", done.returncode, 0)
    with open("password", "w", encoding="utf-8") as file:
        file.write("open:sesame\n")
    done = rtl.run(*export(url.replace("//", "//keeper@") + "/locked", "eager.db"),
                   env={**os.environ, "RTL_CLICKHOUSE_PASSWORD_FILE": "password"})
    equal(f"status with a password in a file: {done.stderr}", done.returncode, 0)
    rtl.wrong(export(url, "eager.db"), "nofile", env={**os.environ, "RTL_CLICKHOUSE_PASSWORD_FILE": "nofile"})


def test_refused(rtl, one):
    """A file that is refused is told, and those behind it are loaded; nothing is taken for a run that is none."""
    url = new_database(one, "refused")
    rtl.fine(*export(url, "--label", "job=1", "--label", "night=yes", "eager.db"))
    rtl.wrong(export(url, "--label", "job=2", "eager.db", "varied.db"), "eager.db", "job=1, night=yes, not job=2")
    equal("runs", one.ask("SELECT label_values, max(complete) FROM rtl_runs GROUP BY run, label_values ORDER BY label_values", "refused"),
          [["['1','yes']", "1"], ["['2']", "1"]])
    rtl.wrong(export(url, "--label", "job=1", "varied.db"), "varied.db", "job=2, not job=1")
    shutil.copy("eager.db", "empty.db")
    with sqlite3.connect("empty.db") as db:
        db.execute("DELETE FROM processes")
        db.execute("DROP TABLE IF EXISTS digests")
        db.execute("DELETE FROM meta WHERE key = 'digests'")
    db.close()
    rtl.wrong(export(url, "empty.db"), "empty.db has no process")
    one.ask("DROP TABLE rtl_gpus", "refused")
    rtl.wrong(export(url, "eager.db"), f"{url} has lost the table rtl_gpus")
    rtl.wrong(["fleet", "--url", url, "runs"], f"{url} has lost the table rtl_gpus")
    one.ask("DROP TABLE rtl_version", "refused")
    rtl.wrong(export(url, "eager.db"), f"{url} has lost the table rtl_version")
    rtl.wrong(["fleet", "--url", url, "runs"], f"{url} has lost the table rtl_version")
    equal("tables that were made", ["rtl_gpus"] in one.ask("SHOW TABLES", "refused"), False)


def test_doubled(rtl, one):
    """Rows that something else has put there are told, and the run is not whole."""
    url = new_database(one, "doubled")
    load = start(rtl, *export(url, "long.db"))
    wait_for(one, "doubled", 1)
    load.send_signal(signal.SIGKILL)
    load.communicate()
    time.sleep(0.5)
    one.ask("INSERT INTO rtl_kernels SELECT * FROM rtl_kernels LIMIT 5", "doubled")
    rtl.wrong(export(url, "long.db"), "rtl_kernels has other rows of block", "ALTER TABLE rtl_kernels DELETE WHERE run")
    equal("state", one.ask("SELECT max(complete) FROM rtl_runs", "doubled"), [["0"]])


def test_full(rtl, folder):
    """A server whose disk is full."""
    place = os.path.join(folder, "full")
    mounts = ["unshare", "--mount", "sh", "-c", f"mount -t tmpfs -o size=3m none {place}/data && exec \"$@\"", "sh"]
    if subprocess.run(["unshare", "--mount", "true"], check=False).returncode != 0:
        print("not tested: a full disk (no namespace of mounts can be made)")
        return
    full = Server(place, mounts).start()
    rtl.wrong(export(full.url, "varied.db"), full.url, "has no room left on its disk", "No space left")
    equal("state", full.ask("SELECT max(complete) FROM rtl_runs"), [["0"]])
    full.kill()


def main():
    build, folder = sys.argv[1:3]
    need_server()
    rtl = Rtl(build)
    os.chdir(folder)
    os.environ["no_proxy"] = "*"
    rtl.bench_store("replay.db", "replay", 150000, "--queues", "3", "--shapes", "60")
    rtl.bench_store("eager.db", "eager", 40000, "--queues", "2", "--shapes", "30")
    # Over nine days, so of many blocks.
    rtl.bench_store("long.db", "replay", 500000, "--queues", "4", "--shapes", "200")
    change("long.db", slower=500000)
    rtl.bench_store("varied.db", "eager", 600000, "--queues", "4", "--shapes", "200", "--jitter", "50")
    change("eager.db", host="other", rank="3")
    servers = [Server("one"), Server("two")]
    for server in servers:
        server.configure(servers)
        server.start()
    one = servers[0]
    begun = time.monotonic()
    for test in (test_once, test_ranks, test_sample, test_sentences, test_beside, test_cut, test_loader_killed, test_doubled,
                 test_refused, test_no_kernels, test_server_killed):
        test(rtl, one)
        print(f"{test.__name__}: {time.monotonic() - begun:.1f} s")
    test_shards(rtl, servers)
    test_full(rtl, folder)
    print(f"all: {time.monotonic() - begun:.1f} s, ClickHouse {one.ask('SELECT version()')[0][0]}")


if __name__ == "__main__":
    main()
