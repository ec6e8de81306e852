/* What a responder answers, and what not. */
#include "sync/address.h"
#include "sync/packet.h"
#include "sync/responder.h"

#include "common/clock.h"

#include "../common/check.h"
#include "ends.h"

#include <stdio.h>
#include <stdlib.h>

static struct rtl_sync_packet request_of(uint64_t client, char token)
{
    struct rtl_sync_packet packet = {.kind = RTL_SYNC_REQUEST, .client = client};
    memset(packet.token, token, sizeof packet.token);
    return packet;
}

static bool send_packet(int end, const struct rtl_sync_packet *packet, size_t size)
{
    unsigned char bytes[RTL_SYNC_BYTES + 1] = {0};
    rtl_sync_pack(packet, bytes);
    return send(end, bytes, size, 0) == (ssize_t)size;
}

static bool take_answer(int end, struct rtl_sync_packet *answer)
{
    unsigned char bytes[2 * RTL_SYNC_BYTES];
    if (!ends_wait(end))
        return false;
    ssize_t size = recv(end, bytes, sizeof bytes, 0);
    return size == (ssize_t)RTL_SYNC_BYTES && rtl_sync_unpack(bytes, (size_t)size, answer) &&
           answer->kind == RTL_SYNC_ANSWER;
}

static struct rtl_responder *responder_new(int socket)
{
    struct rtl_responder *responder = calloc(1, sizeof *responder);
    responder->socket = socket;
    (void)snprintf(responder->boot, sizeof responder->boot, "boot-of-head");
    (void)snprintf(responder->host, sizeof responder->host, "head");
    return responder;
}

/* What is no request gets nothing: the one answer is that of the one request, and no longer. */
const char *SyncResponder_AnswersRequestsAlone(void)
{
    uint16_t port;
    struct rtl_sync_packet request = request_of(7, 'a');
    struct rtl_sync_packet answer = request;
    struct rtl_sync_packet got;
    struct rtl_responder *responder = responder_new(ends_open(&port));
    int end = ends_connect("127.0.0.1", port);
    CHECK(responder->socket >= 0 && end >= 0);
    answer.kind = RTL_SYNC_ANSWER;
    CHECK(send(end, "?", 1, 0) == 1 && send(end, "", 0, 0) == 0);
    CHECK(send_packet(end, &request, RTL_SYNC_BYTES - 1));
    CHECK(send_packet(end, &request, RTL_SYNC_BYTES + 1));
    CHECK(send_packet(end, &answer, RTL_SYNC_BYTES));
    uint64_t before = rtl_now();
    CHECK(send_packet(end, &request, RTL_SYNC_BYTES));
    CHECK(rtl_responder_answer(responder, 100) == 6);
    uint64_t after = rtl_now();
    CHECK(take_answer(end, &got));
    CHECK(memcmp(got.token, request.token, sizeof got.token) == 0);
    CHECK(before <= got.received && got.received <= got.answered && got.answered <= after);
    CHECK(strcmp(got.boot, "boot-of-head") == 0 && strcmp(got.host, "head") == 0);
    CHECK(recv(end, &got, sizeof got, MSG_DONTWAIT) < 0);
    CHECK(rtl_responder_answer(responder, 100) == 0);
    (void)close(end);
    (void)close(responder->socket);
    free(responder);
    return NULL;
}

