"""Ranks of one machine that start others within themselves, crash and are started again.

ranks_storm.py launch SEED RANKS CTL NOTES: the launcher. Each rank is started by a shell, some by one in another; it has the
variables of torchrun, mpirun or Slurm, or of one within another. It runs kernels (ctl.c), executes itself, has children that run
some, too. Some are killed at any moment and started again, as torchrun does. NOTES gets a line for each process that may run
kernels: its pid, its rank, whether it was killed.

ranks_storm.py check RTL TRACE NOTES RUN TRUTH...: each kernel of each process that the software GPU has logged is in the trace, under
the right rank; what was killed may lack some, which are counted. RUN prints a log.
"""
import collections
import json
import os
import random
import re
import signal
import subprocess
import sys
import time


def variables(rng, rank, ranks):
    """Environment of a rank, and what else it may carry that is not its rank."""
    ways = {
        "torchrun": {"RANK": rank, "WORLD_SIZE": ranks, "LOCAL_RANK": rank, "SLURM_PROCID": 777},
        "mpirun": {"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": ranks, "RANK": 888},
        "pmix": {"PMIX_RANK": rank, "SLURM_PROCID": 999},
        "slurm": {"SLURM_PROCID": rank, "SLURM_NTASKS": ranks},
        "plain": {"RANK": rank},
    }
    mine = ways[rng.choice(sorted(ways))]
    return {**{name: value for name, value in os.environ.items()}, **{name: str(value) for name, value in mine.items()}}


def commands(rng):
    lines = [str(rng.randrange(1, 60)) for _ in range(rng.randrange(1, 5))]
    if rng.random() < 0.3:
        lines.insert(rng.randrange(len(lines)), "again")
    return "".join(line + "\n" for line in lines)


class Launched:
    """A rank: its shell, and how it is to end."""

    def __init__(self, rng, rank, ranks, ctl, notes, crash):
        self.rank, self.crash = rank, crash
        # Each process notes its pid before it becomes the program. Others of the rank run meanwhile, one of them two shells deep.
        start = f'echo "$$ {rank} {crash or 0}" >>"{notes}"; exec "{ctl}"'
        inner = [f"bash -c '{start}' <<<$'{commands(rng)}'" for _ in range(rng.randrange(3))]
        inner = [f"bash -c \"$(cat <<'END'\n{line}\nEND\n)\"" if rng.random() < 0.5 else line for line in inner]
        script = "".join(f"{line} &\n" for line in inner) + f"bash -c '{start}' <<<$'{commands(rng)}'\nstatus=$?\nwait\nexit $status\n"
        self.process = subprocess.Popen(["bash", "-c", script], env=variables(rng, rank, ranks), stdout=subprocess.DEVNULL, start_new_session=True)
        self.ends = time.monotonic() + rng.uniform(0.05, 1.2) if crash else None

    def look(self):
        if self.ends and time.monotonic() >= self.ends:
            self.ends = None
            try:
                os.killpg(self.process.pid, self.crash)
            except ProcessLookupError:
                pass
        return self.process.poll()


def launch(seed, ranks, ctl, notes):
    rng = random.Random(seed)
    signals = [signal.SIGKILL, signal.SIGTERM, signal.SIGABRT, signal.SIGSEGV]
    start = lambda rank, again: Launched(rng, rank, ranks, ctl, notes, 0 if again else int(rng.choice(signals)) if rng.random() < 0.3 else 0)
    waiting, running, failed = list(range(ranks)), [], 0
    while waiting or running:
        while waiting and len(running) < 8:
            running.append(start(waiting.pop(0), False))
        for one in list(running):
            status = one.look()
            if status is None:
                continue
            running.remove(one)
            if one.crash and status != 0:
                running.append(start(one.rank, True))
            elif status != 0:
                failed += 1
        time.sleep(0.005)
    return failed > 0


