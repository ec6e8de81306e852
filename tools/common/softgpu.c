#include "common/softgpu.h"

#include "common/child.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRONT "libsoftgpu.so"

static bool is_front(const char *path, size_t length)
{
    const char *slash = memrchr(path, '/', length);
    const char *name = slash ? slash + 1 : path;
    return (size_t)(path + length - name) == strlen(FRONT) &&
           strncmp(name, FRONT, strlen(FRONT)) == 0;
}

bool softgpu_is_led(void)
{
    const char *word = secure_getenv("LD_PRELOAD");
    while (word && *(word += strspn(word, " :"))) {
        size_t length = strcspn(word, " :");
        if (is_front(word, length))
            return true;
        word += length;
    }
    return false;
}

static const char *value_of(char *const *environment, const char *name)
{
    size_t length = strlen(name);
    for (; *environment; ++environment)
        if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
            return *environment + length + 1;
    return "";
}

static char **with(char **environment, const char *name, const char *value)
{
    char **next = child_environment(environment, name, value);
    if (environment != environ)
        child_environment_free(environment);
    return next;
}

/* What stands in a list already is not put there again. A path with a blank or a colon would be two
 * to the dynamic linker; a bare name it looks for among the libraries. */
char **softgpu_environment(char **environment, const char *folder)
{
    char preload[3 * PATH_MAX];
    char libraries[3 * PATH_MAX];
    bool bare = strpbrk(folder, " :;") != NULL;
    size_t used = 0;
    if (!environment)
        return NULL;
    for (const char *word = value_of(environment, "LD_PRELOAD"); *(word += strspn(word, " :"));) {
        size_t length = strcspn(word, " :");
        if (!is_front(word, length) && used + length + 2 < sizeof preload)
            used +=
                (size_t)snprintf(preload + used, sizeof preload - used, "%.*s:", (int)length, word);
        word += length;
    }
    (void)snprintf(preload + used, sizeof preload - used, "%s%s" FRONT, bare ? "" : folder,
                   bare ? "" : "/");
    const char *before = value_of(environment, "LD_LIBRARY_PATH");
    (void)snprintf(libraries, sizeof libraries, "%s%s%s", folder, before[0] ? ":" : "", before);
    environment = with(environment, "LD_PRELOAD", preload);
    return bare && environment ? with(environment, "LD_LIBRARY_PATH", libraries) : environment;
}
