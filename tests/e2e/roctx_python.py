"""roctx_python.py LIBRARY HOW-MANY: fills memory in ranges, by roctx as a Python program finds it by its name alone."""
import ctypes
import ctypes.util
import sys

roctx = ctypes.CDLL(sys.argv[1])
hip = ctypes.CDLL(ctypes.util.find_library("amdhip64"))
memory = ctypes.c_void_p()
hip.hipMalloc(ctypes.byref(memory), ctypes.c_size_t(4096))
for step in range(int(sys.argv[2])):
    assert roctx.roctxRangePushA(b"python step") == 0
    for _ in range(step + 1):
        hip.hipMemsetAsync(memory, step, ctypes.c_size_t(4096), None)
    assert roctx.roctxRangePop() == 0
hip.hipDeviceSynchronize()
