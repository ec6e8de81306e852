#!/usr/bin/env python3
"""told_workers.py fork|forkserver|spawn: worker processes run kernels, wait for them, and end as multiprocessing ends them, by os._exit.

The library that they load stands in TOLD_LIBRARY. Prints how many kernels they have waited for (told.sh).
"""
import ctypes
import multiprocessing
import os
import sys

WORKERS = 3
KERNELS = 500


def work():
    sys.exit(ctypes.CDLL(os.environ["TOLD_LIBRARY"]).run(KERNELS))


if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    workers = [multiprocessing.Process(target=work) for _ in range(WORKERS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(KERNELS * sum(worker.exitcode == 0 for worker in workers), "-")
