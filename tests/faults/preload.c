/*
 * The shim for programs of their own: LD_PRELOAD=libfaults.so, and in the environment
 *
 *     FAULTS_KIND=memory|file   what fails; file without it
 *     FAULTS_AT=N               the first call that fails, from 1
 *     FAULTS_CALLS=N            how many fail, one after the other; all from there on without it
 *     FAULTS_ERROR=NUMBER       the errno of a call about a file; ENOSPC is for calls that take
 * room FAULTS_PATH=PREFIX        only files whose names begin so FAULTS_COUNT=FILE         gets the
 * number of calls at the end
 *
 * Only programs whose name ends in FAULTS_PROGRAM are meant.
 */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *setting(const char *name)
{
    const char *value = getenv(name); /* NOLINT(concurrency-mt-unsafe): nobody sets it */
    return value ? value : "";
}

static bool is_meant(void)
{
    const char *program = setting("FAULTS_PROGRAM");
    size_t own = strlen(program_invocation_name);
    size_t length = strlen(program);
    return length > 0 && own >= length &&
           strcmp(program_invocation_name + own - length, program) == 0;
}

__attribute__((constructor)) static void begin(void)
{
    if (!is_meant())
        return;
    const char *calls = setting("FAULTS_CALLS");
    const char *path = setting("FAULTS_PATH");
    const struct fault_plan plan = {
        .kind = strcmp(setting("FAULTS_KIND"), "memory") == 0 ? FAULT_MEMORY : FAULT_FILE,
        .at = strtoull(setting("FAULTS_AT"), NULL, 10),
        .calls = calls[0] ? strtoull(calls, NULL, 10) : UINT64_MAX,
        .room_only = atoi(setting("FAULTS_ERROR")) == ENOSPC, /* NOLINT(cert-err34-c) */
        .error = atoi(setting("FAULTS_ERROR")), /* NOLINT(cert-err34-c): the test's own */
        .path = path[0] ? path : NULL};
    fault_begin(&plan, false);
    fault_arm();
}

__attribute__((destructor)) static void end(void)
{
    const char *path = setting("FAULTS_COUNT");
    if (!path[0] || !is_meant())
        return;
    fault_disarm();
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file >= 0) {
        (void)dprintf(file, "%" PRIu64 "\n", fault_calls());
        (void)close(file);
    }
}
