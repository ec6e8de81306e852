"""launch_ranges.py RTL TRACE EXPECTED CHROME [--graphs]: how many kernels each name of a range has, by SQL, `rtl ranges`, `rtl summary` and Chrome's format,
against what the program knows of its launches (EXPECTED, see hip_graphs.hip). Ranges of the program that have kernels lie in no other one.
Without --graphs the mode may have left kernels out, and knows of no nodes."""
import collections
import json
import subprocess
import sys

rtl, trace, expected, chrome = sys.argv[1:5]
whole = "--graphs" in sys.argv


def output(*arguments):
    return json.loads(subprocess.run([rtl, *arguments], check=True, capture_output=True, text=True).stdout)


def same(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: got {dict(got)}, want {dict(wanted)}")


known = collections.Counter()
captured_in = set()
with open(expected, encoding="utf-8") as lines:
    for line in lines:
        *_, launched, captured = line.rstrip("\n").split("|")
        known[launched] += 1
        captured_in.add(captured)
del known[""]
captured_in.discard("")
if not known or not captured_in or set(known) & captured_in:
    sys.exit(f"the program tells no launch from a capture: {dict(known)}, {captured_in}")

names = {row["id"]: row["name"] for row in output("sql", "--json", trace, "SELECT id, name FROM ranges")}
rows = output("sql", "--json", trace, "SELECT range, capture_range FROM kernels")
found = collections.Counter(names[row["range"]] for row in rows if row["range"])
if not whole and found and found <= known:
    known = found
same("SQL", found, known)
captures = {names[row["capture_range"]] for row in rows if row["capture_range"]}
if captures - captured_in or (whole and captures != captured_in):
    sys.exit(f"SQL's captures: got {captures}, want {captured_in}")

by_name = collections.Counter()
for row in output("ranges", "--json", trace)["ranges"]:
    by_name[row["name"]] += row["kernels"]
same("rtl ranges", +by_name, known)

summary = output("summary", "--json", "--top", "0", trace)
same("rtl summary", +collections.Counter({row["name"]: row["kernels"] for row in summary["ranges"]}), known)

with open(chrome, encoding="utf-8") as text:
    events = [event for event in json.load(text)["traceEvents"] if event["ph"] == "X"]
of_kernels = collections.Counter(names[event["args"]["External id"]] for event in events
                                 if event["cat"] in ("kernel", "gpu_memset") and "External id" in event["args"])
same("kernels in Chrome", of_kernels, known)
spans = {event["name"] for event in events if event["cat"] == "gpu_user_annotation" and "captured" not in event["args"]}
same("ranges on a stream in Chrome", {name: 1 for name in spans}, {name: 1 for name in known})
print(dict(known), "of", len(rows), "kernels")
