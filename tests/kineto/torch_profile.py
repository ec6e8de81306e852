"""torch_profile.py CASE LIBRARY: PyTorch with OpenReg (LIBRARY) as the device, or with HIP under RTL (a library of torch_work.hip):
what torch.profiler shows is what the program has had done. The cases are the functions run_CASE."""
import ctypes
import gzip
import json
import re
import sys
import threading
import warnings
from collections import Counter

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

warnings.simplefilter("ignore")
torch.utils.rename_privateuse1_backend("openreg")
openreg = ctypes.CDLL(sys.argv[2])
ACTIVITIES = [ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]
wrong = 0


def equal(what, got, wanted):
    global wrong
    if got != wanted:
        print(f"{what}: got {got!r}, want {wanted!r}", file=sys.stderr)
        wrong += 1


def kernel(name, microseconds=50):
    assert openreg.openregSpin(name.encode(), microseconds, None) == 0


def wait():
    assert openreg.openregDeviceSynchronize() == 0


def refuse(word):
    raise ValueError(f"{word} is not JSON")


def exported(prof, path="trace.json"):
    prof.export_chrome_trace(path)
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as file:
        text = file.read()
    return json.loads(text, parse_constant=refuse), text


def of(trace, category):
    return [event for event in trace["traceEvents"] if event.get("cat") == category]


def owners(trace):
    """(name of the operator or annotation, name of the kernel): how often."""
    names = {event["args"]["External id"]: event["name"] for category in ("cpu_op", "user_annotation") for event in of(trace, category)
             if "External id" in event.get("args", {})}
    return Counter((names.get(event["args"].get("External id")), event["name"]) for event in of(trace, "kernel"))


def check_flows(trace):
    begun = Counter(event["id"] for event in trace["traceEvents"] if event["ph"] == "s" and event["cat"] == "ac2g")
    ended = Counter(event["id"] for event in trace["traceEvents"] if event["ph"] == "f" and event["cat"] == "ac2g")
    equal("flows that begin more than once", [key for key, count in begun.items() if count > 1], [])
    equal("flows that end and never begin", set(ended) - set(begun), set())
    equal("flows", sum(ended.values()), len(of(trace, "kernel")))
    correlations = {event["args"]["correlation"] for event in of(trace, "privateuse1_runtime")}
    equal("kernels without their call", [e for e in of(trace, "kernel") if e["args"]["correlation"] not in correlations], [])


class Launch(torch.autograd.Function):
    """An operation with a kernel of the device in each direction."""

    @staticmethod
    def forward(ctx, x):
        kernel("forward")
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        kernel("backward")
        return grad * 2


def run_steps():
    """A schedule: of eight steps two cycles of two are shown, each in a trace of its own."""
    seen = []

    def ready(prof):
        trace, _ = exported(prof, f"cycle-{len(seen)}.json")
        seen.append(trace)

    with profile(activities=ACTIVITIES, schedule=schedule(wait=1, warmup=1, active=2, repeat=2), on_trace_ready=ready) as prof:
        for step in range(8):
            for _ in range(step + 1):
                kernel(f"step {step}")
            wait()
            prof.step()
    equal("traces", len(seen), 2)
    for number, trace in enumerate(seen):
        steps = (2 + 4 * number, 3 + 4 * number)
        equal(f"kernels of cycle {number}", Counter(e["name"] for e in of(trace, "kernel")), {f"step {s}": s + 1 for s in steps})
        names = {e["name"] for e in of(trace, "gpu_user_annotation")}
        equal(f"steps of cycle {number} on the device", names, {f"ProfilerStep#{s}" for s in steps})
        check_flows(trace)


def run_sessions():
    for number in range(3):
        with profile(activities=ACTIVITIES) as prof:
            with record_function(f"session {number}"):
                for _ in range(number + 1):
                    kernel("spin")
            wait()
        trace, _ = exported(prof, f"session-{number}.json.gz")
        equal(f"session {number}", owners(trace), {(f"session {number}", "spin"): number + 1})
        check_flows(trace)
        kernel("between")
        wait()


def run_autograd():
    with profile(activities=ACTIVITIES) as prof:
        x = torch.ones(3, requires_grad=True)
        with record_function("train"):
            for _ in range(4):
                Launch.apply(x).sum().backward()
        wait()
    equal("gradient", x.grad.tolist(), [8.0] * 3)
    trace, _ = exported(prof)
    equal("kernels", owners(trace), {("Launch", "forward"): 4, ("LaunchBackward", "backward"): 4})
    check_flows(trace)
    table = {event.key: event for event in prof.key_averages()}
    kernels = [event for event in of(trace, "kernel")]
    for operator, name in (("Launch", "forward"), ("LaunchBackward", "backward")):
        microseconds = sum(event["dur"] for event in kernels if event["name"] == name)
        equal(f"device time of {operator}", round(table[operator].self_device_time_total), round(microseconds))


