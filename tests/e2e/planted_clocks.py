"""What rtl merge makes of the traces of hosts whose clocks were planted (sync_clock.c): RTL and BASE are the first arguments of
the script that imports this. A clock is (later, drift, wrong) of that file, in ns, ns a second and ns."""
import json
import subprocess
import sys

rtl, base = sys.argv[1], int(sys.argv[2])
failed = 0


def must(condition, what):
    global failed
    if not condition:
        print("not so:", what)
        failed += 1


def rows_of_text(trace, query):
    return subprocess.run([rtl, "sql", trace, query], capture_output=True, text=True, check=True).stdout


def rows(trace, query):
    return [tuple(map(int, line.split("|"))) for line in rows_of_text(trace, query).splitlines()]


def merge(*arguments):
    done = subprocess.run([rtl, "merge", "-f", "--json", "new.db", *arguments], capture_output=True, text=True)
    must(done.returncode == 0, f"rtl merge {' '.join(arguments)}: {done.stderr}")
    return json.loads(done.stdout)["traces"]


def true_time(clock, shown):
    """What the machine's clock showed when this one showed that."""
    later, drift, _ = clock
    return base + round((shown + later - base) / (1 + drift / 1e9))


def kernels(trace, first, last):
    return rows(trace, f"SELECT start, end FROM kernels WHERE process BETWEEN {first} AND {last} ORDER BY process, queue, packet")


def offset(trace):
    return rows(trace, "SELECT value FROM meta WHERE key = 'realtime_offset'")[0][0]


def look(what, told, file, clock, reference, first=None, limit=5_000_000):
    """One host of a merged trace: its kernels are where they were, within the error. `first` is the first trace of the host."""
    later, drift, wrong = clock
    own = kernels(file, 1, 1000)
    new = kernels("new.db", told["first_process"], told["first_process"] + told["processes"] - 1)
    must(len(own) == len(new) >= 40, f"{what}: {len(own)} and {len(new)} kernels")
    must(told["clock"] == "exchanges" and told["exchanges"] >= 2 and told["collectives"] is None, f"{what}: {told}")
    far = [abs(moved - true_time(clock, shown)) for one, other in zip(own, new) for shown, moved in zip(one, other)]
    must(max(far) <= told["error_ns"], f"{what}: {max(far)} ns off, and not {told['error_ns']}")
    must(told["error_between_ns"] <= told["error_ns"] and told["error_ns"] < limit, f"{what}: the error is {told['error_ns']} ns")
    # The times of day are what each recorder read, one clock after the other.
    apart = offset(first or file) - offset(reference)
    must(told["shift_ns"] + told["time_of_day_off_ns"] == apart and abs(told["time_of_day_off_ns"] - wrong) < 50_000_000,
         f"{what}: the time of day was off by {told['time_of_day_off_ns']}")
    must(abs(told["clock_drift_ppm"] + drift / 1000) <= told["clock_drift_error_ppm"],
         f"{what}: a drift of {told['clock_drift_ppm']} +- {told['clock_drift_error_ppm']} ppm, and not {-drift / 1000}")


def end():
    sys.exit(failed > 0)
