"""summary.py RTL TRACE [FROM TO]: the numbers of `rtl summary --json` against ones made of the rows that SQL gives."""
import json
import math
import subprocess
import sys

rtl, trace, *window = sys.argv[1:]
begin, end = (int(window[0]), int(window[1])) if window else (0, 1 << 63)


def rows(query):
    text = subprocess.run([rtl, 'sql', '--json', trace, query], check=True, capture_output=True, text=True).stdout
    return json.loads(text)


def overlaps(row):
    return row['start'] is not None and row['start'] < end and (row['end'] > begin or row['start'] >= begin)


def cut(row):
    return max(row['start'], begin), min(max(row['end'], row['start'], begin), end)


def times(intervals):
    """Time with one or more open, and with two or more."""
    edges = sorted([(start, 1) for start, _ in intervals] + [(stop, -1) for _, stop in intervals])
    last, depth, busy, overlap = 0, 0, 0, 0
    for time, step in edges:
        busy += time - last if depth > 0 else 0
        overlap += time - last if depth > 1 else 0
        last, depth = time, depth + step
    return busy, overlap


def rank(values, fraction):
    return sorted(values)[max(1, math.ceil(fraction * len(values))) - 1]


def same(what, got, wanted):
    if got != wanted:
        sys.exit(f'{what}: the summary says {got}, SQL {wanted}')


def near(what, got, wanted):
    if abs(got - wanted) > wanted / 128 or (wanted < 128 and got != wanted):
        sys.exit(f'{what}: the summary says {got}, SQL {wanted}')


def check_durations(what, said, durations):
    same(f'total of {what}', said['total_ns'], sum(durations))
    same(f'maximum of {what}', said['max_ns'], max(durations, default=0))
    for percent in (50, 90, 99):
        near(f'p{percent} of {what}', said[f'p{percent}_ns'], rank(durations, percent / 100) if durations else 0)


def grouped(items, key):
    groups = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def length(row):
    return max(row['end'], row['start']) - row['start']


def check_span(what, said, kernels, whole=None):
    """`whole`: the time of which it was idle for the rest; None: from its first start to its last end."""
    intervals = [cut(kernel) for kernel in kernels]
    busy, overlap = times(intervals)
    same(f'kernels of {what}', said['kernels'], len(kernels))
    same(f'first start of {what}', said['first_ns'], min((start for start, _ in intervals), default=0))
    same(f'last end of {what}', said['last_ns'], max((stop for _, stop in intervals), default=0))
    same(f'busy time of {what}', said['busy_ns'], busy)
    same(f'overlap of {what}', said['overlap_ns'], overlap)
    same(f'idle time of {what}', said['idle_ns'], (said['last_ns'] - said['first_ns'] if whole is None else whole) - busy)


options = ['--from', window[0], '--to', window[1]] if window else []
said = json.loads(subprocess.run([rtl, 'summary', '--json', '--top', '0', *options, trace], check=True,
                                 capture_output=True, text=True).stdout)
kernels = [row for row in rows('SELECT * FROM kernels') if overlaps(row)]
copies = [row for row in rows('SELECT * FROM copies') if overlaps(row)]
calls = [row for row in rows('SELECT * FROM api') if overlaps(row)]
launches = [row for row in rows('SELECT * FROM graph_launches') if overlaps(row)]

info = json.loads(subprocess.run([rtl, 'info', '--json', trace], check=True, capture_output=True, text=True).stdout)
same('window', said['window_ns'], min(end, info['end_ns']) - max(begin, info['start_ns']) if window else None)
same('kernels', said['kernel_count'], len(kernels))
same('time of kernels', said['kernel_ns'], sum(map(length, kernels)))
by_name = grouped(kernels, lambda kernel: kernel['name'])
same('names', sorted(entry['name'] for entry in said['kernels']), sorted(by_name))
for entry in said['kernels']:
    durations = [length(kernel) for kernel in by_name[entry['name']]]
    mean = sum(durations) / len(durations)
    deviation = math.sqrt(sum((value - mean)**2 for value in durations) / len(durations))
    same('calls of ' + entry['name'], entry['calls'], len(durations))
    same('minimum of ' + entry['name'], entry['min_ns'], min(durations))
    check_durations(entry['name'], entry, durations)
    if not math.isclose(entry['deviation_ns'], deviation, rel_tol=1e-6, abs_tol=1e-6):
        sys.exit(f"deviation of {entry['name']}: the summary says {entry['deviation_ns']}, SQL {deviation}")

for entry in said['queues']:
    check_span(f"queue {entry['queue']}", entry,
               [k for k in kernels if (k['process'], k['queue']) == (entry['process'], entry['queue'])])
for entry in said['gpus']:
    running = [kernel for kernel in kernels if kernel['gpu'] == entry['gpu']]
    copying = [cut(copy) for copy in copies if copy['gpu'] == entry['gpu']]
    check_span(f"GPU {entry['gpu']}", entry, running, said['window_ns'])
    same('copies of the GPU', entry['copies'], len(copying))
    same('time of copies', entry['copy_ns'], times(copying)[0])
    both = times(copying)[0] + entry['busy_ns'] - times(copying + [cut(kernel) for kernel in running])[0]
    same('copies beside kernels', entry['copy_overlap_ns'], both)

same('host calls', said['call_count'], len(calls))
for name, members in grouped(calls, lambda call: call['name']).items():
    entry, = [call for call in said['calls'] if call['name'] == name]
    same('calls of ' + name, entry['calls'], len(members))
    check_durations(name, entry, [length(call) for call in members])

for key, members in grouped(launches, lambda launch: (launch['process'], launch['graph'])).items():
    entry, = [graph for graph in said['graphs'] if (graph['process'], graph['graph']) == key]
    same(f'launches of graph {key}', entry['launches'], len(members))
    check_durations(f'graph {key}', entry, [length(launch) for launch in members])
print(len(kernels), len(copies), len(calls), len(launches))
