/**
 * What a thread is called, in SQL: for the reader and for views.
 */
#ifndef RTL_STORE_THREAD_NAMES_H
#define RTL_STORE_THREAD_NAMES_H

/** The name of thread `t` of process `p`: what the program calls it (name `n`), else its name in
 * Linux. Not where that says nothing: a thread has the name of the one that made it until
 * somebody gives it another, so neither what the program was started as nor, of others, the name of
 * the main thread. `threads` is the table of threads. */
#define RTL_SQL_THREAD_NAME(threads)                                                               \
    "coalesce(n.name, CASE WHEN t.comm <> coalesce(p.comm, '') AND (t.thread = p.pid OR t.comm <>" \
    " coalesce((SELECT m.comm FROM " threads " m WHERE m.process = t.process"                      \
    " AND m.thread = p.pid), '')) THEN t.comm END)"

#endif
