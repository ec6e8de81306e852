"""PyTorch's torchrun."""
import torch.distributed.run

import no_libuv

no_libuv.apply()
torch.distributed.run.main()
