/**
 * Inside the truth log: what its writer and its reader must agree on. The byte layout is described
 * at the head of truth_write.c; these are its constants and the two primitive codings.
 */
#ifndef SOFTGPU_TRUTH_FORMAT_H
#define SOFTGPU_TRUTH_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SG_TRUTH_MAGIC   "SGTRUTH"
#define SG_TRUTH_VERSION 4U

/** A log of one image is one of these versions: without counts of performance counters, and with.
 */
#define SG_TRUTH_VERSION_PLAIN  2U
#define SG_TRUTH_VERSION_COUNTS 3U
#define SG_TRUTH_ORDER          0x01020304U

/** Bytes before the first record: one page, so that the header can be mapped alone. */
#define SG_TRUTH_HEADER_SIZE 4096U

/** Record kinds beyond those of softgpu_truth_kind_t. */
#define SG_TRUTH_DEFINE_QUEUE 16U
#define SG_TRUTH_DEFINE_NAME  17U
#define SG_TRUTH_COUNTS       18U
#define SG_TRUTH_IMAGE        19U

/** Most payload bytes of one record; longer kernel names are continued (see truth_write.c). */
#define SG_TRUTH_PAYLOAD_MAX 255U

/** Most counts of one record: three varints each, and how many there are. A kernel may have several
 * such records, and at most SG_TRUTH_COUNTS_MOST counts. */
#define SG_TRUTH_COUNTS_RECORD 12U
#define SG_TRUTH_COUNTS_MOST   64U

/** Bytes of a record before its payload: length, kind, check. */
#define SG_TRUTH_RECORD_HEAD 4U

/** Ticks of the GPU clock in nanoseconds: 100 MHz. */
#define SG_TRUTH_TICK_NS 10U

/** The states of a log, as its header tells them. */
enum sg_truth_state { SG_TRUTH_OPEN = 0, SG_TRUTH_STOPPED = 1 };

/** The header at offset 0. All integers in the byte order of the machine that wrote the log. */
typedef struct sg_truth_header {
    char magic[8];      /**< SG_TRUTH_MAGIC with its zero */
    uint32_t order;     /**< SG_TRUTH_ORDER: a reader of the other byte order refuses */
    uint32_t version;   /**< from SG_TRUTH_VERSION_PLAIN to SG_TRUTH_VERSION */
    uint64_t pid;       /**< process that writes */
    uint64_t committed; /**< file offset behind the last complete record; stored with release */
    uint32_t state;     /**< enum sg_truth_state */
    uint32_t images;    /**< that have continued it after an exec */
    uint64_t start;     /**< start of the process in ticks since boot (/proc/PID/stat, field 22), 0:
                             not known */
} sg_truth_header_t;

/** Which optional fields follow in the payload of an executed packet. */
enum {
    SG_TRUTH_HAS_KERNEL = 1U << 0, /**< name and kernel object */
    SG_TRUTH_HAS_SHAPE = 1U << 1,  /**< grid and block, where they differ from the queue's last */
    SG_TRUTH_HAS_BYTES = 1U << 2,  /**< bytes, source, destination */
    SG_TRUTH_HAS_CLOCK =
        1U << 3 /**< ns are not ticks times SG_TRUTH_TICK_NS plus the last offsets */
};

/** Signed differences are folded so that small ones of either sign are short. */
static inline uint64_t sg_zigzag(uint64_t difference)
{
    return (difference << 1U) ^ (0U - (difference >> 63U));
}

static inline uint64_t sg_unzigzag(uint64_t folded)
{
    return (folded >> 1U) ^ (0U - (folded & 1U));
}

/** Hash of some bytes, eight at a time. It finds damage to a file, not malice. */
static inline uint64_t sg_truth_hash(uint64_t seed, const void *bytes, size_t length)
{
    const uint8_t *next = (const uint8_t *)bytes;
    uint64_t sum = seed + (uint64_t)length * 0x9E3779B97F4A7C15U;
    while (length > 0) {
        uint64_t word = 0;
        size_t take = length < sizeof word ? length : sizeof word;
        memcpy(&word, next, take);
        sum = (sum ^ word) * 0x9FB21C651E98DF25U;
        sum ^= sum >> 35U;
        next += take;
        length -= take;
    }
    return sum;
}

/** The check of a record: sixteen bits over kind and payload. */
static inline uint16_t sg_truth_check(uint8_t kind, const uint8_t *payload, size_t length)
{
    uint64_t sum = sg_truth_hash(kind, payload, length);
    return (uint16_t)((sum >> 48U) ^ sum);
}

#endif
