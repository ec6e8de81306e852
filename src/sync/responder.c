#include "sync/responder.h"

#include "common/clock.h"
#include "sync/packet.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* A datagram and where it came from and to. */
struct letter {
    unsigned char bytes[RTL_SYNC_BYTES + 1]; /* one more: it is no packet if that is used */
    struct sockaddr_storage from;
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct in6_pktinfo)) +
                                          CMSG_SPACE(sizeof(struct in_pktinfo))];
    struct iovec part;
    struct msghdr head;
};

static ssize_t take_letter(int socket, struct letter *letter)
{
    letter->part = (struct iovec){letter->bytes, sizeof letter->bytes};
    letter->head = (struct msghdr){.msg_name = &letter->from,
                                   .msg_namelen = sizeof letter->from,
                                   .msg_iov = &letter->part,
                                   .msg_iovlen = 1,
                                   .msg_control = letter->control,
                                   .msg_controllen = sizeof letter->control};
    return recvmsg(socket, &letter->head, MSG_DONTWAIT);
}

/* The answer goes from where the request went to. Which way is for routing to say, but where an
 * address means something on one link alone. */
static void turn(struct letter *letter)
{
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&letter->head); part;
         part = CMSG_NXTHDR(&letter->head, part)) {
        if (part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo info;
            memcpy(&info, CMSG_DATA(part), sizeof info);
            if (!IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr))
                info.ipi6_ifindex = 0;
            memcpy(CMSG_DATA(part), &info, sizeof info);
        } else if (part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo info;
            memcpy(&info, CMSG_DATA(part), sizeof info);
            info.ipi_ifindex = 0;
            info.ipi_spec_dst = info.ipi_addr;
            memcpy(CMSG_DATA(part), &info, sizeof info);
        }
    }
}

static void remember(struct rtl_responder *responder, const struct rtl_sync_packet *request,
                     uint64_t now)
{
    struct rtl_sync_client *client = &responder->clients[0];
    for (size_t i = 0; i < RTL_SYNC_CLIENTS; i++) {
        struct rtl_sync_client *other = &responder->clients[i];
        if (other->asked && other->id == request->client) {
            client = other;
            break;
        }
        client = other->asked < client->asked ? other : client;
    }
    *client = (struct rtl_sync_client){request->client, now, request->last};
}

static void answer(struct rtl_responder *responder, struct letter *letter, size_t size,
                   uint64_t received)
{
    struct rtl_sync_packet packet;
    if (!rtl_sync_unpack(letter->bytes, size, &packet) || packet.kind != RTL_SYNC_REQUEST)
        return;
    remember(responder, &packet, received);
    packet.kind = RTL_SYNC_ANSWER;
    packet.received = received;
    memcpy(packet.boot, responder->boot, sizeof packet.boot);
    memcpy(packet.host, responder->host, sizeof packet.host);
    turn(letter);
    letter->part.iov_len = RTL_SYNC_BYTES;
    packet.answered = rtl_now();
    rtl_sync_pack(&packet, letter->bytes);
    (void)sendmsg(responder->socket, &letter->head, MSG_DONTWAIT | MSG_NOSIGNAL);
}

unsigned rtl_responder_answer(struct rtl_responder *responder, unsigned most)
{
    unsigned count = 0;
    struct letter letter = {0};
    for (; count < most; count++) {
        ssize_t size = take_letter(responder->socket, &letter);
        uint64_t received = rtl_now();
        if (size < 0)
            break;
        answer(responder, &letter, (size_t)size, received);
    }
    return count;
}

bool rtl_responder_expects(const struct rtl_responder *responder, uint64_t within)
{
    uint64_t now = rtl_now();
    for (size_t i = 0; i < RTL_SYNC_CLIENTS; i++) {
        const struct rtl_sync_client *client = &responder->clients[i];
        if (client->asked && !client->ended && now - client->asked < within)
            return true;
    }
    return false;
}
