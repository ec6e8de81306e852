"""What a program that is recorded may say: ranges, marks, start and stop. Without librtl.so these do nothing."""

import contextlib
import ctypes
import functools
import inspect

_FUNCTIONS = {"rtlVersion": (ctypes.c_char_p, []), "rtlRecording": (ctypes.c_int, []),
              "rtlStart": (ctypes.c_int, []), "rtlStop": (ctypes.c_int, []),
              "rtlRangePush": (ctypes.c_int, [ctypes.c_char_p]), "rtlRangePop": (ctypes.c_int, [ctypes.c_void_p]),
              "rtlMark": (None, [ctypes.c_char_p])}


def _loaded():
    """Path of the librtl.so that the GPU runtime has opened as its tool, or None: such a one is in no global scope."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            for line in maps:
                path = line.rstrip("\n").partition("/")[2]
                if path.rpartition("/")[2] == "librtl.so":
                    return "/" + path
    except OSError:
        pass
    return None


@functools.lru_cache(maxsize=None)
def _of(path):
    library = ctypes.CDLL(path)
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_found = None


def _library():
    """librtl.so if it is in this process, else None. Until it is there, each call looks for it where that is quick, in the
    global scope; start, stop and recording look through the process's libraries, too."""
    global _found
    if _found is None:
        try:
            _found = _of(None)
        except AttributeError:
            return None
    return _found


def _library_anywhere():
    global _found
    if _library() is None:
        path = _loaded()
        if path is not None:
            try:
                _found = _of(path)
            except (AttributeError, OSError):
                return None
    return _found


def version():
    """Version of the librtl.so in this process, None if there is none."""
    library = _library_anywhere()
    return library.rtlVersion().decode() if library else None


def recording():
    """Whether this process is being recorded."""
    library = _library_anywhere()
    return bool(library and library.rtlRecording())


def start():
    """Resumes recording (RTL_START=off, or after stop). Returns whether this process is recorded at all."""
    library = _library_anywhere()
    return bool(library and library.rtlStart() == 0)


def stop():
    """Stops recording until start; what is submitted meanwhile is counted as left out. Returns as start does."""
    library = _library_anywhere()
    return bool(library and library.rtlStop() == 0)


def _text(text):
    if isinstance(text, str):
        return text.encode("utf-8", "surrogateescape")
    if isinstance(text, bytes):
        return text
    raise TypeError(f"the text of a range or mark is a str, not {type(text).__name__}")


def _must_be_plain(function):
    """A call of a coroutine or a generator returns at once, and what it does may be done in any thread."""
    for kind in (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction):
        if kind(function):
            raise TypeError(f"{function.__qualname__} is a coroutine or generator: its calls cannot be ranges; use with inside of it")
    if isinstance(function, type):
        raise TypeError(f"{function.__qualname__} is a class: mark its methods")


class range(contextlib.ContextDecorator):
    """A range of the calling thread, as roctxRangePush and roctxRangePop set it: kernels that are launched in it belong to
    it. For ``with``, and as a decorator of a function, each call of which is a range then. It is no range of numbers: call
    it as ``rtl.range``."""

    def __init__(self, text):
        self._name = _text(text)
        self._entered = []

    def __call__(self, function):
        if isinstance(function, (staticmethod, classmethod)):
            return type(function)(self(function.__func__))
        _must_be_plain(function)
        return super().__call__(function)

    def _recreate_cm(self):
        return range(self._name)

    def __enter__(self):
        library = _library()
        self._entered.append(library)
        if library:
            library.rtlRangePush(self._name)
        return self

    def __exit__(self, *error):
        library = self._entered.pop()
        if library:
            library.rtlRangePop(None)
        return False


def mark(what):
    """Sets a mark with this text. As a decorator (``@rtl.mark``) it makes each call of a function a range that has the
    function's name."""
    function = what.__func__ if isinstance(what, (staticmethod, classmethod)) else what
    if callable(function):
        return range(getattr(function, "__qualname__", None) or repr(function))(what)
    text, library = _text(what), _library()
    if library:
        library.rtlMark(text)
    return None
