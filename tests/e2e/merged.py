"""merged.py RTL A.db B.db GOLDEN.sql...: merges two traces, traces of two hosts, and traces of older versions of the format,
and compares all that SQL shows of each process."""
import shutil
import sqlite3
import subprocess
import sys

rtl, a, b, *golden = sys.argv[1:]
failed = 0


def must(condition, what):
    global failed
    if not condition:
        print("not so:", what)
        failed += 1


def run(*arguments):
    done = subprocess.run([rtl, *arguments], capture_output=True, text=True)
    must(done.returncode == 0, f"rtl {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def rows(trace, sql):
    return run("sql", trace, sql).splitlines()


# Everything but numbers that are given anew; {p} is the process, {t} what its times are too late by.
QUERIES = {
    "kernels": "SELECT gpu, queue, stream, name, start - {t}, end - {t}, grid_x, block_x, correlation, graph, generation,"
               " launch, node, range, capture_range, packet, start_ticks, certain FROM kernels WHERE process = {p} ORDER BY queue, packet",
    "copies": "SELECT gpu, queue, start - {t}, end - {t}, bytes, kind, src, dst, correlation, engine, ordinal, stream"
              " FROM copies WHERE process = {p} ORDER BY queue, ordinal",
    "calls": "SELECT thread, name, start - {t}, end - {t}, correlation, stream, range, result, args FROM api"
             " WHERE process = {p} ORDER BY correlation",
    "graphs": "SELECT graph, generation, nodes, launches, source, kernels, expected, time - {t} FROM graphs"
              " WHERE process = {p} ORDER BY 1, 2",
    "nodes": "SELECT graph, generation, node, name, type, grid_x, dependencies, enabled FROM graph_nodes"
             " WHERE process = {p} ORDER BY 1, 2, 3",
    "launches": "SELECT graph, generation, launch, start - {t}, end - {t}, kernels, correlation, expected, certain, thread,"
                " time - {t} FROM graph_launches WHERE process = {p} ORDER BY 1, 3",
    "ranges": "SELECT id, thread, name, start - {t}, end - {t}, parent, kind FROM ranges WHERE process = {p} ORDER BY 1",
    "ledger": "SELECT queue, seen, recorded, lost, reason, packets, skipped, stored FROM ledger WHERE process = {p}"
              " ORDER BY 1, 5",
    "queues": "SELECT queue, agent, address, size, way, start - {t}, end - {t}, kernels, copies FROM queues"
              " WHERE process = {p} ORDER BY 1",
    "processes": "SELECT pid, command, host, rank, mode, start - {t}, end - {t}, state FROM processes WHERE process = {p}",
    "symbols": "SELECT agent, name, mangled FROM symbols WHERE process = {p} ORDER BY symbol",
    "pauses": "SELECT start - {t}, end - {t}, why FROM pauses WHERE process = {p} ORDER BY 1",
    "counting": "SELECT mode, pass, passes, metrics FROM counting WHERE process = {p}",
    "counters": "SELECT counter, agent, name, block, event, instances, pass FROM counters WHERE process = {p} ORDER BY 1",
    "kernel counters": "SELECT queue, packet, kernel IS NULL, name, value, agent FROM kernel_counters WHERE process = {p}"
                       " ORDER BY 1, 2, counter",
    "their kernels": "SELECT k.queue, k.start_ticks, c.name, c.value FROM kernels k JOIN kernel_counters c ON c.kernel = k.id"
                     " WHERE k.process = {p} ORDER BY 1, 2, 3",
    "range counters": "SELECT range, agent, name, value, shared FROM range_counters WHERE process = {p} ORDER BY 1, 2, 3",
    "uncounted": "SELECT agent, why, count FROM uncounted WHERE process = {p} ORDER BY 1, 2",
    "streams": "SELECT stream, handle, name, generation, created - {t}, destroyed - {t} FROM streams WHERE process = {p} ORDER BY 1",
    "threads": "SELECT thread, tid, generation, name, comm FROM threads WHERE process = {p} ORDER BY 1",
    "kinds": "SELECT kind, seen, recorded, stored, waiting, stopped, withheld, lost, reason FROM ledger_kinds WHERE process = {p}"
             " ORDER BY kind, reason",
    "hip queues": "SELECT queue, library, calls FROM hip_queues WHERE process = {p} ORDER BY 1",
    "notes": "SELECT queue, text FROM notes WHERE process = {p} AND text NOT LIKE 'merged from %' ORDER BY id",
}


def offset(trace):
    return int(rows(trace, "SELECT value FROM meta WHERE key = 'realtime_offset'")[0])


def all_rows(trace, process, late):
    """The rows of each of the queries, by its name, of one rtl: its start takes longer than most queries."""
    marked = "; ".join(f"SELECT '== {name}'; {sql.format(p=process, t=late)}" for name, sql in QUERIES.items())
    found = {name: [] for name in QUERIES}
    for line in rows(trace, marked):
        if line.startswith("== "):
            of = found[line[3:]]
        else:
            of.append(line)
    return found


def same(merged, process, source, moved, own=1, least=1000):
    seen = 0
    wanted, gotten = all_rows(source, own, 0), all_rows(merged, process, moved)
    for name in QUERIES:
        want, got = wanted[name], gotten[name]
        seen += len(want)
        must(got == want, f"{name} of process {process} of {merged} are those of {source}: {len(got)} and {len(want)} rows")
    must(seen > least, f"{source} has something to compare")


def exact(merged, sources, moved):
    for i, source in enumerate(sources):
        same(merged, i + 1, source, moved[i])
    checked = subprocess.run([rtl, "check", merged], capture_output=True, text=True)
    must(checked.returncode == 0, f"{merged} is complete: {checked.stdout}")


def change(source, target, *statements):
    """A trace in which rows are others: without digests, as docs/format.md has it."""
    shutil.copy(source, target)
    with sqlite3.connect(target) as db:
        db.execute("DROP TABLE IF EXISTS digests")
        db.execute("DELETE FROM meta WHERE key = 'digests'")
        for statement in statements:
            db.execute(statement)
    db.close()


# Nothing was paused, and no range set, in what was recorded.
change(b, "b.db", "INSERT INTO pauses SELECT 1, start + 1000, start + 5000, 'somebody' FROM processes",
       "INSERT INTO pauses SELECT 1, start + 9000, NULL, 'somebody else' FROM processes",
       "INSERT INTO ranges SELECT 1, 1000000, 7, 'push', 'a range', start + 2000, NULL, NULL FROM processes")
b = "b.db"
must(len(rows(b, "SELECT * FROM pauses")) == 2 and len(rows(b, "SELECT * FROM ranges")) == 1, "a pause and a range to merge")
run("merge", "merged.db", a, b)
exact("merged.db", (a, b), (0, 0))
notes = rows("merged.db", "SELECT text FROM notes WHERE text LIKE 'merged from %'")
must(len(notes) == 2 and any("exact" in note for note in notes), "the notes tell of one clock")

# The other host was started later, or, by the second file, an hour earlier.
change(b, "later.db", "UPDATE meta SET value = 'other' WHERE key = 'host'", "DELETE FROM meta WHERE key = 'boot'",
       "UPDATE meta SET value = value + 50000000000 WHERE key = 'realtime_offset'")
run("merge", "hosts.db", a, "later.db")
exact("hosts.db", (a, b), (0, offset("later.db") - offset(a)))
change(b, "earlier.db", "UPDATE meta SET value = 'another-start' WHERE key = 'boot'",
       "UPDATE meta SET value = value - 3600000000000 WHERE key = 'realtime_offset'")
run("merge", "hosts2.db", a, "earlier.db")
exact("hosts2.db", (a, b), (offset(a) - offset("earlier.db"), 0))

# Less than a clock bracket is wide, and with a process that has none.
change(b, "near.db", "UPDATE meta SET value = 'another-start' WHERE key = 'boot'",
       f"UPDATE meta SET value = {offset(a)} + 7 WHERE key = 'realtime_offset'")
run("merge", "near2.db", a, "near.db")
exact("near2.db", (a, b), (0, 7))
change("near.db", "bare.db", "DELETE FROM clock_brackets")
run("merge", "bare2.db", a, "bare.db")
same("bare2.db", 2, b, 7)

# Traces of older versions, which lack tables and have launches in rows.
old = [f"old{i}.db" for i in range(len(golden))]
for path, name in zip(golden, old):
    with open(path) as file, sqlite3.connect(name) as db:
        db.executescript(file.read())
    db.close()
    # All are of the same processes, but for when these began.
    change(name, f"own-{name}", f"UPDATE processes SET start = start + {old.index(name)} * 10000000000 WHERE start IS NOT NULL")
old = [f"own-{name}" for name in old]
sources = [*old, a]
run("merge", "old.db", *sources)
base = min(map(offset, sources))
next_process = 1
for source in sources:
    for process in range(1, int(rows(source, "SELECT max(process) FROM processes")[0]) + 1):
        # Of a process that an exec replaced there may be its row alone.
        same("old.db", next_process, source, offset(source) - base, process, 0)
        next_process += 1
must(next_process > len(sources), "processes of old traces")

# What was merged can be merged; damage stays damage.
run("merge", "again.db", "merged.db", "later.db")
same("again.db", 2, b, 0)
same("again.db", 3, b, offset("later.db") - offset("merged.db"))
# A process is known by the clock that it began on, wherever its times were moved, and taken once.
def began(trace):
    return rows(trace, "SELECT value, p.start FROM processes p, meta WHERE key = 'boot' ORDER BY process")


def clocks(trace):
    return rows(trace, "SELECT boot, start FROM process_clocks ORDER BY process")


def refused(*sources):
    done = subprocess.run([rtl, "merge", "twice.db", *sources], capture_output=True, text=True)
    must(done.returncode == 2 and "in another one of the traces already" in done.stderr, f"{sources} are refused: {done.stderr}")


must(clocks("hosts2.db") == began(a) + began("earlier.db"), "a merged trace keeps when its processes began")
must(clocks("again.db") == began(a) + began(b), "so does a merge of merges, of processes whose boot is known")
run("merge", "third.db", "hosts2.db", b)
must(clocks("third.db") == began(a) + began("earlier.db") + began(b), "a process of another boot is another one")
for source in (a, "earlier.db"):
    refused("hosts2.db", source)
    refused(source, "third.db")
change("hosts2.db", "older.db", "DROP TABLE process_clocks")
for source in (a, "earlier.db", "hosts2.db"):
    refused("older.db", source)
change(a, "damaged.db", "UPDATE kernel_chunks SET data = zeroblob(length(data)) WHERE chunk = 1")
done = subprocess.run([rtl, "merge", "sealed.db", "damaged.db", b], capture_output=True, text=True)
must(done.returncode == 2 and "damaged" in done.stderr, f"a damaged trace is refused: {done.stderr}")
must(subprocess.run(["ls", "sealed.db"], capture_output=True).returncode != 0, "nothing is left of a merge that failed")
sys.exit(1 if failed else 0)
