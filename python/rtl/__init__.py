"""RTL from Python: what a program records of itself, and what is in a trace.

In a program that ``rtl trace`` records (in any other these do nothing):

>>> import rtl
>>> with rtl.range("prefill"):
...     pass
>>> @rtl.range("step")
... def step():
...     rtl.mark("half way")
>>> step()
>>> rtl.start()  # with RTL_START=off, or after rtl.stop()
False

``rtl.start()`` and ``rtl.stop()`` return whether this process is recorded.

A trace:

    with rtl.open("x.db") as trace:
        kernels = trace.kernels(columns=["name", "duration"])
        for group in trace.summary()[:10]:
            print(group.name, group.count, group.total / 1e6, "ms")

Columns are numpy arrays where numpy is installed, and ``array.array`` where it is not. Times are nanoseconds.
"""

from ._abi import Error
from ._columns import NONE, Columns
from ._program import mark, range, recording, start, stop, version
from ._trace import (Agent, Call, Copy, Graph, Group, Info, Launch, Ledger, Note, Process, Queue, Range, Stream, Thread,
                     Trace, open)

__all__ = ["Agent", "Call", "Columns", "Copy", "Error", "Graph", "Group", "Info", "Launch", "Ledger", "NONE", "Note", "Process",
           "Queue", "Range", "Stream", "Thread", "Trace", "mark", "open", "range", "recording", "start", "stop",
           "version"]
