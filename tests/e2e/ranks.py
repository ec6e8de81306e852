"""ranks.py RTL FOUR.db LATE.db MERGED.db OTHER.db: what rtl ranks says of jobs of ranks.hip, against their plan."""
import json
import subprocess
import sys

rtl, four, late, merged, other = sys.argv[1:]
STEPS, LATE_STEPS, TRANSFER = 60, 10, 10000
failed = 0


def must(condition, what):
    global failed
    if not condition:
        print("not so:", what)
        failed += 1


def run(*arguments):
    done = subprocess.run([rtl, "ranks", *arguments], capture_output=True, text=True)
    must(done.returncode == 0 and not done.stderr, f"rtl ranks {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def plan(rank, step):
    return 20000 + 1000 * ((rank * 7 + step * 3) % 5) + (200000 if rank == 2 and step % 3 else 0) + (100000 if rank == 1 and not step % 3 else 0)


def expect(ranks, first):
    """What each rank waits for each other one, in how many steps it is the slowest, and how long it made the others wait."""
    waits = [[0] * ranks for _ in range(ranks)]
    steps = [[0] * ranks for _ in range(ranks)]
    slowest, made, each = [0] * ranks, [0] * ranks, []
    for step in range(first, STEPS):
        times = [plan(rank, step) for rank in range(ranks)]
        last = times.index(max(times))
        must(times.count(max(times)) == 1, "one rank is the slowest")
        slowest[last] += 1
        made[last] += sum(max(times) - time for time in times)
        each.append((last, [TRANSFER + max(times) - time for time in times]))
        for rank, time in enumerate(times):
            waits[rank][last] += max(times) - time
            steps[rank][last] += time < max(times)
    return waits, steps, slowest, made, each


def check(trace, ranks, first, *by):
    told = json.loads(run("--json", "--list", *by, trace))
    waits, steps, slowest, made, each = expect(ranks, first)
    what = f"{trace} {' '.join(by)}"
    must(told["steps"] == STEPS - first and told["collectives"] and told["unlike_steps"] == 0, f"{what}: {told['steps']} steps")
    must([rank["rank"] for rank in told["ranks"]] == [str(rank) for rank in range(ranks)], f"{what}: the ranks")
    number = {rank["process"]: place for place, rank in enumerate(told["ranks"])}
    for place, rank in enumerate(told["ranks"]):
        got = {number[wait["process"]]: (wait["steps"], wait["ns"]) for wait in rank["waits"]}
        want = {other: (steps[place][other], waits[place][other]) for other in range(ranks) if steps[place][other]}
        must(got == want, f"{what}: rank {place} waits {got}, not {want}")
        must(rank["waited_ns"] == sum(waits[place]), f"{what}: rank {place} waited {rank['waited_ns']}")
        must((rank["slowest"], rank["made_wait_ns"]) == (slowest[place], made[place]), f"{what}: rank {place} is slowest {rank['slowest']}")
        must(rank["collective_ns"] == sum(waits[place]) + TRANSFER * (STEPS - first), f"{what}: the collectives of rank {place}")
    must([number[step["slowest"]] for step in told["each_step"]] == [last for last, _ in each], f"{what}: the slowest of each step")
    must([[rank["collective_ns"] for rank in step["ranks"]] for step in told["each_step"]] == [times for _, times in each],
         f"{what}: collectives of each step")
    return told


for by in ([], ["--by", "range:step"], ["--step", "collectives"]):
    check(four, 4, 0, *by)
    check(merged, 3, 0, *by)
    told = check(late, 3, LATE_STEPS, *by)
    must([rank["first_step"] for rank in told["ranks"]] == [LATE_STEPS + 1, 1, LATE_STEPS + 1], "where the steps begin that are compared")
must(json.loads(run("--json", four))["by"] == "launches", "launches are the default")

# A window leaves steps out, and none of them is another one for it.
for by in ("launches", "range:step", "collectives"):
    whole = {step["step"]: step for step in json.loads(run("--json", "--list", "--by", by, four))["each_step"]}
    begins = [step["ranks"][0]["start_ns"] for step in whole.values()]
    cut = json.loads(run("--json", "--list", "--by", by, "--from", str(begins[7]), "--to", str(begins[40]), four))
    must([step["step"] for step in cut["each_step"]] == list(range(8, 41)) and cut["steps"] == 33, f"by {by}: the steps of a window")
    must(all(step == whole[step["step"]] for step in cut["each_step"]), f"by {by}: the steps of a window are those of the whole")
    must((cut["filter"]["shown"], cut["filter"]["all"]) == (33, STEPS), f"by {by}: {cut['filter']}")

# Without the slowest rank another one is.
told = json.loads(run("--json", "--rank", "0", "--rank", "1", "--rank", "3", four))
must([rank["rank"] for rank in told["ranks"]] == ["0", "1", "3"], "the ranks that are left")
must(told["ranks"][1]["slowest"] >= STEPS // 3, "of those that are left another one is the slowest")

# Of two processes of a rank the one with steps is taken, and processes without a rank are left out.
must(told["processes_left_out"] == 0, "no process is left out")
others = json.loads(run("--json", other))
must(others["processes_left_out"] == 2 and [rank["rank"] for rank in others["ranks"]] == ["0", "1", "2"], f"what is left out: {others['processes_left_out']}")
must(any(line.startswith("  2 processes left out: ") for line in run(other).splitlines()), "that it is left out is told")

# Each GPU of each rank has a name of its own in Chrome's viewer, and none that the rank has not used.
subprocess.run([rtl, "export", "-f", "-F", "chrome", "-o", "four.json", four], check=True, stdout=subprocess.DEVNULL)
with open("four.json", encoding="utf-8") as file:
    events = json.load(file)["traceEvents"]
names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
used = {event["pid"] for event in events if event.get("cat") == "kernel"}
must(sorted(names[pid].split(":")[0] for pid in used) == [f"GPU {gpu} of rank {gpu}" for gpu in range(4)], f"names of GPUs: {names}")
must(sum(name.startswith("GPU ") for name in names.values()) == 4, f"GPUs that nobody used have rows: {names}")

# The text.
lines = run(four).splitlines()
waits, steps, slowest, made, each = expect(4, 0)
must(lines[0] == f"4 ranks on 1 host, {STEPS} steps each, by launches of graphs that repeat", lines[0])
must(sum(line.split()[:2] == ["rank", str(rank)] and f" {slowest[rank]} " in line for rank in range(4) for line in lines) >= 4,
     "each rank has a row")
must(any(line.startswith(f"rank 2 is the slowest one in {slowest[2]} of {STEPS} steps: the others wait 20") for line in lines),
     "the straggler is told: " + "\n".join(lines))
must(any("steps of ranks whose recording began sooner left out" in line for line in run(late).splitlines()), "what is left out is told")
sys.exit(failed > 0)
