/**
 * The host calls of each process on their way into chunks, and the numbers of its streams. Used by
 * the writer only.
 */
#ifndef RTL_STORE_CALLERS_H
#define RTL_STORE_CALLERS_H

#include "store/api_codec.h"
#include "store/append.h"
#include "store/rows.h"

/** A process that makes host calls. */
struct rtl_caller;

/** All of them. Zeroed memory is empty. */
struct rtl_callers {
    struct rtl_caller **list;
    size_t count, capacity;
    struct rtl_caller *last; /**< that was asked for last */
    struct rtl_api_codec *codec;
    uint64_t room;      /**< of all, bytes */
    int64_t last_chunk; /**< number of the last chunk, of all; 0 if none */
};

void rtl_callers_free(struct rtl_callers *callers);

/** The caller of a process, made when it is first asked for; NULL when memory is short. It lives as
 * long as `callers`. */
struct rtl_caller *rtl_callers_get(struct rtl_callers *callers, uint32_t process);

/** Appends a call to its process's chunk; api->words words of arguments are at `words`, which may
 * be anywhere. */
enum rtl_append rtl_caller_add(struct rtl_callers *callers, struct rtl_caller *caller,
                               const struct rtl_wire_api *api, const void *words);

/** A stream was made or destroyed, and one got a name; streams.h. 0, or -1 when memory is short. */
int rtl_caller_stream(struct rtl_caller *caller, const struct rtl_wire_stream *wire);
int rtl_caller_name_stream(struct rtl_caller *caller, uint64_t handle, const char *text,
                           size_t length);

/** Makes a thread known. 0, or -1 when memory is short. */
int rtl_caller_thread(struct rtl_caller *caller, uint32_t thread);

/** Stores what is new of a caller: its open chunk, streams, threads. An SQLite result code. */
int rtl_caller_store(struct rtl_callers *callers, struct rtl_caller *caller, struct rtl_rows *rows);

/** The same for all. */
int rtl_callers_store(struct rtl_callers *callers, struct rtl_rows *rows);

/** What was stored last is in the file for good. `seal`: the chunk ends, whatever its size; else
 * only if it is long enough. */
void rtl_caller_stored(struct rtl_caller *caller, bool seal);

/** The same for all; sealed ones give their memory back. */
void rtl_callers_stored(struct rtl_callers *callers, bool seal);

#endif
