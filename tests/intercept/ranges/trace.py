"""trace.py RTL TRACE: the numbers of `rtl ranges --json --kernels --metrics all` against ones made of the rows that SQL gives."""
import json
import math
import subprocess
import sys

rtl, trace = sys.argv[1:]


def output(*command):
    return subprocess.run([rtl, *command], check=True, capture_output=True, text=True).stdout


def rows(query):
    return json.loads(output('sql', '--json', trace, query))


def same(what, got, wanted):
    if got != wanted:
        sys.exit(f'{what}: rtl ranges says {got}, SQL {wanted}')


def covered(intervals, least=1):
    """Time with so many open, or more."""
    edges = sorted([(start, 1) for start, _ in intervals] + [(stop, -1) for _, stop in intervals])
    last, depth, time = 0, 0, 0
    for at, step in edges:
        time += at - last if depth >= least else 0
        last, depth = at, depth + step
    return time


said = json.loads(output('ranges', trace, '--json', '--kernels', '--metrics', 'all'))
ranges = {(row['process'], row['id']): row for row in rows("SELECT * FROM ranges WHERE kind <> 'mark'")}
calls = {(row['process'], row['correlation']): row for row in rows('SELECT process, correlation, range, start FROM api')}


def innermost(row):
    """The range that an operation was submitted in, which is that of its call: a graph may have been captured elsewhere."""
    call = calls.get((row['process'], row['correlation']))
    if call:
        same(f'range of an operation of call {row["correlation"]}', row['range'], call['range'])
    key = row['process'], row['range']
    return key if key in ranges else None


def around(key):
    while key in ranges:
        yield key
        key = key[0], ranges[key]['parent']


def gather(items):
    inside = {key: [] for key in ranges}
    for item in items:
        for key in around(innermost(item)):
            inside[key].append(item)
    return inside


kernel_rows = rows('SELECT * FROM kernels')
packets = {row['id']: row['sequenceId'] for row in rows('SELECT id, sequenceId FROM rocpd_op WHERE id > 0')}
kernels, copies = gather(kernel_rows), gather(rows('SELECT process, bytes, start, end, correlation, range FROM copies'))
launches = gather(rows('SELECT process, correlation, range FROM graph_launches'))

