/**
 * The processor time of this process's threads, by their names.
 */
#ifndef RTL_TESTS_BENCH_THREADS_H
#define RTL_TESTS_BENCH_THREADS_H

#include <dirent.h>
#include <stdio.h>
#include <string.h>

/** First line of a file of /proc, without its end; false if there is none. */
static inline int read_line(const char *path, char *text, int size)
{
    FILE *file = fopen(path, "re");
    int got = file != NULL && fgets(text, size, file) != NULL;
    if (got)
        text[strcspn(text, "\n")] = '\0';
    if (file != NULL)
        (void)fclose(file);
    return got;
}

/** CPU time in ns of the threads with this name, 0 if there is none: the first field of
 * /proc/self/task/ID/schedstat (Linux, Documentation/scheduler/sched-stats.rst). */
static inline double thread_cpu_ns(const char *name)
{
    double sum = 0;
    DIR *folder = opendir("/proc/self/task");
    struct dirent *entry;
    while (folder != NULL &&
           (entry = readdir(folder)) != NULL) { // NOLINT(concurrency-mt-unsafe): own stream
        char path[512];
        char text[128];
        double time;
        (void)snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        if (!read_line(path, text, sizeof text) || strcmp(text, name) != 0)
            continue;
        (void)snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", entry->d_name);
        if (read_line(path, text, sizeof text) && sscanf(text, "%lf", &time) == 1)
            sum += time;
    }
    if (folder != NULL)
        (void)closedir(folder);
    return sum;
}

#endif