def run_threads():
    barrier = threading.Barrier(5)

    def work(number):
        barrier.wait()
        for _ in range(100):
            with record_function(f"thread {number}"):
                kernel(f"of {number}", 5)

    with profile(activities=ACTIVITIES, experimental_config=torch._C._profiler._ExperimentalConfig(profile_all_threads=True)) as prof:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        barrier.wait()
        for thread in threads:
            thread.join()
        wait()
    trace, _ = exported(prof)
    equal("kernels by thread", owners(trace), {(f"thread {n}", f"of {n}"): 100 for n in range(4)})
    calls = Counter(event["tid"] for event in of(trace, "privateuse1_runtime") if event["name"] == "openregSpin")
    equal("calls by thread", sorted(calls.values()), [100] * 4)
    check_flows(trace)


def run_empty():
    with profile(activities=ACTIVITIES) as prof:
        pass
    trace, _ = exported(prof)
    equal("kernels of nothing", of(trace, "kernel"), [])
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        kernel("not asked for")
        wait()
    trace, _ = exported(prof)
    equal("device work that nobody asked for", of(trace, "kernel") + of(trace, "privateuse1_runtime"), [])


def run_ranks():
    """What HTA looks for: the rank by a regular expression over the text, streams from 0, calls and work joined by correlation."""
    import torch.distributed as distributed
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    with profile(activities=ACTIVITIES) as prof:
        kernel("kernel \"rank\": 7")
        wait()
    trace, text = exported(prof)
    distributed.destroy_process_group()
    equal("rank", re.search(r'"rank":\s*(\d+)', text).group(1), "0")
    (work,) = of(trace, "kernel")
    calls = [event for event in of(trace, "privateuse1_runtime") if event["args"]["correlation"] == work["args"]["correlation"]]
    equal("calls of the kernel", [event["name"] for event in calls], ["openregSpin"])
    equal("stream", work["args"]["stream"], 0)
    equal("devices", [device["name"] for device in trace["deviceProperties"]], ["OpenReg"])


def run_none():
    """The vendor is missing or broken: PyTorch works as without it."""
    with profile(activities=ACTIVITIES) as prof:
        torch.ones(3) + 1
        kernel("kernel")
        wait()
    trace, _ = exported(prof)
    equal("kernels", of(trace, "kernel"), [])
    equal("operators", len([event for event in of(trace, "cpu_op") if event["name"] == "aten::ones"]), 1)


def run_worst():
    """worst_vendor beside OpenReg: whatever it says, the file is read, and so are the events."""
    with profile(activities=ACTIVITIES) as prof:
        with record_function("own"):
            kernel("spin")
        wait()
    trace, _ = exported(prof)
    equal("OpenReg's kernel", owners(trace)["own", "spin"], 1)
    equal("many", len([event for event in of(trace, "kernel") if "serial" in event["args"]]) > 50, True)
    equal("characters", [c for c in prof.key_averages().table(row_limit=-1) if c != "\n" and not c.isprintable()], [])


def run_graphs():
    """HIP on the software GPU, recorded by RTL: each replay of a graph is the annotation's that launched it."""
    nodes, replays = 12, 5
    assert openreg.work_open(nodes) == 0
    with profile(activities=ACTIVITIES) as prof:
        for number in range(replays):
            with record_function(f"replay {number}"):
                assert openreg.work_replay() == 0
        with record_function("single"):
            assert openreg.work_single() == 0 and openreg.work_set() == 0
        assert openreg.work_wait() == 0
    trace, _ = exported(prof)
    wanted = {(f"replay {number}", "hip_add(int*, int, int)"): nodes for number in range(replays)}
    equal("kernels", owners(trace), {**wanted, ("single", "hip_scale(int*, int, int)"): 1})
    equal("sets", len(of(trace, "gpu_memset")), 1)
    equal("calls", Counter(event["name"] for event in of(trace, "privateuse1_runtime"))["hipGraphLaunch"], replays)
    # As TraceLens joins them: by the correlation of calls of exactly this name.
    launches = Counter({event["args"]["correlation"]: 0 for event in of(trace, "privateuse1_runtime") if event["name"] == "hipGraphLaunch"})
    for event in of(trace, "kernel"):
        if event["args"]["correlation"] in launches:
            launches[event["args"]["correlation"]] += 1
    equal("kernels of each launch", sorted(launches.values()), [nodes] * replays)
    # As HTA takes rows in: with a duration, a stream from 0, a correlation.
    rows = of(trace, "kernel") + of(trace, "gpu_memset")
    equal("rows", all(event["dur"] >= 0 and event["args"]["stream"] >= 0 and event["args"]["correlation"] > 0 for event in rows), True)
    names = Counter(event["name"] for event in of(trace, "gpu_user_annotation"))
    equal("annotations on the device", names, {**{f"replay {number}": 1 for number in range(replays)}, "single": 1})
    (device,) = trace["deviceProperties"]
    equal("device", (device["id"], device["vendor"], device["numSms"] > 0, device["warpSize"]), (0, "RTL", True, 64))


globals()[f"run_{sys.argv[1]}"]()
sys.exit(wrong > 0)
