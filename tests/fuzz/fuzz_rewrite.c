/*
 * The packet path under random programs: the input's bytes are the settings and then one operation
 * after the other of the program, the device, the worker and those who help it. model.c checks.
 */
#include "model.h"

#include <stddef.h>

struct input {
    const uint8_t *at, *end;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t take(struct input *input)
{
    return input->at < input->end ? *input->at++ : 0;
}

/* Mostly what programs submit, sometimes anything. */
static void write_packets(struct input *input, unsigned queue, unsigned count, bool alone)
{
    static const uint8_t types[] = {2, 2, 2, 2, 2, 3, 5, 4, 0, 0, 0, 1};
    uint8_t what = take(input);
    uint8_t signal = take(input);
    for (unsigned i = 0; i < count; i++) {
        unsigned pick = (what + i * (what >> 4)) & 15u;
        struct model_packet packet = {.own = -1, .stale = (signal & 15u) == 7, .alone = alone};
        packet.type = pick < sizeof types ? types[pick] : take(input);
        packet.format = pick == 8 ? 3 : pick == 9 ? 2 : take(input);
        packet.noise = (uint64_t)what << 8 | signal | (uint64_t)i << 16;
        if (((signal + i * (signal >> 5)) & 3u) == 0)
            packet.own = take(input) % (int)MODEL_OWNS;
        model_write(queue, &packet);
        if (alone && (signal & 16u) != 0)
            model_submit(queue);
    }
}

static void operate(struct input *input)
{
    uint8_t operation = take(input);
    unsigned queue = operation >> 7;
    uint8_t value = take(input);
    switch ((operation >> 2) & 15u) {
    case 0:
    case 1:
    case 2:
        write_packets(input, queue, 1 + value % 8u, true);
        model_submit(queue);
        break;
    case 3:
        write_packets(input, queue, 1 + value, false);
        model_submit(queue);
        break;
    case 4:
        write_packets(input, queue, 1 + value % 16u, (operation & 1u) != 0);
        break;
    case 5:
        model_submit(queue);
        break;
    case 6:
    case 7:
        model_launch(queue, UINT32_MAX);
        for (unsigned i = 0; i <= value; i++)
            model_complete(queue, 0);
        break;
    case 8:
        model_launch(queue, 1 + value % 16u);
        model_complete(queue, value >> 4);
        break;
    case 9:
        model_harvest(queue, 1 + (value & 15u), 1 + (value >> 4));
        break;
    case 10:
        model_forward(queue);
        break;
    case 11:
        model_arm(value % MODEL_OWNS, (operation & 3u) == 0 ? (int8_t)take(input) : 1,
                  (operation & 3u) == 1);
        break;
    case 12:
        model_destroy(value % MODEL_OWNS);
        break;
    case 13:
        model_round();
        break;
    case 14:
        model_ring(value == 255 ? UINT32_MAX : value, (operation & 1u) == 0);
        break;
    default:
        if ((operation & 3u) == 0)
            model_pause((value & 1u) != 0);
        else if ((operation & 3u) == 1)
            model_mark(value);
        else if ((operation & 3u) == 2)
            model_stall(queue, (value & 1u) != 0);
        else
            model_grow(2u * value);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, data + size};
    uint8_t flags = take(&input);
    struct model_settings settings = {
        .mode = flags & 3u,
        .queue_size = 1u << ((flags >> 2 & 7u) + 1),
        .rude = (flags & 32u) != 0,
        .pool = 2u * take(&input),
        .records = (flags & 64u) != 0 ? 64 : 1024,
        .first = take(&input),
    };
    settings.crowded = !settings.rude && settings.mode == 3 && (settings.first & 1u) != 0;
    model_begin(&settings);
    model_grow(settings.pool / 2);
    while (input.at < input.end)
        operate(&input);
    if ((flags & 128u) != 0)
        model_abort();
    else
        model_end();
    return 0;
}
