"""layers.py RTL TRACE LAYERS LENGTH NODES: compares `rtl graph show --layers` of the demo's decode graph with what its
program has (a node, LAYERS times LENGTH nodes, then the rest of NODES) and with the kernels of TRACE."""
import json
import math
import statistics
import subprocess
import sys

rtl, trace = sys.argv[1:3]
LAYERS, LENGTH, NODES = map(int, sys.argv[3:])
HEAD = 1  # the embedding of the token
failed = 0


def equal(got, wanted, what):
    global failed
    if got != wanted:
        print(f"{what}: got {got}, want {wanted}")
        failed += 1


def near(got, wanted, what):
    equal(math.isclose(got, wanted, rel_tol=1e-9, abs_tol=1e-9) or got, True, f"{what} ({wanted})")


def ask(*arguments):
    return json.loads(subprocess.run([rtl, *arguments, "--json"], check=True, capture_output=True).stdout)


def nth_least(values, per_mille):
    return sorted(values)[-(-len(values) * per_mille // 1000) - 1]


def read_launches():
    """Per launch its kernels by start: node, start, end, gap before it, name."""
    launches = {}
    columns = "SELECT launch, node, start, end, name FROM kernels"
    for row in ask("sql", trace, f"{columns} WHERE graph = 1 ORDER BY launch, start"):
        kernels = launches.setdefault(row["launch"], [])
        ended = max((kernel[2] for kernel in kernels), default=row["start"])
        kernels.append((row["node"], row["start"], row["end"], max(0, row["start"] - ended), row["name"]))
    return list(launches.values())


def check_stats(got, values, what):
    equal(got["count"], len(values), f"count of {what}")
    equal(got["total_ns"], sum(values), f"total of {what}")
    near(got["mean_ns"], statistics.fmean(values), f"mean of {what}")
    for name, per_mille in (("p50_ns", 500), ("p90_ns", 900)):
        if got["exact"]:
            equal(got[name], nth_least(values, per_mille), f"{name} of {what}")


def within(kernels, first, last):
    return [kernel for kernel in kernels if first <= kernel[0] <= last]


def check_section(got, launches, first, last, what):
    parts = [within(kernels, first, last) for kernels in launches]
    times = [max(kernel[2] for kernel in part) - part[0][1] for part in parts]
    check_stats(got["time"], times, f"time of {what}")
    if first > 0:
        check_stats(got["gap"], [part[0][3] for part in parts], f"gap before {what}")
    return nth_least(times, 500)


def check_layers(layers, launches):
    p50s = []
    for number, layer in enumerate(layers["layers"]):
        first = HEAD + number * LENGTH
        equal((layer["layer"], layer["first_node"], layer["last_node"]), (number, first, first + LENGTH - 1),
              f"nodes of layer {number}")
        p50s.append(check_section(layer, launches, first, first + LENGTH - 1, f"layer {number}"))
    usual = int(statistics.median(p50s))
    distance = int(statistics.median(abs(p50 - usual) for p50 in p50s))
    equal((layers["p50_ns"], layers["distance_ns"]), (usual, distance), "the usual p50, and the distance from it")
    wanted = [i for i, p50 in enumerate(p50s) if abs(p50 - usual) > max(4 * distance, usual // 20)]
    equal([layer["layer"] for layer in layers["layers"] if layer["outlying"]], wanted, "outlying layers")
    equal(layers["outlying"], len(wanted), "how many are outlying")


def check_places(places, launches):
    nodes = [range(HEAD + place, HEAD + LAYERS * LENGTH, LENGTH) for place in range(LENGTH)]
    kernels = [[kernel for launch in launches for kernel in launch if kernel[0] in at] for at in nodes]
    total = sum(end - start for part in kernels for _, start, end, _, _ in part)
    for place, part in enumerate(kernels):
        what = f"place {place}"
        times = [end - start for _, start, end, _, _ in part]
        equal([places[place]["name"]], list({kernel[4] for kernel in part}), f"name of {what}")
        check_stats(places[place]["time"], times, what)
        near(places[place]["gap"]["mean_ns"], statistics.fmean(kernel[3] for kernel in part), f"gap of {what}")
        near(places[place]["share"], sum(times) / total, f"share of {what}")


seen = ask("graph", "show", trace, "1", "--layers")
layers = seen["layers"]
launches = read_launches()
equal(len(launches), 40, "launches in the trace")
equal((layers["count"], layers["length"], layers["nodes"], layers["all_nodes"], layers["why"], layers["launches"]),
      (LAYERS, LENGTH, LAYERS * LENGTH, NODES, None, len(launches)), "layers of the graph")
equal(layers["before"]["nodes"], list(range(HEAD)), "nodes before the layers")
equal(layers["after"]["nodes"], list(range(HEAD + LAYERS * LENGTH, NODES)), "nodes after the layers")
equal(len(seen["nodes"]), NODES, "nodes, which are there as without --layers")
if not failed:
    check_layers(layers, launches)
    check_places(layers["places"], launches)
    check_section(layers["before"], launches, 0, HEAD - 1, "what is before")
    check_section(layers["after"], launches, HEAD + LAYERS * LENGTH, NODES - 1, "what is after")
sys.exit(failed > 0)
