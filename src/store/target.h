/**
 * Where a file that is written goes: what its name leads to.
 */
#ifndef RTL_STORE_TARGET_H
#define RTL_STORE_TARGET_H

/** The name of the file that `path` means, the symbolic links at its end followed, also where the
 * last leads to nothing yet. `*descriptor` is -1, or the open descriptor of this process that the
 * path names (/dev/stdout, /dev/fd/N), which is not a file to be replaced. The caller frees the
 * name. NULL with errno: EACCES for a link that somebody else left in a folder for all (as the
 * kernel refuses it with protected_symlinks), ELOOP, ENAMETOOLONG, ENOMEM. */
char *rtl_target(const char *path, int *descriptor);

#endif
