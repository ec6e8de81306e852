#include "intercept/hip/calls.h"

#include "common/stamp.h"
#include "intercept/base/account.h"
#include "intercept/base/account_lanes.h"
#include "intercept/base/config.h"
#include "intercept/base/emit.h"
#include "intercept/callbacks/external.h"
#include "intercept/hip/starts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The arguments of an entry, as rtl_wire_call has them, with a comma in front of each. */
#define TEXT_PLAIN(name, letter) "," #name ":" #letter
#define TEXT_p(type, name)       TEXT_PLAIN(name, p)
#define TEXT_P(type, name)       TEXT_PLAIN(name, P)
#define TEXT_s(type, name)       TEXT_PLAIN(name, s)
#define TEXT_e(type, name)       TEXT_PLAIN(name, e)
#define TEXT_g(type, name)       TEXT_PLAIN(name, g)
#define TEXT_x(type, name)       TEXT_PLAIN(name, x)
#define TEXT_n(type, name)       TEXT_PLAIN(name, n)
#define TEXT_f(type, name)       TEXT_PLAIN(name, f)
#define TEXT_u(type, name)       TEXT_PLAIN(name, u)
#define TEXT_i(type, name)       TEXT_PLAIN(name, i)
#define TEXT_z(type, name)       TEXT_PLAIN(name, z)
#define TEXT_b(type, name)       "," #name ":b[" #type "]"
#define TEXT_3(type, name)       TEXT_PLAIN(name, 3)
#define TEXT_D(type, name)       TEXT_PLAIN(name, 3)
#define TEXT_E(type, name)       "," #name ".width:z," #name ".height:u," #name ".depth:u"
#define TEXT_Q(type, name)       "," #name ".ptr:p," #name ".pitch:z"
#define TEXT_L(type, name)       ",gridDim:3,blockDim:3,dynamicSmemBytes:z,stream:s"
#define TEXT_K(type, name)       TEXT_L(type, name)
#define TEXT_M(type, name)       TEXT_PLAIN(name, p) ",kind:b[hipMemcpyKind],width:z,height:u,depth:u"
#define TEXT_W(type, name)       TEXT_PLAIN(name, p) ",width:z,height:u"
#define TEXT_V(type, name)       TEXT_PLAIN(name, p) ",width:z,height:u,depth:u"
#define TEXT__(type, name)       ""
#define TEXT(type, name, field)  TEXT_##field(type, name)

struct text {
    const char *name, *arguments;
};

static const struct text texts[] = {
#define CALL(name, hook, about, node, ...)      {#name, "" RTL_EACH(TEXT, __VA_ARGS__)},
#define CALL_0(name)                            {#name, ""},
#define CALL_VOID(name, hook, about, node, ...) {#name, "" RTL_EACH(TEXT, __VA_ARGS__)},
#include "intercept/hip/entries.def"
#undef CALL
#undef CALL_0
#undef CALL_VOID
};

static _Atomic bool defined[RTL_HIP_ENTRIES];
static _Atomic bool has_lost;

/* The last part of a name that C++ has mangled (_Z24hipExtModuleLaunchKernelP18…,
 * _ZN8hip_impl22hipLaunchKernelGGLImplE…), or a plain name as it is. */
static struct rtl_piece plain_name(const char *name)
{
    struct rtl_piece piece = {name, strlen(name)};
    if (strncmp(name, "_Z", 2) != 0)
        return piece;
    const char *at = name + 2 + (name[2] == 'N');
    bool nested = name[2] == 'N';
    do {
        char *end;
        piece.size = strtoul(at, &end, 10);
        piece.data = end;
        at = end + piece.size;
    } while (nested && *at != 'E');
    return piece;
}

static void define(enum rtl_hip_entry entry)
{
    if (atomic_load_explicit(&defined[entry], memory_order_relaxed) ||
        atomic_exchange_explicit(&defined[entry], true, memory_order_relaxed))
        return;
    const char *arguments = texts[entry].arguments;
    arguments += arguments[0] == ',';
    struct rtl_piece name = plain_name(texts[entry].name);
    struct rtl_wire_call wire = {.call = (uint32_t)entry,
                                 .name_length = (uint16_t)name.size,
                                 .arguments_length = (uint16_t)strlen(arguments)};
    struct rtl_piece pieces[] = {{&wire, sizeof wire}, name, {arguments, wire.arguments_length}};
    rtl_emit_definition(RTL_WIRE_CALL, pieces, 3);
}

