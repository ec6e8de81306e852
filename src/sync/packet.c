#include "sync/packet.h"

#include <endian.h>
#include <string.h>

/* As it is sent; numbers are little-endian. */
struct wire {
    char magic[8];
    uint32_t kind, last;
    uint64_t client;
    unsigned char token[RTL_SYNC_TOKEN];
    uint64_t received, answered;
    char boot[RTL_EXCHANGE_BOOT];
    char host[RTL_EXCHANGE_HOST];
    unsigned char rest[24];
};

_Static_assert(sizeof(struct wire) == RTL_SYNC_BYTES, "no gaps");

static const char magic[8] = {'R', 'T', 'L', 's', 'y', 'n', 'c', '1'}; /* without an end */

void rtl_sync_pack(const struct rtl_sync_packet *packet, unsigned char bytes[RTL_SYNC_BYTES])
{
    struct wire wire = {
        .kind = htole32((uint32_t)packet->kind),
        .last = htole32(packet->last),
        .client = htole64(packet->client),
        .received = htole64(packet->received),
        .answered = htole64(packet->answered),
    };
    memcpy(wire.magic, magic, sizeof magic);
    memcpy(wire.token, packet->token, sizeof wire.token);
    memcpy(wire.boot, packet->boot, strnlen(packet->boot, sizeof wire.boot - 1));
    memcpy(wire.host, packet->host, strnlen(packet->host, sizeof wire.host - 1));
    memcpy(bytes, &wire, sizeof wire);
}

/* Ends within its bytes, and is printable ASCII. */
static bool is_text(const char *text, size_t size)
{
    size_t length = strnlen(text, size);
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    return length < size;
}

bool rtl_sync_unpack(const unsigned char *bytes, size_t size, struct rtl_sync_packet *packet)
{
    struct wire wire;
    if (size != sizeof wire)
        return false;
    memcpy(&wire, bytes, sizeof wire);
    uint32_t kind = le32toh(wire.kind);
    if (memcmp(wire.magic, magic, sizeof magic) != 0 ||
        (kind != RTL_SYNC_REQUEST && kind != RTL_SYNC_ANSWER) || le32toh(wire.last) > 1 ||
        !is_text(wire.boot, sizeof wire.boot) || !is_text(wire.host, sizeof wire.host) ||
        le64toh(wire.answered) < le64toh(wire.received))
        return false;
    *packet = (struct rtl_sync_packet){
        .kind = (enum rtl_sync_kind)kind,
        .last = wire.last != 0,
        .client = le64toh(wire.client),
        .received = le64toh(wire.received),
        .answered = le64toh(wire.answered),
    };
    memcpy(packet->token, wire.token, sizeof packet->token);
    memcpy(packet->boot, wire.boot, sizeof packet->boot);
    memcpy(packet->host, wire.host, sizeof packet->host);
    return true;
}
