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
