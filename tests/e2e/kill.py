#!/usr/bin/env python3
"""kill.py BUILD WHO [--instants N] [--seed S] [--jobs J] [--only I] [--keep]: kill -9 at random instants.

WHO is `program`, `collector` (rtl trace, or the rtl collect that librtl starts) or `both`. Each instant is a run of its own:
a program that launches kernels one by one, replays graphs with and without HIP, copies or makes host calls, and is compared with the truth log
of the software GPU. Whatever was killed, the trace opens, is a sound database, and has nothing that the device did
not execute so; its ledger says no more than what happened. Then

    program    all that it had handed over is in the trace, and the rest of what it had submitted is lost by `killed`; the verdict
               says how many packets that is, at the least what the device executed and the trace has not
    collector  the program ends as it does alone, with the same output; what the trace lacks is less than what came
               since its last checkpoint, and the trace says that it was not ended in order
    both       as collector, but for the program

of a graph, each kernel of a launch that had come whole has its node. A failure prints the command that repeats it. E2E_QUEUE is
the way into the queues, `interpose` when absent.
"""
import argparse
import concurrent.futures
import contextlib
import ctypes
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

NODES = 64
PATIENCE = 120  # s, for a program to end
GONE = -1  # the end of a process that somebody else has waited for

PROGRAMS = {
    # name: (plugin, command, SOFTGPU_DURATION)
    "storm": ("e2e_plugin.so", "hsa_storm --dispatches 24000 --batch 16 --queues 2 --threads 2 --signal-every 5", "100000"),
    "replays": ("libsoftgpu_hip_plugin.so", f"hip_graphs storm {NODES} 1250 250", None),
    "launches": ("libsoftgpu_hip_plugin.so", "launches 15000", None),
    "found": ("e2e_plugin.so", "graph_shapes segments 300 lines", "3000"),
    "copies": ("e2e_plugin.so", "hsa_copies --threads 3 --rounds 75", None),
    "flood": ("libsoftgpu_hip_plugin.so", f"hip_graphs storm {NODES} 1500", None),
}


class Failed(Exception):
    pass


def must(condition, text):
    if not condition:
        raise Failed(text)


def become_reaper():
    """The program's end is ours to see when its parent was killed."""
    PR_SET_CHILD_SUBREAPER = 36
    must(ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0, "no subreaper")


class Reaper:
    """Ends of processes that are no children of subprocess: one wait for all, as threads would take each other's."""

    def __init__(self):
        self.ends = {}
        self.lock = threading.Lock()

    def poll(self, pid):
        """Wait status of a process that has ended, None while it has not."""
        with self.lock:
            if pid not in self.ends:
                try:
                    ended, status = os.waitpid(pid, os.WNOHANG)
                except ChildProcessError:
                    return GONE
                if ended == pid:
                    self.ends[pid] = status
            return self.ends.get(pid)

    def wait(self, pid, patience=PATIENCE):
        deadline = time.monotonic() + patience
        while (status := self.poll(pid)) is None:
            must(time.monotonic() < deadline, f"process {pid} did not end")
            time.sleep(0.002)
        return status


def without_warnings(errors):
    """Without what runtimes say of themselves (without_remarks of lib.sh)."""
    remarks = b"Use of non-host signal", b"Resource leak detected by SharedSignalPool"
    return b"".join(line for line in errors.splitlines(True) if not any(remark in line for remark in remarks))


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def first_byte(path):
    try:
        with open(path, "rb") as file:
            return file.read(1)
    except OSError:
        return b""


def child_of(pid):
    """The only child of a process, 0 if it has none."""
    children = read(f"/proc/{pid}/task/{pid}/children").split()
    return int(children[0]) if children else 0


def environment_of(pid, name):
    for variable in read(f"/proc/{pid}/environ").split(b"\0"):
        if variable.startswith(name.encode() + b"="):
            return variable.partition(b"=")[2].decode()
    return ""


