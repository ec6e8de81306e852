"""The reader's C interface (rtl/rtl_trace.h): structures out of the records' annotations, and the functions."""

import ctypes
import functools
import os
from typing import Annotated, Optional, get_type_hints

OK, END = 0, 1
_NONE = 0xFFFFFFFF

# How a field lies in its structure, with what it is in Python.
U32 = Annotated[int, ctypes.c_uint32]
I32 = Annotated[int, ctypes.c_int]
U64 = Annotated[int, ctypes.c_uint64]
I64 = Annotated[int, ctypes.c_int64]
F64 = Annotated[float, ctypes.c_double]
Text = Annotated[str, ctypes.c_char_p]
Id = Annotated[Optional[int], ctypes.c_uint32]  #: None where C has RTL_TRACE_NONE
Yes = Annotated[bool, ctypes.c_int]
Pointer = Annotated[int, ctypes.c_void_p]
Three = Annotated[tuple, ctypes.c_uint32 * 3]


class Error(Exception):
    """A trace could not be read. The text is one sentence that names the file; `status` is rtl_status_t's number."""

    __module__ = "rtl"

    def __init__(self, status, text):
        super().__init__(text or f"the reader failed with status {status}")
        self.status = status


def text(value):
    """A C string as str: names are mostly UTF-8, and whatever else they hold comes back unchanged by os.fsencode."""
    return value.decode("utf-8", "surrogateescape") if value else ""


def _convert(hint):
    if hint == Text:
        return text
    if hint == Id:
        return lambda value: None if value == _NONE else value
    if hint == Yes:
        return bool
    if hint == Three:
        return tuple
    return lambda value: value


@functools.lru_cache(maxsize=None)
def structure(record):
    """The ctypes structure of a record (a NamedTuple class with the fields of C's struct, in order and by name), and what
    makes a record of it."""
    hints = get_type_hints(record, include_extras=True)
    fields = [(name, hints[name].__metadata__[0]) for name in record._fields]
    made = type(record.__name__, (ctypes.Structure,), {"_fields_": fields})
    converters = [(name, _convert(hints[name])) for name in record._fields]

    def convert(value):
        return record(*[converter(getattr(value, name)) for name, converter in converters])

    return made, convert


def _places():
    """Where the reader may be: named, beside this package (a wheel), in the prefix that this package was installed to, or
    where the linker looks."""
    name = "librtltrace.so.0"
    if os.environ.get("RTL_READER"):
        yield os.environ["RTL_READER"]
    here = os.path.dirname(os.path.abspath(__file__))
    yield os.path.join(here, "prefix", "lib", name)
    above = here
    while above != os.path.dirname(above):
        above = os.path.dirname(above)
        if os.path.basename(above) in ("lib", "lib64", "build"):
            folder = above if os.path.basename(above) != "build" else os.path.join(above, "lib")
            yield os.path.join(folder, name)
            for triplet in ("x86_64-linux-gnu", "aarch64-linux-gnu"):
                yield os.path.join(folder, triplet, name)
    yield name


@functools.lru_cache(maxsize=None)
def reader():
    """librtltrace.so. Raises OSError if it is not found; RTL_READER names another one."""
    failure = None
    for place in _places():
        if os.path.sep in place and not os.path.exists(place):
            continue
        try:
            return ctypes.CDLL(place)
        except OSError as error:
            failure = failure or error
    raise failure


def function(name, *arguments, result=ctypes.c_int):
    """A function of the reader with its types."""
    found = getattr(reader(), name)
    found.argtypes, found.restype = list(arguments), result
    return found
