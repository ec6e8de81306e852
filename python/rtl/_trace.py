"""A trace: its lists, its kernels as columns, its calls, ranges and copies one by one, and sums over all kernels."""

import ctypes
import operator
import os
from typing import NamedTuple

from . import _arrow, _columns
from ._abi import END, OK, Error, F64, I32, I64, Id, Pointer, Text, Three, U32, U64, Yes, function, structure, text

_HANDLE = ctypes.c_void_p


class Info(NamedTuple):
    """Facts about the whole trace. Times are ns on CLOCK_BOOTTIME of the host that recorded."""

    format_major: U32
    format_minor: U32
    creator: Text  #: program and version that wrote it
    command: Text
    host: Text
    mode: Text  #: of the first process: full, standard or lite
    start: U64
    end: U64
    realtime_offset: I64  #: CLOCK_REALTIME less CLOCK_BOOTTIME at the start, ns
    finished: Yes  #: False: it is still being recorded, or the recorder was killed
    exit_status: I32  #: of the program: 0 to 255, 256 and the signal, or -1
    kernels: U64
    bytes: U64  #: size of the file
    copies: U64
    calls: U64
    ranges: U64
    writer_pid: U32
    writer_start: U64
    kernel_samples: U64
    range_samples: U64
    failure: Text  #: why the recorder could not write more, "" if it could
    accounted: Yes
    bytes_behind: U64


class Process(NamedTuple):
    """A process; `process` counts from 1, times are ns, `end` 0: not known."""

    process: U32
    pid: U32
    ppid: U32
    command: Text
    host: Text
    rank: Text
    mode: Text
    way: Text  #: how packets are seen: interpose or intercept
    library: Text
    start: U64
    end: U64
    state: Text  #: closed, exited, died, replaced, running, refused, unrecorded, not_started, imported
    torn: U64
    title: Text
    comm: Text


class Agent(NamedTuple):
    """A CPU (`gpu` is None) or GPU as a process sees it."""

    process: U32
    agent: U32
    gpu: Id
    type: Text
    name: Text
    product: Text
    uuid: Text
    node: U32
    bdf: U32
    compute_units: U32
    clock_hz: U64


class Queue(NamedTuple):
    """A queue; `kernels` and `copies` are those in the trace."""

    process: U32
    queue: U32
    agent: U32
    gpu: Id
    address: U64
    hsa_id: U64
    size: U32
    way: Text
    start: U64
    end: U64
    kernels: U64
    copies: U64


_REASONS = ("pool", "pending", "ring", "shutdown", "rearmed", "killed", "no_time", "not_followed", "space", "memory", "malformed")
_OPAQUES = ("pm4", "indirect", "vendor", "direct")


class _Ledger(ctypes.Structure):
    _fields_ = [("process", ctypes.c_uint32), ("queue", ctypes.c_uint32),
                *[(name, ctypes.c_uint64) for name in ("packets", "seen", "recorded", "stored", "skipped")],
                ("lost", ctypes.c_uint64 * len(_REASONS)),
                *[(name, ctypes.c_uint64) for name in ("forwarded", "borrowed", "helped", "stopped", "withheld")],
                ("opaque", ctypes.c_uint64 * len(_OPAQUES)), ("opaque_of_graphs", ctypes.c_uint64 * len(_OPAQUES))]


class Ledger(NamedTuple):
    """A queue's account: seen = recorded + skipped + the sum of `lost` once the process has ended. `lost` and `opaque` are
    dicts by reason and by what the packets are."""

    process: int
    queue: int
    packets: int
    seen: int
    recorded: int
    stored: int
    skipped: int
    lost: dict
    stopped: int
    withheld: int
    opaque: dict


class Note(NamedTuple):
    """What RTL noted about a process, or one of its queues."""

    process: U32
    queue: Id
    time: U64
    text: Text


class Stream(NamedTuple):
    """A HIP stream; 0 is the NULL stream. Times are ns, 0: not known, not destroyed."""

    process: U32
    stream: U32
    handle: U64
    name: Text
    generation: U32
    created: U64
    destroyed: U64


class Thread(NamedTuple):
    """A thread of the program."""

    process: U32
    thread: U32
    name: Text
    tid: U32
    generation: U32
    comm: Text


