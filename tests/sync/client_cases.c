/* What a client takes for an answer, on this machine; and the thread, whose responder is it. */
#include "common/clock.h"
#include "sync/client.h"
#include "sync/packet.h"
#include "sync/sync.h"

#include "../common/check.h"
#include "ends.h"

#include <pthread.h>
#include <stdio.h>

#define AHEAD UINT64_C(5000000000) /* of the other end's clock, ns */

/* The other end, which answers in its own way until its socket is shut. */
struct other {
    int socket;
    void (*answer)(const struct other *, struct rtl_sync_packet *, unsigned number);
    struct sockaddr_in from;
};

static void send_bytes(const struct other *other, const void *bytes, size_t size)
{
    (void)sendto(other->socket, bytes, size, 0, (const struct sockaddr *)&other->from,
                 sizeof other->from);
}

static void send_packet(const struct other *other, const struct rtl_sync_packet *packet)
{
    unsigned char bytes[RTL_SYNC_BYTES];
    rtl_sync_pack(packet, bytes);
    send_bytes(other, bytes, sizeof bytes);
}

static void *serve(void *context)
{
    struct other *other = context;
    for (unsigned number = 0;; number++) {
        unsigned char bytes[RTL_SYNC_BYTES];
        struct rtl_sync_packet packet;
        socklen_t size = sizeof other->from;
        ssize_t length =
            recvfrom(other->socket, bytes, sizeof bytes, 0, (struct sockaddr *)&other->from, &size);
        if (!rtl_sync_unpack(bytes, length > 0 ? (size_t)length : 0, &packet))
            return NULL;
        other->answer(other, &packet, number);
    }
}

/* A burst against another end. */
static const char *burst_with(void (*answer)(const struct other *, struct rtl_sync_packet *,
                                             unsigned),
                              struct rtl_burst *burst)
{
    uint16_t port;
    pthread_t thread;
    struct rtl_client client;
    struct other other = {.socket = ends_open(&port), .answer = answer};
    struct sockaddr_in name = ends_name("127.0.0.1", port);
    const struct addrinfo entry = {
        .ai_family = AF_INET, .ai_addr = (struct sockaddr *)&name, .ai_addrlen = sizeof name};
    CHECK(other.socket >= 0 && rtl_client_open(&client, &entry));
    CHECK(pthread_create(&thread, NULL, serve, &other) == 0);
    rtl_client_burst(&client, burst);
    int end = ends_connect("127.0.0.1", port);
    CHECK(send(end, "end", 3, 0) == 3);
    (void)pthread_join(thread, NULL);
    (void)close(end);
    (void)close(other.socket);
    rtl_client_close(&client);
    return NULL;
}

static void answer_right(const struct other *other, struct rtl_sync_packet *packet, unsigned number)
{
    (void)number;
    packet->kind = RTL_SYNC_ANSWER;
    packet->received = rtl_now() + AHEAD;
    (void)snprintf(packet->boot, sizeof packet->boot, "boot-of-head");
    (void)snprintf(packet->host, sizeof packet->host, "head");
    packet->answered = rtl_now() + AHEAD;
    send_packet(other, packet);
}

/* Before the answer there are others, with times that would be far off. */
static void answer_strangely(const struct other *other, struct rtl_sync_packet *packet,
                             unsigned number)
{
    struct rtl_sync_packet wrong = *packet;
    send_bytes(other, "RTLsync1", 8);
    send_packet(other, &wrong); /* its own request */
    wrong.kind = RTL_SYNC_ANSWER;
    wrong.received = wrong.answered = 1;
    send_packet(other, &wrong); /* of no host */
    (void)snprintf(wrong.boot, sizeof wrong.boot, "boot-of-nobody");
    wrong.token[15] ^= 1;
    send_packet(other, &wrong); /* to nobody's request */
    answer_right(other, packet, number);
}

static bool is_right(const struct rtl_exchange *exchange)
{
    return (int64_t)(exchange->answered - exchange->returned) <= (int64_t)AHEAD &&
           (int64_t)(exchange->received - exchange->sent) >= (int64_t)AHEAD &&
           strcmp(exchange->peer_boot, "boot-of-head") == 0 &&
           strcmp(exchange->peer_host, "head") == 0;
}

const char *SyncClient_PassesOverStrangers(void)
{
    struct rtl_burst burst = {0};
    CHECK_DONE(burst_with(answer_strangely, &burst));
    CHECK(burst.count > 0 && is_right(&burst.low) && is_right(&burst.high));
    return NULL;
}

static void answer_all_but_one(const struct other *other, struct rtl_sync_packet *packet,
                               unsigned number)
{
    if (number != 2)
        answer_right(other, packet, number);
}

const char *SyncClient_GoesOnAfterLosses(void)
{
    struct rtl_burst burst = {0};
    CHECK_DONE(burst_with(answer_all_but_one, &burst));
    CHECK(burst.count > 2 && is_right(&burst.low) && is_right(&burst.high));
    return NULL;
}

static void answer_nothing(const struct other *other, struct rtl_sync_packet *packet,
                           unsigned number)
{
    (void)other;
    (void)packet;
    (void)number;
}

const char *SyncClient_EndsWhereNobodyAnswers(void)
{
    struct rtl_burst burst = {0};
    CHECK_DONE(burst_with(answer_nothing, &burst));
    CHECK(burst.count == 0);
    return NULL;
}

const char *Sync_RespondsUntilItIsEnded(void)
{
    uint16_t port;
    unsigned char bytes[RTL_SYNC_BYTES];
    char sentence[RTL_SYNC_SENTENCE];
    struct rtl_exchange exchange;
    struct rtl_sync_address address = {.host = "127.0.0.1"};
    struct rtl_sync_packet packet = {.kind = RTL_SYNC_REQUEST, .client = 7};
    (void)close(ends_open(&port));
    (void)snprintf(address.port, sizeof address.port, "%u", port);
    struct rtl_sync *sync = rtl_sync_start(&address, "boot-of-head");
    CHECK(sync);
    rtl_sync_now(sync); /* its socket is there */
    int end = ends_connect("127.0.0.1", port);
    rtl_sync_pack(&packet, bytes);
    CHECK(send(end, bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes && ends_wait(end));
    CHECK(recv(end, bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes);
    CHECK(rtl_sync_unpack(bytes, sizeof bytes, &packet));
    CHECK(packet.kind == RTL_SYNC_ANSWER && strcmp(packet.boot, "boot-of-head") == 0);
    CHECK(!rtl_sync_take(sync, &exchange) && !rtl_sync_told(sync, sentence));
    rtl_sync_end(sync, false);
    CHECK(send(end, bytes, sizeof bytes, 0) < 0 || recv(end, bytes, sizeof bytes, 0) < 0);
    (void)close(end);
    return NULL;
}

const char *Sync_UnknownHost(void)
{
    char sentence[RTL_SYNC_SENTENCE];
    const struct rtl_sync_address address = {.host = "no host", .port = "7"};
    struct rtl_sync *sync = rtl_sync_start(&address, "boot-of-head");
    CHECK(sync);
    rtl_sync_now(sync);
    CHECK(rtl_sync_told(sync, sentence) && !rtl_sync_told(sync, sentence));
    rtl_sync_end(sync, true);
    rtl_sync_end(NULL, true);
    CHECK(strncmp(sentence, "--sync no host: no address of that host is known", 48) == 0);
    return NULL;
}
