#include "ring/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define NAME_LENGTH 20u /* rtl- and 16 digits */
#define KEY_LENGTH  32u
#define PATIENCE_US 100000

_Static_assert(NAME_LENGTH + 1 + KEY_LENGTH < RTL_REPORT_ADDRESS, "name, colon, key");

static bool make_address(char *address)
{
    uint64_t random[3];
    if (getrandom(random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random)
        return false;
    (void)snprintf(address, RTL_REPORT_ADDRESS, "rtl-%016" PRIx64 ":%016" PRIx64 "%016" PRIx64,
                   random[0], random[1], random[2]);
    return true;
}

/* The name that belongs to an address, with its NUL in front; false: it is no address. */
static bool find_name(const char *address, struct sockaddr_un *name, socklen_t *length)
{
    if (strlen(address) != NAME_LENGTH + 1 + KEY_LENGTH || strncmp(address, "rtl-", 4) != 0 ||
        strcspn(address, ":") != NAME_LENGTH)
        return false;
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(name->sun_path + 1, address, NAME_LENGTH);
    *length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + NAME_LENGTH);
    return true;
}

static bool listen_at(int socket, const char *address)
{
    struct sockaddr_un name;
    socklen_t length;
    int on = 1;
    return find_name(address, &name, &length) &&
           setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0 &&
           bind(socket, (struct sockaddr *)&name, length) == 0;
}

void rtl_report_open(struct rtl_report_end *end)
{
    end->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (end->socket >= 0 && make_address(end->address) && listen_at(end->socket, end->address))
        return;
    rtl_report_close(end);
}

void rtl_report_close(struct rtl_report_end *end)
{
    if (end->socket >= 0)
        close(end->socket);
    end->socket = -1;
    end->address[0] = '\0';
}

bool rtl_report_send(const char *address, const char *text)
{
    int saved = errno;
    struct sockaddr_un name;
    socklen_t length;
    char message[KEY_LENGTH + RTL_REPORT_TEXT];
    const struct timeval patience = {.tv_usec = PATIENCE_US};
    if (!find_name(address, &name, &length))
        return false;
    int size = snprintf(message, sizeof message, "%s%s", address + NAME_LENGTH + 1, text);
    int file = size < (int)sizeof message ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
    bool sent = false;
    if (file >= 0) {
        (void)setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        sent = sendto(file, message, (size_t)size, MSG_NOSIGNAL, (struct sockaddr *)&name,
                      length) == size;
        close(file);
    }
    errno = saved;
    return sent;
}

static uint32_t sender_of(struct msghdr *message)
{
    struct ucred who = {.pid = 0};
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_CREDENTIALS)
            memcpy(&who, CMSG_DATA(part), sizeof who);
    }
    return who.pid > 0 ? (uint32_t)who.pid : 0;
}

/* Descriptors that somebody sends along are closed by Linux: there is no room for them. */
static ssize_t receive(int socket, char *text, size_t size, uint32_t *pid)
{
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr aligned;
    } control;
    struct iovec piece = {text, size};
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    ssize_t length = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (length >= 0)
        *pid = sender_of(&message);
    return length;
}

bool rtl_report_take(const struct rtl_report_end *end, unsigned *budget, char text[RTL_REPORT_TEXT],
                     uint32_t *pid)
{
    char message[KEY_LENGTH + RTL_REPORT_TEXT];
    while (end->socket >= 0 && *budget > 0) {
        ssize_t length = receive(end->socket, message, sizeof message, pid);
        if (length < 0 && errno != EINTR)
            return false;
        --*budget;
        if (length < (ssize_t)KEY_LENGTH || length >= (ssize_t)sizeof message ||
            memcmp(message, end->address + NAME_LENGTH + 1, KEY_LENGTH) != 0)
            continue;
        size_t size = (size_t)length - KEY_LENGTH;
        memcpy(text, message + KEY_LENGTH, size);
        text[size] = '\0';
        return true;
    }
    return false;
}
