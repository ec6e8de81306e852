#include "store/checksum.h"

#include <endian.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

/* The polynomial 0x1EDC6F41, bits reversed. */
#define POLYNOMIAL 0x82F63B78u

#define STEPS 8

static uint32_t table[STEPS][256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void make_table(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
        table[0][byte] = crc;
    }
    for (int step = 1; step < STEPS; step++)
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t before = table[step - 1][byte];
            table[step][byte] = before >> 8 ^ table[0][before & 0xff];
        }
}

#if defined __x86_64__
/* Many processors have an instruction for this polynomial: five times as fast as the tables. */
__attribute__((target("sse4.2"))) static uint32_t
by_instruction(uint32_t crc, const unsigned char *byte, size_t size)
{
    uint64_t wide = crc;
    for (; size >= STEPS; size -= STEPS, byte += STEPS) {
        uint64_t word;
        memcpy(&word, byte, sizeof word);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    crc = (uint32_t)wide;
    for (; size; size--)
        crc = __builtin_ia32_crc32qi(crc, *byte++);
    return crc;
}

static bool has_instruction(void)
{
    return __builtin_cpu_supports("sse4.2");
}
#else
static uint32_t by_instruction(uint32_t crc, const unsigned char *byte, size_t size)
{
    (void)byte;
    (void)size;
    return crc;
}

static bool has_instruction(void)
{
    return false;
}
#endif

/* Eight bytes a step, so that the check costs little beside the rest. */
uint32_t rtl_crc32c_by_tables(uint32_t crc, const void *data, size_t size)
{
    const unsigned char *byte = data;
    (void)pthread_once(&table_once, make_table);
    crc = ~crc;
    for (; size >= STEPS; size -= STEPS, byte += STEPS) {
        uint64_t word;
        memcpy(&word, byte, sizeof word);
        word = le64toh(word) ^ crc;
        crc = table[7][word & 0xff] ^ table[6][word >> 8 & 0xff] ^ table[5][word >> 16 & 0xff] ^
              table[4][word >> 24 & 0xff] ^ table[3][word >> 32 & 0xff] ^
              table[2][word >> 40 & 0xff] ^ table[1][word >> 48 & 0xff] ^ table[0][word >> 56];
    }
    for (; size; size--)
        crc = crc >> 8 ^ table[0][(crc ^ *byte++) & 0xff];
    return ~crc;
}

uint32_t rtl_crc32c(uint32_t crc, const void *data, size_t size)
{
    return has_instruction() ? ~by_instruction(~crc, data, size)
                             : rtl_crc32c_by_tables(crc, data, size);
}

uint32_t rtl_checksum_row(const uint64_t *fields, size_t count, const unsigned char *data,
                          size_t size)
{
    uint32_t crc = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned char bytes[8];
        for (unsigned j = 0; j < sizeof bytes; j++)
            bytes[j] = (unsigned char)(fields[i] >> j * 8);
        crc = rtl_crc32c(crc, bytes, sizeof bytes);
    }
    return rtl_crc32c(crc, data, size);
}
