/**
 * What the formats of `rtl export` have in common: the options, the way through the events, and
 * the files. A format is an `exporter` in a file of its own, listed in export.c.
 *
 * One thread. Functions that return an int return EXIT_FINE, or EXIT_USAGE when a sentence has been
 * said.
 */
#ifndef RTL_TOOLS_EXPORT_H
#define RTL_TOOLS_EXPORT_H

#include "analysis/family.h"
#include "analysis/selection.h"
#include "common/output.h"
#include "export/served.h"
#include "store/runs.h"

#include <rtl/rtl_trace.h>

#include <stdbool.h>

#define EXPORT_PATH 4096u

/** Most files that --split-size makes of one run. */
#define EXPORT_PARTS 1000u

/** Kinds of events; where several begin at the same time they come in this order, what is around
 * others first. */
enum export_kind {
    EXPORT_RANGE = 1,
    EXPORT_API = 2,
    EXPORT_LAUNCH = 4, /**< of a graph */
    EXPORT_COPY = 8,
    EXPORT_KERNEL = 16,
    EXPORT_ALL = 31
};

/** One event. Of the pointers that of its kind is set; they live until the next one. */
struct export_event {
    enum export_kind kind;
    uint32_t process;
    uint64_t start; /**< of a launch without a kernel: when it was submitted; of a copy without
                       times 0 */
    const rtl_range_t *range;
    const rtl_api_t *api;
    const rtl_graph_launch_t *launch;
    const rtl_copy_t *copy;
    const rtl_kernel_t *kernel;
    /** Of a kernel or copy. Its range is the one that was open at its launch. */
    rtl_trace_origin_t origin;
    /** What hardware counters counted: one of a kernel, of a range one for each device. */
    const rtl_trace_sample_t *samples;
    size_t sample_count;
};

/** What an exporter can do. */
enum export_can {
    EXPORT_SPLITS = 1,     /**< --split-size */
    EXPORT_PER_RANK = 2,   /**< --per-rank */
    EXPORT_TABLES = 4,     /**< --table */
    EXPORT_STREAMS = 8,    /**< -o - */
    EXPORT_DETAIL = 16,    /**< --detail, --page-size */
    EXPORT_FAMILIES = 32,  /**< --families */
    EXPORT_GZIP = 64,      /**< --gzip */
    EXPORT_COUNTERS = 128, /**< --no-counters */
    EXPORT_SERVER = 256    /**< it is no file: clickhouse.h */
};

struct export;

struct exporter {
    const char *name;   /**< as --format has it */
    const char *ending; /**< of file names, with its dot */
    unsigned can;       /**< enum export_can */
    /** Writes what is wanted, in as many files as it takes. With --per-rank it is called for each
     * process. */
    int (*run)(struct export *export);
};

extern const struct exporter export_chrome, export_perfetto, export_csv;
extern const struct exporter export_rpd;
extern const struct exporter export_rocpd;
extern const struct exporter export_rocprofv3;
extern const struct exporter export_html;
extern const struct exporter export_clickhouse; /**< without `run` */

/** Files that have been begun. */
struct export_files {
    char stem[EXPORT_PATH]; /**< of the output without its ending */
    char ending[64];
    struct output **outputs;
    size_t count, capacity;
    unsigned part; /**< number of the last part of this run, from 1 */
};

struct export_progress {
    bool shown;          /**< stderr is a terminal */
    uint64_t done, most; /**< events, about */
    uint64_t next_ns;    /**< CLOCK_MONOTONIC when it is shown again */
};

struct export
{
    rtl_trace_t *trace;
    const char *path; /**< of the trace */
    rtl_trace_info_t info;
    const struct exporter *exporter;
    struct selection selection;
    uint64_t from, to; /**< events that overlap [from, to), ns on the trace's clock; to 0: no end
                        */
    uint64_t since;    /**< what began before is in an earlier part (export/parts.h); 0: none is */
    uint64_t split_size;           /**< a part is ended when it is larger, bytes; 0: one file */
    const char *table;             /**< NULL: not asked for */
    uint64_t detail;               /**< room for single events, bytes; 0: not asked for */
    uint64_t page_size;            /**< how large a page may be, bytes; 0: not asked for */
    struct family_rules *families; /**< NULL: the format has none */
    bool force;                    /**< files may be replaced */
    bool per_rank;
    bool gzip;                    /**< streams are packed */
    bool no_counters;             /**< rows of counters are left out */
    struct export_served *served; /**< NULL: a file is made */
    /** The processes that are wanted, of those in the trace; `only`: of --per-rank, else NULL. */
    const rtl_process_t *processes;
    size_t process_count;
    bool *wanted; /**< by place in `processes` */
    const rtl_process_t *only;
    struct export_files files;
    struct export_progress progress;
};

/** True if the events of a process are wanted (in this run). */
bool export_wants(const struct export *export, uint32_t process);

/** The process of a number, NULL if there is none such. */
const rtl_process_t *export_process(const struct export *export, uint32_t process);

/** What a process is called: its title, where it has given itself one, else its command line; ""
 * if unknown. */
const char *export_process_name(const rtl_process_t *process);

/** Calls `visit` for each wanted event of these kinds (a set of enum export_kind), by start, until
 * it returns something other than EXIT_FINE, which is returned. Several walks may follow each
 * other. Memory is the reader's. */
int export_walk(struct export *export, unsigned kinds,
                int (*visit)(void *state, const struct export_event *event), void *state);

/** As export_walk, but `ahead`, if it is not NULL, is told of each kernel before it is visited: of
 * some thousand next ones, in their order, and of more where kernels wait longer for their begin. A
 * kernel is known when its call begins unless more than 65536 others begin in between. */
int export_walk_ahead(struct export *export, unsigned kinds,
                      int (*visit)(void *state, const struct export_event *event),
                      void (*ahead)(void *state, const rtl_kernel_t *kernel,
                                    const rtl_trace_origin_t *origin),
                      void *state);

/** As export_walk of all kinds, but kernels come in runs, to `visit_run`; what hardware counters
 * counted during them is to be asked for there. */
int export_walk_runs(
    struct export *export, int (*visit)(void *state, const struct export_event *event),
    int (*visit_run)(void *state, struct rtl_runs *runs, const struct rtl_run *run), void *state);

/** Whether there is any wanted event of these kinds. */
int export_any(struct export *export, unsigned kinds, bool *any);

/** Begins a file, or what the output is; NULL when a sentence has been said. It gets its name when
 * the whole export has succeeded and is removed when not. */
struct output *export_file(struct export *export, enum output_kind kind);

/** Tells that the file that was begun last could not be written because of `error` (an errno).
 * Returns EXIT_USAGE. */
int export_file_failed(const struct export *export, int error);

/** Names of files: sets where they go by `output` (NULL: beside the trace's name, in this folder).
 */
int export_files_begin(struct export *export, const char *output);

/** The ending of what gzip has packed. */
#define EXPORT_PACKED ".gz"

/** True if a name ends so. */
bool export_is_packed(const char *path);

/** Gives all files their names; if one cannot have it, those that are left are removed. */
int export_files_commit(struct export *export);

/** Removes what has no name yet, and frees. */
void export_files_end(struct export *export);

#endif
