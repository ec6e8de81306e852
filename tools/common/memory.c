#include "common/memory.h"

#include "common/command.h"
#include "common/say.h"

#include <stdlib.h>
#include <unistd.h>

void memory_is_short(void)
{
    say("memory is short");
    _exit(EXIT_USAGE);
}

static void *or_end(void *memory)
{
    if (!memory)
        memory_is_short();
    return memory;
}

void *memory_new(size_t count, size_t size)
{
    return or_end(calloc(count ? count : 1, size));
}

void *memory_grown(void *memory, size_t count, size_t size)
{
    return or_end(reallocarray(memory, count ? count : 1, size));
}
