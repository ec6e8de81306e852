"""torchrun_ranks.py LIBRARY STEPS: a worker of torchrun with torch_work.hip. In each step it launches a graph, and one kernel
more for each rank before it; then all add up a number by gloo.
Prints its pid, its rank, and the kernels of either kind that it has run by the end."""
import ctypes
import os
import sys

import torch
import torch.distributed as dist

import no_libuv

NODES = 8
work = ctypes.CDLL(sys.argv[1])
steps = int(sys.argv[2])
rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])


def must(result):
    assert result == 0, result


no_libuv.apply()
dist.init_process_group("gloo")
must(work.work_open(NODES))
for step in range(steps):
    must(work.work_replay())
    for _ in range(rank + 1):
        must(work.work_single())
    must(work.work_wait())
    number = torch.tensor([rank + step])
    dist.all_reduce(number)
    assert number.item() == sum(other + step for other in range(ranks)), number
    dist.barrier()
print(f"worker {os.getpid()} {rank} {steps * NODES} {steps * (rank + 1)}", flush=True)
dist.destroy_process_group()
