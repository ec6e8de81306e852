/**
 * `rtl doctor --selftest`: a program that knows what it did (work.c) is recorded in every mode and
 * by both ways into queues, and each trace is compared with what the program knows.
 *
 * One thread. Memory that is short ends the program with a sentence.
 */
#ifndef RTL_TOOLS_SELFTEST_SELFTEST_H
#define RTL_TOOLS_SELFTEST_SELFTEST_H

#include "common/folder.h"
#include "common/gpu.h"
#include "common/probe.h"
#include "selftest/known.h"

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SELFTEST_MODES 4u
#define SELFTEST_WAYS  2u
#define SELFTEST_ALONE 3u /* runs without RTL after the first, for times */

extern const char *const selftest_modes[SELFTEST_MODES];
extern const char *const selftest_ways[SELFTEST_WAYS]; /* as RTL_QUEUE has them */

/** What is compared, in the order of the tables. */
enum aspect {
    ASPECT_RAN,     /**< the program ended well, and rtl trace with it */
    ASPECT_RESULTS, /**< the GPU computed what the host did */
    ASPECT_KERNELS, /**< how many of each name */
    ASPECT_NAMES,   /**< no kernel without one, none that the program does not have */
    ASPECT_ORDER,   /**< of the kernels of a stream, one after the other */
    ASPECT_EVENTS,  /**< the program's events against the trace's times */
    ASPECT_COPIES,
    ASPECT_CALLS,   /**< of the host, and which kernel is whose */
    ASPECT_STREAMS, /**< and threads: which kernels are whose */
    ASPECT_GRAPHS,  /**< generations, launches, nodes */
    ASPECT_ACCOUNT, /**< the verdict of rtl check, queues, what was left out */
    ASPECTS
};

extern const char *const selftest_aspects[ASPECTS];

/** One comparison. The texts belong to it. */
struct check {
    enum aspect aspect;
    bool right;
    char *what, *expected, *seen;
};

/** A run of the program: without RTL, or recorded. */
struct recording {
    const char *mode, *way; /**< NULL: without RTL */
    bool refusal;           /**< on this runtime the way refuses the mode */
    char refused[512];      /**< what was said when it did, "" if it did not */
    struct known known;
    struct check *checks;
    size_t check_count, red;
    /* Of the trace, if there is one. */
    bool traced;
    unsigned followed, passed; /**< queues */
    uint64_t kernels, skipped;
};

struct selftest {
    enum gpu gpu;
    struct probe probe;
    struct recording alone[SELFTEST_ALONE];
    struct recording first; /**< without RTL; its kernels are compiled */
    struct recording recordings[SELFTEST_WAYS][SELFTEST_MODES];
    /* By rocprofv3, where it is installed. */
    bool compared;         /**< it is, and has written something */
    char rocprofv3[256];   /**< what became of that, in a few words */
    struct known profiled; /**< what the program knew under it, and */
    uint64_t *counted;     /**< how many kernels rocprofv3 has of each of its names */
    /* Where things are. */
    char self[PATH_MAX], work[PATH_MAX], plugin[PATH_MAX], spare[PATH_MAX], soft[PATH_MAX];
    char folder[FOLDER_SIZE];
};

/* checks.c */

/** Adds a comparison of numbers: right if `seen` is from `least` to `most`. `what` is copied. */
void check_number(struct recording *is, enum aspect aspect, const char *what, uint64_t least,
                  uint64_t most, uint64_t seen);

/** Adds a comparison of texts. All are copied. */
void check_text(struct recording *is, enum aspect aspect, const char *what, const char *expected,
                const char *seen, bool right);

/** Whether an aspect of a recording is right, red, or was not compared: 1, 0, -1. */
int check_aspect(const struct recording *is, enum aspect aspect);

void checks_free(struct recording *is);

/* record.c */

/** Runs the program without RTL, or recorded, and compares what came of it. 0, or EXIT_USAGE when
 * no process could be made, with a sentence said, or rtl was asked to end. */
int record(struct selftest *selftest, struct recording *is);

/** Runs it under rocprofv3, if that is there. As record. */
int record_rocprofv3(struct selftest *selftest);

/* compare.c */

/** Compares a trace with what the program knew. */
void compare_trace(struct recording *is, const char *path);

/* show.c, json.c */

void selftest_text(const struct selftest *selftest, FILE *out);

/** The report. `machine` is what rtl doctor finds, and is given up. */
json_t *selftest_json(const struct selftest *selftest, json_t *machine);

/** Comparisons that are red, of all. */
size_t selftest_red(const struct selftest *selftest);
size_t selftest_checks(const struct selftest *selftest);

/** The host's time for a kernel of a part, ns: the least of several means; 0 if it is not known. */
double selftest_time(const struct recording *is, const char *part);

/** The same without RTL: the least of the runs. */
double selftest_alone(const struct selftest *selftest, const char *part);

#endif
