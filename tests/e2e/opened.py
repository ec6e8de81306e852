"""opened.py SCRATCH LOG...: what of docs/security.md's table does not hold of the calls in strace's logs."""
import os
import re
import sys

SCRATCH, LOGS = os.path.realpath(sys.argv[1]), sys.argv[2:]
SESSION = re.compile(r"/rtl\.[A-Za-z0-9]{6}(/|$)")
CALL = re.compile(r"^(\w+)\((.*)\) += (-?\d+)")
OPENED = re.compile(r'(?:[^,"]*<(.*?)>, )?"((?:[^"\\]|\\.)*)", (?:\{flags=)?([A-Z_|0-9x]+)(?:, (?:mode=)?(0\d+))?')

failures = set()
seen = {"session": 0, "beside": 0, "made": 0, "folders": 0}


def check(line, good, why):
    if not good:
        failures.add(f"{why}: {line.strip()}")


def whole(folder, name):
    return os.path.normpath(os.path.join(folder or SCRATCH, name))


def look_at_open(line, folder, name, flags, mode):
    path = whole(folder, name)
    if SESSION.search(path):
        seen["session"] += 1
        again = name == "." and folder  # a folder that was looked at, once more
        check(line, again or {"O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY"} <= flags, "a session is opened without care")
        check(line, "O_DIRECTORY" in flags or folder and "/" not in name, "a file of a session is not opened from its folder")
        check(line, "O_CREAT" not in flags or "O_EXCL" in flags and mode == "0600", "a file of a session is not made exclusively, or for others")
    elif path.startswith(SCRATCH + "/shared/"):
        seen["beside"] += 1
        # The end of a path is followed where the user named it; never beside it, and never where something is made.
        named = os.path.basename(path) in NAMED or path in made
        check(line, named or "O_NOFOLLOW" in flags or "O_EXCL" in flags, "what lies beside a trace is followed")
        check(line, {"O_NOFOLLOW", "O_NONBLOCK"} & flags or "O_EXCL" in flags, "a trace is opened without care")
    if "O_CREAT" in flags and (SESSION.search(path) or path.startswith(SCRATCH)) and path not in OURS:
        seen["made"] += 1
        # SQLite opens what RTL has made for it.
        by_sqlite = re.search(r"-(wal|shm|journal)$", path) and path in made
        check(line, "O_EXCL" in flags or by_sqlite, "a file is not made exclusively")
        check(line, mode == "0600" or not path.endswith(PRIVATE), "a trace is for others")
    if "O_CREAT" in flags and "O_EXCL" in flags:
        made.add(path)


NAMED = {"t.db", "t.rpd", "merged.db", "imported.db", "own.db", "t.html"}
PRIVATE = ("-wal", "-shm", "-journal", "/trace")
OURS = {SCRATCH + "/look.out", SCRATCH + "/look.err"}
made = set()

for log in LOGS:
    with open(log, encoding="utf-8", errors="replace") as file:
        for line in file:
            call = CALL.match(line)
            if not call or int(call[3]) < 0:
                continue
            if call[1] in ("unlink", "unlinkat"):
                made.discard(whole(None, re.search(r'"(.*)"', call[2])[1]))
                continue
            if call[1] in ("mkdir", "mkdirat"):
                path = whole(None, re.search(r'"(.*)"', call[2])[1])
                if SESSION.search(path) or path.startswith(SCRATCH + "/"):
                    seen["folders"] += 1
                    check(line, call[2].endswith(" 0700"), "a folder is for others")
                continue
            if call[1] == "symlinkat":  # follows nothing, and fails where there is something
                path = whole(re.search(r", \d+<(.*?)>, ", call[2])[1], re.search(r'"([^"]*)"$', call[2])[1])
                check(line, SESSION.search(path), "a link is made outside a session")
                continue
            check(line, call[1] in ("open", "openat", "openat2"), "something else is made")
            opened = OPENED.match(call[2])
            if opened:
                look_at_open(line, opened[1], opened[2], set(opened[3].split("|")), opened[4])

for what, least in (("session", 20), ("beside", 20), ("made", 10), ("folders", 4)):
    check("", seen[what] >= least, f"only {seen[what]} calls of kind '{what}' were seen")
for failure in sorted(failures)[:30]:
    print(failure)
sys.exit(1 if failures else 0)
