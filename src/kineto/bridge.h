/**
 * PrivateUse1 vendors in Kineto: libkineto_privateuse1.so, built with the headers of the Kineto
 * that it is for (-DKINETO_INCLUDE_DIR=…). For ctypes:
 *
 *     import ctypes, torch
 *     ctypes.CDLL("libkineto_privateuse1.so").pu1KinetoRegister()
 */
#ifndef RTL_KINETO_BRIDGE_H
#define RTL_KINETO_BRIDGE_H

#ifdef __cplusplus
extern "C" {
#endif

/** Loads the vendors that KINETO_PLUGIN_PATH names and, if there are any, registers a profiler for
 * them with Kineto, once. Returns how many there are; -1, and nothing is loaded or registered, if
 * the bridge was built for another PyTorch than the one that is there (pu1KinetoBuiltFor): so far
 * as that can be told, by torch.__version__ in the calling Python, and by Kineto's classes. What
 * goes wrong is said on stderr. Any thread; before the first HIP call, unless RTL is there already
 * (docs/kineto.md). */
__attribute__((visibility("default"))) int pu1KinetoRegister(void);

/** What the bridge was built for, such as "PyTorch 2.14.1, Kineto 20.21": PyTorch's version, and
 * the numbers of virtual functions of two of Kineto's classes; "?" is unknown. Never NULL. Any
 * thread, also where it is not registered. */
__attribute__((visibility("default"))) const char *pu1KinetoBuiltFor(void);

#ifdef __cplusplus
}
#endif

#endif
