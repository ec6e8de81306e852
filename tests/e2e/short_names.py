"""short_names.py RTL TRACE OTHER: in each row of each table the argument in which the kernels differ stands as it does in a
pipe, where names are whole."""
import json
import re
import subprocess
import sys

import terminal

rtl, trace, other = sys.argv[1:]
failed = 0
VIEWS = [
    ["summary", trace], ["graph", "show", trace, "1", "--top", "0"], ["graph", "show", trace, "1", "--layers"], ["graph", "launches", other, "1"],
    ["graph", "diff", trace, other, "1", "--all", "--top", "0"], ["diff", trace, other, "--all"],
]
DIFFERS = re.compile(r"[< ](1\d\d\d)[,>]")
WHOLE = re.compile(
    r"void one::two::kernel_of_them<__half, float, (1\d\d\d), false>\(__half const\*, float const\*, float\*, int, int\)")


def must(condition, what):
    global failed
    if not condition:
        print("not so:", what)
        failed += 1


def on_terminal(arguments):
    # What stands before a name is wide in some, the more so where the machine is busy.
    columns = 120 if "launches" in arguments else 100 if "diff" in arguments or "show" in arguments else 80
    status, text, said = terminal.run([rtl, *arguments], columns, NO_COLOR="1")
    must(status == 0, f"rtl {' '.join(arguments)} ends with status {status}: {said}")
    return text


for view in VIEWS:
    name = " ".join(view)
    whole = WHOLE.findall(subprocess.run([rtl, *view], capture_output=True, check=True, text=True).stdout)
    outliers = view[1] == "launches"
    must(outliers or len(set(whole)) > 10, f"{name} has the names of the demo's kernels")
    short = on_terminal(view)
    must(DIFFERS.findall(short) == whole, f"{name} shows {whole} of {short}")
    must(outliers or not WHOLE.search(short), f"{name} shortens names")
    must(WHOLE.findall(on_terminal([*view, "--wide"])) == whole, f"{name} --wide shows names whole")
    values = on_terminal([*view, "--json"])
    json.loads(values)
    must(set(WHOLE.findall(values)) >= set(whole), f"{name} --json has whole names")
sys.exit(1 if failed else 0)
