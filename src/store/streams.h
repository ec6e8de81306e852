/**
 * The streams of a process, on their way into the trace: which of them a handle meant, and when.
 * Used by the writer only.
 *
 * HIP gives the handle of a destroyed stream to a later one, which is another stream: the next
 * *generation* of the handle. A host call's record has the handle, and when it began. It is about
 * the last generation that was made before; all calls about an earlier one have ended by then,
 * since a program must not use a stream that it destroys, and all calls about this one begin later,
 * since the program had no handle before. Stamps of two threads may differ by RTL_STREAM_SLACK_NS,
 * and the end of one stream and the making of the next are further apart: HIP does both in between.
 *
 * That a stream was made is told before any call about it (ring/wire.h), so nothing has to be
 * looked at again. Two exceptions: the record may be late when the ring was full, and then those
 * calls are put right that are not stored for good (rtl_streams_begin says from when on); and a
 * stream may have been made unseen, before RTL was there or by a HIP that RTL does not see. Such a
 * stream begins with the first call about it, and a handle whose stream has ended means a new one
 * when a call about it succeeds.
 */
#ifndef RTL_STORE_STREAMS_H
#define RTL_STORE_STREAMS_H

#include "common/index.h"
#include "store/rows.h"

#include <stdbool.h>

/** How far the stamps of two threads may be apart (common/stamp.h). */
#define RTL_STREAM_SLACK_NS UINT64_C(1000)

/** All of a process. Zeroed memory is empty. */
struct rtl_streams {
    struct rtl_index latest; /**< the place of the last generation, by handle */
    struct rtl_stream_item *items;
    uint32_t count, capacity;
    uint32_t first_new; /**< before it, all are in the file as they are */
};

void rtl_streams_free(struct rtl_streams *streams);

/** The number of the stream that a call is about which began at `start`; `done`: it succeeded. 0 is
 * the NULL stream, the others follow as they come. RTL_NONE when memory is short. */
uint32_t rtl_streams_of(struct rtl_streams *streams, uint64_t handle, uint64_t start, bool done);

/** A stream was made: its number, RTL_NONE when memory is short. `*before` is the one that
 * calls were taken for that are about the new one, since they began at `time` or later, within the
 * slack; RTL_NONE if there are none. */
uint32_t rtl_streams_begin(struct rtl_streams *streams, uint64_t handle, uint64_t time,
                           uint32_t *before);

/** The stream was destroyed, by a call that began at `begun` and was over at `done`. 0, or -1 when
 * memory is short. */
int rtl_streams_end(struct rtl_streams *streams, uint64_t handle, uint64_t begun, uint64_t done);

/** The program has named the stream that has the handle now. 0, or -1 when memory is short. */
int rtl_streams_name(struct rtl_streams *streams, uint64_t handle, const char *text, size_t length);

/** Stores what is new, and later that it is in the file for good. An SQLite result code. */
int rtl_streams_store(const struct rtl_streams *streams, uint32_t process, struct rtl_rows *rows);
void rtl_streams_stored(struct rtl_streams *streams);

#endif
