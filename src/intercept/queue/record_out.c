#include "intercept/queue/record_out.h"

static struct rtl_piece piece_of(const struct rtl_copy_draft *copy)
{
    return (struct rtl_piece){&copy->wire, sizeof copy->wire};
}

enum rtl_copy_sent rtl_out_draft_copy(uint32_t queue, const struct rtl_kernel_facts *facts,
                                      struct rtl_copy_draft *copy)
{
    bool timed = (facts->flags & RTL_RECORD_UNTIMED) == 0;
    if (timed && (facts->start == 0 || facts->end < facts->start))
        return RTL_COPY_NO_TIME;
    copy->wire = (struct rtl_wire_copy){
        .ordinal = facts->packet,
        .start = timed ? facts->start : 0,
        .end = timed ? facts->end : 0,
        .bytes = facts->kernel_object,
        .correlation = facts->correlation,
        .queue = queue,
        .src = facts->grid[0],
        .dst = facts->grid[1],
        .kind = facts->block[0],
        .engine = !timed ? (facts->block[0] == RTL_COPY_HOST_TO_HOST ? RTL_ENGINE_HOST
                                                                     : RTL_ENGINE_UNKNOWN)
                  : (facts->flags & RTL_RECORD_SDMA) != 0 ? RTL_ENGINE_SDMA
                                                          : RTL_ENGINE_KERNEL,
    };
    struct rtl_piece piece = piece_of(copy);
    return rtl_emit_draft(RTL_WIRE_COPY, &piece, 1, 0, &copy->draft) ? RTL_COPY_SENT
                                                                     : RTL_COPY_NO_ROOM;
}

void rtl_out_commit_copy(const struct rtl_copy_draft *copy)
{
    struct rtl_piece piece = piece_of(copy);
    rtl_emit_commit(&copy->draft, RTL_WIRE_COPY, &piece, 1);
}
