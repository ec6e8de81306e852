/** CRC-32C (Castagnoli, RFC 3720 appendix B.4), to notice damaged bytes. */
#ifndef RTL_STORE_CHECKSUM_H
#define RTL_STORE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/** Continues `crc` (0 to begin) over `size` bytes. Any thread. */
uint32_t rtl_crc32c(uint32_t crc, const void *data, size_t size);

/** The same on processors that have no instruction for it. */
uint32_t rtl_crc32c_by_tables(uint32_t crc, const void *data, size_t size);

/** The checksum of a chunk: over the fields of its row, eight little-endian bytes each, and then
 * its data. */
uint32_t rtl_checksum_row(const uint64_t *fields, size_t count, const unsigned char *data,
                          size_t size);

#endif
