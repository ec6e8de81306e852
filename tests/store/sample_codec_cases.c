/* Chunks of samples: the bytes of the specification, what went in comes out, damage is told. */
#include "fixture.h"
#include "store/sample_codec.h"

#include <stdlib.h>
#include <string.h>

/* The example of docs/format.md, worked out there by hand. */
const char *SampleCodec_WritesTheBytesOfTheSpecification(void)
{
    static const unsigned char want[] = {
        0, 1, 2,         /* owner: each one more */
        1, 2, 2,   0,    /* agent 1, then the same */
        0, 1, 2,         /* two counts each */
        0, 1, 0,         /* no flags */
        1, 2, 0,   1,    /* none, then the one before */
        1, 3, 200, 1, 6, /* 100, then 3 more */
        1, 2, 14,  0,    /* 7, then the same */
        1, 0, 1,   0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, /* nothing in the others */
        1, 0, 1,   0, 1, 0, 1, 0,
    };
    const struct rtl_sample samples[] = {{.owner = 5, .agent = 1, .first = 0, .counts = 2},
                                         {.owner = 6, .agent = 1, .first = 2, .counts = 2}};
    const uint64_t counts[] = {100, 7, 103, 7};
    struct rtl_sample_chunk chunk = {.process = 1, .queue = 2};
    const unsigned char *data = NULL;
    size_t size = 0;
    struct rtl_sample_codec *codec = rtl_sample_codec_new();
    CHECK(rtl_sample_encode(codec, samples, 2, counts, &chunk, &data, &size) == 0);
    CHECK(size == sizeof want && memcmp(data, want, size) == 0);
    CHECK(chunk.samples == 2 && chunk.counts == 4 && chunk.owner_min == 5 && chunk.owner_max == 6);
    rtl_sample_codec_free(codec);
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

enum kind { REPLAY, VARIED, EXTREME, SAME, KINDS };

static struct rtl_sample make(enum kind kind, uint32_t i, uint64_t *seed)
{
    struct rtl_sample sample = {.owner = 100 + 2 * i, .agent = 1, .counts = 8};
    if (kind == VARIED) {
        sample.owner = 1000 + i - fixture_random(seed) % 900;
        sample.agent = (uint32_t)(fixture_random(seed) % 4);
        sample.counts = 3 + sample.agent * 9;
        sample.flags = (uint32_t)(fixture_random(seed) % 2);
    } else if (kind == EXTREME) {
        sample.owner = extreme(seed);
        sample.agent = (uint32_t)extreme(seed);
        sample.counts = (uint32_t)(fixture_random(seed) % 40);
        sample.flags = (uint32_t)extreme(seed);
    } else if (kind == SAME) {
        sample.owner = 9;
        sample.counts = 1;
    }
    return sample;
}

static uint64_t make_count(enum kind kind, uint32_t i, uint32_t which, uint64_t *seed)
{
    switch (kind) {
    case REPLAY: /* twenty kernels again and again, some counts with noise */
        return UINT64_C(1000) * (i % 20 + 1) * (which + 1) +
               (which % 2 ? fixture_random(seed) % 64 : 0);
    case VARIED:
        return fixture_random(seed) >> fixture_random(seed) % 64;
    case EXTREME:
        return extreme(seed);
    default:
        return 3;
    }
}

/* Samples with their counts, packed, and what comes out again. */
struct packed {
    struct rtl_sample_codec *codec;
    struct rtl_sample *samples, *out;
    uint64_t *counts, *counts_out;
    uint32_t count, counts_used;
    struct rtl_sample_chunk chunk;
    unsigned char *data;
    size_t size;
};

static const char *pack(struct packed *packed, enum kind kind, uint32_t count, uint64_t *seed)
{
    const unsigned char *data = NULL;
    *packed = (struct packed){.codec = rtl_sample_codec_new(),
                              .chunk = {.process = 3, .queue = RTL_NONE}};
    packed->samples = calloc(count, sizeof *packed->samples);
    packed->out = calloc(RTL_CHUNK_SAMPLES_MAX, sizeof *packed->out);
    packed->counts = calloc(count * UINT64_C(40) + 1, sizeof *packed->counts);
    packed->counts_out = calloc(RTL_CHUNK_COUNTS_MAX, sizeof *packed->counts_out);
    packed->count = count;
    for (uint32_t i = 0; i < count; i++) {
        packed->samples[i] = make(kind, i, seed);
        packed->samples[i].first = packed->counts_used;
        for (uint32_t j = 0; j < packed->samples[i].counts; j++)
            packed->counts[packed->counts_used++] = make_count(kind, i, j, seed);
    }
    CHECK(rtl_sample_encode(packed->codec, packed->samples, count, packed->counts, &packed->chunk,
                            &data, &packed->size) == 0);
    packed->data = malloc(packed->size);
    memcpy(packed->data, data, packed->size);
    return NULL;
}

static void packed_free(struct packed *packed)
{
    rtl_sample_codec_free(packed->codec);
    free(packed->samples);
    free(packed->out);
    free(packed->counts);
    free(packed->counts_out);
    free(packed->data);
}

/* As a reader does: nothing is unpacked that is not intact. */
static int decode(struct packed *packed, size_t size)
{
    if (!rtl_sample_intact(&packed->chunk, packed->data, size))
        return -1;
    return rtl_sample_decode(packed->codec, &packed->chunk, packed->data, size, packed->out,
                             packed->counts_out);
}

static bool same(const struct packed *packed)
{
    for (uint32_t i = 0; i < packed->count; i++) {
        const struct rtl_sample *in = &packed->samples[i];
        const struct rtl_sample *out = &packed->out[i];
        if (in->owner != out->owner || in->agent != out->agent || in->first != out->first ||
            in->counts != out->counts || in->flags != out->flags)
            return false;
    }
    return memcmp(packed->counts, packed->counts_out,
                  packed->counts_used * sizeof *packed->counts) == 0;
}

static const char *round_trip(enum kind kind, uint32_t count, uint64_t *seed)
{
    struct packed packed;
    CHECK_DONE(pack(&packed, kind, count, seed));
    CHECK(packed.chunk.samples == count && packed.chunk.counts == packed.counts_used);
    CHECK(decode(&packed, packed.size) == 0);
    CHECK(same(&packed));
    packed_free(&packed);
    return NULL;
}

const char *SampleCodec_ReturnsWhatWentIn(void)
{
    static const uint32_t counts[] = {1, 2, 3, 17, 1000, RTL_CHUNK_SAMPLES};
    uint64_t seed = 31;
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            CHECK_DONE(round_trip((enum kind)kind, counts[i], &seed));
    for (int i = 0; i < 100; i++)
        CHECK_DONE(round_trip(EXTREME, 1 + (uint32_t)(fixture_random(&seed) % 40), &seed));
    return NULL;
}

/* Kernels that come again take a fraction of what they take as numbers: half of the counts have
 * noise of six bits, the others and all else repeat. */
const char *SampleCodec_RepetitionIsSmall(void)
{
    uint64_t seed = 32;
    struct packed packed;
    CHECK_DONE(pack(&packed, REPLAY, 10000, &seed));
    CHECK(packed.size < (size_t)10000 * (4 * 1 + 2));
    packed_free(&packed);
    CHECK_DONE(pack(&packed, SAME, 10000, &seed));
    CHECK(packed.size < 200);
    packed_free(&packed);
    return NULL;
}

const char *SampleCodec_TellsTheBounds(void)
{
    uint64_t seed = 33;
    for (int round = 0; round < 30; round++) {
        struct packed packed;
        bool least = false;
        bool most = false;
        CHECK_DONE(pack(&packed, EXTREME, 100, &seed));
        const struct rtl_sample_chunk *chunk = &packed.chunk;
        for (int i = 0; i < 100; i++) {
            uint64_t owner = packed.samples[i].owner;
            CHECK(owner >= chunk->owner_min && owner <= chunk->owner_max);
            least |= owner == chunk->owner_min;
            most |= owner == chunk->owner_max;
        }
        CHECK(least && most);
        packed_free(&packed);
    }
    return NULL;
}

const char *SampleCodec_NoticesDamage(void)
{
    uint64_t seed = 34;
    struct packed packed;
    CHECK_DONE(pack(&packed, VARIED, 40, &seed));
    CHECK(decode(&packed, packed.size) == 0);
    for (size_t size = 0; size < packed.size; size++)
        CHECK(decode(&packed, size) != 0);
    for (size_t bit = 0; bit < packed.size * 8; bit++) {
        packed.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        CHECK(decode(&packed, packed.size) != 0);
        packed.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    struct rtl_sample_chunk good = packed.chunk;
    for (size_t field = 0; field < 6; field++) {
        packed.chunk = good;
        packed.chunk.process += field == 0;
        packed.chunk.queue += field == 1;
        packed.chunk.samples += field == 2;
        packed.chunk.counts += field == 3;
        packed.chunk.owner_min -= field == 4;
        packed.chunk.owner_max += field == 5;
        CHECK(decode(&packed, packed.size) != 0);
    }
    packed_free(&packed);
    return NULL;
}

/* What a careful forger would store. */
static uint32_t right_checksum(const struct packed *packed)
{
    const struct rtl_sample_chunk *chunk = &packed->chunk;
    const uint64_t fields[] = {chunk->process, chunk->queue,     chunk->samples,
                               chunk->counts,  chunk->owner_min, chunk->owner_max};
    return fixture_checksum(fields, sizeof fields / sizeof *fields, packed->data, packed->size);
}

/* A sample out of the bounds of its row, which readers rely on, is damage. */
const char *SampleCodec_BoundsHold(void)
{
    uint64_t seed = 35;
    struct packed packed;
    CHECK_DONE(pack(&packed, REPLAY, 10, &seed));
    packed.chunk.owner_max--;
    packed.chunk.checksum = right_checksum(&packed);
    CHECK(decode(&packed, packed.size) == -1);
    packed.chunk.owner_max += 2;
    packed.chunk.checksum = right_checksum(&packed);
    CHECK(decode(&packed, packed.size) == 0);
    packed_free(&packed);
    return NULL;
}

static void forge(struct packed *packed, int round, uint64_t *seed)
{
    size_t at = fixture_random(seed) % packed->size;
    packed->data[at] = (unsigned char)fixture_random(seed);
    if (round % 5 == 0)
        packed->chunk.samples = (uint32_t)(fixture_random(seed) % 70000);
    if (round % 7 == 0)
        packed->chunk.counts = (uint32_t)(fixture_random(seed) % 1200000);
    packed->chunk.checksum = right_checksum(packed);
}

/* Changed bytes under a checksum that is right again: they may mean something else, and must never
 * be read or written outside (the sanitizers watch). */
const char *SampleCodec_StaysInsideWhateverTheBytes(void)
{
    uint64_t seed = 36;
    unsigned refused = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        struct packed packed;
        CHECK_DONE(pack(&packed, (enum kind)kind, 200, &seed));
        CHECK(packed.chunk.checksum == right_checksum(&packed));
        struct rtl_sample_chunk good = packed.chunk;
        unsigned char *data = malloc(packed.size);
        memcpy(data, packed.data, packed.size);
        for (int round = 0; round < 1000; round++) {
            forge(&packed, round, &seed);
            refused += decode(&packed, packed.size) != 0;
            memcpy(packed.data, data, packed.size);
            packed.chunk = good;
        }
        free(data);
        packed_free(&packed);
    }
    CHECK(refused > 0);
    return NULL;
}
