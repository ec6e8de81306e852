#include "intercept/queue/chunks.h"

#include "common/pages.h"

#define PIECES_BYTES (RTL_CHUNKS_PIECES * sizeof(struct rtl_record_chunk * _Atomic))
#define LINKS_BYTES  ((size_t)RTL_CHUNKS_PIECES * RTL_CHUNKS_PIECE * sizeof(_Atomic uint32_t))

struct rtl_chunks rtl_chunks;

static struct rtl_record_chunk none;

bool rtl_chunks_init(struct rtl_chunks *chunks)
{
    _Atomic uint32_t *links = rtl_pages(LINKS_BYTES);
    *chunks = (struct rtl_chunks){.unused.next = links, .piece_count = 1};
    chunks->pieces = rtl_pages(PIECES_BYTES);
    if (links == NULL || chunks->pieces == NULL) {
        rtl_chunks_end(chunks);
        return false;
    }
    atomic_init(&chunks->pieces[0], &none);
    return true;
}

void rtl_chunks_end(struct rtl_chunks *chunks)
{
    uint32_t pieces = atomic_load_explicit(&chunks->piece_count, memory_order_relaxed);
    for (uint32_t i = 1; chunks->pieces != NULL && i < pieces; i++) {
        struct rtl_record_chunk *piece =
            atomic_load_explicit(&chunks->pieces[i], memory_order_relaxed);
        if (piece != NULL)
            rtl_pages_give(piece, RTL_CHUNKS_PIECE * sizeof *piece);
    }
    if (chunks->pieces != NULL)
        rtl_pages_give((void *)chunks->pieces, PIECES_BYTES);
    if (chunks->unused.next != NULL)
        rtl_pages_give((void *)chunks->unused.next, LINKS_BYTES);
    *chunks = (struct rtl_chunks){0};
}

/* Takes memory for a piece, whose place is the caller's alone. */
static bool make_piece(struct rtl_chunks *chunks, uint32_t place)
{
    struct rtl_record_chunk *piece = rtl_pages(RTL_CHUNKS_PIECE * sizeof *piece);
    if (piece == NULL)
        return false;
    rtl_prefault(piece, piece + RTL_CHUNKS_PIECE);
    atomic_store_explicit(&chunks->pieces[place], piece, memory_order_relaxed);
    return true;
}

/* The next place for a piece; false if there are as many as there may be. */
static bool take_place(struct rtl_chunks *chunks, uint32_t *place)
{
    *place = atomic_load_explicit(&chunks->piece_count, memory_order_relaxed);
    while (*place < RTL_CHUNKS_PIECES)
        if (atomic_compare_exchange_weak_explicit(&chunks->piece_count, place, *place + 1,
                                                  memory_order_relaxed, memory_order_relaxed))
            return true;
    return false;
}

/* Somebody else may have gone on to the next place: then this one stays empty. */
static void leave_place(struct rtl_chunks *chunks, uint32_t place)
{
    uint32_t next = place + 1;
    (void)atomic_compare_exchange_strong_explicit(&chunks->piece_count, &next, place,
                                                  memory_order_relaxed, memory_order_relaxed);
}

static bool grow(struct rtl_chunks *chunks)
{
    uint32_t place;
    uint32_t numbers[RTL_CHUNKS_PIECE];
    if (!take_place(chunks, &place))
        return false;
    if (!make_piece(chunks, place)) {
        leave_place(chunks, place);
        return false;
    }
    for (uint32_t i = 0; i < RTL_CHUNKS_PIECE; i++)
        numbers[i] = place * RTL_CHUNKS_PIECE + i;
    atomic_fetch_add_explicit(&chunks->unused_count, RTL_CHUNKS_PIECE, memory_order_relaxed);
    rtl_stack_push(&chunks->unused, numbers, RTL_CHUNKS_PIECE);
    return true;
}

/* Others may take what one has made. */
static unsigned take_some(struct rtl_chunks *chunks, uint32_t *numbers, unsigned count)
{
    unsigned got;
    while ((got = rtl_stack_pop(&chunks->unused, numbers, count)) == 0)
        if (!grow(chunks))
            return 0;
    atomic_fetch_sub_explicit(&chunks->unused_count, got, memory_order_relaxed);
    return got;
}

unsigned rtl_chunks_take(struct rtl_chunks *chunks, uint32_t *numbers, unsigned count)
{
    unsigned all = 0;
    unsigned got = 1;
    for (; all < count && got > 0; all += got)
        got = take_some(chunks, numbers + all, count - all);
    return all;
}

void rtl_chunks_give(struct rtl_chunks *chunks, uint32_t number)
{
    struct rtl_record_chunk *chunk = rtl_chunks_at(chunks, number);
    for (unsigned i = 0; i < RTL_CHUNK; i++)
        atomic_store_explicit(&chunk->records[i].state, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&chunks->unused_count, 1, memory_order_relaxed);
    rtl_stack_push(&chunks->unused, &number, 1);
}

void rtl_chunks_reserve(struct rtl_chunks *chunks, uint32_t ahead)
{
    while (atomic_load_explicit(&chunks->unused_count, memory_order_relaxed) < ahead)
        if (!grow(chunks))
            return;
}
