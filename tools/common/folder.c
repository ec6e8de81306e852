#include "common/folder.h"

#include "common/command.h"
#include "common/say.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

const char *folder_temporary(void)
{
    const char *folder = secure_getenv("TMPDIR");
    return folder && folder[0] ? folder : "/tmp";
}

/* File systems that have no O_TMPFILE (NFS, overlays of old kernels) get a name for a moment. */
static int open_nameless(void)
{
    char path[FOLDER_SIZE];
    int file = open(folder_temporary(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
        return file;
    (void)snprintf(path, sizeof path, "%.2000s/rtl.XXXXXX", folder_temporary());
    file = mkostemp(path, O_CLOEXEC);
    if (file >= 0)
        (void)unlink(path);
    return file;
}

FILE *folder_file(void)
{
    int file = open_nameless();
    FILE *stream = file >= 0 ? fdopen(file, "w+") : NULL;
    if (!stream && file >= 0)
        (void)close(file);
    return stream;
}

int folder_make(const char *name, char *folder, size_t size)
{
    (void)snprintf(folder, size, "%.2000s/%.12s.XXXXXX", folder_temporary(), name);
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
