/** Whether a file lies on a file system that other hosts see as well, by /proc/self/mountinfo. */
#ifndef RTL_STORE_NETWORK_H
#define RTL_STORE_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** Room for the name of a file system's type. */
#define RTL_NETWORK_TYPE 32u

/** Where a file is mounted. */
struct rtl_network_mount {
    uint64_t id; /**< of the mount, as statx(2) has it since Linux 5.8; 0: not known */
    unsigned major, minor;
};

/** The type of the network file system (nfs4, lustre, …) at `path`; NULL if it is none that is
 * known, or nobody can say. Returns `type`. Keeps errno. */
const char *rtl_network_type(const char *path, char type[RTL_NETWORK_TYPE]);

/** The same of a mount, in a table of proc_pid_mountinfo(5). */
const char *rtl_network_find(FILE *table, const struct rtl_network_mount *mount,
                             char type[RTL_NETWORK_TYPE]);

#endif
