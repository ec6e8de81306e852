"""parquet.py RTL TRACE FOLDER: the Parquet files of a trace, by pyarrow and DuckDB, against SQL."""
import json
import os
import subprocess
import sys

import pyarrow.parquet

command, path, folder = sys.argv[1:]
COLUMNS = {
    "kernels": ("kernels", {"generation": "coalesce(generation, 0)", "certain": "coalesce(certain, 0)",
                            "duration": "max(0, duration)"}, ("correlation", "node_range")),
    "calls": ("api", {"arguments": "args", "range": "coalesce(range, 0)"}, ("correlation",)),
    "ranges": ("ranges", {"end": 'coalesce("end", 0)', "parent": "coalesce(parent, 0)", "name": "coalesce(name, '')"}, ()),
    "copies": ("copies", {"start": "coalesce(start, 0)", "end": 'coalesce("end", 0)'}, ("correlation",)),
    "graph_launches": ("graph_launches", {"start": "coalesce(start, 0)", "end": 'coalesce("end", 0)', "time": "coalesce(time, 0)",
                                          "range": "coalesce(range, 0)"}, ("correlation",)),
}
failures = 0


def check(what, got, want):
    global failures
    if got != want:
        failures += 1
        print(f"{what}: got {got!r:.400}, want {want!r:.400}", file=sys.stderr)


def ask(statement):
    said = subprocess.run([command, "sql", "-j", path, statement], check=True, capture_output=True).stdout
    return [tuple(row.values()) for row in json.loads(said.decode("utf-8", "surrogateescape"))]


def plain(value):
    """Signs are the store's, and what is no UTF-8 is shown."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return value % 2**64 if isinstance(value, int) else value


rows = 0
for table, (name, instead, unlike) in COLUMNS.items():
    file = os.path.join(folder, table + ".parquet")
    read = pyarrow.parquet.read_table(file)
    fields = [field for field in read.column_names if field not in unlike]
    want = ask(f"SELECT {', '.join(instead.get(field, chr(34) + field + chr(34)) for field in fields)} FROM {name}")
    got = list(zip(*[read.column(field).to_pylist() for field in fields])) if read.num_rows else []
    got, want = [sorted(repr([plain(value) for value in row]) for row in side) for side in (got, want)]
    check(f"{table}: rows", len(got), len(want))
    check(table, [row for row in got if row not in want], [row for row in want if row not in got])
    check(f"{table}: compression", pyarrow.parquet.ParquetFile(file).metadata.row_group(0).column(0).compression if read.num_rows
          else "ZSTD", "ZSTD")
    check(f"{table}: pandas", len(read.to_pandas()), len(want))
    rows += len(want)

sums = subprocess.run(["duckdb", "-json", "-c", f"SELECT name, count(*) AS n, sum(duration)::UBIGINT AS total "
                       f"FROM '{folder}/kernels.parquet' GROUP BY name"], check=True, capture_output=True).stdout
check("sums by DuckDB", sorted((row["name"], row["n"], int(row["total"])) for row in json.loads(sums)),
      sorted((plain(a), b, c) for a, b, c in ask("SELECT name, count(*), sum(max(0, duration)) FROM kernels GROUP BY name")))
if not rows:
    sys.exit("there is nothing to compare")
sys.exit(failures > 0)
