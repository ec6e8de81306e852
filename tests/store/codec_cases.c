#include "fixture.h"
#include "store/checksum.h"
#include "store/codec.h"

#include <stdlib.h>
#include <string.h>

/* The catalogue of parametrised CRC algorithms gives this check value for CRC-32/ISCSI. */
const char *Codec_ChecksumHasItsCheckValue(void)
{
    CHECK(rtl_crc32c(0, "123456789", 9) == 0xE3069283u);
    CHECK(rtl_crc32c(rtl_crc32c(0, "1234", 4), "56789", 5) == 0xE3069283u);
    CHECK(rtl_crc32c_by_tables(0, "123456789", 9) == 0xE3069283u);
    CHECK(rtl_crc32c_by_tables(rtl_crc32c(0, "1234", 4), "56789", 5) == 0xE3069283u);
    return NULL;
}

/* The example of docs/format.md, worked out there by hand. */
const char *Codec_WritesTheBytesOfTheSpecification(void)
{
    static const unsigned char want[] = {
        0, 1, 2,      /* packet: each one more than the last */
        1, 2, 0,  20, /* gap: 0, then 10 */
        1, 2, 20, 0,  /* duration: 10, then as expected */
        0, 1, 3,      /* shape 3 */
        0, 1, 0,      /* correlation 0 */
        0, 1, 0,      /* no launch */
        0, 1, 0,      /* no node */
    };
    const struct rtl_wire_kernel kernels[] = {{.packet = 5,
                                               .start = 100,
                                               .end = 110,
                                               .queue = 2,
                                               .shape = 3,
                                               .launch = RTL_NONE,
                                               .ordinal = RTL_NONE},
                                              {.packet = 6,
                                               .start = 120,
                                               .end = 130,
                                               .queue = 2,
                                               .shape = 3,
                                               .launch = RTL_NONE,
                                               .ordinal = RTL_NONE}};
    struct rtl_chunk chunk = {.process = 1};
    const unsigned char *data = NULL;
    size_t size = 0;
    struct rtl_codec *codec = rtl_codec_new();
    CHECK(rtl_codec_encode(codec, kernels, 2, &chunk, &data, &size) == 0);
    CHECK(size == sizeof want && memcmp(data, want, size) == 0);
    rtl_codec_free(codec);
    return NULL;
}

/* A 64-bit number that is often near an end or a boundary. */
static uint64_t extreme(uint64_t *seed)
{
    static const uint64_t bases[] = {0,         UINT64_MAX, UINT64_C(1) << 63,
                                     INT64_MAX, UINT32_MAX, UINT64_C(1) << 32,
                                     0x7f,      0x80,       UINT64_C(1) << 56};
    uint64_t pick = fixture_random(seed);
    if (pick % 4 == 0)
        return fixture_random(seed);
    return bases[pick / 4 % (sizeof bases / sizeof *bases)] + fixture_random(seed) % 5 - 2;
}

enum kind { ORDERLY, REPLAYED, EXTREME, SHUFFLED, SAME, KINDS };

static struct rtl_wire_kernel make(enum kind kind, uint32_t i, uint64_t *seed)
{
    struct rtl_wire_kernel kernel = fixture_kernel(4, i);
    switch (kind) {
    case ORDERLY:
        kernel.end += fixture_random(seed) % 300;
        break;
    case REPLAYED:
        kernel.start += fixture_random(seed) % 100;
        kernel.launch = i / 50;
        kernel.ordinal = i % 50;
        kernel.shape = i % 50 % 7;
        break;
    case EXTREME:
        kernel = (struct rtl_wire_kernel){.packet = extreme(seed),
                                          .start = extreme(seed),
                                          .end = extreme(seed),
                                          .correlation = extreme(seed),
                                          .queue = 4,
                                          .shape = (uint32_t)extreme(seed),
                                          .launch = (uint32_t)extreme(seed),
                                          .ordinal = (uint32_t)extreme(seed)};
        break;
    case SHUFFLED:
        kernel = fixture_kernel(4, fixture_random(seed) % 100000);
        break;
    default:
        kernel = fixture_kernel(4, 7);
        break;
    }
    return kernel;
}

static const uint32_t counts[] = {1, 2, 3, 17, 1000, RTL_CHUNK_KERNELS};

static const char *round_trip(struct rtl_codec *codec, enum kind kind, uint32_t count,
                              uint64_t *seed)
{
    static struct rtl_wire_kernel in[RTL_CHUNK_KERNELS];
    static struct rtl_wire_kernel out[RTL_CHUNK_KERNELS];
    static unsigned char copy[RTL_CHUNK_KERNELS * sizeof *in * 2];
    struct rtl_chunk chunk = {.process = 3};
    const unsigned char *data = NULL;
    size_t size = 0;
    for (uint32_t i = 0; i < count; i++)
        in[i] = make(kind, i, seed);
    CHECK(rtl_codec_encode(codec, in, count, &chunk, &data, &size) == 0);
    CHECK(chunk.kernels == count && chunk.queue == 4 && chunk.process == 3);
    CHECK(size <= sizeof copy);
    memcpy(copy, data, size);
    CHECK(rtl_codec_decode(codec, &chunk, copy, size, out) == 0);
    CHECK(memcmp(in, out, count * sizeof *in) == 0);
    return NULL;
}

const char *Codec_ReturnsWhatWentIn(void)
{
    uint64_t seed = 1;
    struct rtl_codec *codec = rtl_codec_new();
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            CHECK_DONE(round_trip(codec, (enum kind)kind, counts[i], &seed));
    for (int i = 0; i < 300; i++)
        CHECK_DONE(round_trip(codec, EXTREME, 1 + (uint32_t)(fixture_random(&seed) % 40), &seed));
    rtl_codec_free(codec);
    return NULL;
}

