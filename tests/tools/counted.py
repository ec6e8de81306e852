"""counted.py RTL TRACE: what `rtl ranges` and `rtl summary` say of hardware counters, against what follows from the rows of SQL."""
import json
import subprocess
import sys

rtl, trace = sys.argv[1:]


def output(*command):
    return subprocess.run([rtl, *command], check=True, capture_output=True, text=True).stdout


def rows(query):
    return json.loads(output('sql', '--json', trace, query))


def same(what, got, wanted):
    near = isinstance(got, float) and isinstance(wanted, (int, float)) and abs(got - wanted) <= 1e-9 * abs(wanted)
    if got != wanted and not near:
        sys.exit(f'{what}: rtl says {got}, SQL {wanted}')


# The process of the first pass for each: the n-th of a pass is the n-th of another one.
counting = {row['process']: row for row in rows('SELECT * FROM counting')}
by_pass = {}
for process in sorted(counting):
    by_pass.setdefault(counting[process]['pass'], []).append(process)
first = {process: by_pass[min(by_pass)][place] for processes in by_pass.values() for place, process in enumerate(processes)}
of_kernels = any(row['mode'] == 'kernel' for row in counting.values())
of_ranges = any(row['mode'] == 'range' for row in counting.values())

# Ranges have a path: the names from the outermost one in, each with its place among those of its name.
ranges, paths, seen = {}, {}, {}
for row in rows("SELECT * FROM ranges WHERE kind <> 'mark' ORDER BY process, start, id"):
    key = row['process'], row['id']
    parent = paths.get((row['process'], row['parent']), ())
    family = row['process'], parent, row['name']
    seen[family] = seen.get(family, -1) + 1
    ranges[key], paths[key] = row, (*parent, (row['name'], seen[family]))
own = {key: row for key, row in ranges.items() if first.get(key[0], key[0]) == key[0]}
by_path = {(key[0], paths[key]): key for key in own}


def around(key):
    while key in ranges:
        yield key
        key = key[0], ranges[key]['parent']


# Kernels have a place: process, queue (which of those that have kernels), packet.
packets = {row['id']: row['sequenceId'] for row in rows('SELECT id, sequenceId FROM rocpd_op WHERE id > 0')}
queues = {}
for row in rows("SELECT process, queue FROM queues WHERE way <> 'copies' ORDER BY process, queue"):
    queues[row['process'], row['queue']] = sum(process == row['process'] for process, _ in queues)
kernels = {row['id']: row for row in rows('SELECT * FROM kernels')}


def place(kernel):
    process = kernel['process']
    return first.get(process, process), queues[process, kernel['queue']], packets[kernel['id']], kernel['name']


places = {place(kernel): kernel for kernel in kernels.values() if first.get(kernel['process'], kernel['process']) == kernel['process']}


class Counts:
    """Counters by name: their sum and, where kernels were counted, the most of one."""

    def __init__(self):
        self.sums, self.most, self.samples, self.whole = {}, {}, {}, False

    def add(self, name, value, whole):
        self.sums[name] = self.sums.get(name, 0) + value
        self.most[name] = max(self.most.get(name, 0), value)
        self.samples[name] = self.samples.get(name, 0) + 1
        self.whole = self.whole or whole


of_range, of_kernel, of_name, of_range_name = {}, {}, {}, {}
counted, counted_within = {}, {}
lost_kernels, lost_ranges, shared, shared_names = set(), set(), set(), {}
for row in rows('SELECT * FROM kernel_counters'):
    kernel = kernels.get(row['kernel'])
    if kernel is None:
        lost_kernels.add((row['process'], row['queue'], row['packet']))
        continue
    of_name.setdefault(kernel['name'], Counts()).add(row['name'], row['value'], False)
    for name in {ranges[key]['name'] for key in around((kernel['process'], kernel['range']))}:
        of_range_name.setdefault(name, Counts()).add(row['name'], row['value'], False)
        if first[kernel['process']] == kernel['process']:
            counted_within.setdefault(name, set()).add(kernel['id'])
    if first[kernel['process']] == kernel['process']:
        counted.setdefault(kernel['name'], set()).add(kernel['id'])
    partner = places.get(place(kernel))
    if partner is None:
        lost_kernels.add((row['process'], row['queue'], row['packet']))
        continue
    of_kernel.setdefault(partner['id'], Counts()).add(row['name'], row['value'], False)
    for key in around((partner['process'], partner['range'])):
        of_range.setdefault(key, Counts()).add(row['name'], row['value'], False)
for row in rows('SELECT * FROM range_counters'):
    key = row['process'], row['range']
    if key in ranges:
        name = ranges[key]['name']
        outer = [ranges[other]['name'] for other in around(key)][1:]
        if name not in outer:
            of_range_name.setdefault(name, Counts()).add(row['name'], row['value'], True)
            if row['shared']:
                shared_names.setdefault(name, set()).add((key, row['agent']))
    partner = by_path.get((first[key[0]], paths.get(key)))
    if partner is None:
        lost_ranges.add((key, row['agent']))
        continue
    of_range.setdefault(partner, Counts()).add(row['name'], row['value'], True)
    if row['shared']:
        shared.add(partner)


