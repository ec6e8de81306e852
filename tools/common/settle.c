#include "common/settle.h"

#include "store/file.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool never;

static bool is_here(const rtl_trace_info_t *info)
{
    char host[256] = "";
    (void)gethostname(host, sizeof host - 1);
    return strcmp(host, info->host) == 0;
}

bool settle_is_recording(const rtl_trace_info_t *info)
{
    return !info->finished && info->writer_start != 0 && is_here(info) &&
           rtl_file_process_start(info->writer_pid) == info->writer_start;
}

bool settle_is_elsewhere(const rtl_trace_info_t *info)
{
    return !info->finished && info->writer_start != 0 && !is_here(info);
}

void settle_never(void)
{
    never = true;
}

/* Linux lists the children of each thread; a kernel that does not have none for us. */
static bool thread_has_children(uint32_t pid, const char *thread)
{
    char path[320];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/task/%s/children", pid, thread);
    FILE *file = fopen(path, "re");
    bool any = file != NULL && fgetc(file) != EOF;
    if (file != NULL)
        (void)fclose(file);
    return any;
}

static bool has_children(uint32_t pid)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/task", pid);
    DIR *threads = opendir(path);
    bool any = false;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread reads this folder
    for (const struct dirent *entry; threads != NULL && !any && (entry = readdir(threads));)
        any = entry->d_name[0] != '.' && thread_has_children(pid, entry->d_name);
    if (threads != NULL)
        (void)closedir(threads);
    return any;
}

/* Those that the trace's last checkpoint found running may have ended since. */
static bool all_gone(rtl_trace_t *trace)
{
    const rtl_process_t *processes;
    size_t count;
    if (rtlTraceProcesses(trace, &processes, &count) != RTL_OK || count == 0)
        return false;
    for (size_t i = 0; i < count; ++i)
        if (strcmp(processes[i].state, "running") == 0 &&
            rtl_file_process_start(processes[i].pid) != 0)
            return false;
    return true;
}

bool settle_is_near(rtl_trace_t *trace)
{
    rtl_trace_info_t info;
    return !never && rtlTraceInfo(trace, &info) == RTL_OK && settle_is_recording(&info) &&
           all_gone(trace) && !has_children(info.writer_pid);
}
