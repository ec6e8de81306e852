/* A trace as a run. */
#include "fleet/rows.h"

#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/say.h"
#include "common/settle.h"
#include "store/digest.h"
#include "store/process_clocks.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DAY_NS UINT64_C(86400000000000)

static uint64_t mix_text(uint64_t hash, const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length; ++i)
        hash = rtl_index_mix(hash, (unsigned char)text[i]);
    return rtl_index_mix(hash, length);
}

/* What no two recordings share, and what changes while one goes on. Not where the file lies. */
static uint64_t identify(const struct run *run)
{
    const rtl_trace_info_t *info = &run->info;
    const uint64_t facts[] = {TABLES_VERSION,
                              info->start,
                              (uint64_t)info->realtime_offset,
                              info->end,
                              info->kernels,
                              info->copies,
                              info->calls,
                              info->ranges,
                              info->writer_pid,
                              info->writer_start,
                              (uint64_t)info->finished};
    uint64_t hash = mix_text(0, info->host);
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; ++i)
        hash = rtl_index_mix(hash, facts[i]);
    for (size_t i = 0; i < run->process_count; ++i) {
        const rtl_process_t *process = &run->processes[i];
        hash = rtl_index_mix(mix_text(mix_text(hash, process->host), process->rank), process->pid);
        hash = rtl_index_mix(hash, process->start);
    }
    return hash;
}

/* The first of what is wrong. */
static void tell_damage(void *context, const char *what)
{
    struct run *run = context;
    if (!run->damaged)
        say("the trace %s is damaged: %s", run->path, what);
    run->damaged = true;
}

/* Its number would stay with what is damaged, and the same trace in order would not be loaded. */
static int look_through(struct run *run)
{
    bool known;
    if (rtl_digest_check(run->trace, &known, tell_damage, run) != RTL_OK)
        return open_failed(run->trace, run->path);
    return run->damaged ? EXIT_USAGE : EXIT_FINE;
}

/* What all rows of a process have, and what it is known by. */
static int tell_processes(struct run *run)
{
    struct rtl_process_clock *clocks;
    size_t count;
    if (rtl_process_clocks_read(run->trace, &clocks, &count) != RTL_OK)
        return open_failed(run->trace, run->path);
    run->told = memory_new(run->process_count + 1, sizeof *run->told);
    for (size_t i = 0; i < run->process_count; ++i) {
        const rtl_process_t *process = &run->processes[i];
        struct run_process *told = &run->told[i];
        told->host_name = process->host[0] ? process->host : run->info.host;
        told->host = text_names_id(&run->names, told->host_name);
        told->rank = text_names_id(&run->names, process->rank);
        told->boot = i < count ? clocks[i].boot : "";
        told->uptime = i < count ? clocks[i].start : 0;
        told->start = process->start ? run_time(run, process->start) : 0;
    }
    free(clocks);
    return EXIT_FINE;
}

int run_begin(struct run *run)
{
    if (rtlTraceInfo(run->trace, &run->info) != RTL_OK ||
        rtlTraceProcesses(run->trace, &run->processes, &run->process_count) != RTL_OK)
        return open_failed(run->trace, run->path);
    /* What is there now would be another run than what will be. */
    if (settle_is_recording(&run->info))
        return say_fail(EXIT_USAGE, "%s is being recorded: it can be loaded when that has ended",
                        run->path);
    if (run->process_count == 0)
        return say_fail(EXIT_USAGE, "%s has no process: there is nothing to load", run->path);
    int status = look_through(run);
    if (status != EXIT_FINE)
        return status;
    run->id = identify(run);
    return tell_processes(run);
}

void run_free(struct run *run)
{
    text_names_free(&run->names);
    free(run->told);
}

uint64_t run_time(const struct run *run, uint64_t time)
{
    int64_t offset = run->info.realtime_offset;
    if (offset < 0)
        return time > (uint64_t)-offset ? time - (uint64_t)-offset : 0;
    return time < UINT64_MAX - (uint64_t)offset ? time + (uint64_t)offset : UINT64_MAX;
}

uint16_t run_day(uint64_t time)
{
    uint64_t day = time / DAY_NS;
    return day < UINT16_MAX ? (uint16_t)day : UINT16_MAX;
}

size_t run_place(const struct run *run, uint32_t process)
{
    size_t near = process - 1;
    if (near < run->process_count && run->processes[near].process == process)
        return near;
    for (size_t i = 0; i < run->process_count; ++i)
        if (run->processes[i].process == process)
            return i;
    return SIZE_MAX;
}

