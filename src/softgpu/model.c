/*
 * How long kernels and copies take.
 *
 *   SOFTGPU_DURATION   items separated by commas; the first that fits a kernel counts:
 *                        NS            every kernel takes NS nanoseconds
 *                        PATTERN=NS    kernels whose name fits the pattern
 *                        @FILE         the rules of a schedule file, one a line:
 *                                        PATTERN NS [JITTER%] [every N x FACTOR]      # comment
 *   SOFTGPU_COPY       NS[:GB_PER_S]   copies and fills of the DMA engines take NS plus bytes /
 * (GB/s) SOFTGPU_SEED       number          another draw of jitter and outliers
 *
 * A pattern is a shell pattern (fnmatch) for the mangled name, the demangled one, or the demangled
 * name without parameters. Jitter is uniform within ± the percentage; one dispatch in N, on the
 * average, takes FACTOR times as long. Both are a hash of seed, queue and ordinal of the dispatch
 * in its queue: the same run again gives the same durations. Kernels that no rule fits take what
 * their plugin says, else a time from the size of the grid.
 */
#include "softgpu/kernel.h"
#include "softgpu/say.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_NS     10U
#define NS_LIMIT    1000000000000.0
#define WORDS_LIMIT 8U

/* The default duration: a launch, and passes over the device as a gfx906 makes them, which holds 60
 * compute units times 40 wavefronts of 64 work-items at once. */
#define LAUNCH_NS       1500U
#define PASS_NS         400U
#define WAVEFRONT       64U
#define WAVEFRONTS_HELD (60U * 40U)

/* The default copy: about what PCIe 4.0 x16 gives. */
#define COPY_NS       1500.0
#define COPY_GB_PER_S 25.0

typedef struct rule {
    char *pattern;
    sg_duration_t duration;
} rule_t;

typedef struct model {
    rule_t *rules;
    size_t rule_count;
    double copy_ns, copy_bytes_per_ns;
    uint64_t seed;
} model_t;

static model_t model = {.copy_ns = COPY_NS, .copy_bytes_per_ns = COPY_GB_PER_S};

static bool parse_number(const char *text, double least, double most, double *number)
{
    char *end = NULL;
    if (text == NULL || !(isdigit((unsigned char)text[0]) || text[0] == '.')) {
        return false;
    }
    *number = strtod(text, &end);
    return end != text && *end == '\0' && *number >= least && *number <= most;
}

static bool add_rule(const char *pattern, const sg_duration_t *duration)
{
    rule_t *rules = realloc(model.rules, (model.rule_count + 1) * sizeof *rules);
    if (rules == NULL) {
        return false;
    }
    model.rules = rules;
    char *copy = strdup(pattern);
    if (copy == NULL) {
        return false;
    }
    model.rules[model.rule_count++] = (rule_t){.pattern = copy, .duration = *duration};
    return true;
}

static void drop_rules(void)
{
    for (size_t rule = 0; rule < model.rule_count; rule++) {
        free(model.rules[rule].pattern);
    }
    free(model.rules);
    model.rules = NULL;
    model.rule_count = 0;
}

/* `every N x FACTOR`, four words. */
static const char *parse_outliers(char *const words[], size_t count, sg_duration_t *duration)
{
    double every, factor;
    if (count != 4 || strcmp(words[0], "every") != 0 || strcmp(words[2], "x") != 0) {
        return "after the jitter only 'every N x FACTOR' may follow";
    }
    if (!parse_number(words[1], 1, 1e15, &every) || every != floor(every)) {
        return "the N of 'every N x FACTOR' is not a whole number from 1";
    }
    if (!parse_number(words[3], 0, 1e6, &factor)) {
        return "the FACTOR of 'every N x FACTOR' is not a number up to a million";
    }
    duration->every = (uint64_t)every;
    duration->factor = factor;
    return NULL;
}

