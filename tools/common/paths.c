#include "common/paths.h"

#include "common/command.h"
#include "common/private.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool paths_self(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size);
    if (length <= 0 || (size_t)length >= size)
        return false;
    path[length] = '\0';
    return true;
}

/* Folder of this program, without a slash at its end. */
static bool own_folder(char *path, size_t size)
{
    if (!paths_self(path, size))
        return false;
    char *slash = strrchr(path, '/');
    if (!slash)
        return false;
    *slash = '\0';
    return true;
}

/* What is looked for beside this program may be run, or loaded into programs: where the program
 * lies alone, the folders about it may be anybody's. */
static bool may_use(const char *path)
{
    struct stat status;
    return rtl_private_may_use(path, stat("/proc/self/exe", &status) == 0 ? status.st_uid : 0);
}

/* FOLDER/MIDDLE/NAME with links and dots resolved, if it exists and may be used. */
static bool resolve(const char *folder, const char *middle, const char *name, char *path,
                    size_t size)
{
    char joined[2 * PATH_MAX];
    char real[PATH_MAX];
    int length = snprintf(joined, sizeof joined, "%s/%s/%s", folder, middle, name);
    if (length < 0 || (size_t)length >= sizeof joined || !realpath(joined, real) || !may_use(real))
        return false;
    length = snprintf(path, size, "%s", real);
    return length >= 0 && (size_t)length < size;
}

bool paths_beside(const char *name, char *path, size_t size)
{
    char folder[PATH_MAX];
    return own_folder(folder, sizeof folder) && resolve(folder, ".", name, path, size);
}

bool paths_library(const char *name, char *path, size_t size)
{
    static const char *const folders[] = {"../lib", ("../" RTL_INSTALL_LIBDIR), "../lib64",
                                          "../lib/rtl"};
    char folder[PATH_MAX];
    if (!own_folder(folder, sizeof folder))
        return false;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; ++i)
        if (resolve(folder, folders[i], name, path, size))
            return true;
    return false;
}

bool paths_softgpu(char *path, size_t size)
{
    char front[PATH_MAX];
    return paths_library("softgpu", path, size) &&
           paths_library("softgpu/libsoftgpu.so", front, sizeof front);
}

static int try_program(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return EXIT_NOT_FOUND;
    if (!S_ISREG(status.st_mode) || access(path, X_OK) != 0)
        return EXIT_NOT_EXECUTABLE;
    return 0;
}

static int search_path(const char *program, char *path, size_t size)
{
    int found = EXIT_NOT_FOUND;
    const char *list = secure_getenv("PATH");
    if (!list)
        list = "/usr/local/bin:/usr/bin:/bin";
    const char *end;
    for (; *list; list = *end ? end + 1 : end) {
        end = strchrnul(list, ':');
        int length = snprintf(path, size, "%.*s/%s", end > list ? (int)(end - list) : 1,
                              end > list ? list : ".", program);
        if (length < 0 || (size_t)length >= size)
            continue;
        int tried = try_program(path);
        if (tried == 0)
            return 0;
        if (tried == EXIT_NOT_EXECUTABLE)
            found = tried;
    }
    return found;
}

int paths_program(const char *program, char *path, size_t size)
{
    if (!program[0])
        return EXIT_NOT_FOUND;
    if (!strchr(program, '/'))
        return search_path(program, path, size);
    int length = snprintf(path, size, "%s", program);
    if (length < 0 || (size_t)length >= size)
        return EXIT_NOT_FOUND;
    return try_program(path);
}

const char *paths_cut(const char *path)
{
    return strpbrk(path, " :;\"$");
}
