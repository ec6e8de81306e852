/* Packets, bursts and addresses: what needs no network. */
#include "sync/address.h"
#include "sync/burst.h"
#include "sync/packet.h"

#include "../common/check.h"

#include <string.h>

static const struct rtl_sync_packet whole = {
    .kind = RTL_SYNC_ANSWER,
    .client = UINT64_C(0x0102030405060708),
    .token = "0123456789abcde",
    .received = UINT64_C(1) << 60,
    .answered = (UINT64_C(1) << 60) + 7,
    .boot = "01234567-89ab-4def-8123-456789abcdef",
    .host = "node1",
};

const char *SyncPacket_ComesBack(void)
{
    unsigned char bytes[RTL_SYNC_BYTES];
    struct rtl_sync_packet read;
    rtl_sync_pack(&whole, bytes);
    CHECK(memcmp(bytes,
                 "RTLsync1\2\0\0\0\0\0\0\0\x08\7\6\5\4\3\2\1"
                 "0123456789abcde",
                 40) == 0);
    CHECK(rtl_sync_unpack(bytes, sizeof bytes, &read));
    CHECK(read.kind == RTL_SYNC_ANSWER && !read.last && read.client == whole.client);
    CHECK(memcmp(read.token, whole.token, sizeof read.token) == 0);
    CHECK(read.received == whole.received && read.answered == whole.answered);
    CHECK(strcmp(read.boot, whole.boot) == 0 && strcmp(read.host, whole.host) == 0);
    return NULL;
}

/* Of the places that a packet's sense depends on, each is another once. */
const char *SyncPacket_OthersAreNone(void)
{
    static const struct {
        size_t at;
        unsigned char value;
    } wrong[] = {{0, 'r'}, {7, '2'}, {8, 0},     {8, 3},    {9, 1},
                 {12, 2},  {48, 1},  {56, '\n'}, {96, 0x80}};
    unsigned char bytes[RTL_SYNC_BYTES + 1];
    struct rtl_sync_packet read;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rtl_sync_pack(&whole, bytes);
        bytes[wrong[i].at] = wrong[i].value;
        if (wrong[i].at == 48) /* answered before it was received */
            memset(bytes + 48, 0, 8);
        CHECK(!rtl_sync_unpack(bytes, RTL_SYNC_BYTES, &read));
    }
    rtl_sync_pack(&whole, bytes);
    for (size_t size = 0; size <= sizeof bytes; size++)
        CHECK(rtl_sync_unpack(bytes, size, &read) == (size == RTL_SYNC_BYTES));
    memset(bytes + 56, 'x', RTL_EXCHANGE_BOOT); /* a text without an end */
    CHECK(!rtl_sync_unpack(bytes, RTL_SYNC_BYTES, &read));
    return NULL;
}

const char *SyncBurst_KeepsTheTightest(void)
{
    struct rtl_burst burst = {0};
    struct rtl_exchange kept[2];
    CHECK(rtl_burst_kept(&burst, kept) == 0);
    rtl_burst_add(&burst, &(struct rtl_exchange){100, 90, 5000, 5001, "", ""}); /* back too soon */
    CHECK(rtl_burst_kept(&burst, kept) == 0);
    rtl_burst_add(&burst, &(struct rtl_exchange){100, 300, 5100, 5110, "", ""}); /* 4810 to 5000 */
    CHECK(rtl_burst_kept(&burst, kept) == 1 && kept[0].sent == 100);
    rtl_burst_add(&burst, &(struct rtl_exchange){400, 700, 5300, 5320, "", ""}); /* 4620 to 4900 */
    rtl_burst_add(&burst, &(struct rtl_exchange){800, 990, 5790, 5800, "", ""}); /* 4810 to 4990 */
    CHECK(rtl_burst_kept(&burst, kept) == 2 && kept[0].sent == 100 && kept[1].sent == 400);
    CHECK(burst.count == 3);
    return NULL;
}

const char *SyncAddress_AsUsersWriteIt(void)
{
    static const struct {
        const char *text, *host, *port; /* host NULL: it is none */
    } wanted[] = {
        {"head", "head", RTL_SYNC_PORT},
        {"head:7", "head", "7"},
        {"10.0.0.1:65535", "10.0.0.1", "65535"},
        {"fe80::1%eth0", "fe80::1%eth0", RTL_SYNC_PORT},
        {"[fe80::1]:24", "fe80::1", "24"},
        {"[::1]", "::1", RTL_SYNC_PORT},
        {"", NULL, NULL},
        {":", NULL, NULL},
        {":7", NULL, NULL},
        {"head:", NULL, NULL},
        {"head:0", NULL, NULL},
        {"head:65536", NULL, NULL},
        {"head:99999999999999999999", NULL, NULL},
        {"head: 7", NULL, NULL},
        {"head:+7", NULL, NULL},
        {"head:7x", NULL, NULL},
        {"he ad", NULL, NULL},
        {"[::1", NULL, NULL},
        {"[::1]7", NULL, NULL},
        {"[]:7", NULL, NULL},
        {"0.0.0.0", NULL, NULL},
        {"[::]:7", NULL, NULL},
        {"255.255.255.255", NULL, NULL},
        {"224.0.0.1:7", NULL, NULL},
        {"239.255.255.255", NULL, NULL},
        {"240.0.0.1", "240.0.0.1", RTL_SYNC_PORT},
        {"[ff02::1]:7", NULL, NULL},
        {"ff02::1%lo", NULL, NULL},
        {"::", NULL, NULL},
        {"::1", "::1", RTL_SYNC_PORT},
    };
    struct rtl_sync_address address;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        bool read = rtl_sync_address_read(wanted[i].text, &address);
        CHECK(read == (wanted[i].host != NULL));
        CHECK(!read || strcmp(address.host, wanted[i].host) == 0);
        CHECK(!read || strcmp(address.port, wanted[i].port) == 0);
    }
    return NULL;
}

static bool is_own(const char *number)
{
    struct rtl_sync_address address;
    struct addrinfo *list = NULL;
    bool own = rtl_sync_address_read(number, &address) &&
               rtl_sync_address_find(&address, &list) == 0 && rtl_sync_address_is_own(list);
    if (list)
        freeaddrinfo(list);
    return own;
}

/* Those of RFC 5737 and 3849 are for documents: no machine has them. */
const char *SyncAddress_IsOfThisMachine(void)
{
    CHECK(is_own("127.0.0.1") && is_own("127.0.1.1") && is_own("::1"));
    CHECK(is_own("::ffff:127.0.0.1") && is_own("localhost"));
    CHECK(!is_own("192.0.2.1") && !is_own("::ffff:192.0.2.1") && !is_own("2001:db8::1"));
    return NULL;
}