def collector_of(program):
    """The rtl collect that a program's librtl has started, and its session; 0 if there is none (yet)."""
    for pid in os.listdir("/proc"):
        words = read(f"/proc/{pid}/cmdline").split(b"\0") if pid.isdigit() else []
        if b"collect" in words and b"--pid" in words and words[words.index(b"--pid") + 1] == str(program).encode():
            return int(pid), words[words.index(b"--session") + 1].decode()
    return 0, ""


def somebody_writes(trace):
    """A program, or what its librtl started to become a collector: they have this in their environment."""
    return any(environment_of(pid, "RTL_OUTPUT") == trace for pid in os.listdir("/proc") if pid.isdigit())


class Run:
    """One program, one instant."""

    def __init__(self, test, number):
        self.test, self.number = test, number
        self.random = random.Random(f"{test.options.seed}-{test.options.who}-{number}")
        self.name = list(PROGRAMS)[number % len(PROGRAMS)]
        self.bare = self.random.random() < 0.25
        self.folder = os.path.join(test.scratch, str(number))
        self.trace = os.path.join(self.folder, "t.db")
        self.truth = os.path.join(self.folder, "truth")
        self.session, self.ring = "", None
        self.rtl = self.program = self.collector = 0
        os.mkdir(self.folder)

    def start(self):
        """Starts the program, under rtl trace or bare."""
        build, (plugin, command, duration) = self.test.build, PROGRAMS[self.name]
        command = command.split()
        command[0] = f"{build}/tests/bin/{command[0]}"
        environment = dict(self.test.environment, SOFTGPU_TRUTH=self.truth, SOFTGPU_PLUGINS=f"{build}/tests/lib/{plugin}")
        if duration:
            environment["SOFTGPU_DURATION"] = duration
        if self.bare:
            environment.update(RTL_MODE="full", RTL_OUTPUT=self.trace,
                               HSA_TOOLS_LIB=f"{build}/lib/librtl.so", LD_PRELOAD=f"{build}/lib/librtl.so:{build}/lib/softgpu/libsoftgpu.so")
        else:
            command = [f"{build}/bin/rtl", "trace", "-q", "--gpu", "soft", "-o", self.trace, "--", *command]
        output, errors = (open(os.path.join(self.folder, name), "wb") for name in ("out", "err"))
        # Not subprocess: the reaper alone waits.
        command = ["/usr/bin/env", "-C", self.folder, *command]
        pid = os.posix_spawn(command[0], command, environment, setpgroup=0, file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0), (os.POSIX_SPAWN_DUP2, output.fileno(), 1),
            (os.POSIX_SPAWN_DUP2, errors.fileno(), 2)])
        output.close()
        errors.close()
        if self.bare:
            self.program = pid
        else:
            self.rtl = self.collector = pid

    def ended(self):
        return self.test.reaper.poll(self.rtl or self.program) is not None

    def find(self):
        """Finds who is to be killed; False if there is nobody any more."""
        while not self.ended():
            if self.bare and not self.collector:
                self.collector, self.session = collector_of(self.program)
            if not self.bare and not self.program:
                self.program = child_of(self.rtl)
            if self.program and (self.collector or self.test.options.who == "program"):
                return True
            time.sleep(0.003)
        return False

    def hold_ring(self):
        """Keeps the program's ring, whose ledger outlives its file."""
        if not self.session:
            self.session = environment_of(self.program, "RTL_SESSION")
        try:
            self.ring = os.open(os.path.join(self.session or "/nowhere", f"ring.{self.program}.0"), os.O_RDWR)
        except OSError:
            self.ring = None

    def ring_state(self):
        """Of a copy: rings are opened by no link, and this one's name is gone."""
        path = os.path.join(self.folder, "ring")
        shutil.copyfile(f"/proc/self/fd/{self.ring}", path)
        state = subprocess.run([f"{self.test.build}/tests/bin/ring_state", path], check=True, capture_output=True).stdout
        os.unlink(path)
        return json.loads(state)

    def wait_until(self, instant):
        """That many seconds from now, or the end before it: then this program is as short as that, for later instants."""
        begin = time.monotonic()
        while (passed := time.monotonic() - begin) < instant and not self.ended():
            time.sleep(min(0.005, instant - passed))
        if self.ended():
            self.test.lengths[self.name] = min(self.test.lengths[self.name], time.monotonic() - begin)

    def kill(self):
        """At the instant: who is to be killed, and who was."""
        who = self.test.options.who
        self.wait_until(self.random.uniform(0, self.test.lengths[self.name]))
        gap = self.random.choice([0, 0, self.random.uniform(0, 0.003)])
        first = self.random.choice(["program", "collector"])
        if not self.find():
            return False
        self.hold_ring()
        victims = {"program": [self.program], "collector": [self.collector],
                   "both": [self.program, self.collector] if first == "program" else [self.collector, self.program]}[who]
        alive = True
        for pid in victims:
            if pid != victims[0]:
                time.sleep(gap)
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                alive = False
        self.at = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        return alive

    def finish(self):
        """Waits until everything is over. Wait status of the program, GONE if rtl has seen its end, None if it had none."""
        reaper = self.test.reaper
        if self.rtl:
            self.rtl_status = reaper.wait(self.rtl)
        status = None
        if self.program and (self.bare or self.rtl_status == signal.SIGKILL):
            status = reaper.wait(self.program)
        if self.bare:
            # A process is not seen where it goes on in a child while they are looked at one by one: it does so twice.
            deadline, looks = time.monotonic() + PATIENCE, 0
            while looks < 3 and time.monotonic() < deadline:
                looks = 0 if somebody_writes(self.trace) else looks + 1
                time.sleep(0.005)
        return status

    def sql(self, query):
        result = subprocess.run([self.test.rtl, "sql", "--json", self.trace, query], capture_output=True, check=False)
        must(result.returncode == 0, f"rtl sql ended with status {result.returncode}: {result.stderr.decode()}")
        return json.loads(result.stdout)

    def check(self):
        """rtl check against the truth; its status agrees with its verdict."""
        command = [self.test.rtl, "check", "--json", self.trace]
        if first_byte(self.truth) not in (b"", b"\0"):  # killed while the log was made, the device had executed nothing yet
            command += ["--truth", self.truth]
        result = subprocess.run(command, capture_output=True, check=False)
        must(result.returncode in (0, 1), f"rtl check ended with status {result.returncode}: {result.stderr.decode()}")
        found = json.loads(result.stdout)
        same = found.get("truth", {"same": True})["same"]
        must((result.returncode == 0) == (found["complete"] and same), "the status of rtl check is not its verdict")
        return found

    def check_sound(self, found):
        """What holds whoever was killed."""
        with sqlite3.connect(self.trace) as database:
            must(database.execute("PRAGMA integrity_check").fetchone()[0] == "ok", "the database is damaged")
        total = found["total"]
        for queue in self.sql("""SELECT process, queue, max(stored) AS stored, max(recorded) AS recorded, max(seen) AS seen,
                                 max(skipped) + sum(lost) AS gone FROM ledger GROUP BY 1, 2"""):
            must(queue["stored"] <= queue["recorded"], f"more in the trace than recorded: {queue}")
            must(queue["recorded"] + queue["gone"] <= queue["seen"], f"more is explained than was seen: {queue}")
        truth = found.get("truth")
        if not truth:
            must(total["stored"] == 0, "kernels in the trace, and the device has executed none")
            return
        accounts = [account for account in (truth, truth["copies"]) if account.get("wrong_time")]
        if accounts and self.sql("SELECT count(*) AS n FROM main.clock_points")[0]["n"] < 2:
            must(not found["finished"] or any("before the clock of its GPU was known" in note for note in found["notes"]),
                 "nobody says that there was no clock")
            for account in accounts:
                account["wrong_time"] = 0
        for what in ("invented", "repeated", "wrong_name", "wrong_ticks", "wrong_time"):
            must(truth[what] == 0, f"{what}: {truth[what]}, {truth['differences']}")
            must(truth["copies"].get(what, 0) == 0, f"copies {what}: {truth['copies']}")
        must(total["recorded"] <= truth["executed"], f"recorded {total['recorded']}, executed {truth['executed']}")

    def check_graphs(self, finished):
        """Each kernel of a launch that came whole has its node. Kernels that no launch in the trace had are the last ones: of a
        launch that a kill cut short, or stored alone after the last checkpoint."""
        if self.name == "found":
            strange = self.sql("""SELECT count(*) AS n FROM kernels k JOIN graph_nodes g USING (process, graph, generation, node)
                WHERE g.mangled <> k.mangled OR g.grid_x <> k.grid_x""")[0]["n"]
            must(strange == 0, f"{strange} kernels are not of the node that they name")
        if self.name not in ("replays", "flood"):
            return
        row = self.sql(f"""WITH k AS MATERIALIZED (SELECT id, launch, node, certain, duration FROM kernels),
                 part AS MATERIALIZED (SELECT launch FROM graph_launches WHERE kernels < expected)
            SELECT sum(launch IS NOT NULL AND launch NOT IN part AND (node IS NULL OR certain = 0)) AS unknown,
                   sum(duration <> 100 + 10 * (node % 50)) AS wrong, sum(launch IS NULL) AS outside,
                   min(CASE WHEN launch IS NULL THEN id END) AS first_outside,
                   max(CASE WHEN launch IS NOT NULL THEN id END) AS last_inside FROM k""")[0]
        must(not row["unknown"], f"{row['unknown']} kernels of launches without their node")
        must(not row["wrong"], f"{row['wrong']} kernels last other than their node")
        must(not finished or (row["outside"] or 0) < 2 * NODES, f"{row['outside']} kernels are of no launch")
        must(not row["outside"] or not row["last_inside"] or row["first_outside"] > row["last_inside"],
             "kernels without a launch stand before others that have one")
        whole = self.sql(f"SELECT count(*) AS n FROM graph_launches WHERE expected <> {NODES}")[0]
        must(whole["n"] == 0, f"{whole['n']} launches of another size")

    def check_unaccounted(self, found):
        """No more is complete, and no less unaccounted for, than what the device executed and the trace has not."""
        accounts = [found[name] for name in ("total", "copies")]
        gone = sum(account["lost"]["killed"] for account in accounts)
        missing = found.get("truth", {}).get("executed", 0) - found["total"]["stored"]
        moved = found.get("truth", {}).get("copies", {})
        by_device = found["copies"]["stored"] - moved.get("by_host", 0)
        missing += max(0, moved.get("executed", 0) - moved.get("internal", 0) - by_device)
        lost = sum(sum(account["lost"].values()) for account in accounts)
        must(found["unaccounted"] == gone, f"{gone} were lost when the process died, {found['unaccounted']} are unaccounted for")
        must(missing <= lost, f"{missing} ran and are not in the trace, {lost} are said to be lost")
        must(not found["complete"] or (missing <= 0 and found["torn"] == 0), f"complete, and {missing} ran that are not there")
        if found["died"] == 1:
            said = "none of its packets that RTL saw is" if gone == 0 else f"of its packets {'is' if gone == 1 else 'are'}"
            must(f"1 of 1 processes ended without telling: {'' if gone == 0 else 'at most '}" in found["completeness"], found["completeness"])
            must(f"{said} unaccounted for" in found["completeness"], found["completeness"])

    def check_killed_program(self, found):
        must(found["finished"], "the trace was not ended in order")
        must(found["processes"] <= 1, f"one program, and these processes: {self.sql('SELECT * FROM processes')}")
        must(found["running"] == 0, "the process is said to run")
        truth, total = found.get("truth", {}), found["total"]
        must(total["pending"] == 0, f"{total['pending']} kernels are not accounted for")
        must(total["stored"] == total["recorded"], "what was recorded is not in the trace")
        must(truth.get("missing", 0) == 0 and truth.get("misaccounted_queues", 0) == 0, f"{truth.get('differences')}")
        must(truth.get("copies", {}).get("missing", 0) == 0, f"copies are missing: {truth.get('differences')}")
        must(truth.get("executed", 0) <= total["seen"], f"executed {truth.get('executed')}, seen {total['seen']}")
        self.check_unaccounted(found)
        if self.ring is None:
            return
        ring, copies = self.ring_state(), found["copies"]
        must(ring["pid"] == self.program, "another's ring")
        for what in ("seen", "skipped", "packets"):
            must(total[what] + copies[what] == ring[what], f"{what}: {total[what] + copies[what]}, in the ring {ring[what]}")
        must(total["recorded"] + copies["recorded"] >= ring["recorded"],
             f"handed over {ring['recorded']}, in the trace {total['recorded']}")
        ended = sum(account["lost"][why] for account in (total, copies) for why in ("killed", "shutdown"))
        lost = sum(sum(account["lost"].values()) for account in (total, copies))
        must(lost - ended <= ring["lost"] <= lost, f"lost {lost}, of them {ended} by the end; in the ring {ring['lost']}")
        if not ring["closed"]:
            must(found["died"] == 1, "the process is not said to have died")
        self.test.tell("kernels lost by the end, most", ended)

    def check_killed_collector(self, found):
        must(not found["finished"] and not found["complete"], "the trace is said to have been ended in order")
        total = found["total"]
        end, kernels = self.sql("SELECT value AS v FROM meta WHERE key = 'end' UNION ALL SELECT count(*) FROM kernels")
        must(kernels["v"] == total["stored"], "the ledger's count of stored kernels is another one")
        self.test.tell("ms between the last checkpoint and the kill, most", (self.at - end["v"]) // 1000000)
        if self.ring is None:
            return
        ring = self.ring_state()
        must(total["recorded"] - total["stored"] <= ring["slots"], f"{total['recorded']} recorded, {total['stored']} stored")

    def check_program(self, status):
        """The program is none the worse for the death of its collector."""
        alone = self.test.alone[self.name]
        output, errors = (read(os.path.join(self.folder, name)) for name in ("out", "err"))
        if status not in (None, GONE) and os.waitstatus_to_exitcode(status) == 2 and not output and self.ring is None:
            return  # rtl was killed before it had let the program begin
        if status not in (None, GONE):
            must(status == alone[0], f"the program's wait status is {status}, alone {alone[0]}")
        must(output == alone[1], f"the program's output differs: {output[-300:]!r}")
        errors = without_warnings(errors)
        must(errors == without_warnings(alone[2]), f"the program's errors differ: {errors[-300:]!r}")

    def verify(self):
        self.start()
        killed = self.kill()
        status = self.finish()
        who = self.test.options.who
        if who == "collector":
            self.check_program(status)
        if not os.path.exists(self.trace):
            must(killed and (who != "program" or not self.collector), "there is no trace")
            self.test.tell("runs killed before there was a trace", 1, add=True)
            return
        found = self.check()
        self.check_sound(found)
        self.check_graphs(found["finished"])
        over = found["finished"]
        if who == "program" or over:
            self.check_killed_program(found)
        else:
            self.check_killed_collector(found)
        self.test.tell("runs that had ended before", 0 if killed else 1, add=True)
        self.test.tell("kernels in the traces", found["total"]["stored"], add=True)

    def clean(self):
        if self.ring is not None:
            os.close(self.ring)
        if self.session:
            self.test.sessions.append(self.session)
        if not self.test.options.keep:
            shutil.rmtree(self.folder, ignore_errors=True)


class Test:
    def __init__(self, options):
        self.options = options
        self.build = os.path.abspath(options.build)
        self.rtl = f"{self.build}/bin/rtl"
        self.reaper = Reaper()
        self.facts, self.lock = {}, threading.Lock()
        self.alone, self.lengths, self.sessions = {}, {}, []
        unwanted = ("RTL_", "SOFTGPU_", "HSA_TOOLS_LIB", "LD_PRELOAD", "LD_LIBRARY_PATH")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
        self.environment["RTL_QUEUE"] = os.environ.get("E2E_QUEUE", "interpose")
        self.scratch = tempfile.mkdtemp(prefix="kill-")

    def tell(self, fact, number, add=False):
        with self.lock:
            before = self.facts.get(fact, 0)
            self.facts[fact] = before + number if add else max(before, number)

    def measure(self, name):
        """A run in which nobody is killed: its output, and how long it takes."""
        run = Run(self, list(PROGRAMS).index(name) - len(PROGRAMS))
        run.bare = False
        begin = time.monotonic()
        run.start()
        status = run.finish() or run.rtl_status
        self.lengths[name] = (time.monotonic() - begin) * 1.05
        must(status == 0, f"{name} ended with wait status {status}: {read(run.folder + '/err')!r}")
        self.alone[name] = (status, read(run.folder + "/out"), without_warnings(read(run.folder + "/err")))
        found = run.check()
        must(found["complete"] and found["truth"]["same"], f"undisturbed, the trace of {name} is not complete: {found}")
        run.clean()

    def shoot(self, number):
        run = Run(self, number)
        try:
            run.verify()
        except Failed as failure:
            o = self.options
            return (f"instant {number} ({run.name}{', bare' if run.bare else ''}): {failure}\n    kill.py {o.build} {o.who} "
                    f"--seed {o.seed} --only {number} --keep")
        finally:
            run.clean()
        return None

    def sweep(self):
        """What killed collectors left behind, the next rtl trace removes; what is a few seconds old it leaves alone."""
        left = [session for session in self.sessions if os.path.exists(session)]
        for session in left:
            with contextlib.suppress(FileNotFoundError):  # by the rtl trace of another test
                os.utime(os.path.join(session, "session"), (1000000, 1000000))
        self.tell("sessions left behind and swept", len(left))
        # What another looks at this moment is left to that one, which may have begun when it was not old yet.
        deadline = time.monotonic() + PATIENCE
        while (left := [session for session in left if os.path.exists(session)]) and time.monotonic() < deadline:
            subprocess.run([self.rtl, "trace", "-q", "-f", "--gpu", "soft", "-o", os.path.join(self.scratch, "sweep.db"), "true"],
                           check=True, env=self.environment, capture_output=True)
        return [f"the session {session} is still there" for session in left]

    def main(self):
        become_reaper()
        must(os.path.exists(f"/proc/self/task/{os.getpid()}/children"), "this kernel does not tell the children of a process")
        for name in PROGRAMS:
            self.measure(name)
        numbers = range(self.options.instants) if self.options.only is None else [self.options.only]
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            failures = [failure for failure in pool.map(self.shoot, numbers) if failure]
        failures += self.sweep()
        if len(numbers) >= 20 and self.facts.get("runs that had ended before", 0) > len(numbers) / 2:
            failures.append("most runs had ended before anybody was killed")
        print(f"{len(numbers)} instants, {len(failures)} failed; seed {self.options.seed}")
        print("length of the programs:", ", ".join(f"{name} {length:.2f} s" for name, length in self.lengths.items()))
        for fact, number in self.facts.items():
            print(f"{fact}: {number}")
        for failure in failures:
            print(failure)
        if self.options.keep:
            print(f"kept in {self.scratch}")
        else:
            shutil.rmtree(self.scratch, ignore_errors=True)
        return 1 if failures else 0


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("who", choices=["program", "collector", "both"])
    parser.add_argument("--instants", type=int, help="30 of the program, 20 of the collector, 30 of both")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", type=int)
    parser.add_argument("--keep", action="store_true")
    parsed = parser.parse_args()
    parsed.instants = parsed.instants or {"program": 30, "collector": 20, "both": 30}[parsed.who]
    return parsed


if __name__ == "__main__":
    sys.exit(Test(options()).main())
