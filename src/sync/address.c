#include "sync/address.h"

#include "sync/interfaces.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool is_port(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && number >= 1 && number <= 65535;
}

/* All addresses of whatever machine, or of several: no host. */
static bool is_no_host4(struct in_addr address)
{
    uint32_t number = ntohl(address.s_addr);
    return number == INADDR_ANY || number == INADDR_BROADCAST || IN_MULTICAST(number) ||
           rtl_sync_interfaces_broadcast(address);
}

static bool is_no_host(const char *host)
{
    struct in_addr address4;
    struct in6_addr address6;
    char number[sizeof(((struct rtl_sync_address *)NULL)->host)];
    if (inet_pton(AF_INET, host, &address4) == 1)
        return is_no_host4(address4);
    (void)snprintf(number, sizeof number, "%.*s", (int)strcspn(host, "%"), host);
    return inet_pton(AF_INET6, number, &address6) == 1 &&
           (IN6_IS_ADDR_UNSPECIFIED(&address6) || IN6_IS_ADDR_MULTICAST(&address6));
}

/* Host and port; `length` of the host, `port` NULL: the one that is meant without. */
static bool take(const char *host, size_t length, const char *port,
                 struct rtl_sync_address *address)
{
    if (length == 0 || length >= sizeof address->host || (port && !is_port(port)))
        return false;
    for (size_t i = 0; i < length; i++)
        if (host[i] <= ' ' || host[i] > '~' || host[i] == '[' || host[i] == ']')
            return false;
    memcpy(address->host, host, length);
    address->host[length] = '\0';
    (void)snprintf(address->port, sizeof address->port, "%ld",
                   strtol(port ? port : RTL_SYNC_PORT, NULL, 10));
    return !is_no_host(address->host);
}

bool rtl_sync_address_read(const char *text, struct rtl_sync_address *address)
{
    const char *colon = strchr(text, ':');
    const char *bracket = text[0] == '[' ? strchr(text, ']') : NULL;
    if (bracket && bracket[1] != '\0' && bracket[1] != ':')
        return false;
    if (bracket)
        return take(text + 1, (size_t)(bracket - text) - 1, bracket[1] ? bracket + 2 : NULL,
                    address);
    if (colon && !strchr(colon + 1, ':'))
        return take(text, (size_t)(colon - text), colon + 1, address);
    return take(text, strlen(text), NULL, address);
}

int rtl_sync_address_find(const struct rtl_sync_address *address, struct addrinfo **list)
{
    const struct addrinfo wanted = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM, .ai_flags = AI_NUMERICSERV};
    return getaddrinfo(address->host, address->port, &wanted, list);
}

static int open_socket(int family)
{
    return socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static int close_failed(int socket)
{
    int error = errno;
    (void)close(socket);
    errno = error;
    return -1;
}

bool rtl_sync_address_is_own(const struct addrinfo *list)
{
    for (; list; list = list->ai_next)
        if (rtl_sync_interfaces_have(list->ai_addr))
            return true;
    return false;
}

/* Who has many addresses has to answer from the one that was asked. */
static int bind_to(const struct sockaddr *name, socklen_t size)
{
    const int on = 1;
    const int off = 0;
    int socket = open_socket(name->sa_family);
    if (socket < 0)
        return -1;
    if (name->sa_family == AF_INET6) {
        (void)setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
        (void)setsockopt(socket, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on);
    } else {
        (void)setsockopt(socket, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
    }
    if (setsockopt(socket, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0 ||
        bind(socket, name, size) != 0)
        return close_failed(socket);
    return socket;
}

static bool is_number_or_local(const char *host)
{
    unsigned char number[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, host, number) == 1 || strchr(host, ':') ||
           strcasecmp(host, "localhost") == 0;
}

int rtl_sync_address_listen(const struct rtl_sync_address *address, const struct addrinfo *list)
{
    uint16_t port = htons((uint16_t)strtol(address->port, NULL, 10));
    const struct sockaddr_in6 all6 = {.sin6_family = AF_INET6, .sin6_port = port};
    const struct sockaddr_in all4 = {.sin_family = AF_INET, .sin_port = port};
    if (is_number_or_local(address->host)) {
        while (list && !rtl_sync_interfaces_have(list->ai_addr))
            list = list->ai_next;
        if (!list)
            errno = EADDRNOTAVAIL; /* it has gone meanwhile */
        return !list ? -1 : bind_to(list->ai_addr, list->ai_addrlen);
    }
    int socket = bind_to((const struct sockaddr *)&all6, sizeof all6);
    if (socket < 0 && errno != EADDRINUSE) /* there is no IPv6 here */
        socket = bind_to((const struct sockaddr *)&all4, sizeof all4);
    return socket;
}

int rtl_sync_address_connect(const struct addrinfo *entry)
{
    int socket = open_socket(entry->ai_family);
    if (socket >= 0 && connect(socket, entry->ai_addr, entry->ai_addrlen) != 0)
        return close_failed(socket);
    return socket;
}