same('ranges', sorted((row['process'], row['id']) for row in said['ranges']), sorted(ranges))
same('count', said['range_count'], len(ranges))
same('kernels outside', said['kernels_outside'], sum(innermost(row) is None for row in kernel_rows))
for row in said['ranges']:
    key = row['process'], row['id']
    what, sql = f'range {key} {row["name"][:40]}', ranges[key]
    ran = [(kernel['start'], kernel['end']) for kernel in kernels[key]]
    copied = [(copy['start'], copy['end']) for copy in copies[key] if copy['start'] is not None]
    names = {}
    for kernel in kernels[key]:
        names.setdefault(kernel['name'], []).append(kernel['end'] - kernel['start'])
    wall = sql['end'] - sql['start'] if sql['end'] is not None else None
    cut = [(max(start, sql['start']), min(end, sql['end'])) for start, end in ran + copied] if wall is not None else []
    wanted = {
        'parent': sql['parent'], 'thread': sql['thread'], 'kind': sql['kind'], 'name': sql['name'], 'start_ns': sql['start'],
        'end_ns': sql['end'], 'wall_ns': wall, 'depth': len(list(around(key))) - 1,
        'kernels': len(ran), 'kernel_ns': sum(end - start for start, end in ran),
        'busy_ns': covered(ran), 'overlap_ns': covered(ran, 2),
        'copies': len(copies[key]), 'copy_bytes': sum(copy['bytes'] for copy in copies[key]),
        'copy_ns': sum(end - start for start, end in copied), 'copying_ns': covered(copied),
        'active_ns': covered(ran + copied), 'copy_overlap_ns': covered(ran) + covered(copied) - covered(ran + copied),
        'idle_ns': wall - covered([(start, end) for start, end in cut if end > start]) if wall is not None else None,
        'first_ns': min((start for start, _ in ran + copied), default=None),
        'last_ns': max((end for _, end in ran + copied), default=None),
        'graph_launches': len(launches[key]),
    }
    for field, value in wanted.items():
        same(f'{field} of {what}', row[field], value)
    same(f'names of {what}', {name['name']: (name['kernels'], name['total_ns']) for name in row['names']},
         {name: (len(times), sum(times)) for name, times in names.items()})
    totals = [name['total_ns'] for name in row['names']]
    same(f'order of the names of {what}', totals, sorted(totals, reverse=True))

    def groups(kernel):
        return math.prod(-(-kernel[f'grid_{axis}'] // kernel[f'block_{axis}']) for axis in 'xyz')

    def share(numerator, denominator, factor=1):
        return factor * numerator / denominator if denominator else None

    items = sum(math.prod(kernel[f'grid_{axis}'] for axis in 'xyz') for kernel in kernels[key])
    lanes = sum(groups(kernel) * math.prod(kernel[f'block_{axis}'] for axis in 'xyz') for kernel in kernels[key])
    wanted_metrics = {
        'kernels': len(ran), 'kernel_time': wanted['kernel_ns'], 'kernel_time_max': max((end - start for start, end in ran), default=0),
        'kernel_time_mean': share(wanted['kernel_ns'], len(ran)), 'work_items': items, 'work_groups': sum(map(groups, kernels[key])),
        'work_group_size': share(items, sum(map(groups, kernels[key]))), 'lane_use': share(items, lanes, 100),
        'copied': wanted['copy_bytes'], 'gpu_active': share(wall - wanted['idle_ns'], wall, 100) if wall else None,
        'concurrency': share(wanted['kernel_ns'], wanted['busy_ns']),
        'kernel_overlap': share(wanted['overlap_ns'], wanted['busy_ns'], 100),
        'copy_hidden': share(wanted['copy_overlap_ns'], wanted['copying_ns'], 100),
    }
    for name, value in wanted_metrics.items():
        if (value is None) != (row['metrics'][name] is None) or abs((row['metrics'][name] or 0) - (value or 0)) > 1e-9 * (value or 0):
            same(f'metric {name} of {what}', row['metrics'][name], value)
    same(f'other metrics of {what}', set(row['metrics']) - set(wanted_metrics), {'lds_max', 'scratch_max'})

    # One by one: those of the range itself, calls in their order, packets of a queue in theirs within a call.
    own = {kernel['id']: kernel for kernel in kernels[key] if innermost(kernel) == key}
    same(f'kernels launched in {what}', sorted(kernel['id'] for kernel in row['launched']), sorted(own))
    last_call, last_packet = 0, {}
    for kernel in row['launched']:
        sql = own[kernel['id']]
        call = calls.get((sql['process'], sql['correlation']), {'start': 0})['start']
        if call < last_call:
            sys.exit(f'{what}: the kernels are not in the order of their calls')
        last_call, queue = call, (call, sql['queue'])
        if packets[kernel['id']] != kernel['packet'] or kernel['packet'] < last_packet.get(queue, -1):
            sys.exit(f'{what}: the kernels of a queue are not in the order of its packets')
        last_packet[queue] = kernel['packet']

# By name: ranges whose names are the same from the outermost one in.
def path_of(key):
    return key[0], tuple(ranges[outer]['name'] for outer in reversed(list(around(key))))


def ranked(times, share):
    """The least of the times that so many thousandths of them do not exceed."""
    return sorted(times)[-(-len(times) * share // 1000) - 1] if times else None


by_path = {}
for row in said['ranges']:
    by_path.setdefault(path_of((row['process'], row['id'])), []).append(row)
paths = []
for row in said['by_name']:
    outer = paths[row['parent']][1] if row['parent'] is not None else ()
    paths.append((row['process'], (*outer, row['name'])))
same('names', sorted(paths), sorted(by_path))
for row, path in zip(said['by_name'], paths):
    of = by_path[path]
    walls = [one['wall_ns'] for one in of if one['end_ns'] is not None]
    wanted = {'ranges': len(of), 'open': len(of) - len(walls), 'depth': len(path[1]) - 1, 'total_ns': sum(walls),
              'p50_ns': ranked(walls, 500), 'p99_ns': ranked(walls, 990), 'max_ns': max(walls, default=None),
              'idle_ns': sum(one['idle_ns'] or 0 for one in of), 'graph_launches': sum(one['graph_launches'] for one in of)}
    wanted.update({field: sum(one[field] for one in of) for field in ('busy_ns', 'kernels', 'kernel_ns', 'copies', 'copy_bytes')})
    for field, value in wanted.items():
        same(f'{field} of the ranges {path}', row[field], value)
    same(f'metric kernels of the ranges {path}', row['metrics']['kernels'], wanted['kernels'])
for parent in {row['parent'] for row in said['by_name']}:
    totals = [row['total_ns'] for row in said['by_name'] if row['parent'] == parent]
    same(f'order of the names within {parent}', totals, sorted(totals, reverse=True))

if not any(row['kernels'] for row in said['ranges']):
    sys.exit('nothing was compared: no range has kernels')
print(len(ranges), 'ranges,', len(kernel_rows), 'kernels')
