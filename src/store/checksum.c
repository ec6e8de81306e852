#include "store/checksum.h"

#include <pthread.h>

/* The polynomial 0x1EDC6F41, bits reversed. */
#define POLYNOMIAL 0x82F63B78u

static uint32_t table[4][256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void make_table(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
        table[0][byte] = crc;
    }
    for (int step = 1; step < 4; step++)
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t before = table[step - 1][byte];
            table[step][byte] = before >> 8 ^ table[0][before & 0xff];
        }
}

/* Four bytes a step, so that the check costs little beside zstd. */
uint32_t rtl_crc32c(uint32_t crc, const void *data, size_t size)
{
    (void)pthread_once(&table_once, make_table);
    const unsigned char *byte = data;
    crc = ~crc;
    for (; size >= 4; size -= 4, byte += 4) {
        crc ^= (uint32_t)byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 |
               (uint32_t)byte[3] << 24;
        crc = table[3][crc & 0xff] ^ table[2][crc >> 8 & 0xff] ^ table[1][crc >> 16 & 0xff] ^
              table[0][crc >> 24];
    }
    for (; size; size--)
        crc = crc >> 8 ^ table[0][(crc ^ *byte++) & 0xff];
    return ~crc;
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
