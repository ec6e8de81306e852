#include "intercept/base/config.h"

#include "common/duration.h"
#include "common/log.h"
#include "intercept/base/patience.h"
#include "ring/ring.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_POOL 73728u /* four full rings of 16384 packets, and what is in passing */
#define MOST_POOL    (1u << 20)
#define MOST_PASSES  255u

static const char *setting(const char *name)
{
    const char *value = secure_getenv(name);
    return value != NULL && *value != '\0' ? value : NULL;
}

bool rtl_config_mode(const char *name, enum rtl_mode *mode)
{
    static const struct {
        const char *name;
        enum rtl_mode mode;
    } modes[] = {{"lite", RTL_MODE_LITE},
                 {"standard", RTL_MODE_STANDARD},
                 {"default", RTL_MODE_STANDARD},
                 {"hip", RTL_MODE_HIP},
                 {"full", RTL_MODE_FULL}};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(name, modes[i].name) == 0) {
            *mode = modes[i].mode;
            return true;
        }
    return false;
}

static bool read_mode(enum rtl_mode *mode)
{
    const char *value = setting("RTL_MODE");
    *mode = RTL_MODE_LITE;
    if (value == NULL || rtl_config_mode(value, mode))
        return value != NULL;
    rtl_complain("RTL_MODE=%s is not a mode (lite, standard, hip, full); using lite", value);
    return true;
}

bool rtl_config_wants_calls(void)
{
    const char *value = setting("RTL_MODE");
    return value == NULL || strcmp(value, "hip") == 0 || strcmp(value, "full") == 0;
}

static enum rtl_interception_setting read_interception(void)
{
    static const char *const names[] = {[RTL_INTERCEPTION_AUTO] = "auto",
                                        [RTL_INTERCEPTION_INTERPOSE] = "interpose",
                                        [RTL_INTERCEPTION_INTERCEPT] = "intercept"};
    const char *value = setting("RTL_QUEUE");
    if (value == NULL)
        return RTL_INTERCEPTION_AUTO;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(value, names[i]) == 0)
            return (enum rtl_interception_setting)i;
    rtl_complain("RTL_QUEUE=%s is not a way into a queue (auto, interpose, intercept); using auto",
                 value);
    return RTL_INTERCEPTION_AUTO;
}

static bool read_starts_stopped(void)
{
    const char *value = setting("RTL_START");
    if (value == NULL || strcmp(value, "on") == 0)
        return false;
    if (strcmp(value, "off") == 0)
        return true;
    rtl_complain("RTL_START=%s is neither on nor off; using on", value);
    return false;
}

bool rtl_config_ranges(const char *value, unsigned *by)
{
    static const struct {
        const char *name;
        unsigned by;
    } settings[] = {{"", RTL_RANGE_BY_ALL},
                    {"both", RTL_RANGE_BY_ALL},
                    {"rtl", RTL_RANGE_BY_RTL},
                    {"roctx", RTL_RANGE_BY_ROCTX}};
    *by = settings[0].by;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (strcmp(value != NULL ? value : "", settings[i].name) == 0) {
            *by = settings[i].by;
            return true;
        }
    return false;
}

/* Ranges come before recording does: they read it themselves. */
static void check_ranges(void)
{
    unsigned by;
    const char *value = setting("RTL_RANGES");
    if (!rtl_config_ranges(value, &by))
        rtl_complain("RTL_RANGES=%s names no ranges to measure (rtl, roctx, both); using both",
                     value);
}

static uint64_t read_duration(const char *name, uint64_t otherwise)
{
    uint64_t ns = otherwise;
    const char *value = setting(name);
    if (value != NULL && !rtl_duration_read(value, &ns))
        rtl_complain("%s=%s is not a length of time (such as 2.5, 2s or 500ms); it is left out",
                     name, value);
    return ns;
}

static enum rtl_counting_mode read_counting(void)
{
    const char *value = setting("RTL_COUNTING");
    if (value == NULL || strcmp(value, "range") == 0)
        return RTL_COUNTING_RANGE;
    if (strcmp(value, "kernel") == 0)
        return RTL_COUNTING_KERNEL;
    rtl_complain("RTL_COUNTING=%s is neither kernel nor range; using range", value);
    return RTL_COUNTING_RANGE;
}

/* A number with an optional K, M or G; `otherwise` if it is not set, wrong or outside [least,
 * most]. */
static uint64_t read_number(const char *name, uint64_t otherwise, uint64_t least, uint64_t most)
{
    const char *value = setting(name);
    if (value == NULL)
        return otherwise;
    char *end;
    uint64_t number = strtoull(value, &end, 10);
    static const char units[] = "KMG";
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    if (unit != NULL) {
        number <<= 10 * (unit - units + 1);
        end++;
    }
    if (end != value && *end == '\0' && number >= least && number <= most)
        return number;
    rtl_complain("%s=%s is not a number from %llu to %llu; using %llu", name, value,
                 (unsigned long long)least, (unsigned long long)most,
                 (unsigned long long)otherwise);
    return otherwise;
}

void rtl_config_read(struct rtl_config *config)
{
    rtl_log_debug(setting("RTL_DEBUG") != NULL && strcmp(setting("RTL_DEBUG"), "0") != 0);
    config->mode_set = read_mode(&config->mode);
    config->embedded = setting("RTL_EMBEDDED") != NULL;
    config->interception = read_interception();
    check_ranges();
    config->starts_stopped = read_starts_stopped();
    config->delay_ns = read_duration("RTL_DELAY", 0);
    config->duration_ns = read_duration("RTL_DURATION", 0);
    config->exit_wait_ns = read_duration("RTL_EXIT_WAIT", RTL_PATIENCE_MOST_NS);
    config->session = setting("RTL_SESSION");
    config->output = setting("RTL_OUTPUT");
    config->ring_bytes = (size_t)read_number("RTL_BUFFER", RTL_RING_BYTES, 64u << 10, 1u << 30);
    config->pool_limit = (uint32_t)read_number("RTL_POOL", DEFAULT_POOL, 1, MOST_POOL);
    config->metrics = setting("RTL_METRICS");
    config->metrics_kernel = setting("RTL_METRICS_KERNEL");
    config->counting = read_counting();
    config->pass = (uint32_t)read_number("RTL_PASS", 0, 0, MOST_PASSES);
    config->pending = (uint32_t)read_number("RTL_PENDING", 0, 0, 1u << 24);
}
