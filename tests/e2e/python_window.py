"""python_window.py: workers of examples/window.py, each with forty steps of one fill more than the last."""
import ctypes
import ctypes.util
import multiprocessing
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples"))
import window


class Worker:
    def __init__(self):
        self.hip = ctypes.CDLL(ctypes.util.find_library("amdhip64"))
        self.memory = ctypes.c_void_p()
        self.hip.hipMalloc(ctypes.byref(self.memory), ctypes.c_size_t(4096))

    def execute_model(self, fills):
        for value in range(fills):
            self.hip.hipMemsetAsync(self.memory, value, ctypes.c_size_t(4096), None)
        self.hip.hipDeviceSynchronize()
        return fills


def work():
    window.record(Worker, "execute_model", first=20, steps=10)
    worker = Worker()
    assert sum(worker.execute_model(step + 1) for step in range(40)) == 820


if __name__ == "__main__":
    workers = [multiprocessing.get_context("spawn").Process(target=work) for _ in range(2)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    sys.exit(any(one.exitcode for one in workers))
