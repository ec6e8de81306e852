/**
 * The graph launches of each process on their way into chunks. Used by the writer only.
 *
 * They come about in the order of their numbers: the registry tells a launch when its kernels have
 * come. A chunk is ended behind those that others may still come before, so that chunks do not
 * overlap; what comes too late for its chunk is a row of graph_launch_rows (graph_feed.c).
 */
#ifndef RTL_STORE_LAUNCHES_H
#define RTL_STORE_LAUNCHES_H

#include "store/graph_feed.h"
#include "store/launch_codec.h"
#include "store/rows.h"

/** The launches of a process. */
struct rtl_launching;

/** All of them. Zeroed memory is empty. */
struct rtl_launches {
    struct rtl_launching **list;
    size_t count, capacity;
    struct rtl_launching *last; /**< that was asked for last */
    struct rtl_launch_codec *codec;
    uint64_t room;      /**< of all, bytes */
    int64_t last_chunk; /**< number of the last chunk, of all; 0 if none */
};

void rtl_launches_free(struct rtl_launches *launches);

enum rtl_launches_result {
    RTL_LAUNCHES_ADDED,
    RTL_LAUNCHES_FULL,     /**< added, and a chunk is full: it is time to store */
    RTL_LAUNCHES_ROW,      /**< it belongs into a table of rows: nothing is changed */
    RTL_LAUNCHES_CROWDED,  /**< all must be stored and ended first: nothing is changed */
    RTL_LAUNCHES_NO_MEMORY /**< nothing is changed */
};

/** Takes a launch with its spans, or (`launch->late`) adds to one that is here. */
enum rtl_launches_result rtl_launches_add(struct rtl_launches *launches, uint32_t process,
                                          const struct rtl_graph_launch_item *launch,
                                          const struct rtl_graphs_span *spans);

/** Nothing more will come of a process. */
void rtl_launches_end(struct rtl_launches *launches, uint32_t process);

/** Stores what is new, the open chunks as well. An SQLite result code. */
int rtl_launches_store(struct rtl_launches *launches, struct rtl_rows *rows);

/** What was stored last is in the file for good; `end`: all chunks end, and their memory is given
 * back. */
void rtl_launches_stored(struct rtl_launches *launches, bool end);

#endif
