#include "collect/left.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What has ended and was not waited for has no environment. */
static size_t read_environment(int proc, const char *pid, char *text)
{
    char name[300];
    size_t size = 0;
    (void)snprintf(name, sizeof name, "%s/environ", pid);
    int file = openat(proc, name, O_RDONLY | O_CLOEXEC);
    for (ssize_t length = 1; file >= 0 && length > 0 && size < LEFT_ENVIRONMENT;) {
        length = read(file, text + size, LEFT_ENVIRONMENT - size);
        size += length > 0 ? (size_t)length : 0;
    }
    if (file >= 0)
        (void)close(file);
    return size;
}

/* A variable begins behind the zero of the one before. */
static bool has_variable(const char *text, size_t size, const char *variable, size_t length)
{
    const char *found = text;
    while ((found = memmem(found, size - (size_t)(found - text), variable, length)) != NULL) {
        if (found == text || found[-1] == '\0')
            return true;
        found++;
    }
    return false;
}

bool left_has(uint32_t pid, const char *variable, char text[LEFT_ENVIRONMENT])
{
    char name[24];
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    (void)snprintf(name, sizeof name, "%u", pid);
    size_t size = proc >= 0 ? read_environment(proc, name, text) : 0;
    if (proc >= 0)
        (void)close(proc);
    return size > 0 && has_variable(text, size, variable, strlen(variable) + 1);
}

unsigned rtl_left_count(const char *session, bool (*is_ours)(void *context, uint32_t pid),
                        void *context, uint32_t *first)
{
    char variable[300];
    int length = snprintf(variable, sizeof variable, "RTL_SESSION=%s", session) + 1;
    char *text = malloc(LEFT_ENVIRONMENT);
    DIR *folder = opendir("/proc");
    struct dirent *entry;
    unsigned count = 0;
    while (text && folder && length <= (int)sizeof variable &&
           (entry = readdir(folder)) != NULL) { // NOLINT(concurrency-mt-unsafe): own stream
        unsigned long pid = strtoul(entry->d_name, NULL, 10);
        if (!isdigit((unsigned char)entry->d_name[0]) || pid == (unsigned long)getpid())
            continue;
        size_t size = read_environment(dirfd(folder), entry->d_name, text);
        if (!has_variable(text, size, variable, (size_t)length) &&
            !(is_ours && is_ours(context, (uint32_t)pid)))
            continue;
        *first = (uint32_t)pid;
        count++;
    }
    if (folder)
        (void)closedir(folder);
    free(text);
    return count;
}
