/* Which file systems other hosts see, by tables of mounts as Linux writes them. */
#include "store/network.h"

#include "../common/check.h"

#include <string.h>

static const char table[] =
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "23 22 0:21 / /proc rw,nosuid shared:2 - proc proc rw\n"
    "not a line\n"
    "40 22 0:45 / /home rw,relatime shared:3 master:4 - nfs4 server:/home rw,vers=4.2\n"
    "41 22 0:46 / /scratch\\040two rw - lustre 10.0.0.1@o2ib:/fs rw\n"
    "42 22 0:47 / /mnt/far rw - fuse.sshfs user@far: rw\n"
    "43 22 0:48 / /mnt/near rw - fuse.bindfs /srv rw\n"
    "44 22 0:45 /sub /bound rw - nfs4 server:/home rw\n"
    "45 22 8:1 /over /overmounted rw - ext4 /dev/sda1 rw\n";

static const char *find(uint64_t id, unsigned major, unsigned minor, char type[RTL_NETWORK_TYPE])
{
    char text[sizeof table];
    memcpy(text, table, sizeof table);
    FILE *file = fmemopen(text, sizeof table - 1, "r");
    const struct rtl_network_mount mount = {id, major, minor};
    const char *found = file ? rtl_network_find(file, &mount, type) : "no file";
    if (file)
        (void)fclose(file);
    return found;
}

const char *Network_FoundByItsMount(void)
{
    char type[RTL_NETWORK_TYPE];
    CHECK(find(22, 8, 1, type) == NULL);
    CHECK(find(43, 0, 48, type) == NULL);
    CHECK(find(99, 0, 45, type) == NULL);
    CHECK(find(40, 0, 45, type) == type && strcmp(type, "nfs4") == 0);
    CHECK(find(41, 0, 46, type) == type && strcmp(type, "lustre") == 0);
    CHECK(find(42, 0, 47, type) == type && strcmp(type, "fuse.sshfs") == 0);
    CHECK(find(44, 0, 45, type) == type && strcmp(type, "nfs4") == 0);
    /* Linux before 5.8 tells the device alone. */
    CHECK(find(0, 8, 1, type) == NULL);
    CHECK(find(0, 0, 45, type) == type && strcmp(type, "nfs4") == 0);
    return NULL;
}

const char *Network_OfThisMachine(void)
{
    char type[RTL_NETWORK_TYPE];
    CHECK(rtl_network_type("/proc/self", type) == NULL);
    CHECK(rtl_network_type("/no/such/file", type) == NULL);
    return NULL;
}
