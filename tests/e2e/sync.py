"""sync.py RTL BASE TRUE FAST SLOW: what rtl merge makes of the traces of sync.sh, against the clocks that were planted."""
import os
import sqlite3
import subprocess
import sys

from planted_clocks import end, look, merge, must, offset, rows, rows_of_text, rtl

TRUE, FAST, SLOW = (tuple(map(int, text.split())) for text in sys.argv[3:])

told = merge("direct1.db", "direct1b.db", "direct2.db", "direct3.db")
# Of two traces of a host either is the one that the others are moved to.
must(sorted(one["clock"] for one in told[:2]) == ["reference", "same-boot"], f"the host that was asked: {told[:2]}")
head = next((one["file"] for one in told if one["clock"] == "reference"), "direct1.db")
look("asked the reference, 50 ppm", told[2], "direct2.db", FAST, head)
look("asked the reference, -30 ppm", told[3], "direct3.db", SLOW, head)
# The host that answers goes on until the others are done.
ended = rows("direct1.db", "SELECT max(end) FROM processes")[0][0]
for file in ("direct2.db", "direct3.db"):
    last = rows(file, "SELECT max(received) FROM clock_exchanges")[0][0]
    must(last > ended, f"{file}: the last exchange, at {last}, and the responder's program ended at {ended}")

told = merge("third1.db", "third2.db", "third3.db")
must(told[1]["clock"] == "reference", f"the host that is up longest: {told[1]}")
look("was asked by the reference, 50 ppm", told[0], "third1.db", FAST, "third2.db")
look("both asked a third one, -30 ppm", told[2], "third3.db", SLOW, "third2.db")
if os.path.exists("within2.db"):
    reference, moved = sorted(merge("direct1.db", "within2.db"), key=lambda one: one["clock"] != "reference")
    look("in a time namespace", moved, moved["file"], TRUE, reference["file"])
told = merge("third1.db", "third2.db", "third3.db")
# Two hosts that are both put onto the third one's clock may both be wrong.
error = rows("new.db", "SELECT value FROM meta WHERE key = 'hosts_error'")[0][0]
must(error == told[0]["error_ns"] + told[2]["error_ns"], f"times of different hosts are right within {error}: {told}")
told = merge("third2.db", "third3.db")
look("the third one is not there", told[1], "third3.db", SLOW, "third2.db")
text = subprocess.run([rtl, "merge", "-f", "new.db", "third2.db", "third3.db"], capture_output=True, text=True, check=True).stdout
must("another host: moved by " in text and " exchanges of messages fit, right within " in text, text)

# A trace of the same start of the host that nobody compared, some seconds later.
late = merge("direct1.db", "direct2.db", "late2.db")[2]
wait = rows("late2.db", "SELECT max(end) FROM kernels")[0][0] - rows("direct2.db", "SELECT max(returned) FROM clock_exchanges")[0][0]
look("goes on after the last exchange", late, "late2.db", FAST, "direct1.db", "direct2.db", 20_000_000)
must(wait > 1_000_000_000 and late["error_ns"] > 50_000 * 0.49 * wait / 1e9, f"the clocks drift for {wait} ns more, and the error is {late['error_ns']}")
text = rows_of_text("new.db", "SELECT text FROM notes WHERE text LIKE 'merged from late2.db%'")
must("because its recording goes on for " in text, text)
text = subprocess.run([rtl, "merge", "-f", "new.db", "direct1.db", "direct2.db", "late2.db"], capture_output=True, text=True, check=True).stdout
must("most of that because its recording goes on for " in text and " after the last of them;" in text, text)

# Those that asked nobody, or another one, have times of day.
told = merge("third2.db", "unknown.db")
must(told[1]["clock"] == "time-of-day" and told[1]["unaligned"], f"it asked nobody: {told[1]}")
must(rows("new.db", "SELECT value FROM meta WHERE key = 'hosts_error'") == [(-1,)], "nobody knows how far times of day are off")
told = merge("direct1.db", "direct1b.db")
must(rows("new.db", "SELECT value FROM meta WHERE key = 'hosts_error'") == [(0,)], "times of one host are exact")
done = subprocess.run([rtl, "merge", "--align", "exchanges", "-f", "none.db", "third2.db", "unknown.db"], capture_output=True, text=True)
must(done.returncode == 2 and done.stderr == "rtl: unknown.db cannot be aligned by exchanges: the hosts exchanged no messages with each "
     "other or a third one\n", done.stderr)

# A clock that was set in between: told, and not used.
with sqlite3.connect("third3.db") as db:
    db.execute("DROP TABLE IF EXISTS digests")
    db.execute("DELETE FROM meta WHERE key = 'digests'")
    db.execute("UPDATE clock_exchanges SET received = received + 1000000000, answered = answered + 1000000000"
               " WHERE sent > (SELECT min(sent) FROM clock_exchanges) + 100000000")
db.close()
told = merge("third2.db", "third3.db")
must(told[1]["clock"] == "time-of-day" and "fits all messages" in told[1]["unaligned"], f"packets that contradict each other: {told[1]}")
end()
