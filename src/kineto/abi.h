/**
 * Whether the Kineto in this process is the one that the bridge was built for: its classes get
 * other members and virtual functions from release to release, and nothing in their names tells.
 */
#ifndef RTL_KINETO_ABI_H
#define RTL_KINETO_ABI_H

#include <string>

/** What the bridge was built for: "PyTorch 2.14.1, Kineto 20.21" (the numbers of virtual functions
 * of its records and of its profiler; "?" where the headers do not say). */
std::string pu1_built_for();

/** Why it must not be used here, as a sentence; empty if nothing is known against it. Compared are
 * the versions of PyTorch (major and minor), where a Python runs that has imported it, and the
 * classes of the library that has libkineto::api(), so far as it exports them. Takes Python's lock.
 */
std::string pu1_mismatch();

#endif
