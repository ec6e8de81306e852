#include "sync/interfaces.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

/* All of 127.0.0.0/8 is this machine, of which the interface has one address. */
static bool is_loopback(struct in_addr address)
{
    return ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET;
}

static struct in_addr address4(const struct sockaddr *name)
{
    struct sockaddr_in own;
    memcpy(&own, name, sizeof own);
    return own.sin_addr;
}

static bool has4(const struct ifaddrs *list, struct in_addr address)
{
    for (; list; list = list->ifa_next)
        if (list->ifa_addr && list->ifa_addr->sa_family == AF_INET &&
            address4(list->ifa_addr).s_addr == address.s_addr)
            return true;
    return false;
}

/* Two interfaces may have one link-local address: where it is said which is meant, that counts. */
static bool has6(const struct ifaddrs *list, const struct sockaddr_in6 *name)
{
    struct sockaddr_in6 own;
    for (; list; list = list->ifa_next) {
        if (!list->ifa_addr || list->ifa_addr->sa_family != AF_INET6)
            continue;
        memcpy(&own, list->ifa_addr, sizeof own);
        if (memcmp(&own.sin6_addr, &name->sin6_addr, sizeof own.sin6_addr) == 0 &&
            (name->sin6_scope_id == 0 || own.sin6_scope_id == name->sin6_scope_id))
            return true;
    }
    return false;
}

/* Of an IPv4 address that is written as one of IPv6. */
static bool is_mapped(const struct sockaddr_in6 *name, struct in_addr *address)
{
    memcpy(address, name->sin6_addr.s6_addr + 12, sizeof *address);
    return IN6_IS_ADDR_V4MAPPED(&name->sin6_addr);
}

bool rtl_sync_interfaces_have(const struct sockaddr *name)
{
    struct ifaddrs *list = NULL;
    struct sockaddr_in6 name6 = {0};
    struct in_addr address = {0};
    bool is4 = name->sa_family == AF_INET;
    if (is4) {
        address = address4(name);
    } else {
        memcpy(&name6, name, sizeof name6);
        is4 = is_mapped(&name6, &address);
    }
    if (is4 ? is_loopback(address) : IN6_IS_ADDR_LOOPBACK(&name6.sin6_addr))
        return true;
    if (getifaddrs(&list) != 0)
        return false;
    bool have = is4 ? has4(list, address) : has6(list, &name6);
    freeifaddrs(list);
    return have;
}

/* An interface with an address alone may have that as its broadcast address, too. */
bool rtl_sync_interfaces_broadcast(struct in_addr address)
{
    struct ifaddrs *list = NULL;
    bool is = false;
    if (getifaddrs(&list) != 0)
        return false;
    for (const struct ifaddrs *one = list; one && !is; one = one->ifa_next)
        is = one->ifa_addr && one->ifa_addr->sa_family == AF_INET &&
             (one->ifa_flags & IFF_BROADCAST) && one->ifa_broadaddr &&
             address4(one->ifa_broadaddr).s_addr == address.s_addr && !has4(list, address);
    freeifaddrs(list);
    return is;
}
