"""host.py TRACE EXPECTED NODES REPLAYS THREADS SINGLES COPIES SETS: the trace of host_graphs compared with what the device
has executed and with what the program has done."""
import collections
import json
import sys

trace = json.load(open(sys.argv[1], encoding="utf-8"))
expected = [line.split() for line in open(sys.argv[2], encoding="utf-8")]
nodes, replays, threads, singles, copies, sets = map(int, sys.argv[3:9])
events = trace["traceEvents"]
wrong = 0


def equal(what, got, wanted):
    global wrong
    if got != wanted:
        wrong += 1
        print(f"{what}: got {got!r}, want {wanted!r}", file=sys.stderr)


def of(vendor, category):
    return [e for e in events if e["ph"] == "X" and e["cat"] == category and e["args"].get("vendor") == vendor]


# Counts, and the times of every kernel: nanoseconds behind the point of microseconds.
kernels = of("RTL", "kernel") + of("RTL", "gpu_memset")
fills = [line for line in expected if line[0].startswith("__amd_rocclr_fill")]
equal("kernels", len(kernels), len(expected))
equal("fills", len(of("RTL", "gpu_memset")), len(fills))
equal("kernels of the program", len(of("RTL", "kernel")), nodes * replays * threads + singles)
equal("sets", len(of("RTL", "gpu_memset")), sets)
equal("copies", len(of("RTL", "gpu_memcpy")), copies)
equal("kernels of OpenReg", len(of("OpenReg", "kernel")), singles)
equal("sets of OpenReg", len(of("OpenReg", "gpu_memset")), sets)
equal("calls of OpenReg", len(of("OpenReg", "privateuse1_runtime")), singles + sets)
equal("records that were dropped", trace["droppedRecords"], 0)


def nanoseconds(microseconds):
    return round(microseconds * 1000)


told = sorted((nanoseconds(e["ts"]), nanoseconds(e["dur"])) for e in kernels)
known = sorted((int(start), int(end) - int(start)) for _, start, end in expected)
for (start, length), (true_start, true_length) in zip(told, known):
    if abs(start - told[0][0] - (true_start - known[0][0])) > 20 or abs(length - true_length) > 20:
        equal("a kernel's times", (start - told[0][0], length), (true_start - known[0][0], true_length))
        break

# Ids: those of replays on the kernels of the graph, though they were captured under another.
annotations = {e["args"]["External id"]: e for e in events if e["ph"] == "X" and e["cat"] == "user_annotation"}
names = collections.Counter(annotations[i]["name"] for i in annotations)
equal("annotations with the same id", len(annotations),
      sum(e["ph"] == "X" and e["cat"] == "user_annotation" for e in events))
by_id = collections.defaultdict(collections.Counter)
for e in kernels + of("RTL", "gpu_memcpy") + of("OpenReg", "kernel") + of("OpenReg", "gpu_memset"):
    name = annotations[e["args"]["External id"]]["name"] if "External id" in e["args"] else None
    by_id[name][e["args"]["vendor"], e["cat"]] += 1
wanted = {f"replay {t}.{i}": {("RTL", "kernel"): nodes} for t in range(threads) for i in range(replays)}
wanted['single "kernels" \ufffd\n'] = {("RTL", "kernel"): singles}
wanted["copies"] = {("RTL", "gpu_memcpy"): copies}
wanted["sets"] = {("RTL", "gpu_memset"): sets}
wanted["openreg"] = {("OpenReg", "kernel"): singles}
wanted["openreg sets"] = {("OpenReg", "gpu_memset"): sets}
equal("device work by the piece that launched it", {n: dict(c) for n, c in by_id.items()}, wanted)
for name in list(wanted) + [f"thread {t}" for t in range(threads)]:
    equal(f"annotations '{name}'", names[name], 1)
equal("annotations 'capture'", names["capture"], threads)

# Flows: one start an id, at a call; ends at device work, and no end without a start.
calls = {(e["pid"], e["tid"], e["ts"]) for e in events if e.get("cat") == "privateuse1_runtime"}
work = {(e["pid"], e["tid"], e["ts"]) for e in events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")}
starts = [e for e in events if e["ph"] == "s"]
ends = [e for e in events if e["ph"] == "f"]
equal("flows that start twice", len({e["id"] for e in starts}), len(starts))
equal("flows that end and never start", {e["id"] for e in ends} - {e["id"] for e in starts}, set())
equal("flows that start and never end", {e["id"] for e in starts} - {e["id"] for e in ends}, set())
equal("device work without a flow", len(ends), len(kernels) + copies + singles + sets)
equal("starts that are at no call", [e for e in starts if (e["pid"], e["tid"], e["ts"]) not in calls], [])
equal("ends that are at no work", [e for e in ends if (e["pid"], e["tid"], e["ts"]) not in work], [])
launches = {e["args"]["correlation"]: e for e in of("RTL", "privateuse1_runtime")}
for e in of("RTL", "kernel"):
    call = launches[e["args"]["correlation"]]
    equal("the id of a kernel and of its call", e["args"].get("External id"), call["args"].get("External id"))
    if call["ts"] > e["ts"]:
        equal("a kernel before its call", e["ts"], call["ts"])
    if wrong:
        break
devices = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
equal("devices", sorted(devices.values()), ["OpenReg", "RTL"])
labels = {(e["pid"], e["args"]["labels"]) for e in events if e["ph"] == "M" and e["name"] == "process_labels"}
equal("labels of devices", labels, {(process, "device 0") for process in devices})
streams = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
device_work = [e for e in events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
equal("names of streams", streams, {(e["pid"], e["tid"]): f"stream {e['args']['stream']}" for e in device_work})
equal("processes that are devices", {e["pid"] for e in device_work} & set(range(1 << 22)), set())
equal("rows of devices", {e["pid"] for e in kernels} & {e["pid"] for e in of("OpenReg", "kernel")}, set())
sys.exit(wrong > 0)
