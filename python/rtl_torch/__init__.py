"""RTL's kernels in torch.profiler without a line of Python: PyTorch calls register() when it is imported (its entry points
"torch.backends"). Where KINETO_PLUGIN_PATH names vendors, the bridge for this PyTorch is taken from this package, or from the
user's cache, or built into that, which takes a compiler and some seconds; and registered. Otherwise nothing happens.

`python3 -m rtl_torch` builds it ahead and says where it is.
"""
import ctypes
import fcntl
import hashlib
import importlib.util
import os
import stat
import subprocess
import sys
import tempfile
import time

_HERE = os.path.dirname(os.path.abspath(__file__))
_SOURCE = os.path.join(_HERE, "source")
_KEPT = []  # the library, which stays
_PAUSE = 600  # s before a build that has failed is tried again


class Error(Exception):
    """Why there is no bridge, in one sentence."""


def _torch():
    """Folder and version of PyTorch, which need not have been imported."""
    module = sys.modules.get("torch")
    if module is not None:
        return os.path.dirname(os.path.abspath(module.__file__)), str(module.__version__)
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        raise Error(f"{sys.executable} has no PyTorch")
    folder = spec.submodule_search_locations[0]
    version = {}
    with open(os.path.join(folder, "version.py"), encoding="utf-8") as file:
        for line in file:
            if line.startswith("__version__"):
                version["is"] = line.split("=", 1)[1].strip().strip("'\"")
    return folder, version.get("is", "")


def _minor(version):
    return ".".join(version.split(".")[:2])


def _includes(folder):
    """Folders with the headers of Kineto: those of a wheel, or Debian's, beside which compilers look anyway."""
    for include, more in ((os.path.join(folder, "include"), [os.path.join(folder, "include")]), ("/usr/include", [])):
        if os.path.exists(os.path.join(include, "kineto", "libkineto.h")):
            return [os.path.join(include, "kineto"), *more]
    raise Error(f"{folder} has no headers of Kineto (in Debian they are in libtorch-dev)")


def _sources():
    found = []
    for place, _, names in os.walk(_SOURCE):
        found += [os.path.join(place, name) for name in names]
    return sorted(found)


def _cache(version):
    """The file in the user's cache, in a folder that is nobody else's, of these sources and this PyTorch."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = os.path.join(base, "rtl-torch")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise Error(f"{folder} is another user's, or others may write to it")
    digest = hashlib.sha256()
    for path in _sources():
        with open(path, "rb") as file:
            digest.update(file.read())
    name = "".join(c if c.isalnum() or c in "._" else "_" for c in version)
    return os.path.join(folder, f"{name}-{os.uname().machine}-{digest.hexdigest()[:16]}.so")


def _run(commands):
    """Runs them together. The first that fails is an Error."""
    running = []
    for command in commands:
        try:
            running.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
        except OSError as error:
            raise Error(f"the bridge cannot be built: {command[0]}: {error.strerror}") from error
    said = [(process.communicate()[1], process.returncode, command) for process, command in zip(running, commands)]
    for output, status, command in said:
        if status:
            line = next((line for line in output.splitlines() if "error" in line), output.strip())
            raise Error(f"the bridge cannot be built: {command[0]}: {line}")


def _build(folder, path):
    """Compiles and links the sources. Nobody sees half of it."""
    includes = [f"-isystem{include}" for include in _includes(folder)]
    common = ["-O2", "-fPIC", "-fvisibility=hidden", "-D_GNU_SOURCE", "-DFMT_HEADER_ONLY", f"-I{_SOURCE}/include", f"-I{_SOURCE}/src"]
    c, cpp = _compilers()
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as scratch:
        objects, commands = [], []
        for source in _sources():
            if source.endswith((".c", ".cpp")):
                objects.append(os.path.join(scratch, os.path.basename(source) + ".o"))
                compiler = [*c, "-std=c11"] if source.endswith(".c") else [*cpp, "-std=c++20", *includes]
                commands.append([*compiler, *common, "-c", source, "-o", objects[-1]])
        _run(commands)
        whole = os.path.join(scratch, "bridge.so")
        libraries = os.path.join(folder, "lib")
        _run([[*cpp, "-shared", "-pthread", "-o", whole, *objects, f"-L{libraries}", "-ltorch_cpu", "-ldl"]])
        os.replace(whole, path)


def _compilers():
    return os.environ.get("CC", "cc").split(), os.environ.get("CXX", "c++").split()


def _build_once(folder, version, path, again):
    """Builds it. What has failed a moment ago with the same compilers fails at once, of each process of a job."""
    failed, compilers = path + ".failed", repr(_compilers())
    if not again and os.path.exists(failed) and time.time() - os.stat(failed).st_mtime < _PAUSE:
        with open(failed, encoding="utf-8") as file:
            before, _, sentence = file.read().partition("\n")
        if before == compilers:
            raise Error(f"{sentence} (less than ten minutes ago; python3 -m rtl_torch tries again)")
    print(f"rtl-torch: building the bridge for PyTorch {version}, once: {path}", file=sys.stderr, flush=True)
    try:
        _build(folder, path)
    except Error as error:
        with open(failed, "w", encoding="utf-8") as file:
            file.write(f"{compilers}\n{error}")
        raise
    if os.path.exists(failed):
        os.unlink(failed)


def bridge(again=False):
    """The path of the bridge for the PyTorch that is there, built if need be; `again`: also where that has just failed. Raises Error."""
    folder, version = _torch()
    ready = os.path.join(_HERE, "bridges", f"{_minor(version)}-{os.uname().machine}.so")
    if os.path.exists(ready):
        return ready
    try:
        path = _cache(version)
        with open(os.path.join(os.path.dirname(path), "lock"), "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # of many processes that start together one builds
            if not os.path.exists(path):
                _build_once(folder, version, path, again)
    except OSError as error:
        raise Error(f"{error.filename}: {error.strerror}") from error
    return path


def register():
    """Registers the bridge if KINETO_PLUGIN_PATH is set. Returns how many vendors there are, 0 or less if there is none or something
    is wrong, which is said on stderr: importing PyTorch never fails for it."""
    if not os.environ.get("KINETO_PLUGIN_PATH"):
        return 0
    try:
        library = ctypes.CDLL(bridge())
        count = library.pu1KinetoRegister()
    except (Error, OSError, AttributeError) as error:
        print(f"rtl-torch: torch.profiler has no PrivateUse1 vendors: {error}", file=sys.stderr, flush=True)
        return -1
    _KEPT.append(library)
    return count
