#include "intercept/queue/handlers.h"

#include "common/pages.h"
#include "intercept/base/api.h"
#include "intercept/queue/waits.h"
#include "pool/stack.h"

#define PLACES 4096u /* of handlers that are registered at a time */

struct place {
    hsa_amd_signal_handler handler;
    void *argument;
};

struct table {
    struct place places[PLACES];
    _Atomic uint32_t links[PLACES];
};

static struct place *places; /* NULL before rtl_handlers_begin */
static struct rtl_stack given_back;
static _Atomic uint32_t used; /* places that somebody had once */

bool rtl_handlers_begin(void)
{
    struct table *table = places == NULL ? rtl_pages(sizeof *table) : NULL;
    if (table != NULL) {
        given_back.next = table->links;
        places = table->places;
    }
    return places != NULL;
}

static struct place *take_place(void)
{
    uint32_t number;
    if (rtl_stack_pop(&given_back, &number, 1) == 1)
        return &places[number];
    if (atomic_load_explicit(&used, memory_order_relaxed) >= PLACES)
        return NULL;
    number = atomic_fetch_add_explicit(&used, 1, memory_order_relaxed);
    return number < PLACES ? &places[number] : NULL;
}

static void give_place(struct place *place)
{
    uint32_t number = (uint32_t)(place - places);
    rtl_stack_push(&given_back, &number, 1);
}

static bool call(hsa_signal_value_t value, void *argument)
{
    struct place *place = argument;
    rtl_waits_ended();
    bool again = place->handler(value, place->argument);
    if (!again)
        give_place(place);
    return again;
}

static hsa_status_t register_handler(hsa_signal_t signal, hsa_signal_condition_t condition,
                                     hsa_signal_value_t compare, hsa_amd_signal_handler handler,
                                     void *argument)
{
    struct place *place = handler != NULL ? take_place() : NULL;
    if (place == NULL)
        return rtl_api.hsa_amd_signal_async_handler(signal, condition, compare, handler, argument);
    *place = (struct place){handler, argument};
    hsa_status_t status =
        rtl_api.hsa_amd_signal_async_handler(signal, condition, compare, call, place);
    if (status != HSA_STATUS_SUCCESS)
        give_place(place);
    return status;
}

void rtl_handlers_hook(void)
{
    RTL_HOOK(hsa_amd_signal_async_handler, register_handler);
}
