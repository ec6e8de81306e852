/*
 * Rules of SOFTGPU_COUNTERS: items with semicolons between them, `PATTERN KEY=NUMBER...`, the first
 * that fits a kernel counts; `@FILE` has an item on each line, `#` begins a comment.
 */
#include "softgpu/pmc_model.h"

#include "softgpu/kernel.h"
#include "softgpu/say.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAVE = 64, QUAD = 4, NUMBER_MOST = 1000000, PERCENT = 100 };

typedef struct mix_rule {
    char *pattern;
    sg_mix_t mix;
} mix_rule_t;

const sg_mix_t sg_mix_default = {
    .valu = 8, .salu = 4, .smem = 2, .loads = 2, .stores = 1, .read = 8, .write = 4, .hit = 50};

static mix_rule_t *rules;
static size_t rule_count;

static void drop_rules(void)
{
    for (size_t i = 0; i < rule_count; i++)
        free(rules[i].pattern);
    free(rules);
    rules = NULL;
    rule_count = 0;
}

static uint32_t *field(sg_mix_t *mix, const char *key)
{
    const struct {
        const char *key;
        uint32_t *value;
    } fields[] = {{"valu", &mix->valu},     {"salu", &mix->salu},
                  {"smem", &mix->smem},     {"loads", &mix->loads},
                  {"stores", &mix->stores}, {"flat", &mix->flat},
                  {"lds", &mix->lds},       {"conflicts", &mix->conflicts},
                  {"read", &mix->read},     {"write", &mix->write},
                  {"hit", &mix->hit}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (strcmp(fields[i].key, key) == 0)
            return fields[i].value;
    return NULL;
}

static bool set_field(sg_mix_t *mix, char *word)
{
    char *text = strchr(word, '=');
    if (!text)
        return false;
    *text++ = '\0';
    uint32_t *value = field(mix, word);
    char *end = NULL;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (!value || !isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 ||
        number > (value == &mix->hit ? PERCENT : NUMBER_MOST))
        return false;
    *value = (uint32_t)number;
    return true;
}

static bool add_rule(const char *pattern, const sg_mix_t *mix)
{
    mix_rule_t *more = realloc(rules, (rule_count + 1) * sizeof *more);
    if (!more)
        return false;
    rules = more;
    rules[rule_count].pattern = strdup(pattern);
    rules[rule_count].mix = *mix;
    if (!rules[rule_count].pattern)
        return false;
    rule_count++;
    return true;
}

/* Takes an item apart in place; an empty one is nothing. */
static bool parse_item(char *item)
{
    char *rest = NULL;
    item[strcspn(item, "#\n")] = '\0';
    const char *pattern = strtok_r(item, " \t\r", &rest);
    if (!pattern)
        return true;
    sg_mix_t mix = sg_mix_default;
    for (char *word = strtok_r(NULL, " \t\r", &rest); word; word = strtok_r(NULL, " \t\r", &rest)) {
        if (set_field(&mix, word))
            continue;
        sg_say("SOFTGPU_COUNTERS: '%s' of '%s' is not one of valu, salu, smem, "
               "loads, stores, flat, lds, conflicts, read, write and hit (per cent) with "
               "its number",
               word, pattern);
        return false;
    }
    return add_rule(pattern, &mix);
}

static bool parse_file(const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file) {
        sg_say("SOFTGPU_COUNTERS: '%s' cannot be read: %s", path, strerrordesc_np(errno));
        return false;
    }
    char *line = NULL;
    size_t size = 0;
    bool good = true;
    while (good && getline(&line, &size, file) >= 0)
        good = parse_item(line);
    free(line);
    (void)fclose(file);
    return good;
}

bool sg_mix_set(const char *setting)
{
    drop_rules();
    char *copy = setting ? strdup(setting) : NULL;
    char *rest = copy;
    bool good = true;
    while (good && rest) {
        char *item = strsep(&rest, ";");
        good = item[0] == '@' ? parse_file(item + 1) : parse_item(item);
    }
    free(copy);
    if (!good)
        drop_rules();
    return good;
}

void sg_mix_init(void)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): read at start
    (void)sg_mix_set(secure_getenv("SOFTGPU_COUNTERS"));
}

