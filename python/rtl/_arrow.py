"""A trace as Arrow tables and Parquet files, by pyarrow."""

import itertools
import os

from . import _columns

GROUP = 1 << 20  #: rows of a row group of kernels
OTHERS = 1 << 17  #: of the other tables, whose rows pass through Python

_OPEN = ("gpu", "symbol", "graph", "node", "launch")
_KERNELS = [name for name in _columns.ALL if name != "name"]
_FIELDS = {
    "calls": (("id", "uint64"), ("process", "uint32"), ("thread", "uint32"), ("name", "name"), ("start", "uint64"),
              ("end", "uint64"), ("correlation", "uint64"), ("range", "uint64"), ("stream", "uint32"), ("result", "int32"),
              ("arguments", "string")),
    "ranges": (("id", "uint64"), ("process", "uint32"), ("thread", "uint32"), ("name", "name"), ("kind", "name"),
               ("start", "uint64"), ("end", "uint64"), ("parent", "uint64")),
    "copies": (("id", "uint64"), ("process", "uint32"), ("gpu", "uint32"), ("queue", "uint32"), ("ordinal", "uint64"),
               ("kind", "name"), ("engine", "name"), ("src", "uint32"), ("dst", "uint32"), ("start", "uint64"),
               ("end", "uint64"), ("bytes", "uint64"), ("correlation", "uint64")),
    "graph_launches": (("process", "uint32"), ("graph", "uint32"), ("generation", "uint32"), ("launch", "uint32"),
                       ("thread", "uint32"), ("time", "uint64"), ("start", "uint64"), ("end", "uint64"), ("kernels", "uint64"),
                       ("expected", "uint64"), ("unseen", "uint64"), ("correlation", "uint64"), ("range", "uint64"),
                       ("certain", "bool")),
}
TABLES = ("kernels", *_FIELDS)


def _arrow():
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError("pyarrow is not installed, which writes Arrow and Parquet: pip install pyarrow, or Debian's "
                          "python3-pyarrow") from None
    return pyarrow


def _name_type(arrow):
    return arrow.dictionary(arrow.int32(), arrow.string())


def schema(table):
    """The pyarrow.Schema of a table. Times are ns."""
    arrow = _arrow()
    if table == "kernels":
        kinds = {"Q": arrow.uint64(), "I": arrow.uint32(), "B": arrow.bool_()}
        fields = [("name", _name_type(arrow))] + [(name, kinds[_columns.TYPES[name]]) for name in _KERNELS]
    else:
        kinds = {"uint32": arrow.uint32(), "uint64": arrow.uint64(), "int32": arrow.int32(), "bool": arrow.bool_(),
                 "string": arrow.string(), "name": _name_type(arrow)}
        fields = [(name, kinds[kind]) for name, kind in _FIELDS[table]]
    return arrow.schema(fields)


def _safe(name):
    """Arrow's strings are UTF-8: what is none in a name is shown as such."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _kernels_of(arrow, piece, kinds):
    numpy = _columns.numpy
    made = [arrow.DictionaryArray.from_arrays(arrow.array(piece["name"].astype("int32")),
                                              arrow.array([_safe(name) for name in piece.names], arrow.string()))]
    for name in _KERNELS:
        column = piece[name]
        if name == "certain":
            column = column.astype(bool)
        made.append(arrow.array(column, mask=column == numpy.uint32(_columns.NONE) if name in _OPEN else None))
    return arrow.Table.from_arrays(made, schema=kinds)


def _kernel_groups(arrow, trace, chosen):
    if _columns.numpy is None:
        raise ImportError("numpy is not installed, which columns for Arrow are made of")
    kinds, kept, rows = schema("kernels"), [], 0
    for piece in trace.pieces(_columns.ALL, **chosen):
        kept.append(piece)
        rows += len(piece)
        if rows >= GROUP:
            yield _kernels_of(arrow, _columns.joined(kept, _columns.ALL), kinds)
            kept, rows = [], 0
    if kept:
        yield _kernels_of(arrow, _columns.joined(kept, _columns.ALL), kinds)


def _other_groups(arrow, trace, table, chosen):
    kinds = schema(table)
    rows = {"calls": trace.calls, "ranges": trace.ranges, "copies": trace.copies, "graph_launches": trace.launches}[table](**chosen)
    while True:
        group = list(itertools.islice(rows, OTHERS))
        if not group:
            return
        made = []
        for (name, kind), field in zip(_FIELDS[table], kinds):
            values = [getattr(row, name) for row in group]
            if kind == "name":
                made.append(arrow.array([_safe(value) for value in values], arrow.string()).dictionary_encode())
            else:
                made.append(arrow.array([_safe(value) for value in values] if kind == "string" else values, field.type))
        yield arrow.Table.from_arrays(made, schema=kinds)


def groups(trace, table, **chosen):
    """Iterates over a table as pyarrow.Tables of a row group each."""
    if table not in TABLES:
        raise ValueError(f"there is no table {table!r} for Arrow; there are {', '.join(TABLES)}")
    arrow = _arrow()
    return _kernel_groups(arrow, trace, chosen) if table == "kernels" else _other_groups(arrow, trace, table, chosen)


def to_arrow(trace, table="kernels", **chosen):
    """A table as one pyarrow.Table."""
    made = list(groups(trace, table, **chosen))
    arrow = _arrow()
    return arrow.concat_tables(made).unify_dictionaries() if made else schema(table).empty_table()


def to_parquet(trace, folder, **chosen):
    """Writes TABLE.parquet into a folder, which is made; returns {table: rows}. A file appears whole or not at all, and one
    that is there is not replaced: FileExistsError."""
    arrow = _arrow()
    os.makedirs(folder, exist_ok=True)
    paths = {table: os.path.join(folder, table + ".parquet") for table in TABLES}
    for path in paths.values():
        if os.path.lexists(path):
            raise FileExistsError(f"{path} is there already")
    written = {}
    for table, path in paths.items():
        beside, rows = f"{path}.{os.getpid()}.part", 0
        try:
            with arrow.parquet.ParquetWriter(beside, schema(table), compression="zstd") as writer:
                for group in groups(trace, table, **chosen):
                    writer.write_table(group, row_group_size=GROUP)
                    rows += group.num_rows
            os.link(beside, path)  # unlike a renaming it does not replace what has come meanwhile
        finally:
            if os.path.exists(beside):
                os.unlink(beside)
        written[table] = rows
    return written
