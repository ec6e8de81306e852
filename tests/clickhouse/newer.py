#!/usr/bin/env python3
"""newer.py BUILD FOLDER: traces loaded into, and questions asked of, the newest engine of ClickHouse (newer/server.mjs):
what load.py and fleet.py hold against the reader, but for servers that die; and what only newer servers have, codecs and
--ttl. Exits with status 77 where npm cannot bring the engine."""
import os
import shutil
import sqlite3
import subprocess
import sys

import fleet
import load
from server import Rtl, Server, change, equal, fail

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "newer")
DAY = 24 * 3600 * 10**9
TABLES = ["rtl_runs", *load.TABLES]


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def packages(folder):
    """Where npm has put the engine: 180 MB to fetch, once for a build folder."""
    if not shutil.which("npm") or not shutil.which("node"):
        skip("there is no npm")
    there = os.path.join(folder, "installed")
    with open(os.path.join(HERE, "package.json"), encoding="utf-8") as file:
        wanted = file.read()
    if os.path.exists(there):
        with open(there, encoding="utf-8") as file:
            if file.read() == wanted:
                return folder
    os.makedirs(folder, exist_ok=True)
    for name in ("package.json", ".npmrc"):
        shutil.copy(os.path.join(HERE, name), folder)
    done = subprocess.run(["npm", "install", "--ignore-scripts", "--prefer-offline", "--fetch-retries=2"], cwd=folder,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        skip(f"npm cannot bring the engine: {done.stderr[:300]}")
    if not os.path.isdir(os.path.join(folder, "node_modules/@chdb")):
        skip("there is no engine for this machine")
    with open(there, "w", encoding="utf-8") as file:
        file.write(wanted)
    return folder


class Engine(Server):
    """Asked as a server is."""

    def __init__(self, folder, packages_folder):
        super().__init__(folder)
        self.packages = packages_folder

    def start(self):
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(["node", os.path.join(HERE, "server.mjs"), self.folder], cwd=self.packages,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                                            env={**os.environ, "TZ": "Asia/Kolkata"})
        port = self.process.stdout.readline().strip()
        if not port:
            with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as log:
                fail(f"the engine does not start: {log.read()[-2000:]}")
        self.http = int(port)
        self.url = f"http://127.0.0.1:{port}"
        return self


def test_blocks(rtl, one):
    """A block becomes one part: nothing cuts it, nothing is put to it."""
    url = load.new_database(one, "blocks")
    one.ask("SYSTEM STOP MERGES")
    rtl.fine(*load.export(url, "long.db", "varied.db"))
    found = 0
    for table in TABLES:
        blocks, parts = map(int, one.ask(f"SELECT uniqExact(run, block), uniqExact(_part) FROM {table}", "blocks")[0])
        equal(f"parts of {table}", parts, blocks)
        found += parts
    if found < 20:
        fail(f"only {found} parts")
    one.ask("SYSTEM START MERGES")


def test_codecs(rtl, one):
    rtl.fine(*load.export(load.new_database(one, "codecs"), "eager.db"))
    rows = one.ask("SELECT table, name, type, compression_codec FROM system.columns WHERE database = 'codecs'")
    columns = {(table, name): (kind, codec) for table, name, kind, codec in rows}
    for name, wanted in (("start", ("UInt64", "CODEC(Delta(8), ZSTD(1))")),
                         ("duration", ("UInt64", "CODEC(T64, ZSTD(1))")),
                         ("launch", ("UInt32", "CODEC(ZSTD(1))")), ("queue", ("UInt32", "CODEC(T64, ZSTD(1))")),
                         ("name", ("LowCardinality(String)", "CODEC(ZSTD(1))"))):
        equal(f"{name} of rtl_kernels", columns["rtl_kernels", name], wanted)


def test_ttl(rtl, one):
    """Rows go when they are old; what is there already is told, and what would go at once is refused."""
    url = load.new_database(one, "forgets")
    for name, days in (("fresh", 0), ("aged", 20), ("old", 40)):
        rtl.bench_store(f"{name}.db", "replay", 3000, "--queues", "2", "--shapes", "10")
        change(f"{name}.db", host=name, rank="0")
        with sqlite3.connect(f"{name}.db") as db:
            db.execute("UPDATE meta SET value = value - ? WHERE key = 'realtime_offset'", (days * DAY,))
        db.close()
    rtl.fine(*load.export(url, "--ttl", "30", "fresh.db", "aged.db"))
    for table in TABLES:
        engine = one.ask(f"SELECT engine_full FROM system.tables WHERE database = 'forgets' AND name = '{table}'")[0][0]
        if "TTL day + toIntervalDay(30)" not in engine:
            fail(f"{table} forgets nothing: {engine}")
    rtl.fine(*load.export(url, "--ttl", "30", "fresh.db"))
    rtl.wrong(load.export(url, "--ttl", "31", "fresh.db"), "--ttl 31", "for another time", "MODIFY TTL")
    rtl.wrong(load.export(url, "old.db"), "old.db", "30 days")
    optimize(one, "forgets")
    for trace in ("fresh.db", "aged.db"):
        load.check_run(rtl, one, "forgets", trace)
    # The same tables with a shorter time, as somebody sets it later: now one of the two is old.
    for table in TABLES:
        one.ask(f"ALTER TABLE {table} MODIFY TTL day + INTERVAL 10 DAY", "forgets")
    optimize(one, "forgets")
    load.check_run(rtl, one, "forgets", "fresh.db")
    for table in TABLES:
        hosts = one.ask(f"SELECT DISTINCT host FROM {table}", "forgets")
        if hosts not in ([["fresh"]], []):
            fail(f"{table} has rows that are too old: {hosts}")
    rtl.wrong(load.export(url, "aged.db"), "aged.db", "10 days")
    kept = load.new_database(one, "keeps")
    rtl.fine(*load.export(kept, "old.db"))
    rtl.wrong(load.export(kept, "--ttl", "30", "old.db"), "--ttl 30", "for good")


def optimize(one, database):
    for table in TABLES:
        one.ask(f"OPTIMIZE TABLE {table} FINAL", database)


def make(rtl):
    """The traces that load.py's tests know."""
    rtl.bench_store("replay.db", "replay", 150000, "--queues", "3", "--shapes", "60")
    rtl.bench_store("eager.db", "eager", 40000, "--queues", "2", "--shapes", "30")
    rtl.bench_store("long.db", "replay", 500000, "--queues", "4", "--shapes", "200")
    change("long.db", slower=500000)
    rtl.bench_store("varied.db", "eager", 600000, "--queues", "4", "--shapes", "200", "--jitter", "50")
    change("eager.db", host="other", rank="3")


def main():
    build, folder = sys.argv[1:3]
    engine = packages(os.path.join(os.path.abspath(build), "chdb"))
    rtl = Rtl(build)
    os.chdir(folder)
    os.environ["no_proxy"] = "*"
    make(rtl)
    one = Engine("one", engine).start()
    print(f"ClickHouse {one.ask('SELECT version()')[0][0]}")
    for test in (load.test_once, load.test_ranks, load.test_sample, load.test_beside, load.test_cut, load.test_doubled,
                 load.test_refused, test_blocks, test_codecs, test_ttl):
        test(rtl, one)
        print(test.__name__, flush=True)
    asked = fleet.apart(rtl, one, "fleet")
    asked.make()
    asked.load()
    fleet.test_all(asked, one)


main()