/* Returns what is wrong with the words of a line, NULL if nothing. */
static const char *parse_words(char *const words[], size_t count, sg_duration_t *duration)
{
    double number;
    size_t next = 2;
    *duration = (sg_duration_t){.fixed = true};
    if (count < 2 || !parse_number(words[1], 0, NS_LIMIT, &number)) {
        return "the second word is not a duration in nanoseconds";
    }
    duration->ns = (uint64_t)number;
    if (next < count && strcmp(words[next], "every") != 0) {
        size_t length = strlen(words[next]);
        if (length > 0 && words[next][length - 1] == '%') {
            words[next][length - 1] = '\0';
        }
        if (!parse_number(words[next], 0, 100, &number)) {
            return "the jitter is not a percentage from 0 to 100";
        }
        duration->jitter = number / 100;
        next++;
    }
    return next < count ? parse_outliers(words + next, count - next, duration) : NULL;
}

static size_t split_words(char *line, char *words[WORDS_LIMIT])
{
    size_t count = 0;
    char *rest = NULL;
    line[strcspn(line, "#\n")] = '\0';
    for (char *word = strtok_r(line, " \t\r", &rest); word != NULL && count < WORDS_LIMIT;
         word = strtok_r(NULL, " \t\r", &rest)) {
        words[count++] = word;
    }
    return count;
}

static bool read_schedule(const char *path)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        sg_say("SOFTGPU_DURATION: the schedule '%s' cannot be read: %s", path,
               strerrordesc_np(errno));
        return false;
    }
    char *line = NULL;
    size_t size = 0, number = 0;
    const char *why = NULL;
    while (why == NULL && getline(&line, &size, file) >= 0) {
        char *words[WORDS_LIMIT];
        sg_duration_t duration;
        size_t count = split_words(line, words);
        number++;
        if (count == 0) {
            continue;
        }
        why = parse_words(words, count, &duration);
        if (why == NULL && !add_rule(words[0], &duration)) {
            why = "out of memory";
        }
    }
    if (why != NULL) {
        sg_say("SOFTGPU_DURATION: '%s' line %zu: %s", path, number, why);
    }
    free(line);
    (void)fclose(file);
    return why == NULL;
}

static bool parse_item(char *item)
{
    if (item[0] == '@') {
        return read_schedule(item + 1);
    }
    char *equals = strrchr(item, '=');
    const char *pattern = equals != NULL ? item : "*";
    const char *number = equals != NULL ? equals + 1 : item;
    double ns;
    if (!parse_number(number, 0, NS_LIMIT, &ns)) {
        sg_say("SOFTGPU_DURATION: '%s' is not a duration in nanoseconds", number);
        return false;
    }
    if (equals != NULL) {
        *equals = '\0';
    }
    sg_duration_t duration = {.fixed = true, .ns = (uint64_t)ns};
    return add_rule(pattern, &duration);
}

static bool set_duration(const char *setting)
{
    drop_rules();
    char *copy = strdup(setting);
    char *rest = copy;
    bool good = copy != NULL;
    while (good && rest != NULL) {
        good = parse_item(strsep(&rest, ","));
    }
    free(copy);
    if (!good) {
        drop_rules();
    }
    return good;
}

static bool set_copy(const char *setting)
{
    char text[64];
    double ns, rate = COPY_GB_PER_S;
    int length = snprintf(text, sizeof text, "%s", setting);
    char *colon = strchr(text, ':');
    if (colon != NULL) {
        *colon = '\0';
    }
    if (length >= (int)sizeof text || !parse_number(text, 0, NS_LIMIT, &ns) ||
        (colon != NULL && !parse_number(colon + 1, 1e-6, 1e9, &rate))) {
        sg_say("SOFTGPU_COPY: '%s' is not NS or NS:GB_PER_S", setting);
        return false;
    }
    model.copy_ns = ns;
    model.copy_bytes_per_ns = rate;
    return true;
}

static bool set_seed(const char *setting)
{
    char *end = NULL;
    errno = 0;
    unsigned long long seed = strtoull(setting, &end, 0);
    if (!isdigit((unsigned char)setting[0]) || *end != '\0' || errno != 0) {
        sg_say("SOFTGPU_SEED: '%s' is not a number", setting);
        return false;
    }
    model.seed = seed;
    return true;
}

static bool is_set(const char *setting)
{
    return setting != NULL && setting[0] != '\0';
}

bool sg_model_set(const char *duration, const char *copy, const char *seed)
{
    drop_rules();
    model = (model_t){.copy_ns = COPY_NS, .copy_bytes_per_ns = COPY_GB_PER_S};
    bool good = true;
    good = (!is_set(duration) || set_duration(duration)) && good;
    good = (!is_set(copy) || set_copy(copy)) && good;
    good = (!is_set(seed) || set_seed(seed)) && good;
    return good;
}

