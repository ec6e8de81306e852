"""clocks.py RTL RANKS_MADE: merges the traces of hosts with planted clocks, and compares each kernel's times with the true ones."""
import json
import random
import sqlite3
import subprocess
import sys

rtl, made = sys.argv[1:]
REALTIME = 1_700_000_000_000_000_000
failed = 0


def must(condition, what):
    global failed
    if not condition:
        print("not so:", what)
        failed += 1


def make(path, host, seed, hosts, ranks, collectives, offset=0, drift=0, wrong=0):
    """A host's trace. Its time of day is wrong by so many ns."""
    subprocess.run([made, path, *map(str, (seed, hosts, host, ranks, collectives, offset, drift))], check=True)
    with sqlite3.connect(path) as db:  # rows are others: without digests, as docs/format.md has it
        db.execute("DROP TABLE IF EXISTS digests")
        db.execute("DELETE FROM meta WHERE key = 'digests'")
        for key, value in (("host", f"host{host}"), ("boot", f"boot-{host}"), ("realtime_offset", REALTIME + offset + wrong)):
            db.execute("INSERT OR REPLACE INTO meta VALUES(?, ?)", (key, value))
    db.close()


def merge(*arguments):
    done = subprocess.run([rtl, "merge", "-f", "--json", *arguments], capture_output=True, text=True)
    must(done.returncode == 0, f"rtl merge {' '.join(arguments)}: {done.stderr}")
    return json.loads(done.stdout)["traces"]


def times(trace, first, last):
    """Start and end of each kernel of these processes, by rank and packet."""
    query = (f"SELECT p.rank, k.packet, k.start, k.end FROM kernels k JOIN processes p USING(process)"
             f" WHERE process BETWEEN {first} AND {last} ORDER BY 1, 2")
    lines = subprocess.run([rtl, "sql", trace, query], capture_output=True, text=True, check=True).stdout.splitlines()
    return [tuple(map(int, line.split("|"))) for line in lines]


def farthest(trace, told, true):
    """How far the kernels of a host are from where they were, at most."""
    got = times(trace, told["first_process"], told["first_process"] + told["processes"] - 1)
    must([row[:2] for row in got] == [row[:2] for row in true] and got, f"the kernels of {told['file']}")
    return max(abs(a - b) for one, other in zip(got, true) for a, b in zip(one[2:], other[2:]))


# 5 ms and 50 ppm; and others, of two and three hosts.
random.seed(5)
trials = [(2, 1, 400, [(3_000_000_000, 50_000, 5_000_000)])]
for _ in range(10):
    hosts = random.choice((2, 3))
    trials.append((hosts, random.choice((1, 2)), random.randrange(3, 300),
                   [(random.randrange(1 << random.randrange(20, 42)), random.randrange(-50_000, 50_000),
                     random.randrange(-50_000_000, 50_000_000)) for _ in range(hosts - 1)]))
for seed, (hosts, ranks, collectives, clocks) in enumerate(trials):
    make("a.db", 0, seed, hosts, ranks, collectives)
    names = ["a.db"]
    for host, (offset, drift, wrong) in enumerate(clocks, 1):
        make(f"{host}.db", host, seed, hosts, ranks, collectives, offset, drift, wrong)
        make(f"true{host}.db", host, seed, hosts, ranks, collectives)
        names.append(f"{host}.db")
    what = f"trial {seed}: {hosts} hosts of {ranks} ranks, {collectives} collectives, clocks {clocks}"
    told = merge("new.db", *names)
    base = min(0, *(offset + wrong for offset, _, wrong in clocks))  # the host that is up longest, by its time of day
    if base < 0:
        continue  # the reference's clock is not the true one: nothing to compare with
    must(told[0]["clock"] == "reference" and farthest("new.db", told[0], times("a.db", 1, ranks)) == 0, f"{what}: the reference moves")
    for host, (offset, drift, wrong) in enumerate(clocks, 1):
        one = told[host]
        off = farthest("new.db", one, times(f"true{host}.db", 1, ranks))
        span = collectives * 0.01
        must(one["clock"] == "collectives" and one["collectives"] == collectives, f"{what}: {one}")
        must(off <= one["error_ns"] + abs(drift) * 0.02, f"{what}: off by {off}, not {one['error_ns']}")
        must(one["error_ns"] < abs(drift) * span / 2 + 3_000_000 / min(collectives, 30), f"{what}: the error is {one['error_ns']}")
        must(abs(one["time_of_day_off_ns"] - wrong) <= one["error_ns"], f"{what}: the time of day was off by {one['time_of_day_off_ns']}")
        if collectives > 100:
            must(abs(one["clock_drift_ppm"] - drift / 1000) < 1000 / collectives, f"{what}: it drifts by {one['clock_drift_ppm']}")
    note = subprocess.run([rtl, "sql", "new.db", "SELECT text FROM notes WHERE text LIKE '%collectives fit that both ran%'"],
                          capture_output=True, text=True, check=True).stdout.splitlines()
    must(len(note) == hosts - 1, f"{what}: the notes tell it")

