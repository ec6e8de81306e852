/**
 * `rtl bench`: what a profiler costs, whether it sees everything, and how much it writes.
 *
 * A *case* is a workload under a tool; a *round* runs each case once, in an order that turns with
 * the rounds. Overheads are compared within a round, so that what the machine does besides hits
 * both sides. One thread.
 */
#ifndef RTL_TOOLS_BENCH_H
#define RTL_TOOLS_BENCH_H

#include "common/folder.h"
#include "common/gpu.h"

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define BENCH_MOST_TOOLS     24u
#define BENCH_MOST_WORKLOADS 16u
#define BENCH_MOST_ENV       16u
#define BENCH_MOST_ROUNDS    1000u

/** Below the scratch folder, in a folder of which every byte is the tool's: what {out} is, and a
 * trace of RTL's own. */
#define BENCH_OUT   "out/result"
#define BENCH_TRACE "out/trace.db"

/** A tool, as `--tool` names it. The texts belong to it. */
struct bench_tool {
    const char *name;
    const char *mode;    /**< of RTL, NULL: another profiler, or none */
    const char *way;     /**< with mode: interpose or intercept */
    const char *command; /**< of a shell, with {program} and {out}; NULL: the program alone */
    const char *count;   /**< of a shell, prints how many kernels {out} has; NULL: not known */
    const char *env[BENCH_MOST_ENV]; /**< NAME=VALUE, with {out} */
    unsigned env_count;
    char *memory; /**< what the texts lie in, NULL: they are constants */
};

/** What became of a run. */
enum bench_outcome {
    BENCH_FINE,
    BENCH_NOT_RUN,
    BENCH_FAILED,  /**< it ended with a status that is not that of the program alone */
    BENCH_DIED,    /**< of a signal */
    BENCH_HUNG,    /**< it was ended at the limit */
    BENCH_NO_LINE, /**< the workload's line is not in the output, or makes no sense */
    BENCH_SPOILED  /**< it ended well, but what it recorded cannot be read */
};

/** What became of copies that a device was to make. */
struct bench_copies {
    uint64_t expected, recorded;
    uint64_t skipped, lost, wrong; /**< as of kernels */
};

/** One run. Times in ns. */
struct bench_run {
    enum bench_outcome outcome;
    int status; /**< exit status or signal */
    double startup, steady, finish;
    uint64_t peak;      /**< greatest resident size of any process of the run, bytes */
    uint64_t own_peak;  /**< of the workload's process, 0 unknown */
    uint64_t submitted; /**< kernels, by the workload's own count */
    bool own_count;     /**< `submitted` is known */
    /* Completeness. */
    bool counted;  /**< the kernels of the tool's output are known, and what they should be */
    bool by_truth; /**< compared with what the software GPU executed, else with the own count */
    uint64_t expected, recorded;
    uint64_t skipped; /**< left out because the mode says so */
    uint64_t lost;    /**< not there, and not left out by the mode */
    uint64_t wrong;   /**< invented, twice, or with other times or names than the truth's */
    struct bench_copies copies; /**< where it is a trace of RTL's, else all 0 */
    uint64_t bytes;             /**< that the tool wrote */
    char said[200];             /**< why it is not fine, "" if it is */
};

/** Median of paired differences, with an interval of order statistics (sign test). */
struct bench_spread {
    bool known;
    size_t count;
    double median, low, high;
};

/** A workload under a tool. */
struct bench_case {
    struct bench_run *runs; /**< a run for each round */
    unsigned fine;          /**< runs that were */
    struct bench_run worst; /**< the first that was not fine, else the one that lost most */
    uint64_t skipped;       /**< most that a run left out because the mode says so */
    struct bench_spread steady,
        overhead; /**< ns; share of the time without a tool, 0.03: 3 % more */
    struct bench_spread startup, finish; /**< ns more than without a tool */
    struct bench_spread memory;          /**< bytes more */
    struct bench_spread bytes;           /**< per recorded kernel */
};

/** A measurement: `tools[0]` is none. */
struct bench {
    enum gpu gpu;
    struct bench_tool tools[BENCH_MOST_TOOLS];
    unsigned tool_count;
    const char *workloads[BENCH_MOST_WORKLOADS];
    unsigned workload_count;
    unsigned rounds;
    unsigned kernels;         /**< that a workload is asked for, 0: its own number */
    uint64_t limit_ns;        /**< of a run */
    char **program;           /**< the user's own, NULL: workloads */
    struct bench_case *cases; /**< workload by workload */
    char gpu_name[96];        /**< as the workload says, "" unknown */
    /* Where things are. */
    char self[PATH_MAX], work[PATH_MAX], plugin[PATH_MAX], soft[PATH_MAX];
    char folder[FOLDER_SIZE]; /**< scratch */
};

