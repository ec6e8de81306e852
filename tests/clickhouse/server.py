"""Servers of Debian's ClickHouse for tests: processes of this one, on loopback, below a folder, gone at the end; and what the
tests ask of them and of RTL. Exits with status 77 where there is no clickhouse-server."""
import atexit
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request

PROGRAM = shutil.which("clickhouse-server", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/bin")
CLUSTER = "two"
TICK = 10  # ns, of traces that bench_store writes
CONFIG = """<yandex>
<logger><level>warning</level><console>1</console></logger>
<http_port>{http}</http_port><tcp_port>{tcp}</tcp_port><listen_host>127.0.0.1</listen_host>
<path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path><user_files_path>{folder}/files/</user_files_path>
<users_config>users.xml</users_config><default_profile>default</default_profile><default_database>default</default_database>
<timezone>Asia/Kolkata</timezone><mark_cache_size>67108864</mark_cache_size>
<remote_servers><two>{shards}</two></remote_servers>
</yandex>"""
SHARD = ("<shard><internal_replication>true</internal_replication><replica><host>127.0.0.1</host><port>{}</port>"
         "</replica></shard>")
USER = ("<{0}><password>{1}</password><networks><ip>127.0.0.1</ip><ip>::1</ip></networks><profile>{2}</profile>"
        "<quota>default</quota></{0}>")
USERS = ("<yandex><profiles><default><max_memory_usage>2000000000</max_memory_usage></default>"
         "<reader><readonly>1</readonly></reader></profiles><users>" + USER.format("default", "", "default") +
         USER.format("keeper", "open:sesame", "default") + USER.format("reader", "", "reader") +
         "</users><quotas><default/></quotas></yandex>")


def need_server():
    if not PROGRAM:
        print("skipped: there is no clickhouse-server (Debian's package of that name has it)")
        sys.exit(77)


def fail(sentence):
    sys.exit(f"FAILED: {sentence}")


def equal(what, found, wanted):
    if found != wanted:
        fail(f"{what}: {str(found)[:600]}, not {str(wanted)[:600]}")


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Server:
    """One; start() returns when it answers."""

    def __init__(self, folder, before=()):
        self.folder = os.path.abspath(folder)
        self.http, self.tcp = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.http}"
        self.process = None
        self.before = list(before)
        for name in ("data", "tmp", "files"):
            os.makedirs(os.path.join(self.folder, name))
        self.configure([self])
        atexit.register(self.kill)

    def configure(self, servers):
        shards = "".join(SHARD.format(server.tcp) for server in servers)
        with open(os.path.join(self.folder, "config.xml"), "w", encoding="utf-8") as file:
            file.write(CONFIG.format(http=self.http, tcp=self.tcp, folder=self.folder, shards=shards))
        with open(os.path.join(self.folder, "users.xml"), "w", encoding="utf-8") as file:
            file.write(USERS)

    def start(self):
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(self.before + [PROGRAM, f"--config-file={self.folder}/config.xml"],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder)
        for _ in range(600):
            try:
                return self.ask("SELECT 1") and self
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.05)
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as log:
            return fail(f"a server does not start: {log.read()[-2000:]}")

    def kill(self):
        if self.process:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None

    def ask(self, query, database="default"):
        """The answer's rows, of texts."""
        request = urllib.request.Request(f"{self.url}/?database={database}", query.encode())
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return [line.split("\t") for line in answer.read().decode().splitlines()]
        except urllib.error.HTTPError as error:
            return fail(f"{query}: {error.read().decode()[:400]}")


class Rtl:
    """The program, and what it says of traces."""

    def __init__(self, build):
        self.build = os.path.abspath(build)
        self.program = os.path.join(self.build, "bin", "rtl")

    def run(self, *words, **more):
        return subprocess.run([self.program, *words], capture_output=True, text=True, timeout=90, check=False, **more)

    def fine(self, *words):
        done = self.run(*words)
        equal(f"status of rtl {' '.join(words)}, which says {done.stderr}", done.returncode, 0)
        return done.stdout

    def wrong(self, words, *parts, **more):
        """Fails with one sentence that has these parts."""
        done = self.run(*words, **more)
        equal(f"status of rtl {' '.join(words)}, which says {done.stdout}{done.stderr}", done.returncode, 2)
        equal(f"sentences of rtl {' '.join(words)}: {done.stderr}", done.stderr.count("\n"), 1)
        for part in parts:
            if part not in done.stderr:
                fail(f"rtl {' '.join(words)}: '{part}' is not in {done.stderr}")
        return done.stderr

    def sql(self, trace, query):
        return [line.split("|") for line in self.fine("sql", trace, query).splitlines()]

    def bench_store(self, trace, way, kernels, *more):
        subprocess.run([os.path.join(self.build, "tests/bin/bench_store"), "--write", way, "--kernels", str(kernels),
                        "--file", trace, *more], check=True, stdout=subprocess.DEVNULL)


def change(trace, host=None, rank=None, slower=None, later=0, uuid=None, boot=None, pids=0, start=None, offset=None):
    """Makes a trace one of another host and rank, whose kernels take `slower` times as long, and began `later` ns,
    on another GPU; of a host that was started anew, whose time of day is `offset` from its clock, with processes whose pids
    are `pids` more, and began at `start`."""
    with sqlite3.connect(trace) as db:
        for table in ("stat_blocks", "stat_spans", "stat_chunks", "digests"):
            db.execute(f"DELETE FROM {table}")
        db.execute("DELETE FROM meta WHERE key IN ('digests', 'stats', 'statistics') OR key LIKE 'stat%'")
        if host is not None:
            db.execute("UPDATE processes SET host = ?", (host,))
            db.execute("UPDATE meta SET value = ? WHERE key = 'host'", (host,))
        if rank is not None:
            db.execute("UPDATE processes SET rank = ?", (rank,))
        db.execute("UPDATE processes SET pid = pid + ?", (pids,))
        if boot is not None:
            db.execute("UPDATE meta SET value = ? WHERE key = 'boot'", (boot,))
        if start is not None:
            db.execute("UPDATE processes SET start = ?", (start,))
        if offset is not None:
            db.execute("UPDATE meta SET value = ? WHERE key = 'realtime_offset'", (offset,))
        if uuid is not None:
            db.execute("UPDATE agents SET uuid = ?", (uuid,))
        if slower is not None or later:
            base, = db.execute("SELECT min(start_min) FROM kernel_chunks").fetchone()
            db.execute("DELETE FROM clock_points")
            db.executemany("INSERT INTO clock_points VALUES (1, 0, ?, ?)",
                           [(base, base * TICK + later),
                            (base + 10**12, base * TICK + later + int(10**12 * TICK * (slower or 1)))])
    db.close()


def record_on(trace):
    """Makes a trace one that this process writes to."""
    with open("/proc/self/stat", encoding="utf-8") as stat:
        start = int(stat.read().rpartition(")")[2].split()[19])
    with sqlite3.connect(trace) as db:
        db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)",
                       [("finished", 0), ("writer_pid", os.getpid()), ("writer_start", start)])
    db.close()


BY_NAME = "SELECT name, count(*), sum(duration), min(duration), max(duration) FROM kernels GROUP BY 1 ORDER BY 1"


def truth(rtl, trace):
    """What the reader says of a trace's kernels, by name: count, sum, least, most."""
    return {row[0]: [int(value) for value in row[1:]] for row in rtl.sql(trace, BY_NAME)}


def numbers(rows):
    return {row[0]: [int(value) for value in row[1:]] for row in rows}


def as_json(text):
    return json.loads(text)
