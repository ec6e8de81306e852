/** The rank of a process in its job, as its launcher told it. */
#ifndef RTL_COMMON_RANK_H
#define RTL_COMMON_RANK_H

#include <stdbool.h>

/** The value of the first that is set, and shorter than 32 bytes, of OMPI_COMM_WORLD_RANK,
 * PMIX_RANK, PMI_RANK, SLURM_PROCID and RANK; "" if none is. Where WORLD_SIZE and LOCAL_RANK are
 * set, too, RANK comes first: torchrun starts several ranks in one task of Slurm, which all have
 * its SLURM_PROCID (torch.distributed's elastic agent sets all three). It belongs to the
 * environment. */
const char *rtl_rank(void);

/** True if the launcher has told that the job has several ranks, of which this process is one:
 * OMPI_COMM_WORLD_SIZE, PMI_SIZE, SLURM_STEP_NUM_TASKS or WORLD_SIZE is above 1. Slurm does not set
 * the third one for the script of a batch job, which is no rank. */
bool rtl_rank_is_of_several(void);

#endif
