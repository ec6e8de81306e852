#!/usr/bin/env python3
"""hip_calls.py CODE_OBJECT LIBRARY [WORKERS]: loads HIP late and for itself alone (dlopen with RTLD_LOCAL), as
PyTorch's modules are loaded, and asks for its functions by handle; has a library that is linked with HIP
call them; then so do the worker processes that multiprocessing spawns. Each launches 40 kernels, checks
the data, and prints how often which call was made."""

import collections
import ctypes
import multiprocessing
import os
import sys

COUNT = 256
LAUNCHES = 20

made = collections.Counter()


class Hip:
    """Functions of libamdhip64, whose calls are counted and must succeed."""

    def __init__(self):
        self.library = ctypes.CDLL(os.environ["HIP_LIBRARY"], mode=os.RTLD_LOCAL | os.RTLD_NOW)

    def __getattr__(self, name):
        function = getattr(self.library, name)

        def call(*arguments):
            made[name] += 1
            result = function(*arguments)
            if result != 0:
                sys.exit(f"{name} gave {result}")

        return call


def launch(hip, function, stream, data):
    """data[i] += 3 for each i."""
    arguments = [ctypes.c_void_p(data.value), ctypes.c_int(COUNT), ctypes.c_int(3)]
    addresses = (ctypes.c_void_p * len(arguments))(
        *[ctypes.cast(ctypes.pointer(argument), ctypes.c_void_p) for argument in arguments]
    )
    hip.hipModuleLaunchKernel(
        function, COUNT // 64, 1, 1, 64, 1, 1, 0, stream, addresses, None
    )


def work(code_object, library):
    work_by_library(library)
    hip = Hip()
    module, function, stream = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    data = ctypes.c_void_p()
    size = COUNT * 4
    values = (ctypes.c_int * COUNT)(*range(COUNT))
    hip.hipModuleLoad(ctypes.byref(module), code_object.encode())
    hip.hipModuleGetFunction(ctypes.byref(function), module, b"module_add")
    hip.hipStreamCreate(ctypes.byref(stream))
    hip.hipMalloc(ctypes.byref(data), ctypes.c_size_t(size))
    hip.hipMemcpy(data, values, ctypes.c_size_t(size), 1)
    for _ in range(LAUNCHES):
        launch(hip, function, stream, data)
        hip.hipMemcpyAsync(values, data, ctypes.c_size_t(size), 2, stream)
    hip.hipStreamSynchronize(stream)
    hip.hipFree(data)
    hip.hipStreamDestroy(stream)
    hip.hipModuleUnload(module)
    if list(values) != [i + 3 * LAUNCHES for i in range(COUNT)]:
        sys.exit("the data is wrong")
    return dict(made)


def work_by_library(path):
    if ctypes.CDLL(path, mode=os.RTLD_LOCAL | os.RTLD_NOW).add_on_gpu(LAUNCHES) != LAUNCHES:
        sys.exit("the library's data is wrong")
    made.update(["hipMalloc", "hipMemset", "hipMemcpy", "hipFree"], hipLaunchKernel=LAUNCHES)


def look_around():
    """What a process sees of HIP that it has not loaded into its global scope, or not at all."""
    for library in (None, os.environ["HIP_LIBRARY"]):
        handle = ctypes.CDLL(library)
        for name in ("hipMalloc", "hipGraphAddNode", "hipNoSuchCall"):
            print(library, name, hasattr(handle, name))


def main():
    look_around()
    counts = [work(*sys.argv[1:3])]
    workers = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    if workers:
        with multiprocessing.get_context("spawn").Pool(workers, maxtasksperchild=1) as pool:
            counts += pool.starmap(work, [sys.argv[1:3]] * workers, chunksize=1)
            pool.close()
            pool.join()
    total = collections.Counter()
    for count in counts:
        total.update(count)
    for name, times in sorted(total.items()):
        print("made", name, times)


if __name__ == "__main__":
    main()
