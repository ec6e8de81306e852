"""python_module.py HOW-MANY: fills memory within ranges of the Python module, and while recording is stopped."""
import ctypes
import ctypes.util
import sys

import rtl

hip = ctypes.CDLL(ctypes.util.find_library("amdhip64"))
memory = ctypes.c_void_p()
hip.hipMalloc(ctypes.byref(memory), ctypes.c_size_t(4096))


def fill(value):
    hip.hipMemsetAsync(memory, value, ctypes.c_size_t(4096), None)


@rtl.range("step")
def step(fills):
    for value in range(fills):
        fill(value)


@rtl.mark
def last():
    fill(0)


with rtl.range("all of it"):
    for number in range(1, int(sys.argv[1]) + 1):
        rtl.mark(f"before {number}")
        step(number)
hip.hipDeviceSynchronize()
recorded = rtl.stop()
fill(0)
hip.hipDeviceSynchronize()
assert rtl.start() == recorded
last()
try:
    with rtl.range("fails"):
        raise KeyError
except KeyError:
    pass
hip.hipDeviceSynchronize()
print(rtl.recording(), recorded, rtl.version() is not None)
