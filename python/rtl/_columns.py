"""Kernels as columns."""

import array
import ctypes

from ._abi import Error, END, OK, text

try:
    import numpy
except ImportError:
    numpy = None

PIECE = 1 << 16  #: kernels that are read at a time

WIDE = ("id", "packet", "start", "end", "start_ticks", "end_ticks", "correlation", "node_range")
NARROW = ("process", "gpu", "queue", "symbol", "graph", "generation", "node", "launch")
SIZES = ("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "group_size", "private_size")
NONE = 0xFFFFFFFF  #: in gpu, symbol, graph, node and launch, where SQL has NULL

TYPES = {**{name: "Q" for name in WIDE}, **{name: "I" for name in NARROW + SIZES}, "certain": "B", "name": "Q",
          "duration": "Q"}
_NUMPY = {"Q": "uint64", "I": "uint32", "B": "uint8"}
ALL = tuple(TYPES)


class Structure(ctypes.Structure):
    """rtl_kernel_columns_t."""

    _fields_ = ([("size", ctypes.c_size_t)] + [(name, ctypes.c_void_p) for name in WIDE + NARROW + SIZES] +
                [("certain", ctypes.c_void_p), ("name", ctypes.c_void_p)])


class Columns:
    """Kernels as columns of equal length: ``columns["start"]`` or ``columns.start``, ``len(columns)``,
    ``columns.keys()``.

    Times and durations are ns, grids work-items, sizes bytes. `name` is a column of places in `names`, a list of the
    demangled names; `columns.name_of(i)` is the name of row i. 4294967295 stands for "none" (`rtl.NONE`)."""

    def __init__(self, columns, names):
        self._columns = columns
        self.names = names

    def keys(self):
        """Names of the columns."""
        return list(self._columns)

    def __getitem__(self, key):
        return self._columns[key]

    def __getattr__(self, key):
        if key.startswith("_"):  # copy and pickle ask before there are any columns
            raise AttributeError(key)
        try:
            return self._columns[key]
        except KeyError:
            raise AttributeError(f"there is no column {key!r}; there are {', '.join(self._columns)}") from None

    def __len__(self):
        return len(next(iter(self._columns.values()))) if self._columns else 0

    def __repr__(self):
        return f"<{len(self)} kernels: {', '.join(self._columns)}>"

    def name_of(self, row):
        """The demangled name of a row."""
        return self.names[self._columns["name"][row]]

    def to_pandas(self):
        """A pandas.DataFrame; names are categories."""
        import pandas
        columns = dict(self._columns)
        if "name" in columns:
            columns["name"] = pandas.Categorical.from_codes(columns["name"], self.names)
        return pandas.DataFrame(columns)

    def chosen(self, mask):
        """The rows where `mask`, of as many booleans, is true."""
        if not hasattr(mask, "__iter__"):
            raise ValueError(f"a condition has a boolean for each row: this one is {mask!r:.60}")
        mask = list(mask) if numpy is None else numpy.asarray(mask)
        if (len(mask) if numpy is None else mask.shape) != (len(self) if numpy is None else (len(self),)):
            raise ValueError(f"a condition has a boolean for each of {len(self)} rows: this one is {mask!r:.60}")
        if numpy is not None:
            mask = mask.astype(bool)
            return Columns({key: column[mask] for key, column in self._columns.items()}, self.names)
        rows = [row for row, wanted in enumerate(mask) if wanted]
        return Columns({key: array.array(column.typecode, [column[row] for row in rows])
                        for key, column in self._columns.items()}, self.names)


def chosen_names(columns):
    """The names of columns, each once, in order."""
    return list(dict.fromkeys([columns] if isinstance(columns, str) else columns))


class Names:
    """Numbers for the names that columns point to. Equal names have one number, whatever symbol they are of."""

    def __init__(self):
        self.names = []
        self._of_pointer = {}
        self._of_name = {}

    def _number(self, pointer):
        number = self._of_pointer.get(pointer)
        if number is None:
            name = text(ctypes.c_char_p(pointer).value)
            number = self._of_name.setdefault(name, len(self.names))
            if number == len(self.names):
                self.names.append(name)
            self._of_pointer[pointer] = number
        return number

    def numbers(self, pointers):
        """A column of numbers for one of pointers."""
        if numpy is None:
            return array.array("I", map(self._number, pointers))
        different, places = numpy.unique(pointers, return_inverse=True)
        return numpy.array([self._number(int(pointer)) for pointer in different], dtype="uint32")[places]


def _empty(kind, count):
    return numpy.empty(count, _NUMPY[kind]) if numpy is not None else array.array(kind, bytes(array.array(kind).itemsize * count))


def _address(column):
    return column.ctypes.data if numpy is not None else column.buffer_info()[0]


class Pieces:
    """Iterates over the kernels of a reader's iteration as Columns of at most PIECE rows."""

    def __init__(self, advance, fail, wanted):
        unknown = [name for name in wanted if name not in TYPES]
        if unknown:
            raise ValueError(f"kernels have no column {unknown[0]!r}; there are {', '.join(ALL)}")
        self._advance, self._fail, self._wanted = advance, fail, list(wanted)
        needed = set(wanted) | ({"start", "end"} if "duration" in wanted else set())
        self._room = {name: _empty(TYPES[name], PIECE) for name in needed - {"duration"}}
        self._structure = Structure(size=ctypes.sizeof(Structure),
                                    **{name: _address(column) for name, column in self._room.items()})
        self.names = Names()

    def __iter__(self):
        count = ctypes.c_size_t()
        while True:
            status = self._advance(ctypes.byref(self._structure), PIECE, ctypes.byref(count))
            if status == END:
                return
            if status != OK:
                raise self._fail(status)
            yield Columns({name: self._column(name, count.value) for name in self._wanted}, self.names.names)

    def _column(self, name, count):
        if name == "duration":
            start, end = self._room["start"][:count], self._room["end"][:count]
            if numpy is not None:
                return numpy.where(end > start, end - start, 0).astype("uint64")
            return array.array("Q", [max(0, b - a) for a, b in zip(start, end)])
        column = self._room[name][:count]
        if name == "name":
            return self.names.numbers(column)
        return column.copy() if numpy is not None else column


def joined(pieces, wanted):
    """One Columns of many."""
    wanted = list(wanted)
    parts, names = {name: [] for name in wanted}, []
    for piece in pieces:
        names = piece.names
        for name in wanted:
            parts[name].append(piece[name])
    return Columns({name: _joined(parts.pop(name), "I" if name == "name" else TYPES[name]) for name in wanted}, names)


def _joined(parts, kind):
    if numpy is not None:
        return numpy.concatenate(parts) if parts else numpy.empty(0, _NUMPY[kind])
    whole = array.array(kind)
    for part in parts:
        whole.extend(part)
    return whole
