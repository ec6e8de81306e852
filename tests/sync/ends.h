/** Sockets of the tests on this machine's loopback. */
#ifndef RTL_TESTS_SYNC_ENDS_H
#define RTL_TESTS_SYNC_ENDS_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static inline struct sockaddr_in ends_name(const char *address, uint16_t port)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(port)};
    (void)inet_pton(AF_INET, address, &name.sin_addr);
    return name;
}

/* A socket at a port that nobody has. */
static inline int ends_open(uint16_t *port)
{
    struct sockaddr_in name = ends_name("127.0.0.1", 0);
    socklen_t size = sizeof name;
    int end = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool made = bind(end, (struct sockaddr *)&name, sizeof name) == 0 &&
                getsockname(end, (struct sockaddr *)&name, &size) == 0;
    *port = ntohs(name.sin_port);
    return made ? end : -1;
}

/* One that takes only what comes from there. */
static inline int ends_connect(const char *address, uint16_t port)
{
    struct sockaddr_in name = ends_name(address, port);
    int end = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return connect(end, (struct sockaddr *)&name, sizeof name) == 0 ? end : -1;
}

/* Whether something comes within some seconds. */
static inline bool ends_wait(int end)
{
    struct pollfd wanted = {.fd = end, .events = POLLIN};
    return poll(&wanted, 1, 10000) > 0;
}

#endif
