#include "softgpu/pm4.h"

#include "softgpu/exec.h"
#include "softgpu/pm4_packets.h"
#include "softgpu/pmc.h"

#include <stdatomic.h>

enum { DWORD = 4, JUMP_WORDS = 4, COPY_WORDS = 5 };

/* A packet inside the buffer. */
typedef struct command {
    uint32_t operation;
    uint32_t words; /* of the body */
    const uint32_t *body;
} command_t;

typedef struct reader {
    sg_pm4_t *pm4;
    uint32_t gpu;
    bool idle;
    const char *why;
} reader_t;

static sg_pm4_outcome_t refuse(reader_t *reader, const char *why)
{
    reader->why = why;
    return SG_PM4_REFUSED;
}

/* The host's pointer to memory of the device; NULL where not all of it is mapped. The low two bits
 * of an address mean something else. */
static void *pointer(uint32_t low, uint32_t high, uint64_t bytes)
{
    uint64_t mapped = 0;
    void *host = sg_memory_host((uint64_t)high << 32 | (low & ~(uint32_t)3), &mapped);
    return host && bytes <= mapped ? host : NULL;
}

static sg_pm4_outcome_t set_registers(reader_t *reader, const command_t *command, uint32_t base)
{
    for (uint32_t i = 1; i < command->words; i++) {
        uint32_t address = base + command->body[0] + i - 1;
        uint32_t value = command->body[i];
        if (address == SG_REG_COMPUTE_PERFCOUNT_ENABLE && base == SG_PM4_SH_BASE)
            reader->pm4->counting = (value & 1U) != 0;
        else if (base == SG_PM4_SH_BASE || !sg_pmc_write(reader->gpu, address, value))
            return refuse(reader, "a register that there is not, or that does not take the value");
    }
    return SG_PM4_DONE;
}

static sg_pm4_outcome_t copy_data(reader_t *reader, const command_t *command)
{
    if (command->words != COPY_WORDS ||
        (command->body[0] & (SG_PM4_COPY_SELECTORS | SG_PM4_COPY_64_BITS)) !=
            (SG_PM4_COPY_FROM_REGISTER | SG_PM4_COPY_TO_MEMORY))
        return refuse(reader, "COPY_DATA of another kind than 32 bits from a register to memory");
    uint32_t address = command->body[1];
    uint32_t value = 0;
    /* Which instances are selected does not matter then: another queue may select others while this
     * one stands still. */
    if (sg_pmc_hangs(address))
        return SG_PM4_WAITS;
    if (!sg_pmc_read(reader->gpu, address, &value) || command->body[2] != 0)
        return refuse(reader, "COPY_DATA from no register of a counter, or of several instances");
    void *target = pointer(command->body[3], command->body[4], sizeof value);
    if (!target)
        return refuse(reader, "COPY_DATA to memory that the device does not have");
    atomic_store_explicit((_Atomic uint32_t *)target, value, memory_order_release);
    return SG_PM4_DONE;
}

static sg_pm4_outcome_t obey(reader_t *reader, const command_t *command)
{
    switch (command->operation) {
    case SG_PM4_NOP:
    case SG_PM4_ACQUIRE_MEM:
        return SG_PM4_DONE;
    case SG_PM4_EVENT_WRITE:
        if (command->words != 1 || command->body[0] != SG_PM4_FLUSH)
            return refuse(reader, "EVENT_WRITE of another event than CS_PARTIAL_FLUSH");
        return reader->idle ? SG_PM4_DONE : SG_PM4_WAITS;
    case SG_PM4_SET_UCONFIG_REG:
        return set_registers(reader, command, SG_PM4_UCONFIG_BASE);
    case SG_PM4_SET_SH_REG:
        return set_registers(reader, command, SG_PM4_SH_BASE);
    case SG_PM4_COPY_DATA:
        return copy_data(reader, command);
    default:
        return refuse(reader, "a PM4 packet that is not known");
    }
}

/* The packet at the front of `size` dwords; false if it is not whole or of another type than 3. */
static bool take(const uint32_t *dwords, uint32_t size, command_t *command)
{
    *command = (command_t){.operation = dwords[0] >> 8 & 0xffU,
                           .words = (dwords[0] >> 16 & 0x3fffU) + 1,
                           .body = dwords + 1};
    return dwords[0] >> 30 == SG_PM4_TYPE_3 && command->words < size;
}

/* The vendor packet is a jump into a buffer and nothing else. */
static const uint32_t *follow(const uint32_t *words, uint32_t *size)
{
    *size = words[3] & SG_PM4_JUMP_SIZE;
    bool good = words[0] == sg_pm4_header(SG_PM4_INDIRECT_BUFFER, JUMP_WORDS - 1) &&
                (words[3] & SG_PM4_JUMP_VALID) != 0 && words[4] == SG_PM4_AQL_REMAINING &&
                *size > 0;
    return good ? pointer(words[1], words[2], (uint64_t)*size * DWORD) : NULL;
}

sg_pm4_outcome_t sg_pm4_run(sg_pm4_t *pm4, const uint32_t *words, uint32_t gpu, bool idle,
                            const char **why)
{
    reader_t reader = {.pm4 = pm4, .gpu = gpu, .idle = idle, .why = ""};
    uint32_t size = 0;
    const uint32_t *buffer = follow(words, &size);
    sg_pm4_outcome_t outcome =
        buffer ? SG_PM4_DONE : refuse(&reader, "no valid jump to a buffer of the device");
    while (outcome == SG_PM4_DONE && pm4->at < size) {
        command_t command;
        if (!take(buffer + pm4->at, size - pm4->at, &command))
            outcome = refuse(&reader, "a PM4 packet that is cut off, or not of type 3");
        else
            outcome = obey(&reader, &command);
        if (outcome == SG_PM4_DONE)
            pm4->at += command.words + 1;
    }
    *why = reader.why;
    return outcome;
}
