#include "common/folder.h"

#include "common/command.h"
#include "common/say.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int folder_make(const char *name, char *folder, size_t size)
{
    const char *temporary = secure_getenv("TMPDIR");
    (void)snprintf(folder, size, "%.40s/%.12s.XXXXXX",
                   temporary && temporary[0] ? temporary : "/tmp", name);
    if (!mkdtemp(folder))
        return say_fail(EXIT_USAGE, "no folder could be made as %s: %s", folder, say_errno(errno));
    return 0;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status, (void)type, (void)where;
    (void)remove(path);
    return 0;
}

void folder_remove(const char *folder)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): rtl has one thread
    (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