class Graph(NamedTuple):
    """A generation of a graph. `expected` are the kernels that were submitted, `kernels` those of them in the trace."""

    process: U32
    graph: U32
    generation: U32
    source: Text  #: hip (HIP named it) or packets (inferred)
    nodes: Id
    exec: U64
    hip_graph: U64
    correlation: U64
    time: U64
    launches: U64
    kernels: U64
    expected: U64


class Launch(NamedTuple):
    """A launch of a graph: `launch` counts from 1; start and end of its kernels in ns, both 0 if none is in the trace."""

    process: U32
    graph: U32
    generation: U32
    launch: U32
    thread: U32
    time: U64
    start: U64
    end: U64
    kernels: U64
    expected: U64
    unseen: U64
    correlation: U64
    range: U64
    certain: Yes


class Group(NamedTuple):
    """Kernels that are alike, added up. Durations are ns; `deviation` is the standard deviation of all. What they are not told
    apart by is None, 0 or ""."""

    name: Text
    mangled: Text
    process: U32
    symbol: Id
    grid: Three
    block: Three
    group_size: U32
    private_size: U32
    device: Id
    queue: Id
    graph: Id
    generation: U32
    node: Id
    count: U64
    total: U64
    min: U64
    max: U64
    mean: F64
    deviation: F64
    p50: U64
    p90: U64
    p99: U64


class Range(NamedTuple):
    """A range or mark: `kind` is push, start or mark; `end` 0: still open when the process ended; `parent` is the id of the
    range around it in its thread, 0 if none. Times are ns."""

    id: U64
    process: U32
    thread: U32
    name: Text
    kind: Text
    start: U64
    end: U64
    parent: U64


class Copy(NamedTuple):
    """An asynchronous copy. Times are ns, both 0: nobody took the time."""

    id: U64
    process: U32
    gpu: Id
    queue: U32
    ordinal: U64
    kind: Text
    engine: Text
    src: Id
    dst: Id
    start: U64
    end: U64
    start_ticks: U64
    end_ticks: U64
    bytes: U64
    correlation: U64


class _Api(NamedTuple):
    id: U64
    process: U32
    thread: U32
    name: Text
    start: U64
    end: U64
    correlation: U64
    range: U64
    stream: Id
    result: I32
    definition: Pointer
    words: Pointer
    word_count: U32


class Call(NamedTuple):
    """A host call; times are ns, `arguments` its arguments as text, `range` the innermost range around it, 0 if none."""

    id: int
    process: int
    thread: int
    name: str
    start: int
    end: int
    correlation: int
    range: int
    stream: object
    result: int
    arguments: str


class _KernelFilter(ctypes.Structure):
    _fields_ = [("start", ctypes.c_uint64), ("end", ctypes.c_uint64), ("process", ctypes.c_uint32),
                ("queue", ctypes.c_uint32), ("by_queue", ctypes.c_int)]


class _WindowFilter(ctypes.Structure):
    """The begin of the filters of calls, ranges and copies; what else they have is 0: no restriction."""

    _fields_ = [("start", ctypes.c_uint64), ("end", ctypes.c_uint64), ("process", ctypes.c_uint32), ("rest", ctypes.c_uint64 * 4)]


class _LaunchFilter(ctypes.Structure):
    _fields_ = [("start", ctypes.c_uint64), ("end", ctypes.c_uint64), ("correlation", ctypes.c_uint64),
                ("process", ctypes.c_uint32), ("graph", ctypes.c_uint32), ("generation", ctypes.c_uint32),
                ("first", ctypes.c_uint32), ("last", ctypes.c_uint32)]


class _AggregateRequest(ctypes.Structure):
    _fields_ = [("start", ctypes.c_uint64), ("end", ctypes.c_uint64), ("process", ctypes.c_uint32),
                ("queue", ctypes.c_uint32), ("by", ctypes.c_uint), ("threads", ctypes.c_uint)]


_BY = {"name": 1, "symbol": 2, "shape": 4, "process": 8, "device": 16, "queue": 32, "graph": 64, "generation": 128, "node": 256}