struct bench_case *bench_case_of(const struct bench *bench, unsigned workload, unsigned tool);

/* bench_tools.c */

/** Adds the tool, or the tools, that the value of --tool means: RTL modes with or without /WAY and
 * `all`, with commas between them, or one name=…,command=…. 0, or -1 when a sentence has been said.
 */
int bench_tools_add(struct bench *bench, const char *text);

/** Adds the tools that are measured when none is named. */
void bench_tools_default(struct bench *bench);

void bench_tools_free(struct bench *bench);

/** A text with {out} and {program} (may be NULL) filled in; `quoted`: as words of a shell. The
 * caller frees it; memory that is short ends the program. */
char *bench_tools_fill(const char *text, const char *out, char *const *program, bool quoted);

/* bench_run.c */

/** Runs a workload under a tool, once. 0, or -1 when it could not even be started, with a sentence
 * said. What went wrong in the run stands in it. */
int bench_run(struct bench *bench, unsigned workload, const struct bench_tool *tool,
              struct bench_run *run);

/** Takes what a workload says of itself out of its output: kernels, memory, and the bounds of its
 * steady state. `gpu` gets the GPU's name. False: it is not there, or it makes no sense. */
bool bench_run_line(const char *output, struct bench_run *run, uint64_t times[2], char *gpu,
                    size_t gpu_size);

/* bench_count.c */

/** Fills in completeness and bytes: what the run wrote in FOLDER/out, against the truth logs in
 * FOLDER/truth on the software GPU, else the workload's own count. */
void bench_count(const struct bench *bench, const struct bench_tool *tool, const char *folder,
                 struct bench_run *run);

/** As bench_count would for these numbers: `by_truth` executed, else the workload's own. */
void bench_count_compare(struct bench_run *run, uint64_t expected, uint64_t recorded);

/** Reads the number that a count command printed, alone on its line. */
bool bench_count_read(const char *text, uint64_t *number);

/* bench_stats.c */

/** The median of the values (which are sorted) and the narrowest interval of two of them that holds
 * the median of what they are drawn from with 95 %, or the widest there is. */
struct bench_spread bench_spread_of(double *values, size_t count);

/** With which probability the interval of so many values holds the median, 0.961 of 9. */
double bench_confidence(size_t count);

/** Fills in what the runs of a case come to, against those without a tool. */
void bench_settle(struct bench_case *is, const struct bench_case *none, unsigned rounds);

/* bench_gate.c */

struct bench_gates {
    bool overhead_set, lost_set, bytes_set, skipped_set, startup_set, finish_set, memory_set;
    double overhead;                                      /**< share */
    double lost, skipped, bytes, startup, finish, memory; /**< startup, finish: ns; memory: bytes */
};

/** Reads the value of --gate. 0, or -1 when a sentence has been said. */
int bench_gate_read(struct bench_gates *gates, const char *text);

/** Writes why the first gate that is not kept is not, and returns how many are not. */
unsigned bench_gate_judge(const struct bench *bench, const struct bench_gates *gates,
                          char *sentence, size_t size);

/* bench_show.c, bench_json.c, bench_html.c */

/** What became of a run, in a few words: "died of signal 9". */
const char *bench_outcome_text(const struct bench_run *run, char *text, size_t size);

/** "LOST 3 of 1 000", "all 1 000 and 2 000 copies", "not known": the completeness of a case, as
 * text. */
const char *bench_complete_text(const struct bench_case *is, char *text, size_t size);

/** Kernels and copies that a run lost or recorded wrong. */
uint64_t bench_off(const struct bench_run *run);

/** Whether it lost nothing, recorded nothing wrong, and left out nothing; false where that is not
 * known. */
bool bench_complete(const struct bench_case *is);

/** "+3.210 ms", "-1.0 MiB": the median of a difference, "-" where it is not known. */
const char *bench_time_text(const struct bench_spread *time, char *text, size_t size);
const char *bench_memory_text(const struct bench_spread *memory, char *text, size_t size);

const char *bench_gpu_text(const struct bench *bench);

/** Where it was measured. */
struct bench_machine {
    char host[65], processor[256], kernel[65];
    long cores;
};

void bench_machine_of(struct bench_machine *machine);

void bench_show(const struct bench *bench, FILE *out);

/** The gates' outcome goes in, too; `failed` 0: kept, or none. */
json_t *bench_json(const struct bench *bench, unsigned failed, const char *sentence);

/** Writes one page of its own. 0, or -1 with errno. */
int bench_html(const struct bench *bench, FILE *out);

/** Stands in the head of each page. */
#define BENCH_PAGE "<title>rtl bench</title>"

#endif
