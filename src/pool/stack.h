/**
 * A stack of numbers without locks, for who has something by number: signals, blocks of them,
 * slabs of records. The links lie side by side in an array of the owner's, apart from what is
 * numbered, so that to take and to give touches few cache lines, and none of what may have gone to
 * others. Stacks may share an array: a number is in one of them at a time. The head carries a tag
 * against re-use.
 */
#ifndef RTL_POOL_STACK_H
#define RTL_POOL_STACK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct rtl_stack {
    _Alignas(64) _Atomic uint64_t head; /**< tag << 32 | number + 1, 0 if it is empty */
    _Atomic uint32_t *next;             /**< number + 1 of the next one; 0 ends the list */
};

/** Takes up to `count` numbers that were pushed last; returns how many. Any thread, lock-free. Who
 * takes a number comes after who pushed it. */
static inline unsigned rtl_stack_pop(struct rtl_stack *stack, uint32_t *numbers, unsigned count)
{
    uint64_t head = atomic_load_explicit(&stack->head, memory_order_acquire);
    uint64_t after;
    unsigned got;
    do {
        /* Another thread may change the links while they are walked; then the head's tag has
         * changed as well and the exchange fails. A link read in vain is still a valid number or 0.
         */
        uint32_t link = (uint32_t)head;
        for (got = 0; got < count && link != 0; got++) {
            numbers[got] = link - 1;
            link = atomic_load_explicit(&stack->next[link - 1], memory_order_relaxed);
        }
        if (got == 0)
            return 0;
        after = (((head >> 32) + 1) << 32) | link;
    } while (!atomic_compare_exchange_weak_explicit(&stack->head, &head, after,
                                                    memory_order_acq_rel, memory_order_acquire));
    return got;
}

/** Pushes numbers that are in no stack, at least one; the first of them will be on top. Any thread,
 * lock-free. */
static inline void rtl_stack_push(struct rtl_stack *stack, const uint32_t *numbers, unsigned count)
{
    for (unsigned i = 0; i + 1 < count; i++)
        atomic_store_explicit(&stack->next[numbers[i]], numbers[i + 1] + 1, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&stack->head, memory_order_relaxed);
    uint64_t after;
    do {
        atomic_store_explicit(&stack->next[numbers[count - 1]], (uint32_t)head,
                              memory_order_relaxed);
        after = (((head >> 32) + 1) << 32) | (numbers[0] + 1);
    } while (!atomic_compare_exchange_weak_explicit(&stack->head, &head, after,
                                                    memory_order_acq_rel, memory_order_relaxed));
}

/** True if there was nothing in it a moment ago. Any thread. */
static inline bool rtl_stack_is_empty(const struct rtl_stack *stack)
{
    return (uint32_t)atomic_load_explicit(&stack->head, memory_order_relaxed) == 0;
}

#endif
