#include "sync/client.h"

#include "common/clock.h"
#include "sync/address.h"
#include "sync/packet.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define BURST     8u                  /* exchanges */
#define MISSES    2u                  /* in a burst, after which it ends */
#define ANSWER_NS UINT64_C(100000000) /* that an answer is waited for */
#define REFUSED   UINT64_C(20000000)  /* before another try where nobody listens, ns */

bool rtl_client_open(struct rtl_client *client, const struct addrinfo *list)
{
    *client = (struct rtl_client){0};
    if (getrandom(&client->id, sizeof client->id, GRND_NONBLOCK) != sizeof client->id)
        client->id = rtl_now();
    for (; list && client->count < RTL_SYNC_ADDRESSES; list = list->ai_next) {
        int socket = rtl_sync_address_connect(list);
        if (socket >= 0)
            client->sockets[client->count++] = socket;
    }
    return client->count > 0;
}

void rtl_client_close(struct rtl_client *client)
{
    for (unsigned i = 0; i < client->count; i++)
        (void)close(client->sockets[i]);
    client->count = 0;
}

static bool make_request(const struct rtl_client *client, struct rtl_sync_packet *request,
                         unsigned char bytes[RTL_SYNC_BYTES])
{
    request->kind = RTL_SYNC_REQUEST;
    request->client = client->id;
    if (getrandom(request->token, sizeof request->token, GRND_NONBLOCK) !=
        (ssize_t)sizeof request->token)
        return false;
    rtl_sync_pack(request, bytes);
    return true;
}

/* Answers to earlier requests, and what anybody else sends, have another token. */
static bool is_answer(const struct rtl_sync_packet *request, const unsigned char *bytes,
                      size_t size, struct rtl_sync_packet *answer)
{
    return rtl_sync_unpack(bytes, size, answer) && answer->kind == RTL_SYNC_ANSWER &&
           answer->boot[0] && memcmp(answer->token, request->token, sizeof request->token) == 0;
}

/* Until the answer, or the time is over; false also if nobody listens there. */
static bool wait_for_answer(int socket, const struct rtl_sync_packet *request, uint64_t until,
                            struct rtl_sync_packet *answer, uint64_t *returned)
{
    unsigned char bytes[RTL_SYNC_BYTES + 1];
    for (uint64_t now = rtl_now(); now < until; now = rtl_now()) {
        struct pollfd socket_end = {.fd = socket, .events = POLLIN};
        const struct timespec left = {.tv_nsec = (long)(until - now)};
        if (ppoll(&socket_end, 1, &left, NULL) <= 0)
            continue;
        ssize_t size = recv(socket, bytes, sizeof bytes, MSG_DONTWAIT);
        *returned = rtl_now();
        if (size >= 0 && is_answer(request, bytes, (size_t)size, answer))
            return true;
        if (size < 0 && errno != EAGAIN && errno != EINTR)
            return false;
    }
    return false;
}

static bool exchange(struct rtl_client *client, struct rtl_exchange *made)
{
    unsigned char bytes[RTL_SYNC_BYTES];
    struct rtl_sync_packet request = {0};
    struct rtl_sync_packet answer;
    int socket = client->sockets[client->at];
    if (!make_request(client, &request, bytes))
        return false;
    *made = (struct rtl_exchange){.sent = rtl_now()};
    if (send(socket, bytes, sizeof bytes, MSG_NOSIGNAL) != (ssize_t)sizeof bytes ||
        !wait_for_answer(socket, &request, made->sent + ANSWER_NS, &answer, &made->returned)) {
        rtl_nap(REFUSED);
        return false;
    }
    made->received = answer.received;
    made->answered = answer.answered;
    client->ahead = answer.answered - made->returned;
    memcpy(made->peer_boot, answer.boot, sizeof made->peer_boot);
    memcpy(made->peer_host, answer.host, sizeof made->peer_host);
    return true;
}

void rtl_client_burst(struct rtl_client *client, struct rtl_burst *burst)
{
    struct rtl_exchange made;
    for (unsigned i = 0, misses = 0; i < BURST && misses < MISSES; i++) {
        if (exchange(client, &made)) {
            client->answered = true;
            rtl_burst_add(burst, &made);
            continue;
        }
        ++misses;
        if (!client->answered)
            client->at = (client->at + 1) % client->count;
    }
}

/* Twice: what is lost once costs the responder's host some seconds at its end. */
void rtl_client_leave(struct rtl_client *client)
{
    unsigned char bytes[RTL_SYNC_BYTES];
    struct rtl_sync_packet request = {.last = true};
    for (unsigned i = 0; i < 2 && client->answered && make_request(client, &request, bytes); i++)
        (void)send(client->sockets[client->at], bytes, sizeof bytes, MSG_NOSIGNAL);
}