def union(kernels_of):
    time, until = 0, 0
    for start, end in sorted((kernel['start'], kernel['end']) for kernel in kernels_of):
        time += max(0, end - max(start, until))
        until = max(until, end)
    return time


def metrics(counts, busy):
    """The formulas of metrics.def once more."""
    def of(*names):
        return [counts.sums[name] for name in names] if counts and all(name in counts.sums for name in names) else None

    waves, cache, fetched = of('SQ_WAVES'), of('TCC_HIT', 'TCC_MISS'), of('TCC_EA_RDREQ', 'TCC_EA_RDREQ_32B')
    size = 64 * (fetched[0] - fetched[1]) + 32 * fetched[1] if fetched else None
    return {
        'waves': waves[0] if waves else None,
        'SQ_WAVES': waves[0] if waves else None,
        'waves_max': counts.most['SQ_WAVES'] if waves and not counts.whole else None,
        'l2_hit': 100 * cache[0] / sum(cache) if cache and sum(cache) else None,
        'fetch_bytes': size,
        'fetch_rate': size / busy if fetched and busy else None,
    }


def compare(what, row, counts, busy, known):
    same(f'counters of {what}', row['counters'], counts.sums if counts else {})
    for name, value in metrics(counts, busy).items():
        if name in known:
            same(f'{name} of {what}', row['metrics'][name], value)
    same(f'metrics of {what}', set(row['metrics']) & set(needs), known)


asked = {name for row in counting.values() for name in row['metrics'].split(',')}
recorded = {row['name'] for row in rows('SELECT DISTINCT name FROM counters')}
needs = {'waves': {'SQ_WAVES'}, 'waves_max': {'SQ_WAVES'}, 'SQ_WAVES': {'SQ_WAVES'}, 'l2_hit': {'TCC_HIT', 'TCC_MISS'},
         'fetch_bytes': {'TCC_EA_RDREQ', 'TCC_EA_RDREQ_32B'}, 'fetch_rate': {'TCC_EA_RDREQ', 'TCC_EA_RDREQ_32B'}}
known = {name for name, counters in needs.items() if counters <= recorded and name in asked}

said = json.loads(output('ranges', trace, '--json', '--kernels'))
same('ranges', sorted((row['process'], row['id']) for row in said['ranges']), sorted(own))
within = {key: [kernel for kernel in kernels.values() if key in around((kernel['process'], kernel['range']))] for key in ranges}
if counting:
    same('unmatched kernels', said['counting']['unmatched_kernels'], len(lost_kernels))
    same('unmatched ranges', said['counting']['unmatched_ranges'], len(lost_ranges))
    changed = [key for key in ranges if key not in own and (first[key[0]], paths[key]) in by_path
               and len(within[key]) != len(within[by_path[first[key[0]], paths[key]]])]
    same('changed ranges', said['counting']['changed_ranges'], len(changed))
    same('passes', said['counting']['passes'], max(row['passes'] for row in counting.values()))
    same('uncounted', sorted((row['why'], row['count']) for row in said['counting']['uncounted']),
         sorted((row['why'], row['count']) for row in rows('SELECT * FROM uncounted')))
else:
    same('counting', said['counting'], None)
for row in said['ranges']:
    key = row['process'], row['id']
    what, counts = f'range {key}', of_range.get(key)
    same(f'kernels of {what}', row['kernels'], len(within[key]))
    if not counting:
        same(f'keys of {what}', {'metrics', 'counters'} & set(row), set())
        continue
    compare(what, row, counts, union(within[key]), known)
    same(f'shared of {what}', row['shared'], key in shared)
    same(f'counted kernels of {what}', row['counted_kernels'], min(counts.samples.values()) if counts and of_kernels else 0)
    for kernel in row['launched'] if of_kernels else []:
        sql = kernels[kernel['id']]
        compare(f'kernel {kernel["id"]}', kernel, of_kernel.get(kernel['id']), sql['end'] - sql['start'], known)

said = json.loads(output('summary', trace, '--json', '--top', '0'))
same('counting of the summary', said['counting'] is not None, bool(counting))
for row in said['kernels'] if counting else []:
    name = row['name']
    ran = [kernels[number] for number in counted.get(name, ())]
    same(f'counted of {name}', row['counted'], len(ran))
    compare(f'kernels {name}', row, of_name.get(name), sum(kernel['end'] - kernel['start'] for kernel in ran), known)
for row in said['ranges'] if counting else []:
    name = row['name']
    ran = [kernels[number] for number in counted_within.get(name, ())]
    same(f'counted in {name}', row['counted'], len(ran))
    same(f'shared of {name}', row['shared'], len(shared_names.get(name, ())))
    compare(f'ranges {name}', row, of_range_name.get(name), sum(kernel['end'] - kernel['start'] for kernel in ran), known)
if counting and not of_range:
    sys.exit('nothing was compared: no range was counted')
print(len(own), 'ranges,', len(of_kernel), 'kernels')
