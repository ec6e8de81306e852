"""families.py RTL TRACE RULES STEPS LAYERS: the families of the demo's kernels against what launch_step, launch_layer and
sample of tools/demo/decode.hip launch, and against SQL."""
import json
import subprocess
import sys

rtl, trace, rules = sys.argv[1:4]
steps, layers = map(int, sys.argv[4:])
failed = 0
# By hand, from the source: what each kernel is, and how often a step launches it.
KERNELS = {
    "embed": ("gather", 1), "norm": ("norm", 2 * layers + 1), "matvec": ("gemv", 2 * layers + 1), "rotate": ("rope", layers),
    "append": ("kv write", layers), "scores": ("attention", layers), "soften": ("attention", layers), "mix": ("attention", layers),
    "add": ("elementwise", layers), "gated": ("gemv", layers), "down": ("gemv", layers), "pick": ("sampling", 1),
}


def must(condition, what):
    global failed
    if not condition:
        print("not so:", what)
        failed += 1


def run(*arguments):
    return subprocess.run([rtl, *arguments], capture_output=True, check=True, text=True).stdout


def sql(query):
    return json.loads(run("sql", trace, query, "--json"))


def wanted(family_of):
    """Family to [names, calls, total], of the demo's kernels."""
    families = {}
    times = {row["name"]: row["ns"] for row in sql("SELECT name, sum(end - start) AS ns FROM kernels GROUP BY name")}
    for kernel, (family, count) in KERNELS.items():
        entry = families.setdefault(family_of(kernel, family), [0, 0, 0])
        entry[0] += 1
        entry[1] += steps * count
        entry[2] += sum(ns for name, ns in times.items() if name.startswith(f"decode::{kernel}("))
    return families


def compare(families, *options):
    got = json.loads(run("summary", trace, "--by", "family", "--json", *options))
    listed = {entry["family"]: entry for entry in got["families"]}
    for family, (names, calls, total) in families.items():
        entry = listed.pop(family, None)
        must(entry and (entry["names"], entry["calls"], entry["total_ns"]) == (names, calls, total),
             f"{family} is {names} kernels, {calls} calls, {total} ns: {entry}")
        must(entry and abs(entry["mean_ns"] * calls - total) < 1 and entry["what"] == "kernels", f"the mean of {entry}")
    copies = sql("SELECT count(*) AS calls, sum(end - start) AS ns FROM copies")[0]
    entry = listed.pop("asynchronous copy")
    must((entry["names"], entry["calls"], entry["total_ns"]) == (None, copies["calls"], copies["ns"]), f"the copies are {copies}: {entry}")
    must(entry["what"] == "copies" and copies["calls"] > steps, "the demo copies in each step")
    # What else there is are kernels of the runtime, which clears memory.
    must(set(listed) <= {"fill", "copy"}, f"nothing else is there: {listed}")
    must(sum(e["total_ns"] for e in got["families"]) == got["kernel_ns"] + copies["ns"], "all kernels and copies are in a family")
    must(abs(sum(e["share"] for e in got["families"]) - 1) < 1e-9, "shares are of the whole")
    return got


def text(*options):
    """Family and calls of each row."""
    lines = run("summary", trace, "--by", "family", *options).splitlines()
    begin = next(i for i, line in enumerate(lines) if line.split()[-2:] == ["names", "family"])
    rows = lines[begin + 1:lines.index("", begin)]
    return [(line[line.rindex("  "):].strip(), line) for line in rows if not line.startswith("  and ")]


compare(wanted(lambda kernel, family: family))
mine = compare(wanted(lambda kernel, family: "feed forward" if kernel in ("gated", "down") else "the rest"), "--families", rules)
of = {kernel["name"]: kernel["family"] for kernel in mine["kernels"]}
must(all((of[name] == "feed forward") == ("gated" in name or "down" in name) for name in of if name.startswith("decode")), f"{of}")
must(json.loads(run("summary", trace, "--json"))["families"] is None, "families are null where they are not asked for")

rows = text()
counts = wanted(lambda kernel, family: family)
for family, (names, calls, _) in counts.items():
    row = next((line for found, line in rows if found == family), "")
    must(f"{calls:,}".replace(",", " ") in row and f" {names}  {family}" in row, f"{family} has {calls} calls in '{row}'")
must([family for family, _ in text("--sort", "name")] == sorted(family for family, _ in rows), "--sort name is by name")
by_calls = [family for family, _ in text("--sort", "calls", "--top", "3")]
must(by_calls == sorted(counts, key=lambda family: -counts[family][1])[:3], f"--sort calls --top 3: {by_calls}")
sys.exit(1 if failed else 0)