const char *Codec_TellsTheBounds(void)
{
    uint64_t seed = 2;
    struct rtl_codec *codec = rtl_codec_new();
    struct rtl_wire_kernel kernels[100];
    for (int round = 0; round < 50; round++) {
        struct rtl_chunk chunk = {.process = 1};
        const unsigned char *data = NULL;
        size_t size = 0;
        bool packet_min = false;
        bool packet_max = false;
        bool start_min = false;
        bool end_max = false;
        for (uint32_t i = 0; i < 100; i++)
            kernels[i] = make(EXTREME, i, &seed);
        CHECK(rtl_codec_encode(codec, kernels, 100, &chunk, &data, &size) == 0);
        for (int i = 0; i < 100; i++) {
            const struct rtl_wire_kernel *kernel = &kernels[i];
            CHECK(kernel->packet >= chunk.packet_min && kernel->packet <= chunk.packet_max);
            CHECK(kernel->start >= chunk.start_min);
            CHECK(kernel->start <= chunk.end_max && kernel->end <= chunk.end_max);
            packet_min |= kernel->packet == chunk.packet_min;
            packet_max |= kernel->packet == chunk.packet_max;
            start_min |= kernel->start == chunk.start_min;
            end_max |= kernel->start == chunk.end_max || kernel->end == chunk.end_max;
        }
        CHECK(packet_min && packet_max && start_min && end_max);
    }
    rtl_codec_free(codec);
    return NULL;
}

/* A packed chunk with a copy of its data. */
struct packed {
    struct rtl_codec *codec;
    struct rtl_chunk chunk;
    unsigned char *data;
    size_t size;
    struct rtl_wire_kernel *room;
};

static const char *pack(struct packed *packed, enum kind kind, uint32_t count, uint64_t *seed)
{
    struct rtl_wire_kernel *kernels = calloc(count, sizeof *kernels);
    const unsigned char *data = NULL;
    packed->codec = rtl_codec_new();
    packed->chunk = (struct rtl_chunk){.process = 1};
    for (uint32_t i = 0; i < count; i++)
        kernels[i] = make(kind, i, seed);
    CHECK(rtl_codec_encode(packed->codec, kernels, count, &packed->chunk, &data, &packed->size) ==
          0);
    packed->data = malloc(packed->size);
    memcpy(packed->data, data, packed->size);
    packed->room = malloc(RTL_CHUNK_KERNELS_MAX * sizeof *packed->room);
    free(kernels);
    return NULL;
}

static void unpack_free(struct packed *packed)
{
    rtl_codec_free(packed->codec);
    free(packed->data);
    free(packed->room);
}

static int decode(struct packed *packed, size_t size)
{
    return rtl_codec_decode(packed->codec, &packed->chunk, packed->data, size, packed->room);
}

const char *Codec_NoticesDamage(void)
{
    uint64_t seed = 3;
    struct packed packed;
    CHECK_DONE(pack(&packed, REPLAYED, 500, &seed));
    CHECK(decode(&packed, packed.size) == 0);
    for (size_t size = 0; size < packed.size; size++)
        CHECK(decode(&packed, size) != 0);
    for (size_t bit = 0; bit < packed.size * 8; bit++) {
        packed.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        CHECK(decode(&packed, packed.size) != 0);
        packed.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    struct rtl_chunk good = packed.chunk;
    for (size_t field = 0; field < 7; field++) {
        packed.chunk = good;
        packed.chunk.process += field == 0;
        packed.chunk.queue += field == 1;
        packed.chunk.kernels += field == 2;
        packed.chunk.packet_min += field == 3;
        packed.chunk.packet_max += field == 4;
        packed.chunk.start_min += field == 5;
        packed.chunk.end_max += field == 6;
        CHECK(decode(&packed, packed.size) != 0);
    }
    unpack_free(&packed);
    return NULL;
}

/* What a careful forger would store. */
static uint32_t right_checksum(const struct packed *packed)
{
    const struct rtl_chunk *chunk = &packed->chunk;
    const uint64_t fields[] = {chunk->process,    chunk->queue,      chunk->kernels,
                               chunk->packet_min, chunk->packet_max, chunk->start_min,
                               chunk->end_max};
    return fixture_checksum(fields, sizeof fields / sizeof *fields, packed->data, packed->size);
}

/* Changed bytes under a checksum that is right again: they may mean something else, and must never
 * be read or written outside (the sanitizers watch). */
const char *Codec_StaysInsideWhateverTheBytes(void)
{
    uint64_t seed = 4;
    unsigned refused = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        struct packed packed;
        CHECK_DONE(pack(&packed, (enum kind)kind, 300, &seed));
        CHECK(packed.chunk.checksum == right_checksum(&packed));
        struct rtl_chunk good = packed.chunk;
        for (int round = 0; round < 1500; round++) {
            size_t at = fixture_random(&seed) % packed.size;
            unsigned char was = packed.data[at];
            packed.data[at] = (unsigned char)fixture_random(&seed);
            if (round % 5 == 0)
                packed.chunk.kernels = (uint32_t)(fixture_random(&seed) % 70000);
            packed.chunk.checksum = right_checksum(&packed);
            refused += decode(&packed, packed.size) != 0;
            packed.data[at] = was;
            packed.chunk = good;
        }
        unpack_free(&packed);
    }
    CHECK(refused > 0);
    return NULL;
}
