/**
 * The driver's interface for shared virtual memory: ranges of the process's own memory that the
 * devices may use at the process's addresses, with attributes. Nothing migrates here: where memory
 * is preferred to be is remembered, and told.
 */
#ifndef SOFTGPU_KFD_SVM_H
#define SOFTGPU_KFD_SVM_H

#include "softgpu/kfd.h"

#include <stddef.h>

/** AMDKFD_IOC_SVM. `bytes` is how many of the arguments there are, with the attributes. */
int sg_kfd_svm(struct kfd_ioctl_svm_args *args, size_t bytes);

/** How many bytes from `address` on the devices may use in one piece, 0 if none. */
uint64_t sg_kfd_svm_bytes(uintptr_t address);

/** Forgets all ranges. */
void sg_kfd_svm_clear(void);

/** Locks and unlocks the ranges around a fork. */
void sg_kfd_svm_before_fork(void);
void sg_kfd_svm_after_fork(void);

#endif
