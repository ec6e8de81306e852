#include "store/translate.h"

/* Quotients below this are found by a double to within one. */
#define QUOTIENT_MAX (UINT64_C(1) << 50)

void rtl_translator_begin(struct rtl_translator *translator, const struct rtl_agent_clock *clock)
{
    *translator = (struct rtl_translator){.known = clock != NULL, .piece = {.x = 1}};
    if (!clock)
        return;
    /* Copies, because lines remember where they were looked at last. */
    translator->clock = *clock;
    if (!clock->system)
        return;
    translator->system = *clock->system;
    translator->clock.system = &translator->system;
}

/* Finds the piece that all ticks lie on, with products of 63 bits. */
static bool find_piece(struct rtl_translator *translator, uint64_t low, uint64_t high)
{
    struct rtl_stretch *piece = &translator->piece;
    if (low < piece->x || low > piece->last) {
        if (!rtl_line_stretch(&translator->clock.ticks, low, piece)) {
            *piece = (struct rtl_stretch){.x = 1};
            return false;
        }
        translator->inverse = 1 / (double)piece->dx;
    }
    return high <= piece->last && (high - piece->x) <= INT64_MAX / (piece->dy ? piece->dy : 1) &&
           (high - piece->x) * piece->dy / piece->dx < QUOTIENT_MAX;
}

/* Rounded down, without a division: the estimate is at most one off. */
static void scale(const struct rtl_stretch *piece, double inverse, uint64_t base, uint64_t *ticks,
                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t product = (ticks[i] - piece->x) * piece->dy;
        uint64_t quotient = (uint64_t)(int64_t)((double)(int64_t)product * inverse);
        int64_t rest = (int64_t)(product - quotient * piece->dx);
        quotient += (uint64_t)(rest >= (int64_t)piece->dx) - (uint64_t)(rest < 0);
        ticks[i] = base + quotient;
    }
}

static void scale_whole(const struct rtl_stretch *piece, uint64_t base, uint64_t *ticks,
                        size_t count)
{
    for (size_t i = 0; i < count; i++)
        ticks[i] = base + (ticks[i] - piece->x) * piece->dy;
}

/* By what the second line moves all of [low, high], if it only moves them. */
static bool find_offset(struct rtl_translator *translator, uint64_t low, uint64_t high,
                        uint64_t *offset)
{
    const struct rtl_line *line = &translator->system;
    *offset = 0;
    if (!translator->clock.system)
        return true;
    if (line->points > 1 || line->dx != line->dy)
        return false;
    *offset = rtl_line_at(&translator->system, low) - low;
    return rtl_line_at(&translator->system, high) - high == *offset;
}

/* Only where all is straight; false: nothing was done. */
static bool translate_straight(struct rtl_translator *translator, uint64_t *ticks, size_t count,
                               uint64_t low, uint64_t high)
{
    const struct rtl_stretch *piece = &translator->piece;
    uint64_t offset = 0;
    if (!find_piece(translator, low, high))
        return false;
    uint64_t from = piece->y + (low - piece->x) * piece->dy / piece->dx;
    uint64_t to = piece->y + (high - piece->x) * piece->dy / piece->dx;
    if (from < piece->y || to < from || !find_offset(translator, from, to, &offset))
        return false;
    if (piece->dx == 1)
        scale_whole(piece, piece->y + offset, ticks, count);
    else
        scale(piece, translator->inverse, piece->y + offset, ticks, count);
    return true;
}

void rtl_translate(struct rtl_translator *translator, uint64_t *ticks, size_t count, uint64_t low,
                   uint64_t high)
{
    if (!translator->known || translate_straight(translator, ticks, count, low, high))
        return;
    for (size_t i = 0; i < count; i++)
        ticks[i] = rtl_trace_ns(&translator->clock, ticks[i]);
}

void rtl_translate_block(struct rtl_translator *translator, struct rtl_codec_block *block)
{
    uint64_t low = UINT64_MAX;
    uint64_t high = 0;
    for (uint32_t i = 0; i < block->count; i++) {
        uint64_t start = block->start[i];
        uint64_t end = block->end[i] > start ? block->end[i] : start;
        block->end[i] = end;
        low = start < low ? start : low;
        high = end > high ? end : high;
    }
    rtl_translate(translator, block->start, block->count, low, high);
    rtl_translate(translator, block->end, block->count, low, high);
}
