"""count.py RTL TRACE EXPECTED MODE: the waves (SQ_WAVES) that hardware counters counted, against what the program submitted (see count.c).
Other counters are agree.py's."""
import subprocess
import sys

rtl, trace, expected, mode = sys.argv[1:]


def rows(query):
    text = subprocess.run([rtl, 'sql', trace, query], check=True, capture_output=True, text=True).stdout
    return [line.split('|') for line in text.splitlines()]


queues = {}
for number, (queue, way) in enumerate(rows("SELECT queue, way FROM queues WHERE way <> 'copies' ORDER BY queue")):
    queues[number] = queue
    if way != 'intercept':
        sys.exit(f'queue {queue} is followed by {way}')
if rows('SELECT DISTINCT way FROM processes') != [['intercept']]:
    sys.exit('the process is said to be followed in another way')
kernels, ranges = {}, {}
for line in open(expected, encoding='ascii'):
    what, *words = line.split()
    if what == 'kernel':
        kernels[queues[int(words[0])], words[1]] = int(words[2])
    else:
        ranges[words[0]] = int(words[1])

recorded = {(queue, packet) for queue, packet in rows('SELECT queue, packet FROM kernels')}
if recorded != set(kernels):
    sys.exit(f'{len(recorded)} kernels are in the trace, {len(kernels)} were submitted; {len(recorded ^ set(kernels))} differ')

if any(name.startswith('pair') for name in ranges):
    inside = dict(rows('SELECT r.name, count(*) FROM kernels k JOIN ranges r ON r.process = k.process AND r.id = k.range GROUP BY r.name'))
    wrong = [name for name in ranges if inside.get(name) != '1']
    if wrong:
        sys.exit(f'{len(wrong)} of {len(ranges)} ranges do not have their kernel: {wrong[:5]}')

counted = {}
if mode == 'kernel':
    for queue, packet, value in rows("SELECT queue, packet, value FROM kernel_counters WHERE name = 'SQ_WAVES'"):
        counted[queue, packet] = int(value)
    if counted != kernels:
        wrong = [key for key in kernels if counted.get(key) != kernels[key]]
        sys.exit(f'{len(wrong)} of {len(kernels)} kernels have other waves: {[(key, kernels[key], counted.get(key)) for key in wrong[:5]]}')
else:
    for name, value, shared in rows("SELECT r.name, c.value, c.shared FROM range_counters c JOIN ranges r ON r.process = c.process AND r.id = c.range "
                                    "WHERE c.name = 'SQ_WAVES'"):
        counted[name] = int(value), shared == '1'
    if set(counted) != set(ranges):
        sys.exit(f'{len(counted)} ranges were counted, {len(ranges)} had kernels; {sorted(set(counted) ^ set(ranges))[:5]}')
    for name, waves in ranges.items():
        value, shared = counted[name]
        if value < waves or (value > waves and not shared):
            sys.exit(f'{name}: {value} waves were counted, {waves} submitted{", shared" if shared else ""}')
    print(sum(shared for _, shared in counted.values()), 'of', len(counted), 'ranges are shared')
missed = rows('SELECT why, count FROM uncounted')
if missed:
    sys.exit(f'not counted: {missed}')
