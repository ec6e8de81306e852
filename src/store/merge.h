/**
 * Several traces become one: what each has is carried over row by row and chunk by chunk, nothing
 * is decoded. Processes get new numbers. The clock is that of the host that has been up longest, so
 * that no time is before its 0; times of other hosts are moved, those of one host all by the same.
 */
#ifndef RTL_STORE_MERGE_H
#define RTL_STORE_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** How the times of a trace came onto the new trace's clock. */
enum rtl_merge_clock {
    RTL_MERGE_REFERENCE,   /**< its clock is that of the new trace */
    RTL_MERGE_SAME_BOOT,   /**< the reference's host, between two starts of it: one clock, exact */
    RTL_MERGE_SAME_HOST,   /**< by its name, and the time of day is as far from the clock within
                              RTL_MERGE_NEAR: taken for the same (traces before format 1.3) */
    RTL_MERGE_TIME_OF_DAY, /**< moved so that the times of day agree */
    RTL_MERGE_COLLECTIVES, /**< and then so that collectives fit that both hosts ran */
    RTL_MERGE_EXCHANGES,   /**< or packets that both exchanged with a responder */
    RTL_MERGE_BOTH         /**< or both */
};

/** ns */
#define RTL_MERGE_NEAR INT64_C(10000000000)

/** A trace that is merged. */
struct rtl_merge_input {
    const char *path;
    /* What rtl_merge found and did: */
    char host[256];
    char boot[64];  /**< boot_id of the host, "" in traces before format 1.3 */
    int64_t offset; /**< CLOCK_REALTIME - CLOCK_BOOTTIME when its recording began, ns */
    enum rtl_merge_clock clock;
    int64_t shift;  /**< added to its times, ns */
    uint64_t drift; /**< by how much its time of day moved against its clock meanwhile, ns */
    int64_t apart;  /**< of a trace that was merged: its meta's `hosts_error` */
    /* Of RTL_MERGE_COLLECTIVES, RTL_MERGE_EXCHANGES and RTL_MERGE_BOTH: */
    int64_t corrected;  /**< what of `shift` is not the times of day, ns */
    uint64_t error;     /**< `shift` is right within this from the first of them to the last, ns */
    double clock_drift; /**< of its clock against the reference's, likely, ns a second */
    double clock_drift_error; /**< that is right within this */
    bool changes;             /**< that has changed meanwhile: no drift fits all of them */
    uint64_t collectives, exchanges;
    const char *unaligned; /**< why they, or some of them, tell nothing; NULL: they do, or nobody
                              asked */
    uint32_t process;      /**< its first process in the new trace */
    uint32_t processes;
    char left_out[256]; /**< tables that this version does not know, "" if none */
};

/** May move inputs further that have no clock in common with the reference: changes their clock,
 * shift and what belongs to that. 0, or -1 with a sentence. */
typedef int (*rtl_merge_align)(void *context, struct rtl_merge_input *inputs, size_t count,
                               char *error, size_t error_size);

/** Writes the traces into `path`, which rtl_file_create has made and nobody else has open. The
 * command line is kept as `command`. 0, or -1 with one sentence in `error` that names the file. One
 * of the inputs may be under recording: what it has at that moment is taken. `align` is asked once
 * their clocks are known; NULL: nobody is. */
int rtl_merge(const char *path, const char *command, struct rtl_merge_input *inputs, size_t count,
              rtl_merge_align align, void *context, char *error, size_t error_size);

#endif
