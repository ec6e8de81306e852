#include "softgpu/settings.h"

#include "softgpu/clock.h"
#include "softgpu/say.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_GPUS = 1, DEFAULT_WIDTH = 4 };

static const uint64_t MAX_DELAY_NS = UINT64_C(10000000000);

static sg_settings_t settings = {.gpus = DEFAULT_GPUS, .width = DEFAULT_WIDTH, .cpu = -1};

const sg_settings_t *sg_settings(void)
{
    return &settings;
}

void sg_debug(const char *format, ...)
{
    if (!settings.debug)
        return;
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    sg_say("%s", line);
}

uint64_t sg_random(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t mixed = *state;
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

/* The environment is read while hsa_init runs; a program that calls setenv on another thread at
 * that moment has a race of its own. */
static const char *variable(const char *name)
{
    const char *value = secure_getenv(name);
    return value && *value ? value : NULL;
}

/* Parses a whole decimal number up to `end` characters that may follow it; false if there is none.
 */
static bool number(const char *text, char stop, uint64_t *value, const char **rest)
{
    if (*text < '0' || *text > '9')
        return false;
    char *end = NULL;
    errno = 0;
    *value = strtoull(text, &end, 10);
    *rest = end;
    return errno == 0 && (*end == '\0' || (stop && *end == stop));
}

static uint64_t ranged(const char *name, uint64_t low, uint64_t high, uint64_t fallback)
{
    const char *text = variable(name);
    if (!text)
        return fallback;
    uint64_t value = 0;
    const char *rest = NULL;
    if (number(text, '\0', &value, &rest) && value >= low && value <= high)
        return value;
    sg_say("%s=%s is not a number from %llu to %llu; using %llu.", name, text,
           (unsigned long long)low, (unsigned long long)high, (unsigned long long)fallback);
    return fallback;
}

static void read_delay(void)
{
    settings.delay_ticks = 0;
    settings.delay_seed = 1;
    const char *text = variable("SOFTGPU_DELAY");
    if (!text)
        return;
    uint64_t ns = 0;
    uint64_t seed = 1;
    const char *rest = NULL;
    bool good = number(text, ':', &ns, &rest) && ns <= MAX_DELAY_NS;
    if (good && *rest == ':')
        good = number(rest + 1, '\0', &seed, &rest);
    if (!good) {
        sg_say("SOFTGPU_DELAY=%s is not NANOSECONDS or NANOSECONDS:SEED with at "
               "most %llu ns; no delay is used.",
               text, (unsigned long long)MAX_DELAY_NS);
        return;
    }
    settings.delay_ticks = ns / SG_NS_PER_TICK;
    settings.delay_seed = seed;
}

static void read_isa(void)
{
    const char *text = variable("SOFTGPU_ISA");
    const sg_isa_t *found = text ? sg_isa_find(text) : NULL;
    settings.isa = found ? found : sg_isa_default();
    if (text && !found)
        sg_say("SOFTGPU_ISA=%s is not a GPU that is known; using %s.", text, settings.isa->name);
}

void sg_settings_read(void)
{
    read_isa();
    settings.gpus = (uint32_t)ranged("SOFTGPU_DEVICES", 1, SG_MAX_GPUS, DEFAULT_GPUS);
    settings.width = (uint32_t)ranged("SOFTGPU_WIDTH", 1, SG_MAX_WIDTH, DEFAULT_WIDTH);
    settings.read_ahead = ranged("SOFTGPU_READ_AHEAD", 0, 1, 0) != 0;
    settings.debug = ranged("SOFTGPU_DEBUG", 0, 1, 0) != 0;
    settings.cpu = variable("SOFTGPU_CPU") ? (int)ranged("SOFTGPU_CPU", 0, CPU_SETSIZE - 1, 0) : -1;
    read_delay();
    settings.reorder = variable("SOFTGPU_REORDER") != NULL;
    settings.reorder_seed = ranged("SOFTGPU_REORDER", 0, UINT64_MAX, 0);
}
