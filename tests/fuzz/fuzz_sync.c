/*
 * What comes from a network at the responder and the client of rtl trace --sync: any bytes are a
 * packet or none, and one that is comes back the same when it is written again; its texts end.
 *
 * Input: the bytes of a datagram. Random ones are no packet, so its magic, kind and flag may be put
 * in.
 */
#include "sync/packet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    (void)fprintf(stderr, "fuzz: not so: %s\n", what);
    abort();
}

static bool same(const struct rtl_sync_packet *a, const struct rtl_sync_packet *b)
{
    return a->kind == b->kind && a->last == b->last && a->client == b->client &&
           memcmp(a->token, b->token, sizeof a->token) == 0 && a->received == b->received &&
           a->answered == b->answered && strcmp(a->boot, b->boot) == 0 &&
           strcmp(a->host, b->host) == 0;
}

static void try(const unsigned char *bytes, size_t size)
{
    struct rtl_sync_packet packet;
    struct rtl_sync_packet again;
    unsigned char written[RTL_SYNC_BYTES];
    if (!rtl_sync_unpack(bytes, size, &packet))
        return;
    must(size == RTL_SYNC_BYTES, "a packet has its size");
    must(packet.kind == RTL_SYNC_REQUEST || packet.kind == RTL_SYNC_ANSWER, "a kind");
    must(strnlen(packet.boot, sizeof packet.boot) < sizeof packet.boot, "its boot_id ends");
    must(strnlen(packet.host, sizeof packet.host) < sizeof packet.host, "its host's name ends");
    must(packet.answered >= packet.received, "answered after it was received");
    rtl_sync_pack(&packet, written);
    must(rtl_sync_unpack(written, sizeof written, &again) && same(&packet, &again),
         "it comes back the same");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned char magic[] = {'R', 'T', 'L', 's', 'y', 'n', 'c', '1'};
    unsigned char bytes[RTL_SYNC_BYTES] = {0};
    try(data, size);
    memcpy(bytes, data, size < sizeof bytes ? size : sizeof bytes);
    memcpy(bytes, magic, sizeof magic);
    memset(bytes + 8, 0, 8);
    bytes[8] = 1 + (size & 1);
    bytes[12] = size >> 1 & 1;
    for (size_t i = 56; i < 168; i++) /* texts that may be some */
        bytes[i] = bytes[i] & 0x80 ? bytes[i] & 0x5f : bytes[i];
    try(bytes, sizeof bytes);
    return 0;
}
