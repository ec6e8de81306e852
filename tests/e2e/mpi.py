"""mpi.py RTL BASE TRUE FAST SLOW: what rtl merge makes of the traces of mpi.sh, against the clocks that were planted."""
import sys

from planted_clocks import end, look, merge, must

TRUE, FAST, SLOW = (tuple(map(int, text.split())) for text in sys.argv[3:])

told = merge(*(f"job{rank}.db" for rank in range(6)))
by_file = {one["file"]: one for one in told}
must(sorted(by_file[f"job{rank}.db"]["clock"] for rank in (2, 3)) == ["reference", "same-boot"], f"the host that is up longest: {told}")
head = next(one["file"] for one in told if one["clock"] == "reference")
for rank in (0, 1):
    look(f"was asked by the reference, 50 ppm, rank {rank}", by_file[f"job{rank}.db"], f"job{rank}.db", FAST, head, "job0.db", 50_000_000)
for rank in (4, 5):
    look(f"asked a third one, -30 ppm, rank {rank}", by_file[f"job{rank}.db"], f"job{rank}.db", SLOW, head, "job4.db", 50_000_000)

end()
