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
    RTL_MERGE_EXCHANGES,   /**< or messages that both exchanged with a responder */
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
    int64_t corrected; /**< what of `shift` is not the times of day, ns */
    uint64_t error;    /**< `shift` is right within this from the first of them to the last, and
                            whenever its host's inputs have processes, ns */
    uint64_t error_between;   /**< what it could be from the first to the last of them alone, ns */
    uint64_t before, after;   /**< of its host's inputs is before the first, after the last, ns */
    double clock_drift;       /**< of its clock against the reference's, likely, ns a second */
    double clock_drift_error; /**< that is right within this */
    bool changes;             /**< that has changed meanwhile: no drift fits all of them */
    uint64_t collectives, exchanges;
    const char *unaligned; /**< why they, or some of them, tell nothing; NULL: they do, or nobody
                              asked */
    uint32_t process;      /**< its first process in the new trace */
    uint32_t processes;
    char left_out[256]; /**< tables that this version does not know, "" if none */
    char identity[32];  /**< what it holds, to be told from other traces (merge_state.h) */
};

/** Whether most of an input's error is because its host's recording goes on outside of what both
 * hosts know; `at`: how long it does (0: not worth a word) before and after that, ns. */
bool rtl_merge_goes_beyond(const struct rtl_merge_input *input, uint64_t at[2]);

/** May move inputs further that have no clock in common with the reference: changes their clock,
 * shift and what belongs to that. 0, or -1 with a sentence. */
typedef int (*rtl_merge_align)(void *context, struct rtl_merge_input *inputs, size_t count,
                               char *error, size_t error_size);

/** What is to be done, and how far it is. */
struct rtl_merge {
    const char *path;    /**< of the new trace; nobody else has it open */
    const char *command; /**< the command line, which is kept */
    const char *options; /**< what changes the result, in words: who goes on has to have the same */
    struct rtl_merge_input *inputs;
    size_t count;
    rtl_merge_align align; /**< asked once their clocks are known; NULL: nobody is */
    void *context;         /**< of both */
    /** Told how many have been taken in, also before the first: `of` is one more than there are,
     * since statistics come last. NULL: nobody is. */
    void (*progress)(void *context, size_t taken, size_t of);
    /* What rtl_merge did: */
    size_t before;  /**< taken in by the merge that was ended */
    size_t taken;   /**< in all */
    bool can_go_on; /**< a failure was of the place or the inputs' places, not of what they hold */
};

/** Makes an empty trace that rtl_merge fills; it is none for others until that has ended. 0, or -1
 * with a sentence. */
int rtl_merge_create(const char *path, char *error, size_t error_size);

/** Writes the traces into `path`, which rtl_merge_create has made, and
 * goes on where a merge into it was ended. 0, or -1 with one sentence in
 * `error` that names the file. One of the inputs may be under recording: what it has at that moment
 * is taken. Each is taken in as a whole or not at all, also if the process is killed. */
int rtl_merge(struct rtl_merge *plan, char *error, size_t error_size);

#endif
