"""diff.py RTL: what `rtl diff` says of three runs a side of the server (steps.hip), against what was planted. Of wall and idle
times, which are the machine's, nothing is expected."""
import json
import statistics
import subprocess
import sys

rtl = sys.argv[1]
RUNS, REQUESTS, TOKENS, NS = 3, 4, 25, 20_000
PREFILL, DECODE, EAGER, WARM_UP = 6, 4, 1, 3
failed = 0


def equal(got, wanted, what):
    global failed
    if got != wanted:
        print(f"{what}: got {got}, want {wanted}")
        failed += 1


def files(name):
    return [f"{name}{run}.db" for run in range(1, RUNS + 1)]


def ask(*arguments):
    return json.loads(subprocess.run([rtl, *arguments], check=True, capture_output=True).stdout)


def compared(name, *options):
    seen = ask("diff", "--json", *options, *files("base"), "--", *files(name))
    equal((seen["a_runs"], seen["b_runs"]), (files("base"), files(name)), f"files of {name}")
    return seen


def rows(seen):
    return {row["a"]["what"]: row for row in seen["steps"]}


def p50s(row, side, part):
    return [run["parts"][part]["p50_ns"] for run in row[side + "_runs"]]


def verdicts(seen):
    """All that is told of the GPU's work, but for what is alike."""
    told = {f"{name} {part}": row["parts"][part]["verdict"] for name, row in rows(seen).items()
            for part in ("graphs", "eager", "copies")}
    told.update({f"family {family['of']}": family["verdict"] for family in seen["families"]})
    told.update({"kernel " + kernel["name"].split("(")[0]: kernel["verdict"] for kernel in seen["kernels"]})
    told["total"] = seen["kernel_ns_verdict"]
    return {what: verdict for what, verdict in told.items() if verdict not in ("alike", "too few")}


def counts(seen):
    return {(name, what): (round(count["a"], 2), round(count["b"], 2)) for name, row in rows(seen).items()
            for what, count in row["counts"].items() if count["differs"]}


def check_same():
    seen = compared("same")
    equal((verdicts(seen), counts(seen)), ({}, {}), "differences of equal runs")
    equal(sorted(rows(seen)), ["graph 1", "graph 2"], "phases of equal runs")
    decode = rows(seen)["graph 2"]
    equal([run["steps"] for run in decode["a_runs"] + decode["b_runs"]], [REQUESTS * TOKENS] * 2 * RUNS, "steps of runs")
    equal((decode["a"]["steps"], decode["a"]["launches"]), (RUNS * REQUESTS * TOKENS,) * 2, "steps of a side")
    for side, name in (("a", "base"), ("b", "same")):
        # A trace's own phases say the same of it.
        alone = [next(phase for phase in ask("steps", "--json", file)["threads"][0]["phases"] if phase["what"] == "graph 2")
                 for file in files(name)]
        equal([run["time"]["p50_ns"] for run in decode[side + "_runs"]], [phase["step_ns"]["p50"] for phase in alone],
              f"p50 of runs of {name}")
        equal(decode[side]["time"]["p50_ns"], round(statistics.mean(phase["step_ns"]["p50"] for phase in alone)),
              f"p50 of {name}")