struct block *run_row(struct run *run, struct fill *fill, uint64_t time, size_t place)
{
    uint16_t day = run_day(time);
    struct block *block = fill_row(fill, day);
    if (!block)
        return NULL;
    bool known = place != SIZE_MAX;
    uint32_t none = known ? 0 : text_names_id(&run->names, "");
    block_number(block, OF_DAY, day);
    block_number(block, OF_RUN, run->id);
    block_number(block, OF_BLOCK, block->number);
    block_number(block, OF_PROCESS, known ? run->processes[place].process : 0);
    fill_text(fill, OF_HOST, known ? run->told[place].host : none);
    fill_text(fill, OF_RANK, known ? run->told[place].rank : none);
    return block;
}

/* Kernels and losses of a process, of its queues. */
static rtl_status_t count(struct run *run, uint32_t process, uint64_t *kernels, uint64_t *lost)
{
    const rtl_queue_t *queues;
    const rtl_ledger_t *ledger;
    size_t queue_count;
    size_t ledger_count;
    *kernels = *lost = 0;
    rtl_status_t status = rtlTraceQueues(run->trace, &queues, &queue_count);
    if (status == RTL_OK)
        status = rtlTraceLedger(run->trace, &ledger, &ledger_count);
    for (size_t i = 0; status == RTL_OK && i < queue_count; ++i)
        *kernels += queues[i].process == process ? queues[i].kernels : 0;
    for (size_t i = 0; status == RTL_OK && i < ledger_count; ++i)
        for (size_t k = 0; ledger[i].process == process && k < RTL_LOSS_REASONS; ++k)
            *lost += ledger[i].lost[k];
    return status;
}

static void put_labels(struct run *run, struct block *block, size_t column, const char **texts)
{
    uint32_t *places = memory_new(run->labels.count, sizeof *places);
    for (size_t i = 0; i < run->labels.count; ++i)
        places[i] = block_text_place(block, texts[i]);
    block_items(block, column, places, sizeof *places, run->labels.count);
    free(places);
}

static rtl_status_t put_process(struct run *run, bool complete, size_t place, struct fill *fill)
{
    const rtl_process_t *process = &run->processes[place];
    const rtl_trace_info_t *info = &run->info;
    uint64_t kernels;
    uint64_t lost;
    rtl_status_t status = count(run, process->process, &kernels, &lost);
    struct block *block =
        status == RTL_OK ? run_row(run, fill, run_time(run, info->start), place) : NULL;
    if (!block)
        return status;
    fill_text(fill, RUNS_TITLE, text_names_id(&run->names, process->title));
    fill_text(fill, RUNS_COMMAND, text_names_id(&run->names, process->command));
    fill_text(fill, RUNS_TRACE, text_names_id(&run->names, run->path));
    fill_text(fill, RUNS_CREATOR, text_names_id(&run->names, info->creator));
    fill_text(fill, RUNS_MODE, text_names_id(&run->names, process->mode));
    block_number(block, RUNS_PID, process->pid);
    fill_text(fill, RUNS_BOOT, text_names_id(&run->names, run->told[place].boot));
    block_number(block, RUNS_UPTIME, run->told[place].uptime);
    block_number(block, RUNS_START, run->told[place].start);
    block_number(block, RUNS_BEGIN, run_time(run, info->start));
    block_number(block, RUNS_END, run_time(run, info->end));
    block_number(block, RUNS_KERNELS, kernels);
    block_number(block, RUNS_LOST, lost);
    block_number(block, RUNS_SAMPLE, run->sample);
    block_number(block, RUNS_FINISHED, info->finished != 0);
    block_number(block, RUNS_COMPLETE, complete);
    block_number(block, RUNS_LOADED, (uint64_t)time(NULL));
    put_labels(run, block, RUNS_KEYS, run->labels.keys);
    put_labels(run, block, RUNS_VALUES, run->labels.values);
    return RTL_OK;
}

rtl_status_t rows_runs(struct run *run, bool complete, struct fill *fill)
{
    rtl_status_t status = RTL_OK;
    for (size_t i = 0; i < run->process_count && status == RTL_OK && !fill->failed; ++i)
        status = put_process(run, complete, i, fill);
    return status;
}

rtl_status_t rows_losses(struct run *run, struct fill *fill)
{
    const rtl_ledger_t *ledger;
    size_t count;
    rtl_status_t status = rtlTraceLedger(run->trace, &ledger, &count);
    for (size_t i = 0; status == RTL_OK && i < count; ++i)
        for (unsigned reason = 0; reason < RTL_LOSS_REASONS; ++reason) {
            struct block *block = NULL;
            if (ledger[i].lost[reason])
                block = run_row(run, fill, run_time(run, run->info.start),
                                run_place(run, ledger[i].process));
            if (!block)
                continue;
            block_number(block, LOSSES_QUEUE, ledger[i].queue);
            fill_text(fill, LOSSES_REASON,
                      text_names_id(&run->names, rtlLossName((rtl_loss_t)reason)));
            block_number(block, LOSSES_COUNT, ledger[i].lost[reason]);
        }
    return status;
}
