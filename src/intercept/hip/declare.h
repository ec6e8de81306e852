/**
 * The wrapped functions, declared: those of the installed HIP headers once more, so that the
 * compiler compares, and those that these headers do not have.
 *
 * HIP's headers are needed to build, and nothing else of HIP is. Types that are newer than the
 * installed headers are declared here; of most, nobody looks inside. Source: hip_runtime_api.h of
 * HIP 5.2 to 7.2; the releases are those whose headers have the type first.
 */
#ifndef RTL_INTERCEPT_HIP_DECLARE_H
#define RTL_INTERCEPT_HIP_DECLARE_H

#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__ 1
#endif
#include "intercept/hip/each.h"

#include <hip/hip_runtime_api.h>
#include <hip/hip_version.h>
#include <stddef.h>
#include <stdint.h>

/** True where the installed headers are older than a release. */
#define RTL_HIP_BEFORE(major, minor)                                                               \
    (HIP_VERSION_MAJOR < (major) || (HIP_VERSION_MAJOR == (major) && HIP_VERSION_MINOR < (minor)))

#if RTL_HIP_BEFORE(5, 3)
typedef int hipGraphMemAttributeType;
typedef struct hipUserObject *hipUserObject_t;
#endif
#if RTL_HIP_BEFORE(5, 5)
typedef struct hipFunctionLaunchParams_t hipFunctionLaunchParams;
typedef struct hipMemAllocNodeParams hipMemAllocNodeParams;
#endif
#if RTL_HIP_BEFORE(6, 1)
typedef hipMemsetParams rtl_driver_memset;
#elif RTL_HIP_BEFORE(7, 0)
typedef HIP_MEMSET_NODE_PARAMS rtl_driver_memset;
#else
typedef hipMemsetParams rtl_driver_memset;
#endif
#if RTL_HIP_BEFORE(7, 0)
#define rtl_const_since_7
#else
#define rtl_const_since_7 const
#endif
#if !RTL_HIP_BEFORE(5, 7) && RTL_HIP_BEFORE(6, 0)
#define rtl_const_in_5_7 const
#else
#define rtl_const_in_5_7
#endif
#if RTL_HIP_BEFORE(6, 1)
typedef struct hipExternalSemaphoreSignalNodeParams hipExternalSemaphoreSignalNodeParams;
typedef struct hipExternalSemaphoreWaitNodeParams hipExternalSemaphoreWaitNodeParams;
typedef struct hipGraphNodeParams hipGraphNodeParams;
#endif
#if RTL_HIP_BEFORE(6, 2)
typedef int hipDriverProcAddressQueryResult;
typedef struct hipGraphEdgeData hipGraphEdgeData;
typedef struct hipGraphInstantiateParams hipGraphInstantiateParams;
#endif
#if RTL_HIP_BEFORE(6, 3)
typedef struct hipBatchMemOpNodeParams hipBatchMemOpNodeParams;
typedef union hipStreamBatchMemOpParams_union hipStreamBatchMemOpParams;
#endif
#if RTL_HIP_BEFORE(6, 5)
typedef struct hipLaunchConfig_st {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    hipStream_t stream;
    void *attrs;
    unsigned int numAttrs;
} hipLaunchConfig_t;
typedef struct HIP_LAUNCH_CONFIG_st {
    unsigned int gridDimX, gridDimY, gridDimZ;
    unsigned int blockDimX, blockDimY, blockDimZ;
    unsigned int sharedMemBytes;
    hipStream_t hStream;
    void *attrs;
    unsigned int numAttrs;
} HIP_LAUNCH_CONFIG;
#endif
#if RTL_HIP_BEFORE(7, 1)
typedef int hipDriverEntryPointQueryResult;
typedef int hipStreamAttrID;
typedef void hipStreamAttrValue;
typedef struct hipMemcpy3DBatchOp hipMemcpy3DBatchOp;
typedef struct hipMemcpy3DPeerParms hipMemcpy3DPeerParms;
typedef struct hipMemcpyAttributes hipMemcpyAttributes;
#endif
#if RTL_HIP_BEFORE(7, 2)
typedef struct hipKernel_st *hipKernel_t;
typedef struct hipLibrary_st *hipLibrary_t;
typedef int hipLibraryOption;
#endif

/** The C type that a parameter of the table has. */
#define RTL_PARAMETER(type, name, field) type name
#define RTL_ARGUMENT(type, name, field)  name

#define RTL_EXPORTED __attribute__((visibility("default")))
#define CALL(name, hook, about, node, ...)                                                         \
    RTL_EXPORTED hipError_t name(RTL_LIST(RTL_PARAMETER, __VA_ARGS__));
#define CALL_0(name) RTL_EXPORTED hipError_t name(void);
#define CALL_VOID(name, hook, about, node, ...)                                                    \
    RTL_EXPORTED void name(RTL_LIST(RTL_PARAMETER, __VA_ARGS__));
#include "intercept/hip/entries.def"
#undef CALL
#undef CALL_0
#undef CALL_VOID

#endif