/* The first tells when. */
static void lose(void)
{
    rtl_account_lose(RTL_KIND_CALLS, rtl_emit_why(), 1);
    if (!atomic_load_explicit(&has_lost, memory_order_relaxed) &&
        !atomic_exchange_explicit(&has_lost, true, memory_order_relaxed))
        rtl_emit_note(RTL_NONE, "from here on host calls are missing, because the ring was full");
}

static bool is_wanted(void)
{
    return atomic_load_explicit(&rtl_calls_state, memory_order_relaxed) == RTL_CALLS_ON &&
           !rtl_thread_context.paused;
}

bool rtl_hip_enter(struct rtl_hip_call *call)
{
    if (rtl_thread_context.inside != 0)
        return false;
    rtl_thread_context.inside = 1;
    rtl_thread_context.call = rtl_thread_context_new_id();
    if (rtl_thread_context.ext_correlation != 0)
        rtl_external_note(rtl_thread_context.call);
    call->range = rtl_thread_context.range;
    call->flags = 0;
    call->stream = 0;
    call->error = errno;
    call->wanted = is_wanted();
    return true;
}

void rtl_hip_begin(struct rtl_hip_call *call)
{
    errno = call->error;
    call->start = rtl_stamp();
}

void rtl_hip_end(struct rtl_hip_call *call)
{
    call->error = errno;
    call->end = rtl_stamp();
}

/* What is recorded of a call, but for its arguments. */
static inline struct rtl_wire_api wire_of(const struct rtl_hip_call *call, enum rtl_hip_entry entry,
                                          int result, uint64_t correlation, unsigned count)
{
    return (struct rtl_wire_api){
        .start_ns = call->start,
        .end_ns = call->end,
        .correlation = correlation,
        .range = call->range,
        .stream = call->stream,
        .call = (uint32_t)entry,
        .thread = rtl_thread_context_thread(),
        .result = result,
        .words = (uint16_t)count,
        .flags = call->flags,
    };
}

/* Where there is a second ring, or not as much room as before. */
static __attribute__((noinline)) void send_pieces(const struct rtl_hip_call *call,
                                                  enum rtl_hip_entry entry, int result,
                                                  uint64_t correlation, const uint64_t *words,
                                                  unsigned count)
{
    struct rtl_wire_api wire = wire_of(call, entry, result, correlation, count);
    struct rtl_piece pieces[] = {{&wire, sizeof wire}, {words, count * sizeof *words}};
    if (!rtl_emit_try_spare(RTL_WIRE_API, pieces, 2, RTL_SPARE_FEW))
        lose();
}

static inline void send(const struct rtl_hip_call *call, enum rtl_hip_entry entry, int result,
                        uint64_t correlation, const uint64_t *words, unsigned count)
{
    struct rtl_emit_place place;
    size_t size = sizeof(struct rtl_wire_api) + count * sizeof *words;
    struct rtl_wire_api *wire = rtl_emit_begin(size, RTL_SPARE_FEW, &place);
    if (wire == NULL) {
        send_pieces(call, entry, result, correlation, words, count);
        return;
    }
    *wire = wire_of(call, entry, result, correlation, count);
    uint64_t *arguments = (uint64_t *)(void *)(wire + 1);
    for (unsigned i = 0; i < count; i++)
        arguments[i] = words[i];
    rtl_emit_end(RTL_WIRE_API, &place);
}

void rtl_hip_leave(struct rtl_hip_call *call, enum rtl_hip_entry entry, int result,
                   const uint64_t *words, unsigned count)
{
    uint64_t correlation = rtl_thread_context.call;
    rtl_thread_context.call = 0;
    rtl_thread_context.inside = 0;
    if (call->wanted || is_wanted()) {
        define(entry);
        send(call, entry, result, correlation, words, count);
    } else if (rtl_thread_context.paused) {
        rtl_account_leave_out(RTL_KIND_CALLS);
    } else if (atomic_load_explicit(&rtl_calls_state, memory_order_relaxed) ==
               RTL_CALLS_UNDECIDED) {
        rtl_starts_look();
    }
    errno = call->error;
}

/* The mode is known from the start; whether anything is recorded, the HSA runtime has to say. */
__attribute__((constructor)) static void at_load(void)
{
    if (!rtl_hip_possible())
        atomic_store_explicit(&rtl_calls_state, RTL_CALLS_OFF, memory_order_relaxed);
}