def _number(what, value, most):
    """A number that fits where C has it: ctypes would cut it off."""
    if not 0 <= operator.index(value) <= most:
        raise ValueError(f"{what} is {value}: it is a number from 0 to {most}")
    return operator.index(value)


def _window(start, end, process):
    return _number("start", start, 2**64 - 1), _number("end", end, 2**64 - 1), _number("process", process, 2**32 - 1)


def _id(what, value):
    return _columns.NONE if value is None else _number(what, value, 2**32 - 1)


def open(path):  # as the module's name for it
    """Opens a trace for reading. Raises rtl.Error with one sentence that names the file."""
    return Trace(path)


class Trace:
    """A trace that is open; for ``with``, or close() it. One thread at a time may use it."""

    _handle = None

    def __init__(self, path):
        self.path = os.fspath(path)
        if b"\0" in os.fsencode(self.path):
            raise ValueError(f"the path {self.path!r} has a null byte in it")
        self._handle = _HANDLE()
        error = ctypes.create_string_buffer(512)
        opened = function("rtlTraceOpen", ctypes.c_char_p, ctypes.POINTER(_HANDLE), ctypes.c_char_p, ctypes.c_size_t)
        status = opened(os.fsencode(self.path), ctypes.byref(self._handle), error, len(error))
        if status != OK:
            raise Error(status, text(error.value))

    def close(self):
        """Closes it; columns that were read stay."""
        if self._handle:
            function("rtlTraceClose", _HANDLE, result=None)(self._handle)
            self._handle = _HANDLE()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()
        return False

    def __del__(self):
        self.close()

    def __reduce__(self):
        raise TypeError("a Trace cannot be copied: open its path again")

    def __copy__(self):
        return self.__reduce__()

    def __deepcopy__(self, memo):
        return self.__reduce__()

    def __repr__(self):
        return f"<rtl.Trace {self.path}{'' if self._handle else ', closed'}>"

    def _open_handle(self):
        if not self._handle:
            raise ValueError(f"{self.path} is closed")
        return self._handle

    def _error(self, status):
        sentence = function("rtlTraceError", _HANDLE, result=ctypes.c_char_p)(self._handle)
        return Error(status, text(sentence) or f"{self.path} could not be read (status {status})")

    def _must(self, status):
        if status != OK:
            raise self._error(status)

    def _list(self, name, made):
        items, count = ctypes.POINTER(made)(), ctypes.c_size_t()
        call = function(name, _HANDLE, ctypes.POINTER(ctypes.POINTER(made)), ctypes.POINTER(ctypes.c_size_t))
        self._must(call(self._open_handle(), ctypes.byref(items), ctypes.byref(count)))
        return items[:count.value]

    def _records(self, name, record):
        made, convert = structure(record)
        return [convert(item) for item in self._list(name, made)]

    @property
    def info(self):
        """Facts about the whole trace, an Info."""
        made, convert = structure(Info)
        value = made()
        self._must(function("rtlTraceInfo", _HANDLE, ctypes.POINTER(made))(self._open_handle(), ctypes.byref(value)))
        return convert(value)

    @property
    def processes(self):
        """A list of Process."""
        return self._records("rtlTraceProcesses", Process)

    @property
    def agents(self):
        """A list of Agent, GPUs and CPUs."""
        return self._records("rtlTraceAgents", Agent)

    @property
    def queues(self):
        """A list of Queue."""
        return self._records("rtlTraceQueues", Queue)

    @property
    def streams(self):
        """A list of Stream."""
        return self._records("rtlTraceStreams", Stream)

    @property
    def threads(self):
        """A list of Thread."""
        return self._records("rtlTraceThreads", Thread)

    @property
    def notes(self):
        """A list of Note: what RTL had to say while it recorded."""
        return self._records("rtlTraceNotes", Note)

    @property
    def graphs(self):
        """A list of Graph, one for each generation."""
        return self._records("rtlTraceGraphs", Graph)

    @property
    def ledger(self):
        """A list of Ledger, one for each queue: what was seen, and what of it is in the trace. ``rtl check`` judges it."""
        return [Ledger(row.process, row.queue, row.packets, row.seen, row.recorded, row.stored, row.skipped,
                       dict(zip(_REASONS, row.lost)), row.stopped, row.withheld, dict(zip(_OPAQUES, row.opaque)))
                for row in self._list("rtlTraceLedger", _Ledger)]

    # ---- kernels ----

    def _pieces(self, begin, columns, where):
        """Columns of an iteration that begin(reference to its handle) starts."""
        columns, iterator = _columns.chosen_names(columns), _HANDLE()
        advance = function("rtlKernelColumns", _HANDLE, ctypes.POINTER(_columns.Structure), ctypes.c_size_t,
                           ctypes.POINTER(ctypes.c_size_t))

        def more(*rest):
            self._open_handle()
            return advance(iterator, *rest)

        pieces = _columns.Pieces(more, self._error, columns)
        self._must(begin(ctypes.byref(iterator)))
        try:
            for piece in pieces:
                yield piece if where is None else piece.chosen(where(piece))
        finally:
            if self._handle:  # a trace that is closed has taken its iterations with it
                function("rtlKernelIterFree", _HANDLE, result=None)(iterator)

    def pieces(self, columns=_columns.ALL, *, start=0, end=0, process=0, queue=None, where=None, by_queue=False):
        """Iterates over kernels as Columns of at most 65 536 rows each, so that memory does not grow with the trace.

        start, end: kernels that overlap [start, end), ns; end 0: no end. process 0, queue None: all. where: a function that
        gets Columns and returns a boolean for each row. by_queue: in the order of process, queue and packet, which is the
        quickest, instead of by start. `columns` are those that `where` sees and that come out."""
        chosen = _KernelFilter(*_window(start, end, process), _id("queue", queue), bool(by_queue))
        begin = function("rtlTraceKernels", _HANDLE, ctypes.POINTER(_KernelFilter), ctypes.POINTER(_HANDLE))
        return self._pieces(lambda iterator: begin(self._open_handle(), ctypes.byref(chosen), iterator), columns, where)

    def kernels(self, columns=_columns.ALL, **chosen):
        """Kernels as one Columns; the options are those of pieces(). A column takes 8 or 4 bytes a kernel: name those that
        you need."""
        columns = _columns.chosen_names(columns)
        return _columns.joined(self.pieces(columns, **chosen), columns)

    def launch(self, graph, number, process=1):
        """One launch of a graph by its number, a Launch; of process 1 where no other is named. Raises KeyError if there is none."""
        graph, number, process = (_number(what, value, 2**32 - 1) for what, value in
                                  (("graph", graph), ("number", number), ("process", process)))
        made, convert = structure(Launch)
        value = made()
        find = function("rtlTraceLaunch", _HANDLE, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint32, ctypes.POINTER(made))
        status = find(self._open_handle(), process, graph, number, ctypes.byref(value))
        if status == END:
            raise KeyError(f"graph {graph} of process {process} has no launch {number} in {self.path}")
        self._must(status)
        return convert(value)

    def launch_kernels(self, graph, number, process=1, columns=_columns.ALL):
        """The kernels of one launch of a graph as Columns, by start. Only what may hold such kernels is read. Raises KeyError if
        there is no such launch."""
        self.launch(graph, number, process)
        graph, number, process = (_number(what, value, 2**32 - 1) for what, value in
                                  (("graph", graph), ("number", number), ("process", process)))
        columns = _columns.chosen_names(columns)
        begin = function("rtlTraceLaunchKernels", _HANDLE, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint32,
                         ctypes.POINTER(_HANDLE))
        pieces = self._pieces(lambda iterator: begin(self._open_handle(), process, graph, number, iterator), columns, None)
        return _columns.joined(pieces, columns)

    def summary(self, by="name", *, start=0, end=0, process=0, queue=None):
        """Kernels added up, a list of Group, the largest total first. by: "name", "symbol", "shape", "process", "device",
        "queue", "graph", "generation", "node", several with commas between them or in a list, "" for all in one. Many at once: tens of millions of kernels
        a second, or from the trace's own statistics. All but percentiles is exact."""
        words = [word.strip() for word in (by.split(",") if isinstance(by, str) else by) if word.strip()]
        unknown = [word for word in words if word not in _BY]
        if unknown:
            raise ValueError(f"kernels are not added up by {unknown[0]!r}; there are {', '.join(_BY)}")
        request = _AggregateRequest(*_window(start, end, process), _id("queue", queue), sum({_BY[word] for word in words}), 0)
        aggregate, (made, convert) = _HANDLE(), structure(Group)
        add = function("rtlTraceAggregate", _HANDLE, ctypes.POINTER(_AggregateRequest), ctypes.POINTER(_HANDLE))
        self._must(add(self._open_handle(), ctypes.byref(request), ctypes.byref(aggregate)))
        try:
            items, count = ctypes.POINTER(made)(), ctypes.c_size_t()
            groups = function("rtlAggregateGroups", _HANDLE, ctypes.POINTER(ctypes.POINTER(made)), ctypes.POINTER(ctypes.c_size_t))
            self._must(groups(aggregate, ctypes.byref(items), ctypes.byref(count)))
            return [convert(item) for item in items[:count.value]]
        finally:
            function("rtlAggregateFree", _HANDLE, result=None)(aggregate)

    # ---- for other libraries ----

    def to_arrow(self, table="kernels", **chosen):
        """A table ("kernels", "calls", "ranges", "copies", "graph_launches") as a pyarrow.Table; the options are those of
        pieces(), calls() and so on. Ids that are None in Python are null."""
        return _arrow.to_arrow(self, table, **chosen)

    def to_parquet(self, folder, **chosen):
        """Writes the tables of to_arrow() as Parquet files into a folder: zstd, names as dictionaries, row groups of a
        million kernels, one after the other, so that memory does not grow with the trace. Returns how many rows each has.
        FileExistsError if one is there already."""
        return _arrow.to_parquet(self, folder, **chosen)

    # ---- one by one ----

    def _iterate(self, begin, advance, free, record, chosen):
        made, convert = structure(record)
        iterator, value = _HANDLE(), made()
        start = function(begin, _HANDLE, ctypes.c_void_p, ctypes.POINTER(_HANDLE))
        self._must(start(self._open_handle(), ctypes.addressof(chosen), ctypes.byref(iterator)))
        step = function(advance, _HANDLE, ctypes.POINTER(made))
        try:
            while True:
                self._open_handle()
                status = step(iterator, ctypes.byref(value))
                if status == END:
                    return
                self._must(status)
                yield value, convert(value)
        finally:
            if self._handle:
                function(free, _HANDLE, result=None)(iterator)

    def launches(self, graph=None, *, start=0, end=0, process=0):
        """Iterates over Launches, by process and in the order in which they were begun; start, end as in pieces()."""
        start, end, process = _window(start, end, process)
        chosen = _LaunchFilter(start, end, 0, process, _id("graph", graph), 0, 0, 0)
        for _, launch in self._iterate("rtlTraceLaunches", "rtlLaunchNext", "rtlLaunchIterFree", Launch, chosen):
            yield launch

    def ranges(self, *, start=0, end=0, process=0):
        """Iterates over Ranges (and marks) by start, an outer one before its inner ones."""
        chosen = _WindowFilter(*_window(start, end, process))
        for _, item in self._iterate("rtlTraceRanges", "rtlRangeNext", "rtlRangeIterFree", Range, chosen):
            yield item

    def copies(self, *, start=0, end=0, process=0):
        """Iterates over Copies by start, those without times first."""
        chosen = _WindowFilter(*_window(start, end, process))
        for _, item in self._iterate("rtlTraceCopies", "rtlCopyNext", "rtlCopyIterFree", Copy, chosen):
            yield item

    def calls(self, *, start=0, end=0, process=0):
        """Iterates over host Calls by start."""
        chosen = _WindowFilter(*_window(start, end, process))
        room = ctypes.create_string_buffer(4096)
        arguments = function("rtlApiArguments", ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, result=ctypes.c_size_t)
        for value, item in self._iterate("rtlTraceApi", "rtlApiNext", "rtlApiIterFree", _Api, chosen):
            length = arguments(ctypes.addressof(value), room, len(room))
            if length >= len(room):
                room = ctypes.create_string_buffer(length + 1)
                arguments(ctypes.addressof(value), room, len(room))
            yield Call(item.id, item.process, item.thread, item.name, item.start, item.end, item.correlation, item.range,
                       item.stream, item.result, text(room.value))
