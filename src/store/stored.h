/**
 * What is in a trace that is being written (private to the writer).
 */
#ifndef RTL_STORE_STORED_H
#define RTL_STORE_STORED_H

#include "store/codec.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/** True if a stored chunk has the kernel of a packet. Slow: chunks are unpacked. False as well if
 * that cannot be found out. */
bool rtl_stored_kernel(sqlite3 *db, struct rtl_codec *codec, uint32_t process, uint32_t queue,
                       uint64_t packet);

/** True if a copy is stored, by its ordinal in its queue. */
bool rtl_stored_copy(sqlite3 *db, uint32_t process, uint32_t queue, uint64_t ordinal);

#endif