void sg_model_init(void)
{
    // NOLINTBEGIN(concurrency-mt-unsafe): read at start
    (void)sg_model_set(secure_getenv("SOFTGPU_DURATION"), secure_getenv("SOFTGPU_COPY"),
                       secure_getenv("SOFTGPU_SEED"));
    // NOLINTEND(concurrency-mt-unsafe)
}

bool sg_name_fits(const char *pattern, const sg_kernel_t *kernel)
{
    char *forms[3];
    size_t count = kernel->demangled != NULL ? sg_name_forms(kernel->demangled, forms) : 0;
    bool fit = fnmatch(pattern, kernel->name, 0) == 0;
    for (size_t form = 0; form < count; form++) {
        fit = fit || (forms[form] != NULL && fnmatch(pattern, forms[form], 0) == 0);
        free(forms[form]);
    }
    return fit;
}

void sg_model_match(sg_kernel_t *kernel)
{
    kernel->duration = (sg_duration_t){0};
    for (size_t rule = 0; rule < model.rule_count; rule++) {
        if (sg_name_fits(model.rules[rule].pattern, kernel)) {
            kernel->duration = model.rules[rule].duration;
            break;
        }
    }
}

static uint64_t groups(uint32_t grid, uint16_t block)
{
    return block == 0 ? grid : ((uint64_t)grid + block - 1) / block;
}

static uint64_t plausible_ns(const hsa_kernel_dispatch_packet_t *packet)
{
    uint64_t count = groups(packet->grid_size_x, packet->workgroup_size_x) *
                     groups(packet->grid_size_y, packet->workgroup_size_y) *
                     groups(packet->grid_size_z, packet->workgroup_size_z);
    uint64_t items =
        (uint64_t)packet->workgroup_size_x * packet->workgroup_size_y * packet->workgroup_size_z;
    uint64_t wavefronts_each = (items + WAVEFRONT - 1) / WAVEFRONT;
    double wavefronts = (double)count * (double)wavefronts_each;
    return LAUNCH_NS + (uint64_t)(PASS_NS * ceil(wavefronts / WAVEFRONTS_HELD));
}

/* The finalizer of SplitMix64 (Steele, Lea, Flood 2014): every bit of the input moves every bit of
 * the output. */
static uint64_t mix(uint64_t value)
{
    value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
    value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
    return value ^ (value >> 31U);
}

/* A draw from 0 to below 1, the same for the same dispatch. */
static double draw(uint32_t queue, uint64_t ordinal, uint64_t purpose)
{
    uint64_t bits = mix(model.seed + purpose * 0x9E3779B97F4A7C15U);
    bits = mix(bits ^ mix(((uint64_t)queue << 48U) + ordinal + 1));
    return (double)(bits >> 11U) * 0x1p-53;
}

uint64_t sg_model_ticks(const sg_kernel_t *kernel, const hsa_kernel_dispatch_packet_t *packet,
                        uint32_t queue, uint64_t ordinal)
{
    const sg_duration_t *rule = &kernel->duration;
    uint64_t base;
    if (rule->fixed) {
        base = rule->ns;
    } else if (kernel->host != NULL && kernel->host->duration != NULL) {
        softgpu_dispatch_t dispatch = sg_kernel_dispatch(kernel, packet, 0);
        base = kernel->host->duration(&dispatch, kernel->context);
    } else {
        base = plausible_ns(packet);
    }
    if (rule->jitter == 0 && rule->every == 0) {
        return (base + TICK_NS - 1) / TICK_NS;
    }
    double ns = (double)base * (1 + rule->jitter * (2 * draw(queue, ordinal, 1) - 1));
    if (rule->every > 0 && draw(queue, ordinal, 2) * (double)rule->every < 1) {
        ns *= rule->factor;
    }
    return (uint64_t)ceil(ns / TICK_NS);
}

uint64_t sg_model_copy_ticks(uint64_t bytes)
{
    return (uint64_t)ceil((model.copy_ns + (double)bytes / model.copy_bytes_per_ns) / TICK_NS);
}
