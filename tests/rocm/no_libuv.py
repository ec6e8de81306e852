"""PyTorch that was built without libuv, as Debian's is, asks for it in some stores of torchrun whatever USE_LIBUV says."""
import functools
import sys

import torch.distributed as dist
import torch.distributed.elastic.rendezvous.c10d_rendezvous_backend as backend


def apply():
    without = functools.partial(dist.TCPStore, use_libuv=False)
    dist.TCPStore = backend.TCPStore = without

    # Here it is said in some calls, and not in others.
    def store(*arguments, **more):
        return without(*arguments, **{**more, "use_libuv": False})

    sys.modules["torch.distributed.rendezvous"].TCPStore = store  # the name is a function, too
