"""ranks_exposed.py RTL FILE.db TRUTH HOSTS: what rtl ranks says of the trace that ranks_exposed.c has made, against what it has counted."""
import json
import subprocess
import sys

rtl, trace, truth, hosts = sys.argv[1:]
hosts = int(hosts)
failed = 0


def must(condition, what):
    global failed
    if not condition:
        print("not so:", what)
        failed += 1


collective, exposed = {}, {}
with open(truth, encoding="utf-8") as file:
    for line in file:
        rank, step, ns, bare = map(int, line.split())
        collective.setdefault(rank, []).append(ns)
        exposed.setdefault(rank, []).append(bare)
ranks, steps = len(collective), len(collective[0])
host = [rank * hosts // ranks for rank in range(ranks)]
waited = [sum(collective[rank][step] - min(collective[other][step] for other in range(ranks)) for step in range(steps)) for rank in range(ranks)]
at_home = [sum(collective[rank][step] - min(collective[other][step] for other in range(ranks) if host[other] == host[rank])
               for step in range(steps)) for rank in range(ranks)]

run = subprocess.run([rtl, "ranks", "--json", "--list", "--by", "collectives", trace], capture_output=True, text=True, check=True)
told = json.loads(run.stdout)
must((told["steps"], told["unlike_steps"]) == (steps, 0), f"{told['steps']} steps, {told['unlike_steps']} unlike")
must(0 < sum(map(sum, exposed.values())) < sum(map(sum, collective.values())), "some of the time is hidden, and some is not")
for rank, of in enumerate(told["ranks"]):
    must(of["collective_ns"] == sum(collective[rank]), f"rank {rank} is {of['collective_ns']} ns in collectives, not {sum(collective[rank])}")
    must(of["exposed_ns"] == sum(exposed[rank]), f"of rank {rank} {of['exposed_ns']} ns are exposed, not {sum(exposed[rank])}")
    must((of["waited_ns"], of["waited_for_host_ns"]) == (waited[rank], at_home[rank]), f"rank {rank} waits {of['waited_ns']}, {of['waited_for_host_ns']} of it at home")
    for step, each in enumerate(told["each_step"]):
        got = each["ranks"][rank]
        must((got["collective_ns"], got["exposed_ns"]) == (collective[rank][step], exposed[rank][step]), f"step {step} of rank {rank}: {got}")

# Hosts are what their ranks are together.
must([of["host"] for of in told["hosts"]] == [f"host{number}" for number in range(hosts)], f"the hosts: {told['hosts']}")
for number, of in enumerate(told["hosts"]):
    own = [rank for rank in range(ranks) if host[rank] == number]
    must(of["ranks"] == len(own), f"ranks of host {number}")
    must(of["collective_ns"] == sum(sum(collective[rank]) for rank in own), f"collectives of host {number}")
    must(of["exposed_ns"] == sum(sum(exposed[rank]) for rank in own), f"what is exposed on host {number}")
    must(of["waited_ns"] == sum(waited[rank] for rank in own), f"waits of host {number}")
    must(of["waited_for_host_ns"] == sum(at_home[rank] for rank in own), f"waits of host {number} for its own ranks")
    must(of["slowest"] == sum(told["ranks"][rank]["slowest"] for rank in own), f"slowest of host {number}")

text = subprocess.run([rtl, "ranks", "--by", "collectives", trace], capture_output=True, text=True, check=True).stdout
must("exposed" in text and ("for other hosts" in text) == (hosts > 1), text)
sys.exit(failed > 0)
