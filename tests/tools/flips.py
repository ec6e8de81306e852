"""flips.py RTL COUNT TRACE...: flips one bit of each trace COUNT times, and compares what rtl check calls complete with the trace, row by row."""
import os
import random
import sqlite3
import subprocess
import sys

RTL, COUNT, TRACES = sys.argv[1], int(sys.argv[2]), sys.argv[3:]


def contents(path):
    """All that a trace has, None if it cannot be read. What is not in the index that SQLite would use counts, too."""
    try:
        db = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
        db.text_factory = bytes
        found = {"version": db.execute("PRAGMA user_version").fetchall(), "id": db.execute("PRAGMA application_id").fetchall(),
                 "schema": sorted(db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall(), key=repr)}
        for _, name, *_ in db.execute("SELECT type, name FROM sqlite_master WHERE type = 'table'").fetchall():
            found[name] = db.execute(f"SELECT * FROM \"{name.decode()}\" NOT INDEXED").fetchall()
        found["by time"] = db.execute("SELECT process, queue, start_ticks, id FROM copies ORDER BY process, queue, start_ticks").fetchall()
        return found
    except (sqlite3.Error, UnicodeDecodeError):
        return None


def places(data, numbers):
    """Half anywhere, a quarter where there is something, a quarter beside the names of tables and keys, the head included."""
    used = [at for at, byte in enumerate(data) if byte]
    names = [at for name in (b"digests", b"finished", b"clock_points", b"notes", b"CREATE", b"SQLite format", b"kernel") for at in occurrences(data, name)]
    for number in range(COUNT):
        if number % 4 < 2:
            yield numbers.randrange(len(data))
        elif number % 4 == 2:
            yield numbers.choice(used)
        else:
            yield min(len(data) - 1, max(0, numbers.choice(names) + numbers.randrange(-24, 100)))


def occurrences(data, name):
    at = data.find(name)
    while at >= 0:
        yield at
        at = data.find(name, at + 1)


wrong, told, idle = [], 0, 0
for trace in TRACES:
    with open(trace, "rb") as file:
        whole = file.read()
    wanted = contents(trace)
    numbers = random.Random(trace)
    for at in places(whole, numbers):
        bit = 1 << numbers.randrange(8)
        with open("flipped.db", "wb") as file:
            file.write(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1:])
        done = subprocess.run([RTL, "check", "flipped.db"], capture_output=True, stdin=subprocess.DEVNULL, timeout=120, check=False)
        same = contents("flipped.db") == wanted
        if done.returncode not in (0, 1, 2):
            wrong.append(f"{trace}: bit {bit} of byte {at}: rtl check ended with {done.returncode}")
        elif done.returncode == 0 and not same:
            wrong.append(f"{trace}: bit {bit} of byte {at} changes what is in it, and it is called {done.stdout.splitlines()[:1]}")
        told += done.returncode != 0 and not same
        idle += done.returncode == 0 and same
os.unlink("flipped.db")
print(f"{COUNT * len(TRACES)} flips: {told} change something and are told, {idle} change nothing and are not")
print("\n".join(wrong[:20]))
if not told > COUNT * len(TRACES) // 3 or not idle:
    sys.exit("the flips hit nothing, or everything")
sys.exit(1 if wrong else 0)
