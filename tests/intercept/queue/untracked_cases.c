/* Queues that are not followed: the runtime, and the rest of librtl, are made up. */
#include "../../common/check.h"
#include "intercept/base/api.h"
#include "intercept/base/emit.h"
#include "intercept/queue/ids.h"
#include "intercept/queue/untracked.h"

#include <string.h>

enum { SIZE = 64, PACKET = 64, FORMAT_BARRIER_VALUE = 2, FORMAT_EXTENDED = 3 };

struct rtl_api rtl_api;
static struct rtl_wire_ledger ledger;
static uint64_t written;
static unsigned char packets[SIZE][PACKET] __attribute__((aligned(PACKET)));

uint32_t rtl_queues_new_id(void)
{
    return 1;
}

struct rtl_wire_ledger *rtl_queues_ledger(uint32_t id)
{
    (void)id;
    return &ledger;
}

void rtl_queues_describe(const hsa_queue_t *queue, uint32_t id, uint32_t agent,
                         enum rtl_interception interception)
{
    (void)queue;
    (void)id;
    (void)agent;
    (void)interception;
}

void rtl_queues_note_doorbell_kind(uint64_t handle)
{
    (void)handle;
}

void rtl_emit_note(uint32_t queue, const char *format, ...)
{
    (void)queue;
    (void)format;
}

static uint64_t write_index(const hsa_queue_t *queue)
{
    (void)queue;
    return written;
}

/* The device has taken nothing yet. */
static uint64_t read_index(const hsa_queue_t *queue)
{
    (void)queue;
    return 0;
}

/* A packet as hsa_ext_amd.h has it: its type in the first byte, AMD's format of it in the third. */
static void write_packet(unsigned type, unsigned format)
{
    unsigned char *packet = packets[written++];
    memset(packet, 0, PACKET);
    packet[0] = (unsigned char)type;
    packet[2] = (unsigned char)format;
}

const char *Untracked_KernelsOfBothPacketFormatsAreCounted(void)
{
    hsa_queue_t queue = {.features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH,
                         .base_address = packets,
                         .doorbell_signal = {4096},
                         .size = SIZE};
    rtl_api.hsa_queue_load_write_index_relaxed = write_index;
    rtl_api.hsa_queue_load_read_index_scacquire = read_index;
    CHECK(rtl_untracked_begin());
    const struct rtl_untracked_queue facts = {.id = 1, .agent = 3, .why = "of a test"};
    struct rtl_untracked_queue found;
    CHECK(!rtl_untracked_find(&queue, &found));
    rtl_untracked_add(&queue, &facts);
    CHECK(rtl_untracked_find(&queue, &found) && found.agent == 3 && found.why && !found.blind);
    write_packet(HSA_PACKET_TYPE_KERNEL_DISPATCH, 0);
    write_packet(HSA_PACKET_TYPE_BARRIER_AND, 0);
    write_packet(HSA_PACKET_TYPE_VENDOR_SPECIFIC, FORMAT_EXTENDED);
    write_packet(HSA_PACKET_TYPE_VENDOR_SPECIFIC, FORMAT_BARRIER_VALUE);
    write_packet(HSA_PACKET_TYPE_VENDOR_SPECIFIC, FORMAT_EXTENDED);
    rtl_untracked_count(queue.doorbell_signal.handle);
    CHECK(atomic_load(&ledger.packets) == 5);
    CHECK(atomic_load(&ledger.seen) == 3);
    CHECK(atomic_load(&ledger.lost[RTL_LOST_NOT_FOLLOWED]) == 3);
    rtl_untracked_remove(&queue);
    CHECK(!rtl_untracked_find(&queue, &found));
    return NULL;
}

/* A ring that is not to be read is not: its memory is not there. Each packet may be a kernel. */
const char *Untracked_ABlindQueueIsNotRead(void)
{
    hsa_queue_t queue = {.features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH,
                         .base_address = (void *)(uintptr_t)PACKET,
                         .doorbell_signal = {8192},
                         .size = SIZE};
    const struct rtl_untracked_queue facts = {.id = 2, .blind = true};
    struct rtl_untracked_queue found;
    ledger = (struct rtl_wire_ledger){.packets = 0};
    rtl_api.hsa_queue_load_write_index_relaxed = write_index;
    rtl_api.hsa_queue_load_read_index_scacquire = read_index;
    CHECK(rtl_untracked_begin());
    rtl_untracked_add(&queue, &facts);
    CHECK(rtl_untracked_find(&queue, &found) && found.blind && !found.why);
    written += 3;
    rtl_untracked_count(queue.doorbell_signal.handle);
    CHECK(atomic_load(&ledger.packets) == 3);
    CHECK(atomic_load(&ledger.lost[RTL_LOST_NOT_FOLLOWED]) == 3);
    rtl_untracked_remove(&queue);
    return NULL;
}
