"""session.py RTL TRACE EXPECTED: `rtl ranges --json --kernels` against what the program knows of its ranges (see ranges.c)."""
import json
import subprocess
import sys

rtl, trace, expected = sys.argv[1:]


def output(*command):
    return subprocess.run([rtl, *command], check=True, capture_output=True, text=True).stdout


said = json.loads(output('ranges', trace, '--json', '--kernels', '--metrics', 'all'))
addresses = {row['queue']: row['address'] for row in json.loads(output('sql', '--json', trace, 'SELECT queue, address FROM queues'))}
names = {row['id']: row['name'] for row in said['ranges']}
by_name = {row['name']: row for row in said['ranges']}
known, inside, popped, session, metrics = {}, {}, {}, {}, {}
fields = ('wall_ns', 'kernels', 'kernel_ns', 'busy_ns', 'overlap_ns', 'copies', 'copy_bytes', 'copy_ns', 'copying_ns', 'copy_overlap_ns',
          'active_ns', 'idle_ns', 'first_ns', 'last_ns')
for line in open(expected, encoding='ascii'):
    name, parent, copied, start, end, told, measured, packets = line.rstrip('\n').split('\t')
    popped[name] = int(start), int(end)
    session[name] = dict(zip(fields, map(int, told.split())))
    metrics[name] = {metric: float(value) for metric, value in (pair.split('=') for pair in measured.split())}
    known[name] = parent, int(copied), [tuple(map(int, packet.split(':'))) for packet in packets.split()]
    around = name
    while around:
        total = inside.setdefault(around, [0, 0])
        total[0] += len(known[name][2])
        total[1] += known[name][1]
        around = known[around][0]

if len(said['ranges']) != len(known) or set(by_name) != set(known):
    sys.exit('the ranges are others')
for name, (parent, copied, packets) in known.items():
    row = by_name[name]
    if names.get(row['parent'], '') != parent:
        sys.exit(f'{name}: within {names.get(row["parent"])}, not {parent}')
    if any(popped[name]) and (row['start_ns'], row['end_ns']) != popped[name]:
        sys.exit(f'{name}: from {row["start_ns"]} to {row["end_ns"]}, its pop said {popped[name]}')
    for field, value in session[name].items():
        if (row[field] or 0) != value:
            sys.exit(f'{name}: {field} is {row[field]}, the session says {value}')
    for metric, value in metrics[name].items():
        said_value = row['metrics'][metric]
        if value != value and said_value is not None or value == value and abs(said_value - value) > 1e-9 * abs(value):
            sys.exit(f'{name}: {metric} is {said_value}, the session says {value}')
    if [row['kernels'], row['copy_bytes']] != inside[name]:
        sys.exit(f'{name}: {row["kernels"]} kernels and {row["copy_bytes"]} bytes, not {inside[name]}')
    if sum(kernel['kernels'] for kernel in row['names']) != row['kernels']:
        sys.exit(f'{name}: other kernels by name')
    launched = [(addresses[kernel['queue']], kernel['packet']) for kernel in row['launched']]
    for queue in set(addresses.values()):
        if [packet for address, packet in launched if address == queue] != [packet for address, packet in packets if address == queue]:
            sys.exit(f'{name}: other kernels on the queue at {queue}')
    if len(launched) != len(packets) or row['wall_ns'] is None or not 0 <= row['idle_ns'] <= row['wall_ns']:
        sys.exit(f'{name}: {len(launched)} kernels launched, idle {row["idle_ns"]} of {row["wall_ns"]}')
print(len(known), 'ranges')
