"""table.py TRACE: graphs of a trace, how long their launches take, and the kernels that take the most of it; plain text.

    PYTHONPATH=python RTL_READER=build/lib/librtltrace.so.0 python3 examples/table.py app.db
"""
import collections
import statistics
import sys

import rtl

MOST = 3  # kernels of a graph that are listed


def launch_times(trace, process, graph):
    """Durations, ns, of the launches of a graph that have all of their kernels in the trace."""
    return [launch.end - launch.start for launch in trace.launches(graph, process=process)
            if launch.kernels and launch.kernels == launch.expected]


def kernels(trace):
    """{(process, graph): {name: [count, ns]}}; graph None: eager launches. In pieces, so that a trace may be long."""
    sums = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
    for group in trace.summary("name,graph"):
        of_name = sums[group.process, group.graph][group.name]
        of_name[0] += group.count
        of_name[1] += group.total
    return sums


def row(*cells):
    print("{:>7} {:>9} {:>9} {:>12} {:>12}  {}".format(*cells))


def main():
    with rtl.open(sys.argv[1]) as trace:
        row("graph", "launches", "kernels", "median us", "longest us", "most of the time")
        sums = kernels(trace)
        for (process, graph), names in sorted(sums.items(), key=lambda item: -sum(ns for _, ns in item[1].values())):
            total = sum(ns for _, ns in names.values())
            most = sorted(names.items(), key=lambda item: -item[1][1])[:MOST]
            times = launch_times(trace, process, graph) if graph is not None else []
            row("eager" if graph is None else graph, len(times) or "", sum(count for count, _ in names.values()),
                f"{statistics.median(times) / 1e3:.1f}" if times else "", f"{max(times) / 1e3:.1f}" if times else "",
                ", ".join(f"{name.partition('(')[0]} {100 * ns / total:.0f} %" for name, (_, ns) in most))


if __name__ == "__main__":
    main()
