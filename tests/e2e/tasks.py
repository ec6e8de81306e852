#!/usr/bin/env python3
"""tasks.py split|compare|truth PAGE FOLDER [RTL SOFTGPU_RUN]: what docs/tasks.md has typed, and what came of it (tasks.sh).

  split    makes of the page's blocks of Python files, and of its commands FOLDER/NNN.command
  compare  holds what they printed (FOLDER/NNN.out) and their statuses against the page
  truth    holds numbers that they printed against the software GPU's log, the program's words, and what was planted

A number stands for any number, a unit of time or size for any; widths of columns do not count. All else is literal and in
the page's order, but for rows of a table (lines that begin with a number), which are sorted by what was measured. A line
that is "…" stands for lines that the page leaves out; next to it a table may have further rows. A line that ends with it
begins so. What `echo $?` prints is literal, and a command that is not followed by it ends with status 0.
"""
import collections
import functools
import os
import re
import statistics
import subprocess
import sys

SKIP = "…"
Command = collections.namedtuple("Command", "line text output")


def blocks(page):
    """(kind, lines, number of the first line) of each fenced block."""
    kind, lines, first = None, [], 0
    with open(page, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            if kind is None and line.startswith("```"):
                kind, lines, first = line[3:], [], number + 1
            elif kind is not None and line == "```":
                yield kind, lines, first
                kind = None
            elif kind is not None:
                lines.append(line)


def commands(page):
    found = []
    for kind, lines, first in blocks(page):
        for number, line in enumerate(lines, first) if kind == "console" else ():
            if line.startswith("$ "):
                found.append(Command(number, line[2:], []))
            else:
                found[-1].output.append(line)
    return found


def split(page, folder):
    for kind, lines, _ in blocks(page):
        if kind == "python":
            with open(os.path.join(folder, lines[0].removeprefix("# ")), "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
    for number, command in enumerate(commands(page)):
        with open(os.path.join(folder, f"{number:03}.command"), "w", encoding="utf-8") as file:
            file.write(command.text + "\n")


def read(folder, number, what):
    with open(os.path.join(folder, f"{number:03}.{what}"), encoding="utf-8") as file:
        return file.read()


def shape(line):
    line = re.sub(r"/dev/shm/rtl\.\w+", "SESSION", line)
    line = re.sub(r"\bhost \S+:", "host HOST:", line)
    line = re.sub(r"[+-]?\d{1,3}(?: \d{3})+(?!\d)|[+-]?\d+(?:\.\d+)?", "N", line)
    line = re.sub(r"\bN (?:ns|us|ms|s|B|KiB|MiB)\b", "N UNIT", line)
    return " ".join(line.split())


def items(lines):
    """Of lines in their shapes: SKIP, a line, or the rows of a table with whether some are left out."""
    made = []
    for line in lines:
        last = made[-1] if made else None
        if line.startswith("N"):
            if isinstance(last, list):
                last.append(line)
            else:
                made.append([line])
        else:
            made.append(line)
    return made


def is_row_set(item):
    return isinstance(item, list)


def is_line(wanted, got):
    return got.startswith(wanted.removesuffix(SKIP)) if wanted.endswith(SKIP) else wanted == got


def taken_from(wanted, got):
    """Rows that are wanted and not there, and those that are there beyond them; whole rows are found first."""
    missing, more = [], list(got)
    for row in sorted(wanted, key=lambda row: row.endswith(SKIP)):
        found = next((other for other in more if is_line(row, other)), None)
        if found is None:
            missing.append(row)
        else:
            more.remove(found)
    return missing, more


def fits(wanted, got):
    """Whether what was printed is what the page has; both are items()."""

    @functools.lru_cache(None)
    def rest(i, j):
        if i == len(wanted):
            return j == len(got)
        if wanted[i] == SKIP:
            return rest(i + 1, j) or (j < len(got) and rest(i, j + 1))
        if j == len(got) or is_row_set(wanted[i]) != is_row_set(got[j]):
            return False
        if is_row_set(wanted[i]):
            missing, more = taken_from(wanted[i], got[j])
            may_have_more = SKIP in wanted[max(i - 1, 0):i + 2]
            return not missing and (may_have_more or not more) and rest(i + 1, j + 1)
        return is_line(wanted[i], got[j]) and rest(i + 1, j + 1)

    return rest(0, 0)


def has_pandas():
    return subprocess.run(["python3", "-c", "import pandas"], stderr=subprocess.DEVNULL, check=False).returncode == 0


def left_out(command):
    """Why what the command printed is not compared."""
    return "pandas is not here" if command.text.endswith(" frame.py") and not has_pandas() else None


def compare(page, folder):
    typed, wrong = commands(page), 0
    for number, command in enumerate(typed):
        if left_out(command):
            print(f"{page}:{command.line}: {left_out(command)}: not compared")
            continue
        output, status = read(folder, number, "out").splitlines(), int(read(folder, number, "status"))
        told = number + 1 < len(typed) and typed[number + 1].text == "echo $?"
        if status != 0 and not told:
            wrong += 1
            print(f"{page}:{command.line}: $ {command.text}\nended with status {status}, and the page does not say so")
        literal = command.text == "echo $?"
        wanted = command.output if literal else items([shape(line) for line in command.output])
        got = output if literal else items([shape(line) for line in output])
        if not (wanted == got if literal else fits(wanted, got)):
            wrong += 1
            print(f"{page}:{command.line}: $ {command.text}\nthe page has", *command.output, "and it printed", *output,
                  sep="\n")
    if not typed:
        sys.exit(f"{page} has no commands")
    sys.exit(wrong != 0)



UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
COUNT = r"\d{1,3}(?: \d{3})*"
TIME = r"[\d.]+ (?:ns|us|ms|s)\b"


def number(text):
    return int(text.replace(" ", ""))


def nanoseconds(text):
    value, unit = text.split()
    return float(value) * UNITS[unit]


def percentile(values, percent):
    """By linear interpolation."""
    values = sorted(values)
    place = (len(values) - 1) * percent / 100
    low = int(place)
    return values[low] + (place - low) * (values[min(low + 1, len(values) - 1)] - values[low])


class Typed:
    """What the page's commands have printed and left, and the software GPU's logs of that."""

    def __init__(self, page, folder, rtl, softgpu_run):
        self.commands, self.folder, self.rtl, self.softgpu_run = commands(page), folder, rtl, softgpu_run

    def output(self, start):
        for number_of, command in enumerate(self.commands):
            if command.text.startswith(start):
                return read(self.folder, number_of, "out")
        sys.exit(f"the page has no command that begins with '{start}'")

    def find(self, start, pattern):
        found = re.search(pattern, self.output(start), re.MULTILINE)
        if not found:
            sys.exit(f"'{start}' printed nothing like '{pattern}'")
        return found.groups()

    def ask(self, trace, query):
        text = subprocess.run([self.rtl, "sql", trace, query], check=True, stdout=subprocess.PIPE, text=True).stdout
        return [tuple(int(value) for value in line.split("|")) for line in text.splitlines()]

    def log_file(self, trace):
        return f"truth.{self.ask(trace, 'SELECT pid FROM processes')[0][0]}"

    def executed(self, trace):
        """(name, duration in ns) of each kernel that was executed, but for the runtime's own, which no tool is shown."""
        printer = [self.softgpu_run, "--truth", self.log_file(trace)]
        with subprocess.Popen(printer, stdout=subprocess.PIPE, text=True) as run:
            for line in run.stdout:
                found = re.match(r"kernel .* ns=(\d+) .* (\S+)$", line)
                if found and not found[2].startswith("__rocr_"):
                    yield found[2], int(found[1])
        if run.returncode:
            sys.exit(f"the log of {trace} cannot be read")

    @functools.lru_cache(None)
    def log(self, trace):
        return list(self.executed(trace))

    def durations(self, trace, kernel):
        return [ns for name, ns in self.log(trace) if f"decode{len(kernel)}{kernel}E" in name]


def equal(what, got, wanted, of=0.0):
    """`of`: as a part of what is wanted, by how much they may differ."""
    if abs(got - wanted) > of * abs(wanted):
        sys.exit(f"{what}: {got} was printed, and it is {wanted}")


# What four digits, and what a summary's percentiles leave open.
FOUR_DIGITS, NEAR = 1e-3, 1 / 128 + 1e-3


def check_window(typed):
    recorded, seen, skipped = map(
        number, typed.find("rtl check serve.db", rf"^complete for what was to be recorded: ({COUNT}) of ({COUNT}) kernels, ({COUNT}) left out"))
    equal("kernels that were seen", seen, sum(1 for _ in typed.executed("serve.db")))
    equal("kernels of the window", recorded, typed.ask("serve.db", "SELECT count(*) FROM kernels")[0][0])
    equal("kernels beside the window", skipped, seen - recorded)
    steps, = typed.find("rtl steps serve.db", rf"^({COUNT}) steps in 1 phase")
    launches = typed.ask("serve.db", "SELECT count(DISTINCT launch) FROM kernels WHERE launch IS NOT NULL")[0][0]
    equal("steps of the window", number(steps), launches)


def check_kernel(typed):
    truth = typed.durations("app.db", "matvec")
    calls, *times = typed.find("rtl summary app.db --kernel matvec",
                               rf"^ +100.0 % +({COUNT})" + rf" +({TIME})" * 6 + " +decode::matvec")
    total, mean, p50, p99, least, most = map(nanoseconds, times)
    equal("calls", number(calls), len(truth))
    equal("their total", total, sum(truth), FOUR_DIGITS)
    equal("their mean", mean, statistics.mean(truth), FOUR_DIGITS)
    equal("their p50", p50, percentile(truth, 50), NEAR)
    equal("their p99", p99, percentile(truth, 99), NEAR)
    equal("the shortest", least, min(truth), FOUR_DIGITS)
    equal("the longest", most, max(truth), FOUR_DIGITS)
    calls, p50, p99 = map(float, typed.output("rtl sql app.db").split("|"))
    equal("SQL's calls", calls, len(truth))
    equal("SQL's p50", p50, percentile(truth, 50))
    equal("SQL's p99", p99, percentile(truth, 99))


def check_gate(typed):
    before, after = (percentile(typed.durations(trace, "norm"), 50) for trace in ("yesterday.db", "today.db"))
    equal("the slower kernel's time", after, 1700)
    change, = typed.find("rtl diff", r"^ .* \+([\d.]+) % .* decode::norm")
    equal("what it is slower by", float(change), round((after / before - 1) * 100, 1))
    limit, = typed.find("rtl diff", r"^rtl: kernels: decode::norm.* got slower by ([\d.]+) %")
    equal("what the gate says", float(limit), float(change))


def check_idle(typed):
    spans = sorted(typed.ask("app.db", 'SELECT start, "end" FROM kernels UNION ALL SELECT start, "end" FROM copies'
                                       " WHERE start IS NOT NULL"))
    idle, gaps, until = 0, 0, spans[0][0]
    for start, end in spans:
        idle, gaps = idle + max(0, start - until), gaps + (start > until)
        until = max(until, end)
    got_idle, got_all, got_gaps = typed.find("rtl idle app.db",
                                              rf"^GPU 0: idle for ({TIME}) of ({TIME}) .*, in ({COUNT}) gaps")
    equal("idle time", nanoseconds(got_idle), idle, FOUR_DIGITS)
    equal("from the first to the last", nanoseconds(got_all), until - spans[0][0], FOUR_DIGITS)
    equal("gaps", number(got_gaps), gaps)


def check_rows(typed):
    for kernel in "matvec", "mix", "norm":
        calls, total = typed.find("python3 rows.py", rf"^(\d+) (\d+) decode::{kernel}\(")
        equal(f"calls of {kernel}", int(calls), len(typed.durations("app.db", kernel)))
        equal(f"time of {kernel}", int(total), sum(typed.durations("app.db", kernel)))
    calls, median = map(float, typed.output("/usr/bin/python3 extension.py").split())
    equal("calls by the extension", calls, len(typed.durations("app.db", "matvec")))
    equal("the median by the extension", median, percentile(typed.durations("app.db", "matvec"), 50))


def check_steps(typed):
    nodes, = typed.find("rtl trace -o app.db", r"replays of a graph of (\d+)$")
    steps, = typed.find("rtl steps app.db", rf"^({COUNT}) steps in 1 phase")
    kernels, = typed.find("rtl steps app.db", rf"({COUNT}) kernels in graphs")
    equal("steps", number(steps), 60)
    equal("kernels of a step", number(kernels), int(nodes))
    starts = [start for start, in typed.ask("app.db", "SELECT min(start) FROM kernels WHERE launch IS NOT NULL"
                                                      " GROUP BY launch ORDER BY 1")]
    lengths = [after - before for before, after in zip(starts, starts[1:])]
    p50, = typed.find("rtl steps app.db", rf"^ +1 +60 +({TIME})")
    # The last one ends in its own way, so it may lie on either side of the middle.
    if not percentile(lengths, 45) <= nanoseconds(p50) <= percentile(lengths, 55):
        sys.exit(f"p50 of the steps: {p50} was printed, and they took {sorted(lengths)}")


def check_workers(typed):
    counts = [int(line.split("|")[1]) for line in typed.output("rtl sql workers.db").splitlines()]
    if counts != [100, 200, 300]:
        sys.exit(f"kernels by worker: {counts} were printed, and they launched 100, 200 and 300")
    recorded, = typed.find("rtl check workers.db", r"^complete: (\d+) of 600 kernels$")
    equal("kernels of all workers", int(recorded), 600)
    of_rank, both = map(
        number, typed.find("rtl summary ranks.db", rf"only the work of rank 1: ({COUNT}) of ({COUNT}) kernels$"))
    equal("kernels of a rank", of_rank, 600)
    equal("kernels of both", both, 1200)


def check_verdict(typed):
    recorded, seen = map(number, typed.find("rtl check app.db", rf"^complete: ({COUNT}) of ({COUNT}) kernels\b"))
    equal("kernels", recorded, len(typed.log("app.db")))
    equal("kernels that were seen", seen, recorded)
    launched, = typed.find("rtl trace -o app.db", r"^launched (\d+) kernels")
    equal("kernels of the program", sum("decode" in name for name, _ in typed.log("app.db")), int(launched))
    command = [typed.rtl, "check", "app.db", "--truth", typed.log_file("app.db")]
    if subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode:
        sys.exit("the trace is not equal to the truth")


def truth(page, folder, rtl, softgpu_run):
    typed = Typed(page, folder, rtl, softgpu_run)
    for check in check_window, check_kernel, check_gate, check_idle, check_rows, check_steps, check_workers, check_verdict:
        check(typed)


if __name__ == "__main__":
    {"split": split, "compare": compare, "truth": truth}[sys.argv[1]](*sys.argv[2:])
