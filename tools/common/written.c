#include "common/written.h"

#include "common/command.h"
#include "common/say.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* 0, or the errno of what cannot be written. */
static int flush(void)
{
    return fflush(stdout) == 0 ? 0 : errno;
}

int written(int status)
{
    static bool failed;
    int error = flush();
    if (error == 0 && !ferror(stdout))
        return status;
    /* An earlier write has failed, and why is not kept: another one tells. */
    if (error == 0 && putchar('\n') != EOF)
        error = flush();
    if (!failed && error != EPIPE)
        say("cannot write to standard output: %s", error == EBADF ? "it is closed"
                                                   : error        ? say_errno(error)
                                                                  : "a part of it is missing");
    failed = true;
    return EXIT_USAGE;
}

/* What holds the place of a closed descriptor (main) can only be read. */
bool written_to_none(void)
{
    int flags = fcntl(STDOUT_FILENO, F_GETFL);
    return flags < 0 || (flags & O_ACCMODE) == O_RDONLY;
}