def check_slow():
    seen = compared("slow")
    equal(verdicts(seen), {"graph 1 graphs": "slower", "graph 2 graphs": "slower", "graph 2 eager": "slower",
                           "family graph 1": "slower", "family graph 2": "slower", "kernel hip_takes": "slower",
                           "total": "slower"}, "what got slower by 10 %")
    equal(counts(seen), {}, "counts of slower runs")
    decode = rows(seen)["graph 2"]
    equal((p50s(decode, "a", "graphs"), p50s(decode, "b", "graphs")), ([DECODE * NS] * RUNS, [DECODE * NS * 11 // 10] * RUNS),
          "time of the decode graph in each run")
    kernel = seen["kernels"][0]
    calls = WARM_UP + REQUESTS * (PREFILL + TOKENS * (DECODE + EAGER))
    equal([run["count"] for run in kernel["b_runs"]], [calls] * RUNS, "calls in each run")
    equal((kernel["a"]["total_ns"], kernel["b"]["total_ns"]), (RUNS * calls * NS, RUNS * calls * NS * 11 // 10), "totals")
    family = next(family for family in seen["families"] if family["of"] == "graph 2")
    equal((family["family"], family["a_ns"], family["b_ns"]), ("other", (DECODE + EAGER) * NS, (DECODE + EAGER) * NS * 11 // 10),
          "time of the family in a token")
    equal([run["total_ns"] for run in family["b_runs"]], [REQUESTS * TOKENS * (DECODE + EAGER) * NS * 11 // 10] * RUNS,
          "time of the family in each run")
    named = {family["family"] for family in compared("slow", "--families", "rules")["families"]}
    equal(named, {"takes"}, "families by the user's rules")


def check_layer():
    seen = compared("layer")
    equal(verdicts(seen), {"graph 2 graphs": "slower", "family graph 2": "slower", "total": "slower"}, "what a slow layer makes slower")
    equal(set(p50s(rows(seen)["graph 2"], "b", "graphs")), {DECODE * NS + NS // 5}, "time of the decode graph with a slow layer")
    equal(counts(seen), {}, "counts with a slow layer")
    layers = next(graph for graph in seen["graphs"] if graph["a"]["graph"] == 2)["layers"]
    equal([[(layer["layer"], round(layer["away"], 6)) for layer in layers[side]["outlying"]] for side in ("a", "b")],
          [[], [(2, 0.2)]], "the slow layer of several runs")
    equal([(row["what"], row["verdict"]) for row in layers["places"]], [("same", "alike")], "its only place")


def check_sync():
    seen = compared("sync")
    equal(verdicts(seen), {}, "what a wait makes slower on the GPU")
    told = counts(seen)
    equal(list(told), [("graph 2", "host_calls")], "counts with a wait more")
    before, then = told["graph 2", "host_calls"]
    # A call on the border of two steps is now in one, now in the other.
    equal(0.75 < then - before < 1.25, True, f"host calls that a token has more: {before}, then {then}")


def check_fused():
    seen = compared("fused")
    equal(verdicts(seen), {"graph 2 graphs": "faster", "family graph 2": "faster", "total": "faster"}, "what a fusion makes faster")
    equal(counts(seen), {("graph 2", "kernels_in_graphs"): (DECODE, DECODE - 1)}, "counts with a fusion")
    equal((rows(seen)["graph 2"]["other_kernels"], rows(seen)["graph 1"]["other_kernels"]), (True, False), "phases with a fusion")


def check_graphs():
    """The model with other kernels is matched by what the user's rules say of them, and has the places that graph diff has."""
    for name in ("modelbatch", "modelfused", "model12"):
        graphs = ask("diff", "--json", "--families", "model.rules", "model.db", name + ".db")["graphs"]
        equal([(graph["a"]["graph"], graph["b"]["graph"]) for graph in graphs], [(1, 1)], f"graphs of {name}")
        equal(graphs[0]["layers"], places(name)[0], f"places of {name}")


def check_train():
    """A trace without the phases of the other: the families are those of whole traces, and of one run nothing is told."""
    seen = ask("diff", "--json", "base1.db", "train.db")
    calls = WARM_UP + REQUESTS * (PREFILL + TOKENS * (DECODE + EAGER)), 5 + 40 * 7
    equal([(family["family"], family["of"], family["a_ns"], family["b_ns"], family["verdict"]) for family in seen["families"]],
          [("other", None, calls[0] * NS, calls[1] * NS, "too few")], "families of whole traces")


def places(name):
    """Places in the layers of the model (steps.hip, layers) and of one with a plant: what, places, families, verdict."""
    seen = ask("graph", "diff", "--json", "--families", "model.rules", "model.db", name + ".db")["layers"]
    rows = [(row["what"], [place["place"] for place in row["a"]], [place["place"] for place in row["b"]],
             [place["family"] for place in row["b"]], row["verdict"]) for row in seen["places"]]
    return seen, rows


def check_places():
    families = ["norm", "gemm", "elementwise", "norm"]
    same = [("same", [place], [place], [family], "alike") for place, family in enumerate(families)]
    seen, rows = places("model")
    equal(rows, same, "places of a graph and itself")
    equal([(seen[side]["layers"], seen[side]["nodes"]) for side in ("a", "b")], [(6, 4)] * 2, "layers")
    _, rows = places("model12")
    equal(rows, same[:1] + [("same", [1], [1], ["gemm"], "slower")] + same[2:], "places of which one is slower")
    seen, rows = places("modelfused")
    equal(rows, same[:2] + [("fused", [2, 3], [2], ["elementwise"], "too few")], "places of which two are fused")
    equal([(seen[side]["layers"], seen[side]["nodes"]) for side in ("a", "b")], [(6, 4), (6, 3)], "layers with a fusion")
    _, rows = places("modelbatch")
    equal(rows[1][:4], ("other kernel", [1], [1], ["gemm"]), "the place with another kernel")
    equal(rows[:1] + rows[2:], same[:1] + same[2:], "the other places of another batch")
    seen, rows = places("modellayer")
    equal(rows, same, "places with a slow layer, which is one of six")
    # 40 us more.
    usual = seen["a"]["usual_ns"]
    outlying = [[(layer["layer"], round(layer["away"], 6)) for layer in seen[side]["outlying"]] for side in ("a", "b")]
    equal(outlying, [[], [(3, round(40_000 / usual, 6))]], "the slow layer")


check_same()
check_places()
check_slow()
check_layer()
check_sync()
check_fused()
check_graphs()
check_train()
sys.exit(failed > 0)
