#include "collect/output.h"

#include "common/rank.h"
#include "store/target.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What `%c` stands for, or NULL if it stands for itself. */
static const char *replacement(char c, const char *pid, const char *host)
{
    switch (c) {
    case 'p':
        return pid;
    case 'h':
        return host;
    case 'r':
        return rtl_rank()[0] ? rtl_rank() : "0";
    case '%':
        return "%";
    default:
        return NULL;
    }
}

int rtl_output_expand(const char *pattern, uint32_t pid, char *path, size_t path_size)
{
    char number[16];
    char host[256] = "";
    (void)snprintf(number, sizeof number, "%" PRIu32, pid);
    if (gethostname(host, sizeof host - 1) != 0 || !host[0])
        (void)snprintf(host, sizeof host, "localhost");

    size_t used = 0;
    for (const char *c = pattern; *c; ++c) {
        const char *text = c[0] == '%' ? replacement(c[1], number, host) : NULL;
        size_t length = text ? strlen(text) : 1;
        if (used + length >= path_size)
            return -1;
        memcpy(path + used, text ? text : c, length);
        used += length;
        if (text)
            ++c;
    }
    if (used >= path_size)
        return -1;
    path[used] = '\0';
    return 0;
}

bool rtl_output_names_pid(const char *pattern)
{
    for (const char *c = strchr(pattern, '%'); c; c = strchr(c, '%')) {
        if (c[1] == 'p')
            return true;
        c += c[1] == '%' ? 2 : 1;
    }
    return false;
}

/* A file that has the name keeps it. What is no file (a device, a FIFO, a folder), or a descriptor
 * of this process by its name (/dev/stdout), says where the trace is to go, and another name beside
 * it would be in a folder that nobody has meant. */
static bool is_taken(const char *path)
{
    struct stat status;
    int descriptor = -1;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    free(rtl_target(path, &descriptor));
    return descriptor < 0;
}

int rtl_output_free_name(char *path, size_t path_size)
{
    if (!is_taken(path))
        return 0;
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(path, '.');
    size_t stem =
        dot && dot > path && (!slash || dot > slash + 1) ? (size_t)(dot - path) : strlen(path);
    char *candidate = malloc(path_size);
    int number = candidate ? 1 : -1;
    while (number > 0) {
        int length =
            snprintf(candidate, path_size, "%.*s-%d%s", (int)stem, path, number, path + stem);
        if (length < 0 || (size_t)length >= path_size)
            number = -1;
        else if (access(candidate, F_OK) != 0)
            break;
        else
            ++number;
    }
    if (number > 0)
        memcpy(path, candidate, strlen(candidate) + 1);
    free(candidate);
    return number;
}
