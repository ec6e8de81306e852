"""hip.py RTL TRACE MODE: waves that were counted, against the grids and work-groups of the kernels (see hip.sh)."""
import subprocess
import sys

rtl, trace, mode = sys.argv[1:]


def rows(query):
    text = subprocess.run([rtl, 'sql', trace, query], check=True, capture_output=True, text=True).stdout
    return [line.split('|') for line in text.splitlines()]


def waves(grid, block):
    """Work-groups that the grid's edge cuts off have fewer work-items."""
    total = 0
    parts = [[(full, side)] * (size // side) + ([(1, size % side)] if size % side else [])
             for size, side, full in zip(grid, block, (1, 1, 1))]
    for _, x in parts[0]:
        for _, y in parts[1]:
            for _, z in parts[2]:
                total += (x * y * z + 63) // 64
    return total


kernels = {}
for queue, packet, graph, correlation, *sizes in rows(
        'SELECT queue, packet, graph, correlation, grid_x, grid_y, grid_z, block_x, block_y, block_z FROM kernels'):
    sizes = list(map(int, sizes))
    kernels[queue, packet] = graph, correlation, waves(sizes[:3], sizes[3:])
missed = {why: int(count) for why, count in rows('SELECT why, sum(count) FROM uncounted GROUP BY why')}

if mode == 'kernel':
    counted = {(queue, packet): int(value) for queue, packet, value in rows('SELECT queue, packet, value FROM kernel_counters')}
    eager = {key: waves for key, (graph, _, waves) in kernels.items() if not graph}
    if counted != eager:
        sys.exit(f'{len(counted)} kernels were counted, {len(eager)} are of no graph')
    replayed = len(kernels) - len(eager)
    if missed != ({'graph': replayed} if replayed else {}):
        sys.exit(f'not counted: {missed}; {replayed} kernels are of graphs')
    sys.exit(0 if eager else 'no kernel was counted')

parents = {identity: parent for identity, parent in rows('SELECT id, parent FROM ranges')}
calls = {correlation: innermost for correlation, innermost in rows('SELECT correlation, range FROM api')}
inside = dict.fromkeys(parents, 0)
for _, correlation, count in kernels.values():
    around = calls.get(correlation, '')
    while around and around in parents:
        inside[around] += count
        around = parents[around]
inside = {identity: count for identity, count in inside.items() if count}
counted = {identity: (int(value), shared == '1') for identity, value, shared in rows('SELECT range, value, shared FROM range_counters')}
if missed:
    sys.exit(f'not counted: {missed}')
for identity, count in inside.items():
    value, shared = counted.get(identity, (0, False))
    if value < count or (value > count and not shared):
        sys.exit(f'range {identity}: {value} waves were counted, {count} launched{", shared" if shared else ""}')
if not inside:
    sys.exit('no range has kernels')
print(len(inside), 'ranges,', sum(shared for _, shared in counted.values()), 'shared')
