/* Chunks of host calls: the bytes of the specification, what went in comes out, damage is told. */
#include "fixture.h"
#include "store/api_codec.h"

#include <stdlib.h>
#include <string.h>

/* The example of docs/format.md, worked out there by hand. */
const char *ApiCodec_WritesTheBytesOfTheSpecification(void)
{
    static const unsigned char want[] = {
        1, 2, 0,  10,                         /* gap: 0, then 5 */
        0, 1, 20,                             /* duration: 10 each */
        0, 1, 2,                              /* correlation: each one more than the last */
        0, 1, 0,                              /* no range */
        1, 2, 2,  0,                          /* stream 0, folded 1 more than none; then the same */
        0, 1, 3,                              /* call 3 */
        1, 2, 14, 0,                          /* thread 7, then the same */
        1, 2, 0,  2,                          /* result 0, then 1 */
        0, 1, 2,                              /* two words each */
        1, 2, 16, 4,                          /* first word: 8, then 10 */
        1, 2, 18, 1,                          /* second word: 9, then 8 */
        1, 0, 1,  0,  1, 0, 1, 0, 1, 0, 1, 0, /* no further words */
    };
    const struct rtl_call calls[] = {
        {.start = 100, .end = 110, .correlation = 5, .call = 3, .thread = 7, .words = 2},
        {.start = 115,
         .end = 125,
         .correlation = 6,
         .call = 3,
         .thread = 7,
         .result = 1,
         .words = 2}};
    const uint64_t words[] = {8, 9, 10, 8};
    struct rtl_api_chunk chunk = {.process = 1};
    const unsigned char *data = NULL;
    size_t size = 0;
    struct rtl_api_codec *codec = rtl_api_codec_new();
    CHECK(rtl_api_encode(codec, calls, 2, words, &chunk, &data, &size) == 0);
    CHECK(size == sizeof want && memcmp(data, want, size) == 0);
    CHECK(chunk.calls == 2 && chunk.words == 4 && chunk.start_min == 100 && chunk.end_max == 125);
    CHECK(chunk.correlation_min == 5 && chunk.correlation_max == 6);
    rtl_api_codec_free(codec);
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

enum kind { ORDERLY, THREADS, EXTREME, SAME, KINDS };

static struct rtl_call make(enum kind kind, uint32_t i, uint64_t *seed)
{
    struct rtl_call call = {.start = 1000 + UINT64_C(300) * i,
                            .end = 1100 + UINT64_C(300) * i,
                            .correlation = 1 + i,
                            .stream = i % 3 ? i % 3 : RTL_NONE,
                            .call = i % 5,
                            .thread = 4711,
                            .words = i % 5};
    switch (kind) {
    case ORDERLY:
        call.end += fixture_random(seed) % 100;
        break;
    case THREADS:
        call.thread = 100 + (uint32_t)(fixture_random(seed) % 600);
        call.start -= fixture_random(seed) % 1000;
        call.range = fixture_random(seed) % 4;
        call.result = (int32_t)(fixture_random(seed) % 3) - 1;
        call.words = (uint32_t)(fixture_random(seed) % 20);
        break;
    case EXTREME:
        call = (struct rtl_call){.start = extreme(seed),
                                 .end = extreme(seed),
                                 .correlation = extreme(seed),
                                 .range = extreme(seed),
                                 .stream = (uint32_t)extreme(seed),
                                 .call = (uint32_t)extreme(seed),
                                 .thread = (uint32_t)extreme(seed),
                                 .result = (int32_t)(uint32_t)extreme(seed),
                                 .words = (uint32_t)(fixture_random(seed) % 12)};
        break;
    default:
        call.start = call.end = 5;
        call.correlation = 9;
        call.stream = call.call = call.words = 1;
        break;
    }
    return call;
}

static uint64_t make_word(enum kind kind, uint32_t i, uint64_t *seed)
{
    return kind == EXTREME ? extreme(seed) : kind == SAME ? 3 : UINT64_C(0x7f0000000000) + i;
}

/* Calls with their words, packed, and what comes out again. */
struct packed {
    struct rtl_api_codec *codec;
    struct rtl_call *calls, *out;
    uint64_t *words, *words_out;
    uint32_t word_count;
    struct rtl_api_chunk chunk;
    unsigned char *data;
    size_t size;
};

static const char *pack(struct packed *packed, enum kind kind, uint32_t count, uint64_t *seed)
{
    const unsigned char *data = NULL;
    *packed = (struct packed){.codec = rtl_api_codec_new(), .chunk = {.process = 3}};
    packed->calls = calloc(count, sizeof *packed->calls);
    packed->out = calloc(RTL_CHUNK_CALLS_MAX, sizeof *packed->out);
    packed->words = calloc(count * UINT64_C(20), sizeof *packed->words);
    packed->words_out = calloc(RTL_CHUNK_WORDS_MAX, sizeof *packed->words_out);
    for (uint32_t i = 0; i < count; i++) {
        packed->calls[i] = make(kind, i, seed);
        packed->calls[i].first = packed->word_count;
        for (uint32_t j = 0; j < packed->calls[i].words; j++)
            packed->words[packed->word_count++] = make_word(kind, i, seed);
    }
    CHECK(rtl_api_encode(packed->codec, packed->calls, count, packed->words, &packed->chunk, &data,
                         &packed->size) == 0);
    packed->data = malloc(packed->size);
    memcpy(packed->data, data, packed->size);
    return NULL;
}

static void packed_free(struct packed *packed)
{
    rtl_api_codec_free(packed->codec);
    free(packed->calls);
    free(packed->out);
    free(packed->words);
    free(packed->words_out);
    free(packed->data);
}

/* As a reader does: nothing is unpacked that is not intact. */
static int decode(struct packed *packed, size_t size)
{
    if (!rtl_api_intact(&packed->chunk, packed->data, size))
        return -1;
    return rtl_api_decode(packed->codec, &packed->chunk, packed->data, size, packed->out,
                          packed->words_out);
}

static const char *round_trip(enum kind kind, uint32_t count, uint64_t *seed)
{
    struct packed packed;
    CHECK_DONE(pack(&packed, kind, count, seed));
    CHECK(packed.chunk.calls == count && packed.chunk.words == packed.word_count);
    CHECK(decode(&packed, packed.size) == 0);
    CHECK(memcmp(packed.calls, packed.out, count * sizeof *packed.calls) == 0);
    CHECK(memcmp(packed.words, packed.words_out, packed.word_count * sizeof *packed.words) == 0);
    packed_free(&packed);
    return NULL;
}

const char *ApiCodec_ReturnsWhatWentIn(void)
{
    static const uint32_t counts[] = {1, 2, 3, 17, 1000, RTL_CHUNK_CALLS};
    uint64_t seed = 21;
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            CHECK_DONE(round_trip((enum kind)kind, counts[i], &seed));
    for (int i = 0; i < 100; i++)
        CHECK_DONE(round_trip(EXTREME, 1 + (uint32_t)(fixture_random(&seed) % 40), &seed));
    return NULL;
}

const char *ApiCodec_TellsTheBounds(void)
{
    uint64_t seed = 22;
    for (int round = 0; round < 30; round++) {
        struct packed packed;
        bool least = false;
        bool most = false;
        CHECK_DONE(pack(&packed, EXTREME, 100, &seed));
        const struct rtl_api_chunk *chunk = &packed.chunk;
        for (int i = 0; i < 100; i++) {
            const struct rtl_call *call = &packed.calls[i];
            CHECK(call->start >= chunk->start_min && call->start <= chunk->end_max);
            CHECK(call->end <= chunk->end_max);
            CHECK(call->correlation >= chunk->correlation_min);
            CHECK(call->correlation <= chunk->correlation_max);
            least |= call->correlation == chunk->correlation_min;
            most |= call->correlation == chunk->correlation_max;
        }
        CHECK(least && most);
        packed_free(&packed);
    }
    return NULL;
}

const char *ApiCodec_NoticesDamage(void)
{
    uint64_t seed = 23;
    struct packed packed;
    CHECK_DONE(pack(&packed, THREADS, 60, &seed));
    CHECK(decode(&packed, packed.size) == 0);
    for (size_t size = 0; size < packed.size; size++)
        CHECK(decode(&packed, size) != 0);
    for (size_t bit = 0; bit < packed.size * 8; bit++) {
        packed.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        CHECK(decode(&packed, packed.size) != 0);
        packed.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    struct rtl_api_chunk good = packed.chunk;
    for (size_t field = 0; field < 7; field++) {
        packed.chunk = good;
        packed.chunk.process += field == 0;
        packed.chunk.calls += field == 1;
        packed.chunk.words += field == 2;
        packed.chunk.start_min += field == 3;
        packed.chunk.end_max += field == 4;
        packed.chunk.correlation_min += field == 5;
        packed.chunk.correlation_max += field == 6;
        CHECK(decode(&packed, packed.size) != 0);
    }
    packed_free(&packed);
    return NULL;
}

/* What a careful forger would store. */
static uint32_t right_checksum(const struct packed *packed)
{
    const struct rtl_api_chunk *chunk = &packed->chunk;
    const uint64_t fields[] = {chunk->process,        chunk->calls,   chunk->words,
                               chunk->start_min,      chunk->end_max, chunk->correlation_min,
                               chunk->correlation_max};
    return fixture_checksum(fields, sizeof fields / sizeof *fields, packed->data, packed->size);
}

static void forge(struct packed *packed, int round, uint64_t *seed)
{
    size_t at = fixture_random(seed) % packed->size;
    packed->data[at] = (unsigned char)fixture_random(seed);
    if (round % 5 == 0)
        packed->chunk.calls = (uint32_t)(fixture_random(seed) % 70000);
    if (round % 7 == 0)
        packed->chunk.words = (uint32_t)(fixture_random(seed) % 1200000);
    packed->chunk.checksum = right_checksum(packed);
}

/* Changed bytes under a checksum that is right again: they may mean something else, and must never
 * be read or written outside (the sanitizers watch). */
const char *ApiCodec_StaysInsideWhateverTheBytes(void)
{
    uint64_t seed = 24;
    unsigned refused = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        struct packed packed;
        CHECK_DONE(pack(&packed, (enum kind)kind, 200, &seed));
        CHECK(packed.chunk.checksum == right_checksum(&packed));
        struct rtl_api_chunk good = packed.chunk;
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
