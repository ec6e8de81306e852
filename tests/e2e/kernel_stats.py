"""kernel_stats.py RTL TRACE...: compares SQL's kernel_stats with what is made here of the rows of `kernels`."""
import collections
import itertools
import json
import subprocess
import sys

rtl, *traces = sys.argv[1:]
COLUMNS = ("process", "gpu", "queue", "name", "graph", "generation", "node")
failed = 0


def equal(got, wanted, what):
    global failed
    if got != wanted:
        print(f"{what}: got {str(got)[:300]}, want {str(wanted)[:300]}")
        failed += 1


def sql(trace, statement):
    return json.loads(subprocess.run([rtl, "sql", trace, statement, "--json"], check=True, capture_output=True).stdout)


def added_up(kernels, columns):
    """{values of the columns: durations, sorted}. What is finer than asked for is added up, as SQL's GROUP BY does."""
    groups = collections.defaultdict(list)
    for kernel in kernels:
        groups[tuple(kernel[column] for column in columns)].append(kernel["duration"])
    return {key: sorted(durations) for key, durations in groups.items()}


def order(key):
    return tuple((value is not None, value) for value in key)


def sums(groups):
    return sorted(((*key, len(d), sum(d), d[0], d[-1]) for key, d in groups.items()), key=lambda row: order(row))


def compare(trace, kernels, columns, window=""):
    """`window`: of kernel_stats, of rows that are as fine as they can be."""
    names = ", ".join(columns)
    rows = sql(trace, f"SELECT {names}{', ' if names else ''}sum(kernels) AS kernels, sum(duration) AS duration,"
               f" min(min) AS least, max(max) AS most FROM kernel_stats{window}{' GROUP BY ' + names if names else ''}")
    got = sorted((tuple(row[c] for c in (*columns, "kernels", "duration", "least", "most")) for row in rows), key=order)
    equal(got, sums(added_up(kernels, columns)), f"{trace}{window} by {names or 'nothing'}")


def compare_rows(trace, kernels, columns):
    """Rows as they are: percentiles cannot be added up."""
    names = ", ".join(columns)
    seen = set()
    groups = added_up(kernels, columns)
    for row in sql(trace, f"SELECT {names}, kernels, mean, p50, p90, p99 FROM kernel_stats('{names}')"):
        key = tuple(row[column] for column in columns)
        durations = groups[key]
        equal(key in seen, False, f"{trace}: a second row of {key}")
        seen.add(key)
        equal(row["kernels"], len(durations), f"{trace}: kernels of {key}")
        equal(abs(row["mean"] - sum(durations) / len(durations)) < 0.01, True, f"{trace}: mean of {key}")
        for name, per_cent in (("p50", 50), ("p90", 90), ("p99", 99)):
            exact = durations[-(-len(durations) * per_cent // 100) - 1]
            equal(abs(row[name] - exact) <= exact / 128, True, f"{trace}: {name} of {key}, {row[name]} and {exact}")
    equal(seen, set(groups), f"{trace}: groups by {names}")


def check_planner(trace):
    """What SQLite makes of a query changes nothing: parts of an OR, subqueries, restrictions that are used or not (+)."""
    for table, conditions in (("kernel_stats", ("process = 1", "queue = 0", "queue = 3", "process IN (1, 2)", "graph = 1")),
                              ("graph_launches", ("process = 1", "graph = 2", "launch = 3", "launch > 5", "correlation = 9")),
                              ("symbols", ("process = 1", "process = 2", "symbol = 1", "symbol < 3"))):
        for a, b in itertools.combinations(conditions, 2):
            got, plain = (sql(trace, f"SELECT * FROM {table} WHERE {mark}{a} OR {mark}{b}") for mark in ("", "+"))
            by = lambda row: json.dumps(row, sort_keys=True)
            equal(sorted(got, key=by), sorted(plain, key=by), f"{trace}: {table} where {a} or {b}")
    each = [row["kernels"] for row in sql(trace, "SELECT kernels FROM kernel_stats('process')")]
    inner = sql(trace, "SELECT max(kernels) AS most, count(*) AS rows FROM (SELECT process, kernels FROM kernel_stats('process'))")
    equal((inner[0]["most"], inner[0]["rows"]), (max(each), len(each)), f"{trace}: a subquery")
    of_one = sql(trace, "SELECT process, name, kernels FROM kernel_stats('name') WHERE process = 1")
    equal({row["process"] for row in of_one}, {1}, f"{trace}: the process that was asked for")
    equal(sum(row["kernels"] for row in of_one),
          sql(trace, "SELECT count(*) AS kernels FROM kernels WHERE process = 1")[0]["kernels"], f"{trace}: its kernels")
    middle = sql(trace, "SELECT min(start) / 2 + max(end) / 2 AS time FROM kernels")[0]["time"]
    behind = sql(trace, f"SELECT count(*) AS kernels FROM kernels WHERE end > {middle} OR start >= {middle}")[0]["kernels"]
    for text, wanted in ((f"{middle}", behind), (f"'{middle}'", behind), ("0, 0", 0), ("0, -1", 0), (f"{middle}, {middle}", 0),
                         ("-5, 1", 0)):
        got = sql(trace, f"SELECT coalesce(sum(kernels), 0) AS kernels FROM kernel_stats('none', {text})")
        equal(got[0]["kernels"], wanted, f"{trace}: kernel_stats('none', {text})")
    for wrong in ("'nme'", "'name node x'", "'none', 'a'", "'none', 1, x'00'"):
        told = subprocess.run([rtl, "sql", trace, f"SELECT * FROM kernel_stats({wrong})"], capture_output=True, text=True)
        equal((told.returncode, "kernel_stats" in told.stderr, len(told.stderr.splitlines())), (2, True, 1), f"kernel_stats({wrong})")


for trace in traces:
    kernels = sql(trace, "SELECT process, gpu, queue, name, graph, generation, node, start, end, duration FROM kernels")
    equal(len(kernels) > 40, True, f"{trace} has kernels")
    for count in range(len(COLUMNS) + 1):
        for columns in itertools.combinations(COLUMNS, count) if count < 3 or count > 5 else ():
            compare(trace, kernels, columns)
    for columns in (("process", "name"), ("process", "queue"), ("process", "gpu"), ("process", "graph"),
                    ("process", "graph", "node"), ("name",), COLUMNS):
        compare_rows(trace, kernels, columns)
    begin, end = min(k["start"] for k in kernels), max(k["end"] for k in kernels)
    third = (end - begin) // 3
    since, until = begin + third, end - third
    inside = [k for k in kernels if k["start"] < until and (k["end"] > since or k["start"] >= since)]
    compare(trace, inside, ("name",), f"('all', {since}, {until})")
    some = kernels[0]["process"]
    got = sql(trace, f"SELECT coalesce(sum(kernels), 0) AS kernels FROM kernel_stats WHERE process = {some}"
              " AND graph IS NULL")
    equal(got[0]["kernels"], sum(k["process"] == some and k["graph"] is None for k in kernels),
          f"{trace}: eager kernels of one process")
    joined = sql(trace, "SELECT count(*) AS launches, sum(s.kernels >= l.kernels) AS enough FROM graph_launches l,"
                 " (SELECT 1) CROSS JOIN kernel_stats('none', l.start, l.end) s")[0]
    equal(joined["launches"], joined["enough"], f"{trace}: kernels in the times of launches")
    check_planner(trace)
sys.exit(failed > 0)
