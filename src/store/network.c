#include "store/network.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* As mount(8) has them. What is mounted through FUSE has a name of its own behind the dot; many of
 * those lie on this machine alone. */
static const char *const types[] = {
    "9p",          "afs",          "beegfs",     "ceph",         "cifs",         "coda",
    "fhgfs",       "fuse.ceph",    "fuse.cvmfs", "fuse.dfuse",   "fuse.gcsfuse", "fuse.glusterfs",
    "fuse.goofys", "fuse.juicefs", "fuse.mfs",   "fuse.quobyte", "fuse.rclone",  "fuse.s3fs",
    "fuse.sshfs",  "gfs2",         "glusterfs",  "gpfs",         "lustre",       "nfs",
    "nfs4",        "ocfs2",        "orangefs",   "panfs",        "pvfs2",        "smb3",
    "smbfs",       "wekafs"};

static bool is_network(const char *type)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i]) == 0)
            return true;
    return false;
}

/* "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw": the mount's number, its
 * parent's, the device, and behind the hyphen the type. */
static bool read_line(const char *line, struct rtl_network_mount *mount,
                      char type[RTL_NETWORK_TYPE])
{
    const char *rest = strstr(line, " - ");
    unsigned long long id;
    if (rest == NULL || sscanf(line, "%llu %*u %u:%u", &id, &mount->major, &mount->minor) != 3 ||
        sscanf(rest, " - %31s", type) != 1)
        return false;
    mount->id = id;
    return true;
}

static bool is_same(const struct rtl_network_mount *a, const struct rtl_network_mount *b)
{
    return b->id != 0 ? a->id == b->id : a->major == b->major && a->minor == b->minor;
}

const char *rtl_network_find(FILE *table, const struct rtl_network_mount *mount,
                             char type[RTL_NETWORK_TYPE])
{
    char *line = NULL;
    size_t size = 0;
    const char *found = NULL;
    struct rtl_network_mount here;
    while (found == NULL && getline(&line, &size, table) > 0)
        if (read_line(line, &here, type) && is_same(&here, mount) && is_network(type))
            found = type;
    free(line);
    return found;
}

static bool find_mount(const char *path, struct rtl_network_mount *mount)
{
    struct statx status;
    if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_MNT_ID, &status) != 0)
        return false;
    *mount =
        (struct rtl_network_mount){.major = status.stx_dev_major, .minor = status.stx_dev_minor};
    if (status.stx_mask & STATX_MNT_ID)
        mount->id = status.stx_mnt_id;
    return true;
}

const char *rtl_network_type(const char *path, char type[RTL_NETWORK_TYPE])
{
    int saved = errno;
    struct rtl_network_mount mount;
    const char *found = NULL;
    FILE *table = find_mount(path, &mount) ? fopen("/proc/self/mountinfo", "re") : NULL;
    if (table != NULL) {
        found = rtl_network_find(table, &mount, type);
        (void)fclose(table);
    }
    errno = saved;
    return found;
}
