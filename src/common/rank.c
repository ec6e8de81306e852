#include "common/rank.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 31u

static const char *value_of(const char *name)
{
    const char *value = secure_getenv(name);
    return value && value[0] && strlen(value) <= LONGEST ? value : NULL;
}

const char *rtl_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "SLURM_PROCID", "RANK"};
    const char *rank = value_of("RANK");
    if (rank && value_of("WORLD_SIZE") && value_of("LOCAL_RANK"))
        return rank;
    rank = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !rank; i++)
        rank = value_of(names[i]);
    return rank ? rank : "";
}

bool rtl_rank_is_of_several(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS",
                                        "WORLD_SIZE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *size = value_of(names[i]);
        if (size && strtoul(size, NULL, 10) > 1)
            return rtl_rank()[0] != '\0';
    }
    return false;
}
