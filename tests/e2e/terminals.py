"""terminals.py RTL TRACE OTHER EVIL: every view on terminals of 80 and 200 columns, and in a pipe. No line is wider than
the terminal; colours are for terminals alone and not where NO_COLOR is set; a name that is made of escapes stays text; a
pipe gets no escapes, and from rtl timeline nothing but ASCII."""
import os
import re
import subprocess
import sys
import unicodedata

import terminal

rtl, trace, other, evil = sys.argv[1:]
failed = 0
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
VIEWS = [
    ["summary", trace], ["info", trace], ["check", trace], ["graph", "list", trace], ["graph", "list", trace, "-g"],
    ["graph", "show", trace, "1"], ["graph", "show", trace, "3", "--top", "0"],
    ["graph", "show", trace, "1", "--layers"], ["graph", "show", trace, "3", "--layers"],
    ["graph", "show", evil, "1", "--layers"], ["graph", "launches", trace, "1"],
    ["graph", "launches", trace, "1", "--all", "--top", "0"], ["graph", "diff", trace, "1", "2"],
    ["graph", "diff", trace, other, "2", "--all"], ["timeline", trace], ["steps", trace, "--list"], ["idle", trace], ["memory", trace], ["graph", "costs", trace], ["timeline", trace, "--launch", "1:13"],
    ["timeline", trace, "--launch", "3:2"], ["diff", trace, other], ["diff", trace, other, "--all"], ["doctor"],
    ["graph", "show", evil, "1"], ["graph", "launches", evil, "1"], ["graph", "diff", evil, "1", "2"],
    ["summary", trace, "--kernel", "hip", "--from", "1ms"], ["timeline", trace, "--kernel", "hip", "--gpu", "0"],
    ["graph", "show", trace, "3", "--kernel", "hip"], ["graph", "launches", trace, "1", "--process", "1", "--to", "1h"],
    ["graph", "list", trace, "--process", "1", "--from", "1ms", "--to", "1h"], ["idle", trace, "--gpu", "0", "--process", "1"],
    ["steps", trace, "--from", "1ms", "--process", "1"],
    ["summary", evil], ["timeline", evil, "--launch", "1:5"], ["diff", evil, other], ["diff", trace, evil],
]
# What they say cannot be cut: sentences, folders, the names of files.
SENTENCES = {"summary", "info", "check", "doctor"}


def must(condition, what):
    global failed
    if not condition:
        print("not so:", what)
        failed += 1


def width(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def on_terminal(arguments, columns, **environment):
    status, text, said = terminal.run([rtl, *arguments], columns, **environment)
    must(status in (0, 1), f"rtl {' '.join(arguments)} ends with status {status}: {said}")
    return text


def in_pipe(arguments):
    return subprocess.run([rtl, *arguments], capture_output=True, env={**os.environ, "LC_ALL": "C.UTF-8"}).stdout.decode()


def harmless(text, what):
    bad = [c for c in text if c != "\n" and (unicodedata.category(c) in ("Cc", "Cf"))]
    must(not bad, f"{what} writes {bad[:4]}")


for view in VIEWS:
    name = " ".join(view)
    shown = {}
    for columns in (80, 200):
        text = on_terminal(view, columns)
        plain = COLOUR.sub("", text)
        shown[columns] = plain
        must(len(plain.splitlines()) >= 2, f"{name} says something")
        harmless(plain, name)
        wide = [line for line in plain.splitlines() if width(line) > columns]
        if view[0] not in SENTENCES:
            must(not wide, f"{name} on {columns} columns has a line of {max(map(width, wide), default=0)}: {wide[:1]}")
        must("\x1b" not in on_terminal(view, columns, NO_COLOR="1"), f"{name} has no colours where NO_COLOR is set")
    piped = in_pipe(view)
    harmless(piped, f"{name} in a pipe")
    if view[0] == "timeline":
        must(all(ord(c) < 128 or evil in view for c in piped), f"{name} is ASCII in a pipe")
        must(any(c in shown[80] for c in "▁▂▃▄▅▆▇█"), f"{name} has blocks on a terminal")
        ascii_only = on_terminal(view, 80, LC_ALL="C")
        must(evil in view or all(ord(c) < 128 for c in COLOUR.sub("", ascii_only)), f"{name} is ASCII where the locale is")
    if evil in view and view[0] != "timeline":
        must("<script>" in piped and "title" in piped, f"{name} shows the name as text")

timeline = on_terminal(["timeline", trace], 80)
must("\x1b[31m" in timeline, "the timeline has colours on a terminal")
sys.exit(1 if failed else 0)
