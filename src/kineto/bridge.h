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
 * them with Kineto, once. Returns how many there are. What goes wrong is said on stderr. Any
 * thread; before the first HIP call, unless RTL is there already (docs/kineto.md). */
__attribute__((visibility("default"))) int pu1KinetoRegister(void);

#ifdef __cplusplus
}
#endif

#endif