# Times of day alone, where that is wanted, and where collectives tell nothing.
make("a.db", 0, 1, 2, 1, 100)
make("b.db", 1, 1, 2, 1, 100, 1_000_000, 0, 7_000_000)
make("fewer.db", 1, 1, 2, 1, 99, 1_000_000)
make("other.db", 1, 2, 2, 1, 100, 1_000_000)
told = merge("--align", "time-of-day", "new.db", "a.db", "b.db")
must(told[1]["clock"] == "time-of-day" and told[1]["shift_ns"] == 8_000_000 and told[1]["unaligned"] is None, f"times of day alone: {told[1]}")
told = merge("--align", "collectives", "new.db", "a.db", "b.db")
must(abs(told[1]["time_of_day_off_ns"] - 7_000_000) <= told[1]["error_ns"] < 50_000, f"by collectives alone: {told[1]}")


def exchange(path, apart, delay):
    """Packets that host 1 exchanged with host 0, whose clock is so far ahead: 20 us there and back, and a delay on the way back."""
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM clock_exchanges")
        for sent in (100_000_000_000, 100_500_000_000, 101_000_000_000):
            received = sent + apart + 20_000
            db.execute("INSERT INTO clock_exchanges VALUES('host1', 'boot-1', 'host0', 'boot-0', ?, ?, ?, ?)",
                       (sent, received, received + 1000, received + 1000 + 20_000 + delay - apart))
    db.close()


# Packets and collectives together, one of them alone, and such as do not fit each other.
alone = told[1]["error_ns"]
exchange("b.db", 1_000_000, 500_000)
told = merge("new.db", "a.db", "b.db")
must(told[1]["clock"] == "both" and told[1]["exchanges"] == 3 and told[1]["collectives"] == 100, f"both: {told[1]}")
must(abs(told[1]["time_of_day_off_ns"] - 7_000_000) <= told[1]["error_ns"] < 50_000 and told[1]["unaligned"] is None, f"both: {told[1]}")
must(told[1]["error_ns"] <= alone + 1000, f"both say no less than one: {told[1]['error_ns']}, and not {alone}")
ranks = json.loads(subprocess.run([rtl, "ranks", "--json", "new.db"], capture_output=True, text=True, check=True).stdout)
must(ranks["hosts_error_ns"] == told[1]["error_ns"], f"rtl ranks does not tell the error: {ranks['hosts_error_ns']}")
text = subprocess.run([rtl, "ranks", "new.db"], capture_output=True, text=True, check=True).stdout
must("times of different hosts are right to each other within " in text, text)
merge("--align", "time-of-day", "new.db", "a.db", "b.db")
ranks = json.loads(subprocess.run([rtl, "ranks", "--json", "new.db"], capture_output=True, text=True, check=True).stdout)
text = subprocess.run([rtl, "ranks", "new.db"], capture_output=True, text=True, check=True).stdout
must(ranks["hosts_error_ns"] is None and "nobody knows how far times of different hosts are off" in text, text)
told = merge("--align", "exchanges", "new.db", "a.db", "b.db")
must(told[1]["clock"] == "exchanges" and told[1]["collectives"] is None, f"by exchanges alone: {told[1]}")
must(abs(told[1]["time_of_day_off_ns"] - 7_000_000) <= told[1]["error_ns"], f"by exchanges alone: {told[1]}")
must(told[1]["error_ns"] > 250_000, f"half of what the way back took longer nobody can know: {told[1]}")
exchange("b.db", 11_000_000, 0)
told = merge("new.db", "a.db", "b.db")
must(told[1]["clock"] == "exchanges" and "contradict" in told[1]["unaligned"], f"a contradiction: {told[1]}")
must(abs(told[1]["shift_ns"] - 11_000_000) <= told[1]["error_ns"] < 30_000, f"a contradiction: {told[1]}")
text = subprocess.run([rtl, "sql", "new.db", "SELECT text FROM notes WHERE text LIKE '%contradict the messages%'"],
                      capture_output=True, text=True, check=True).stdout
must("3 exchanges of messages fit" in text, f"the note tells of a contradiction: {text}")
told = merge("--align", "collectives", "new.db", "a.db", "b.db")
must(told[1]["clock"] == "collectives" and told[1]["exchanges"] is None and told[1]["unaligned"] is None, f"collectives alone: {told[1]}")
for name, why in (("fewer.db", "the hosts ran different numbers of collectives"),
                  ("other.db", "no difference of the clocks fits all collectives that both ran: they do not belong together by their numbers")):
    told = merge("new.db", "a.db", name)
    must(told[1]["clock"] == "time-of-day" and told[1]["unaligned"] == why and told[1]["shift_ns"] == 1_000_000, f"{name}: {told[1]}")
exchange("b.db", 1_000_000, 0)
text = subprocess.run([rtl, "merge", "-f", "new.db", "a.db", "b.db"], capture_output=True, text=True, check=True).stdout
must("another host: moved by " in text and "100 collectives and 3 exchanges of messages fit, right within" in text and "its time of day was off by " in text, text)
sys.exit(failed > 0)