def check(rtl, trace, notes, run, logs):
    failed = 0

    def must(condition, what):
        nonlocal failed
        if not condition:
            print("not so:", what)
            failed += 1

    ranks, killed = {}, set()
    with open(notes, encoding="utf-8") as file:
        for line in file:
            pid, rank, crash = map(int, line.split())
            ranks[pid] = rank
            if crash:
                killed.add(pid)
    truth = collections.defaultdict(collections.Counter)
    for log in logs:
        for line in subprocess.run([run, "--truth", log], capture_output=True, text=True).stdout.splitlines():
            got = re.match(r"kernel +pid=(\d+) .*? start=(\d+) end=(\d+) .* (\S+)$", line)
            if got and not got[4].startswith("__rocr"):
                truth[int(got[1])][int(got[2]), int(got[3])] += 1
    ask = lambda query: json.loads(subprocess.run([rtl, "sql", "--json", trace, query], capture_output=True, text=True, check=True).stdout)
    stored = collections.defaultdict(collections.Counter)
    for row in ask("SELECT p.pid, k.start, k.end FROM kernels k JOIN processes p USING (process)"):
        stored[row["pid"]][row["start"], row["end"]] += 1
    processes = ask("SELECT pid, rank, state FROM processes")

    for process in processes:
        pid = process["pid"]
        must(pid in ranks, f"nobody has noted process {pid}")
        # Of one that was killed before it had said a word, rtl knows that it was there.
        silent = pid in killed and pid not in stored and not process["rank"]
        must(silent or process["rank"] == str(ranks.get(pid)), f"process {pid} has rank {process['rank']}, not {ranks.get(pid)}")
    lost = 0
    for pid in truth:
        must(pid in ranks, f"nobody has noted process {pid} of a log")
        more, less = stored[pid] - truth[pid], truth[pid] - stored[pid]
        must(not more, f"process {pid}: {sum(more.values())} kernels in the trace that did not run, such as {list(more)[:2]}")
        if pid in killed:
            lost += sum(less.values())
        else:
            must(not less, f"process {pid}: {sum(less.values())} of {sum(truth[pid].values())} kernels are missing")
    must(not set(stored) - set(truth), f"processes without a log: {set(stored) - set(truth)}")
    must({ranks[pid] for pid in truth} == set(ranks.values()), "each rank ran kernels")
    # Of few ranks chance may have killed none in time.
    must(len(killed & set(truth)) > 0 or len(set(ranks.values())) < 32, "some were killed while they ran kernels")
    told = json.loads(subprocess.run([rtl, "check", "--json", trace], capture_output=True, text=True).stdout)
    counted = sum(told["total"]["lost"].values())
    must(lost <= counted, f"{lost} kernels of killed processes ran and are missing, and {counted} are said to be lost")
    # The ledger of each rank: the kernels of all its processes.
    of_rank = collections.Counter()
    for pid, kernels in stored.items():
        of_rank[str(ranks[pid])] += sum(kernels.values())
    summed = {rank["rank"]: rank["kernels"] for rank in told["ranks"]}
    must({rank: kernels["stored"] for rank, kernels in summed.items() if kernels["stored"]} == dict(of_rank), f"kernels by rank: {summed}")
    must(sum(sum(kernels["lost"].values()) for kernels in summed.values()) == counted, f"lost by rank: {summed}")
    counts = collections.Counter(process["rank"] or "" for process in processes)
    must({rank["rank"] or "": rank["processes"] for rank in told["ranks"]} == counts, f"processes by rank: {counts}")
    print(f"{len(set(ranks.values()))} ranks, {len(processes)} processes, {sum(sum(of.values()) for of in truth.values())} kernels, "
          f"{len(killed & set(truth))} killed, {lost} of their kernels lost and counted")
    return failed > 0


if sys.argv[1] == "launch":
    sys.exit(launch(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5]))
sys.exit(check(sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5], sys.argv[6:]))
