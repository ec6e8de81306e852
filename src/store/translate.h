/**
 * Turning many ticks of an agent into the trace's clock at once: what rtl_trace_ns gives, several
 * times as fast where they lie on a straight piece of the clock's line. Unlike that it may be used
 * in several threads, each with a translator of its own.
 */
#ifndef RTL_STORE_TRANSLATE_H
#define RTL_STORE_TRANSLATE_H

#include "store/reader.h"

/** Belongs to one thread; it refers to the clock's points, which must stay. */
struct rtl_translator {
    bool known; /**< false: ticks are taken as ns */
    struct rtl_agent_clock clock;
    struct rtl_line system;
    struct rtl_stretch piece; /**< of the ticks, as last used; last < x: none */
    double inverse;           /**< 1 / piece.dx */
};

/** For the clock of an agent, NULL if it is not known. */
void rtl_translator_begin(struct rtl_translator *translator, const struct rtl_agent_clock *clock);

/** Replaces `count` tick counts, none of which is below `low` or above `high`, by ns. */
void rtl_translate(struct rtl_translator *translator, uint64_t *ticks, size_t count, uint64_t low,
                   uint64_t high);

/** The same of the starts and ends of a block of kernels; no kernel ends before it starts. */
void rtl_translate_block(struct rtl_translator *translator, struct rtl_codec_block *block);

#endif
