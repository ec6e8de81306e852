#!/usr/bin/env python3
"""told_workers.py fork|forkserver|spawn|vfork: worker processes run kernels, wait for them, and end as multiprocessing ends them: by
os._exit, or, those that were spawned, as an interpreter ends.

vfork: they are forked, a child of theirs that shares their memory calls _exit, since it cannot execute a program, and they are killed.

The library that they load stands in TOLD_LIBRARY. Prints how many kernels they have waited for (told.sh).
"""
import ctypes
import multiprocessing
import os
import signal
import subprocess
import sys

WORKERS = 3
KERNELS = 500


def work(way):
    status = ctypes.CDLL(os.environ["TOLD_LIBRARY"]).run(KERNELS)
    if way == "vfork" and status == 0:
        try:
            subprocess.run(["/nowhere"], check=False)
        except FileNotFoundError:
            os.kill(os.getpid(), signal.SIGKILL)
    sys.exit(status)


if __name__ == "__main__":
    way = sys.argv[1]
    multiprocessing.set_start_method("fork" if way == "vfork" else way)
    workers = [multiprocessing.Process(target=work, args=(way,)) for _ in range(WORKERS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(KERNELS * sum(worker.exitcode == (-signal.SIGKILL if way == "vfork" else 0) for worker in workers), "-")
