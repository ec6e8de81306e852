"""hostile.py RTL STORM GRAPHS: has every command of rtl show two traces all of whose texts are hostile, and looks at each byte that it writes."""
import csv
import json
import os
import pty
import re
import shutil
import sqlite3
import subprocess
import sys

RTL, STORM, GRAPHS = sys.argv[1:]

# Clears the screen, sets the title, goes back, deletes, forges a line; C1 as UTF-8 and as a byte, changes of direction, bytes that are no UTF-8.
TEXT = "\x1b[2J\x1b]0;title\x07\b\x7f\r\nFORGED\t\u009b2J\u0085\u202eevil\u2066\u200f\u2028\ufeff"
BYTES = TEXT.encode() + b"\x9b2J\xff\xc0\x80\xed\xa0\x80"
FORMULA = '=HYPERLINK("http://evil.example","x")'
# What the reader knows by its words; these are hostile in a trace of their own.
WORDS = {"key", "type", "kind", "way", "state", "reason", "engine", "source", "mode", "why", "arguments"}

failures = []


def check(what, good):
    if not good:
        failures.append(what)


def spoil(source, target, words, valid):
    """A copy of a trace with hostile texts: of names, or also of what the reader knows by its words."""
    shutil.copy(source, target)
    db = sqlite3.connect(target)
    hostile = TEXT.encode() if valid else BYTES
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        primary = {row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[5]}
        for _, column, kind, *_ in db.execute(f"PRAGMA table_info({table})").fetchall():
            if kind != "TEXT" or column in primary or (column in WORDS and not words):
                continue
            db.execute(f"UPDATE {table} SET {column} = CAST(CAST(? AS BLOB) || CAST(coalesce({column}, '') AS BLOB) AS TEXT)", (hostile,))
    db.execute("UPDATE meta SET value = CAST(? AS TEXT) WHERE key IN ('command', 'creator', 'host')", (hostile,))
    for number in range(3):
        db.execute("INSERT INTO notes(process, queue, time, text) VALUES(1, 0, 1, CAST(? AS TEXT))", (hostile,))
        db.execute("INSERT OR IGNORE INTO ranges VALUES(1, ?, 1, 'push', CAST(? AS TEXT), (SELECT value FROM meta WHERE key = 'start'),"
                   " (SELECT value FROM meta WHERE key = 'end'), NULL)", (7001 + number, hostile))
        db.execute("INSERT OR IGNORE INTO pauses VALUES(1, ?, NULL, ?)", (7001 + number, "ctl" if not words else TEXT))
    db.commit()
    db.close()


def plain(data, rows):
    """Nothing but text, and no line that a name has forged."""
    allowed = {10, 13} if rows else {10}
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return f"no UTF-8: {error}"
    for character in text:
        code = ord(character)
        if code in allowed:
            continue
        if code < 0x20 or 0x7f <= code < 0xa0 or code in (0x61c, 0xfeff) or 0x200e <= code <= 0x200f or 0x2028 <= code <= 0x202e or 0x2066 <= code <= 0x2069:
            return f"U+{code:04X} in {text[:2000]!r}"
    return "a forged line" if re.search(r"^FORGED", text, re.MULTILINE) else ""


def look(what, data, terminal=False):
    wrong = plain(data, terminal)
    check(f"{what}: {wrong}", not wrong)


def run(*words, env=None):
    done = subprocess.run([RTL, *words], capture_output=True, stdin=subprocess.DEVNULL, timeout=60, check=False,
                          env={**os.environ, **(env or {})})
    check(f"{words}: died by {done.returncode}", done.returncode >= 0)
    return done


