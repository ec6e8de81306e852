# shellcheck shell=bash
# what_is_told: what the trace t.db says of each kernel of hip_graphs, as the program writes what it knows (HIP_GRAPHS_EXPECTED). A call
# is told by its name, its thread, and how many-th of its name it is there. Where nothing tells nodes apart, the trace
# must say so.
what_is_told() {
    ask t.db "
        WITH calls AS (SELECT correlation, name, thread,
                              row_number() OVER (PARTITION BY thread, name ORDER BY start) AS nth FROM api)
        SELECT q.hsa_id, k.packet, c.name, c.thread, c.nth, k.graph, k.generation, k.launch,
               CASE WHEN k.certain = 0 THEN '?' ELSE k.node END, r.name, g.name
        FROM kernels k JOIN queues q ON q.queue = k.queue
                       LEFT JOIN calls c ON c.correlation = k.correlation
                       LEFT JOIN ranges r ON r.id = k.range
                       LEFT JOIN ranges g ON g.id = k.capture_range
        WHERE k.mangled LIKE '\_Z9hip%' ESCAPE '\' OR k.mangled LIKE '\_\_amd\_rocclr\_fill%' ESCAPE '\'
           OR k.node IS NOT NULL" |
        sort
}
