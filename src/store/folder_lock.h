/**
 * A lock on a folder, for the moment in which a trace gets its name and the files of its log: two
 * recorders that want one name would take away each other's.
 */
#ifndef RTL_STORE_FOLDER_LOCK_H
#define RTL_STORE_FOLDER_LOCK_H

/** Locks the folder that `path` lies in against everybody who does the same (flock(2)), in this
 * process as well. Returns a descriptor, which rtl_folder_unlock takes; or -1 where the file system
 * has no such locks, or somebody held it for a second: who goes on is then as safe as without. */
int rtl_folder_lock(const char *path);

/** Keeps errno; -1 is nothing to unlock. */
void rtl_folder_unlock(int lock);

#endif
