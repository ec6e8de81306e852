#include "common/gpu.h"

#include "common/say.h"

#include <errno.h>
#include <string.h>

int gpu_parse(const char *text, enum gpu *gpu)
{
    static const char *const names[] = {"auto", "soft", "real"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; ++i)
        if (strcmp(text, names[i]) == 0) {
            *gpu = (enum gpu)i;
            return 0;
        }
    return say_fail(EINVAL, "there is no GPU called '%s' for --gpu: it is auto, soft or real",
                    text);
}
