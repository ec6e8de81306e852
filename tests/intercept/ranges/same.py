"""same.py RTL ONE OTHER: sessions (*.expected, see ranges.c) and traces (*.db) of one program, its ranges set in two ways. Kernels last
a fixed time and so do copies of one size, so that sums of durations are the same; what ran side by side is not."""
import json
import subprocess
import sys

rtl, one, other = sys.argv[1:]
fixed = {'kernels': 1, 'kernel_ns': 2, 'copies': 5, 'copy_bytes': 6, 'copy_ns': 7}


def said(name):
    """What the session said: by range its parent, sums and packets by queue, queues in the order in which they come."""
    queues, rows = {}, []
    for line in open(f'{name}.expected', encoding='ascii'):
        text, parent, _, _, _, told, _, packets = line.rstrip('\n').split('\t')
        numbers = told.split()
        sums = {field: int(numbers[at]) for field, at in fixed.items() if numbers}
        names = [packet.split(':') for packet in packets.split()]
        rows.append([text, parent, sums, [(queues.setdefault(queue, len(queues)), int(packet)) for queue, packet in names]])
    return rows


def traced(name):
    command = [rtl, 'ranges', f'{name}.db', '--json', '--kernels', '--metrics', 'kernels,work_items,work_groups,lane_use,copied']
    rows = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)['ranges']
    keep = ('id', 'parent', 'kind', 'name', 'depth', 'kernels', 'kernel_ns', 'copies', 'copy_bytes', 'copy_ns', 'metrics')
    return [{**{field: row[field] for field in keep}, 'names': sorted(map(json.dumps, row['names'])),
             'launched': [(kernel['queue'], kernel['packet'], kernel['name']) for kernel in row['launched']]} for row in rows]


for kind in said, traced:
    first, second = kind(one), kind(other)
    if len(first) != len(second):
        sys.exit(f'{kind.__name__}: {len(first)} ranges and {len(second)}')
    for left, right in zip(first, second):
        if left != right:
            sys.exit(f'{kind.__name__}: {left} and {right}')
if not any(row['kernels'] for row in traced(one)) or not any(row[2] for row in said(one)):
    sys.exit('nothing was compared')
