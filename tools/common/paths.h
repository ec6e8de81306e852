/**
 * Where the parts of RTL lie: all relative to this program, so that a build folder, an installation
 * and a copied installation work alike.
 */
#ifndef RTL_TOOLS_PATHS_H
#define RTL_TOOLS_PATHS_H

#include <stdbool.h>
#include <stddef.h>

/** Absolute path of this program. False if it cannot be told. */
bool paths_self(char *path, size_t size);

/** Absolute path of a program beside this one. False if it is not there. */
bool paths_beside(const char *name, char *path, size_t size);

/** Absolute path of `name` (such as "librtl.so" or "softgpu") in the library folder that belongs to
 * this program. False if it is not there. */
bool paths_library(const char *name, char *path, size_t size);

/** The first character of a path at which the runtime (HSA_TOOLS_LIB) or the dynamic linker
 * (LD_PRELOAD, LD_LIBRARY_PATH: ld.so(8)) ends a name, or puts another one in; NULL if there is
 * none. */
const char *paths_cut(const char *path);

/** Looks for `program` as a shell does. Returns 0 and its path, or EXIT_NOT_FOUND or
 * EXIT_NOT_EXECUTABLE. */
int paths_program(const char *program, char *path, size_t size);

/** Folder of the software GPU that belongs to this program. False if it is not there, or not whole.
 */
bool paths_softgpu(char *path, size_t size);

#endif