def on_terminal(*words):
    """What the command writes when both its outputs are a terminal, without its own progress lines."""
    main, side = pty.openpty()
    process = subprocess.Popen([RTL, *words], stdin=subprocess.DEVNULL, stdout=side, stderr=side, env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200"})
    os.close(side)
    data = b""
    while True:
        try:
            piece = os.read(main, 65536)
        except OSError:
            break
        if not piece:
            break
        data += piece
    os.close(main)
    check(f"{words}: died", process.wait() >= 0)
    return re.sub(rb"\x1b\[K", b"", data)


def commands(path, graphs):
    listed = [["summary"], ["info"], ["check"], ["ranges"], ["ranges", "--kernels"], ["graph", "list"], ["diff", STORM]]
    if graphs:
        listed += [["graph", "show", "1"], ["graph", "launches", "1"], ["graph", "diff", "1", "1"]]
    else:
        listed += [["steps"], ["idle"], ["memory"], ["report", "--json"], ["timeline"], ["timeline", "--width", "200"]]
    for words in listed:
        place = 2 if words[0] == "graph" else 1
        yield [*words[:place], path, *words[place:]]


def text_and_json(path, graphs):
    for words in commands(path, graphs):
        done = run(*words)
        look(words, done.stdout)
        look(words, done.stderr)
        look([*words, "on a terminal"], on_terminal(*words), True)
        if "--kernels" in words or "--width" in words:
            continue
        done = run(*words, "--json")
        look([*words, "--json"], done.stdout)
        look([*words, "--json"], done.stderr)
        if done.stdout:
            json.loads(done.stdout)


def exports(path):
    # The page of the golden trace has a call that ends at 2^64.
    for name in ["chrome", "csv", "rpd", "rocpd", "rocprofv3", "perfetto"] + (["html"] if "storm" in path else []):
        done = run("export", path, "-F", name, "-f", "-o", "exported")
        look(["export", name], done.stderr)
        if name in ("chrome", "rocprofv3", "html") and os.path.exists("exported"):
            with open("exported", "rb") as file:
                data = file.read()
            if name != "html":
                look(["export", name, path], data)
                json.loads(data)
    look("csv on a terminal", on_terminal("export", path, "-F", "csv", "-o", "-"), True)


def values():
    """What is shown is still what it was, where it is data."""
    spoil(STORM, "valid.db", False, True)
    done = run("info", "valid.db", "--json")
    check("the command in JSON", json.loads(done.stdout)["command"] == TEXT)
    raw = run("sql", "valid.db", "SELECT value FROM meta WHERE key = 'command'").stdout
    check("rows are as they are for scripts", raw == TEXT.encode() + b"\n")
    look("sql on a terminal", on_terminal("sql", "valid.db", "SELECT value, name FROM meta, kernels WHERE key = 'command' LIMIT 3"), True)
    query = "SELECT count(*) AS a, 'x' AS 'b\x1b[31m' FROM kernels; SELECT 1 AS none WHERE 0"
    bare = run("sql", "valid.db", query).stdout
    check("scripts get no headings", bare.count(b"\n") == 1 and bare.endswith(b"|x\n"))
    headed = b"a|b\x1b[31m\n" + bare + b"none\n"
    check("headings when asked", run("sql", "--headings", "valid.db", query).stdout == headed)
    shown = on_terminal("sql", "valid.db", query).replace(b"\r\n", b"\n")
    check("headings on a terminal", shown == headed.replace(b"\x1b", b"\\x1b"))
    check("none on a terminal when asked", on_terminal("sql", "--no-headings", "valid.db", query).replace(b"\r\n", b"\n") == bare)
    failed = run("sql", "--headings", "valid.db", "SELECT percentile(1, 200) AS p")
    check("no headings of what fails", failed.stdout == b"" and failed.returncode == 2)
    rows = json.loads(run("sql", "valid.db", "--json", "SELECT value AS v FROM meta WHERE key = 'command'").stdout)
    check("rows in JSON", rows == [{"v": TEXT}])
    look("sql --json", run("sql", "valid.db", "--json", "SELECT * FROM meta").stdout)


def spreadsheets():
    shutil.copy(STORM, "formulas.db")
    begins = [FORMULA, "+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\uff1d1", "plain", "a=b", "'quoted"]
    db = sqlite3.connect("formulas.db")
    for number, name in enumerate(begins):
        db.execute("INSERT INTO ranges VALUES(1, ?, 1, 'push', ?, 1000 + ?, 2000000, NULL)", (8000 + number, name, number))
    db.commit()
    db.close()
    run("export", "formulas.db", "-F", "csv", "--table", "ranges", "-f", "-o", "ranges.csv")
    with open("ranges.csv", newline="", encoding="utf-8") as file:
        got = {int(row["id"]): row["name"] for row in csv.DictReader(file) if int(row["id"]) >= 8000}
    for number, name in enumerate(begins):
        wanted = name if name in ("plain", "a=b", "'quoted") else "'" + name
        check(f"the cell of {name!r}: {got.get(8000 + number)!r}", got.get(8000 + number) == wanted)


def arguments():
    """Names of files, and what is no option."""
    bad = b"bad" + BYTES.replace(b"/", b"") + b".db"
    shutil.copy(STORM, bad)
    with open(b"not" + bad, "w", encoding="ascii") as file:
        file.write("no trace at all, but long enough for its head to be looked at" * 9)
    for path in (bad, b"not" + bad, b"missing" + bad):
        for words in (["summary"], ["info"], ["check"], ["ranges"], ["graph", "list"], ["timeline"], ["sql"], ["import"], ["merge", "out.db"], ["diff", STORM],
                      ["export", "-F", "csv", "-f"], ["view", "-n", "-f", "-o", "page.html"], ["report", "-f", "-o", "page.html"], ["check", STORM, "--truth"], ["demo", "-k"], ["trace", "--"],
                      ["trace", "--gpu", "soft", "-q", "-o"]):
            more = ["SELECT 1 WHERE 0"] if words[0] == "sql" else ["--", "true"] if words[-1] == "-o" and words[0] == "trace" else []
            if words[0] == "demo" and path == b"missing" + bad:
                continue
            done = run(*words, path, *more)
            look([*words, path], done.stderr)
            if words[0] not in ("view", "report", "demo", "export"): # a script gets the name of what was made as it is
                look([*words, path], done.stdout)
    for word in ("--" + TEXT, "-\x1b", TEXT, "-o" + TEXT):
        for command in ("trace", "summary", "graph", "info", "check", "export", "view", "merge", "import", "doctor", "bench", "ctl", "demo", "sql", "ranges", "steps", "idle", "memory", "timeline", "report", "diff"):
            done = run(command, word)
            look([command, word], done.stderr)
            check(f"{command} {word!r}: {done.stderr!r}", done.stderr.count(b"\n") == 1 or command == "demo")
        look([word], run(word).stderr)
    for option in ("--mode", "--gpu", "--buffer", "--delay", "--metrics", "--counting"):
        look(["trace", option], run("trace", option, TEXT, "--", "true").stderr)
    look("doctor", run("doctor", env={"HSA_TOOLS_LIB": TEXT, "RTL_MODE": TEXT}).stdout)


def program():
    name = os.path.join(os.getcwd().encode(), b"run" + BYTES)
    shutil.copy("/bin/true", name)
    done = run("trace", "--gpu", "soft", "-f", "-o", "program.db", "--", name, TEXT)
    check("the program ran", done.returncode == 0)
    look("the summary of a program", done.stderr)
    for command in ("info", "check", "summary"):
        done = run(command, "program.db")
        look([command, "program.db"], done.stdout)
        check(f"{command}: the program is not named", command == "check" or b"\\x1b[2J" in done.stdout)


for base in (STORM, GRAPHS):
    for words in (False, True):
        spoiled = ("words-" if words else "names-") + base
        spoil(base, spoiled, words, False)
        text_and_json(spoiled, base == GRAPHS)
        exports(spoiled)
        done = run("merge", "-f", "merged.db", spoiled, STORM)
        look(["merge", spoiled], done.stdout + done.stderr)
values()
spreadsheets()
arguments()
program()
for failure in failures[:20]:
    print(failure)
sys.exit(1 if failures else 0)
