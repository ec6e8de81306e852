/**
 * Files in folders that others can write to as well: /dev/shm, /tmp, the folder of a trace.
 *
 * Whoever may write to a folder can put a link, a FIFO or a file of theirs where RTL looks for its
 * own. Here nothing is followed, nothing blocks, and what was opened is looked at before it is
 * used: a folder or regular file, of the right owner, that nobody else may write to. Where that is
 * not so, errno is EPERM. Functions that are not told an owner mean the process's effective user.
 * They keep no state; any thread may call them.
 */
#ifndef RTL_COMMON_PRIVATE_H
#define RTL_COMMON_PRIVATE_H

#include <dirent.h>
#include <stdbool.h>
#include <sys/types.h>

/** Opens a folder. A descriptor, or -1 with errno. */
int rtl_private_folder(const char *path);

/** Opens a folder for readdir(3). NULL with errno. */
DIR *rtl_private_list(const char *path);

/** Opens a file of a folder, with `flags` of open(2); with O_CREAT it is made, and must not be
 * there yet, mode 0600. A descriptor that ends with an exec, or -1 with errno. */
int rtl_private_file(int folder, const char *name, int flags);

/** rtl_private_file in rtl_private_folder, by the path of both. */
int rtl_private_open(const char *path, int flags);

/** Removes a file from a folder of this user. 0, or -1 with errno. */
int rtl_private_unlink(const char *path);

/** Opens a folder of anybody's, to which nobody but its owner, which goes to *owner, may write. A
 * descriptor, or -1 with errno. What is in it is as good as its owner. */
int rtl_private_folder_of(const char *path, uid_t *owner);

/** Opens a file of `owner`'s, which must be there. */
int rtl_private_file_of(int folder, const char *name, int flags, uid_t owner);

/** Whether a program or library that was found at `path` (and not named by the user) may be used:
 * it and its folder are root's, this user's or `owner`'s. Who has let others write to them has
 * meant it: some build so. */
bool rtl_private_may_use(const char *path, uid_t owner);

/** What an errno of these functions means, in words. */
const char *rtl_private_why(int error);

#endif
