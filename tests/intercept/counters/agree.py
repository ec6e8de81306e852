"""agree.py RTL COUNTERS: for each mode, MODE.db (a trace of `count nest`), MODE.json (its ranges), MODE.truth (what the software GPU executed in
that run, as text) and `expected` (what the program submitted). See agree.sh."""
import json
import subprocess
import sys

rtl, counters = sys.argv[1], sys.argv[2].split(',')


def rows(trace, query):
    text = subprocess.run([rtl, 'sql', trace, query], check=True, capture_output=True, text=True).stdout
    return [line.split('|') for line in text.splitlines()]


def executed(path):
    """What each kernel of the program added, and its name, in the order of the packets of its queue."""
    kernels = []
    for line in open(path, encoding='ascii'):
        kind, *pairs, name = line.split()
        if kind == 'kernel' and name.startswith('storm_'):
            fields = dict(pair.split('=', 1) for pair in pairs)
            added = {key: int(value) for key, value in fields.items() if key.isupper()}
            kernels.append((fields['at'], int(fields['index']), name, added))
    if len({at for at, *_ in kernels}) != 1:
        sys.exit(f'{path}: the kernels are not of one queue')
    kernels.sort(key=lambda kernel: kernel[1])
    return [(name, added) for _, _, name, added in kernels]


def of_ranges(mode):
    """The kernels of each range, inner ones included, as the truth has them."""
    truth = executed(f'{mode}.truth')
    recorded = rows(f'{mode}.db', 'SELECT queue, name, range FROM kernels ORDER BY queue, packet')
    if [(name,) for name, _ in truth] != [(name,) for _, name, _ in recorded] or len({queue for queue, _, _ in recorded}) != 1:
        sys.exit(f'{mode}: {len(recorded)} kernels are in the trace, {len(truth)} were executed, or they have other names')
    if any('SQ_WAVES' not in added for _, added in truth):
        sys.exit(f'{mode}: a kernel ran while nothing was counted')
    ranges = {identity: (name, parent) for identity, name, parent in rows(f'{mode}.db', 'SELECT id, name, parent FROM ranges')}
    inside = {name: [] for name, _ in ranges.values()}
    for (_, added), (_, _, innermost) in zip(truth, recorded):
        while innermost:
            name, innermost = ranges[innermost]
            inside[name].append(added)
    return inside


def total(kernels, name):
    return sum(added.get(name, 0) for added in kernels)


def close(value, wanted):
    return value is not None and abs(value - wanted) <= 1e-6 * max(1, abs(wanted))


submitted = {words[1]: int(words[2]) for words in map(str.split, open('expected', encoding='ascii')) if words[0] == 'range'}
sums, telling = {}, 0
for mode in 'kernel', 'range':
    sums[mode] = {}
    listed = {entry['name']: entry for entry in json.load(open(f'{mode}.json', encoding='utf-8'))['ranges']}
    inside = of_ranges(mode)
    if not set(listed) == set(inside) == set(submitted):
        sys.exit(f'{mode}: ranges {sorted(listed)}, submitted {sorted(submitted)}')
    for name, kernels in inside.items():
        if total(kernels, 'SQ_WAVES') != submitted[name]:
            sys.exit(f'{mode}: {name} has kernels of other ranges')
        wanted = {counter: total(kernels, counter) for counter in counters}
        if listed[name]['counters'] != wanted:
            sys.exit(f'{mode}: {name} counted {listed[name]["counters"]}, its kernels added {wanted}')
        hits, requests = wanted['TCC_HIT'], wanted['TCC_HIT'] + wanted['TCC_MISS']
        if not close(listed[name]['metrics']['l2_hit'], 100 * hits / requests):
            sys.exit(f'{mode}: {name} has an l2_hit of {listed[name]["metrics"]["l2_hit"]}, {hits} of {requests} requests hit')
        of_each = [100 * added.get('TCC_HIT', 0) / (added.get('TCC_HIT', 0) + added.get('TCC_MISS', 0)) for added in kernels]
        telling += not close(sum(of_each) / len(of_each), 100 * hits / requests)
        sums[mode][name] = listed[name]['counters']
if sums['kernel'] != sums['range']:
    sys.exit('the modes counted differently')
if any(not value for entry in sums['range'].values() for value in entry.values()):
    sys.exit('a counter of a range is 0, which says nothing')
if telling < len(submitted):
    sys.exit('the mean of ratios is the ratio of sums: the kernels are too alike')
