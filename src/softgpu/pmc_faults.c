#include "softgpu/pmc_faults.h"
#include "softgpu/say.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A whole decimal number. */
static bool number(const char *text, uint32_t *value)
{
    char *end = NULL;
    errno = 0;
    unsigned long read = strtoul(text, &end, 10);
    *value = (uint32_t)read;
    return isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0 &&
           read <= SG_PMC_EVENT_MAX;
}

/* Splits BLOCK:NUMBER in place. */
static const sg_pmc_block_t *block_and_number(char *text, uint32_t *value)
{
    char *colon = strchr(text, ':');
    if (!colon || !number(colon + 1, value))
        return NULL;
    *colon = '\0';
    return sg_pmc_block_named(text);
}

static bool set_slots(sg_pmc_faults_t *faults, char *text)
{
    uint32_t value = 0;
    if (number(text, &value)) {
        for (size_t i = 0; i < SG_PMC_BLOCKS; i++)
            if (value < faults->slots[i])
                faults->slots[i] = value;
        return true;
    }
    const sg_pmc_block_t *block = block_and_number(text, &value);
    if (block && value < block->slots)
        faults->slots[sg_pmc_place(block)] = value;
    return block != NULL;
}

static bool set_invalid(sg_pmc_faults_t *faults, char *text)
{
    uint32_t event = 0;
    const sg_pmc_block_t *block = block_and_number(text, &event);
    if (!block || faults->invalid_count == SG_PMC_INVALID_MOST)
        return false;
    faults->invalid[faults->invalid_count].block = block->id;
    faults->invalid[faults->invalid_count].event = event;
    faults->invalid_count++;
    return true;
}

static bool set_hang(sg_pmc_faults_t *faults, const char *text)
{
    const sg_pmc_block_t *block = sg_pmc_block_named(text);
    if (block)
        faults->hangs[sg_pmc_place(block)] = true;
    return block != NULL;
}

static bool set_item(sg_pmc_faults_t *faults, char *item)
{
    char *value = strchr(item, '=');
    if (!value) {
        faults->absent = faults->absent || strcmp(item, "absent") == 0;
        return strcmp(item, "absent") == 0;
    }
    *value++ = '\0';
    if (strcmp(item, "slots") == 0)
        return set_slots(faults, value);
    if (strcmp(item, "invalid") == 0)
        return set_invalid(faults, value);
    return strcmp(item, "hang") == 0 && set_hang(faults, value);
}

bool sg_pmc_faults_set(sg_pmc_faults_t *faults, const char *setting)
{
    *faults = (sg_pmc_faults_t){0};
    for (size_t i = 0; i < SG_PMC_BLOCKS; i++)
        faults->slots[i] = sg_pmc_blocks[i].slots;
    char *copy = setting && *setting ? strdup(setting) : NULL;
    char *rest = copy;
    bool good = true;
    while (good && rest) {
        char *item = strsep(&rest, ",");
        good = set_item(faults, item);
    }
    free(copy);
    if (!good)
        sg_say("SOFTGPU_COUNTERS_FAULT=%s is not a list of absent, slots=N, "
               "slots=BLOCK:N, invalid=BLOCK:EVENT and hang=BLOCK.",
               setting);
    return good;
}

void sg_pmc_faults_read(sg_pmc_faults_t *faults)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): read at start
    (void)sg_pmc_faults_set(faults, secure_getenv("SOFTGPU_COUNTERS_FAULT"));
}