/* By a name: at all addresses, and each client hears the one that it asked. */
const char *SyncResponder_AnswersFromWhereItWasAsked(void)
{
    uint16_t port;
    struct rtl_sync_address address = {.host = "head"};
    struct rtl_sync_packet request = request_of(7, 'a');
    struct rtl_sync_packet got;
    int taken = ends_open(&port);
    (void)close(taken);
    (void)snprintf(address.port, sizeof address.port, "%u", port);
    struct rtl_responder *responder = responder_new(rtl_sync_address_listen(&address, NULL));
    CHECK(responder->socket >= 0);
    static const char *const own[] = {"127.0.0.1", "127.0.0.2", "127.3.2.1"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        int end = ends_connect(own[i], port);
        CHECK(end >= 0 && send_packet(end, &request, RTL_SYNC_BYTES));
        CHECK(ends_wait(responder->socket) && rtl_responder_answer(responder, 100) == 1);
        CHECK(take_answer(end, &got));
        (void)close(end);
    }
    /* By the other protocol, where this machine has it. */
    const struct sockaddr_in6 name = {
        .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int end = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (end >= 0 && connect(end, (const struct sockaddr *)&name, sizeof name) == 0) {
        CHECK(send_packet(end, &request, RTL_SYNC_BYTES) && ends_wait(responder->socket));
        CHECK(rtl_responder_answer(responder, 100) == 1 && take_answer(end, &got));
    }
    if (end >= 0)
        (void)close(end);
    (void)close(responder->socket);
    free(responder);
    return NULL;
}

/* The ranks of a host: whoever goes, another one answers. */
const char *SyncResponder_SeveralOfOneUserShareThePort(void)
{
    uint16_t port;
    struct rtl_sync_address address = {.host = "head"};
    struct rtl_sync_packet request = request_of(7, 'a');
    struct rtl_sync_packet got;
    (void)close(ends_open(&port));
    (void)snprintf(address.port, sizeof address.port, "%u", port);
    struct rtl_responder *one = responder_new(rtl_sync_address_listen(&address, NULL));
    struct rtl_responder *two = responder_new(rtl_sync_address_listen(&address, NULL));
    CHECK(one->socket >= 0 && two->socket >= 0);
    int end = ends_connect("127.0.0.1", port);
    CHECK(end >= 0 && send_packet(end, &request, RTL_SYNC_BYTES));
    CHECK(rtl_responder_answer(one, 100) + rtl_responder_answer(two, 100) == 1);
    CHECK(take_answer(end, &got));
    (void)close(one->socket);
    CHECK(send_packet(end, &request, RTL_SYNC_BYTES));
    CHECK(rtl_responder_answer(two, 100) == 1 && take_answer(end, &got));
    (void)close(end);
    (void)close(two->socket);
    free(one);
    free(two);
    return NULL;
}

const char *SyncResponder_KnowsWhoIsExpected(void)
{
    uint16_t port;
    const uint64_t hour = UINT64_C(3600000000000);
    struct rtl_responder *responder = responder_new(ends_open(&port));
    int end = ends_connect("127.0.0.1", port);
    CHECK(!rtl_responder_expects(responder, hour));
    for (unsigned client = 1; client <= 2; client++) {
        struct rtl_sync_packet request = request_of(client, 'a');
        CHECK(send_packet(end, &request, RTL_SYNC_BYTES));
    }
    CHECK(rtl_responder_answer(responder, 100) == 2 && rtl_responder_expects(responder, hour));
    CHECK(!rtl_responder_expects(responder, 0)); /* so long ago that they may be gone */
    for (unsigned client = 1; client <= 2; client++) {
        struct rtl_sync_packet request = request_of(client, 'b');
        CHECK(rtl_responder_expects(responder, hour));
        request.last = true;
        CHECK(send_packet(end, &request, RTL_SYNC_BYTES));
        CHECK(rtl_responder_answer(responder, 100) == 1);
    }
    CHECK(!rtl_responder_expects(responder, hour));
    /* More clients than it remembers: the last ones are. */
    for (unsigned client = 3; client < 3 + 2 * RTL_SYNC_CLIENTS; client++) {
        struct rtl_sync_packet request = request_of(client, 'c');
        CHECK(send_packet(end, &request, RTL_SYNC_BYTES));
        CHECK(rtl_responder_answer(responder, 100) == 1);
    }
    CHECK(responder->clients[0].id > RTL_SYNC_CLIENTS && rtl_responder_expects(responder, hour));
    (void)close(end);
    (void)close(responder->socket);
    free(responder);
    return NULL;
}