void sg_mix_match(sg_kernel_t *kernel)
{
    kernel->mix = sg_mix_default;
    for (size_t i = 0; i < rule_count; i++) {
        if (sg_name_fits(rules[i].pattern, kernel)) {
            kernel->mix = rules[i].mix;
            return;
        }
    }
}

/* A dimension has whole workgroups and perhaps one that the grid cuts off; so a grid has eight
 * kinds of workgroups. */
uint64_t sg_mix_waves(const uint32_t grid[3], const uint16_t block[3])
{
    uint64_t waves = 0;
    for (unsigned kind = 0; kind < 8; kind++) {
        uint64_t groups = 1;
        uint64_t items = 1;
        for (unsigned axis = 0; axis < 3; axis++) {
            uint32_t rest = grid[axis] % block[axis];
            bool cut = (kind >> axis & 1U) != 0;
            groups *= cut ? (rest != 0 ? 1 : 0) : grid[axis] / block[axis];
            items *= cut ? rest : block[axis];
        }
        waves += groups * ((items + WAVE - 1) / WAVE);
    }
    return waves;
}

/* The last request of so many bytes may be one of 32 bytes. */
static uint64_t ends_in_half(uint64_t bytes)
{
    uint64_t rest = bytes % SG_PMC_LINE;
    return rest > 0 && rest <= SG_PMC_LINE / 2 ? 1 : 0;
}

static void count_memory(const sg_mix_t *mix, uint64_t items, uint64_t counts[SG_PMC_OF_KERNELS])
{
    uint64_t read = items * mix->read;
    uint64_t written = items * mix->write;
    uint64_t reads = (read + SG_PMC_LINE - 1) / SG_PMC_LINE;
    uint64_t writes = (written + SG_PMC_LINE - 1) / SG_PMC_LINE;
    uint64_t read_hits = reads * mix->hit / PERCENT;
    counts[SG_PMC_L2_REQUESTS] = reads + writes;
    counts[SG_PMC_L2_HITS] = read_hits + writes * mix->hit / PERCENT;
    counts[SG_PMC_L2_MISSES] = counts[SG_PMC_L2_REQUESTS] - counts[SG_PMC_L2_HITS];
    counts[SG_PMC_EA_READS] = reads - read_hits;
    counts[SG_PMC_EA_READS_32] = counts[SG_PMC_EA_READS] > 0 ? ends_in_half(read) : 0;
    counts[SG_PMC_EA_WRITES] = writes;
    counts[SG_PMC_EA_WRITES_64] = writes - ends_in_half(written);
}

void sg_mix_count(const sg_mix_t *mix, const softgpu_truth_entry_t *entry,
                  uint64_t counts[SG_PMC_OF_KERNELS])
{
    uint64_t waves = sg_mix_waves(entry->grid, entry->block);
    uint64_t items = (uint64_t)entry->grid[0] * entry->grid[1] * entry->grid[2];
    uint64_t cycles = (entry->end_ticks - entry->start_ticks) * SG_PMC_CYCLES_PER_TICK;
    counts[SG_PMC_WAVES] = waves;
    counts[SG_PMC_ITEMS] = items;
    counts[SG_PMC_VALU] = waves * mix->valu;
    counts[SG_PMC_SALU] = waves * mix->salu;
    counts[SG_PMC_SMEM] = waves * mix->smem;
    counts[SG_PMC_LOADS] = waves * mix->loads;
    counts[SG_PMC_STORES] = waves * mix->stores;
    counts[SG_PMC_VMEM] = counts[SG_PMC_LOADS] + counts[SG_PMC_STORES];
    counts[SG_PMC_FLAT] = waves * mix->flat;
    counts[SG_PMC_LDS] = waves * mix->lds;
    counts[SG_PMC_INSTRUCTIONS] = counts[SG_PMC_VALU] + counts[SG_PMC_SALU] + counts[SG_PMC_SMEM] +
                                  counts[SG_PMC_VMEM] + counts[SG_PMC_FLAT] + counts[SG_PMC_LDS];
    counts[SG_PMC_CONFLICTS] = waves * mix->conflicts;
    counts[SG_PMC_WAVE_CYCLES] = waves * cycles / QUAD;
    counts[SG_PMC_THREAD_CYCLES] = items * mix->valu;
    count_memory(mix, items, counts);
}
