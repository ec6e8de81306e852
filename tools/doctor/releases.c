#include "doctor/releases.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    enum release_library library;
    struct release release;
} releases[] = {
#define RELEASE(library, major, minor, rocm) {RELEASE_##library, {major, minor, rocm}},
#include "doctor/releases.def"
#undef RELEASE
};

struct release release_of(enum release_library library, const char *path)
{
    struct release release = {0};
    const char *numbers = strstr(path, ".so.");
    char *rest;
    if (!numbers)
        return release;
    unsigned long major = strtoul(numbers + strlen(".so."), &rest, 10);
    if (*rest != '.')
        return release;
    release.major = (unsigned)major;
    release.minor = (unsigned)strtoul(rest + 1, NULL, 10);
    for (size_t i = 0; i < sizeof releases / sizeof releases[0]; ++i)
        if (releases[i].library == library && releases[i].release.major == release.major &&
            releases[i].release.minor == release.minor)
            return releases[i].release;
    return release;
}
