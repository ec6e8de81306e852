/*
 * A thread's stack is its own, under a lock that is only ever contended by whoever begins or
 * resumes recording: that thread walks all stacks and sends what is open. `lock` guards the list of
 * stacks, the started ranges and the names; it is taken before a stack's.
 */
#include "intercept/ranges/ranges.h"

#include "common/stamp.h"
#include "intercept/base/account.h"
#include "intercept/base/account_lanes.h"
#include "intercept/base/emit.h"
#include "intercept/base/thread_context.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_RANGES 16u
#define BUCKETS      256u
#define MOST_NAMES   1024u

enum progress {
    HELD, /* not sent yet; the text is kept */
    SENT, /* its begin is in the ring */
    GONE  /* there was no memory for it */
};

struct range {
    uint64_t id;
    uint64_t start_ns;
    uint64_t parent;
    char *text; /* while HELD, of `length` bytes; not terminated */
    uint32_t thread;
    uint16_t kind;
    uint16_t length;
    enum progress progress;
    bool wanted; /* recording was on at some moment of it */
    bool aside;  /* RTL_RANGES leaves it out */
    bool joined; /* on a stack: a started range that the thread is in; others send and end it */
};

struct stack {
    struct stack *next, **link; /* in the list of all */
    pthread_mutex_t lock;
    struct range *ranges;
    uint32_t depth, capacity;
    bool paused; /* as rtl_thread_context.paused of its thread */
};

struct started {
    struct started *next;
    uint64_t number; /* or id */
    bool by_id;      /* of rtl_range_open */
    struct range range;
};

struct name {
    struct name *next;
    struct rtl_wire_name wire;
    char *text;
};

/* Of a thread. Initial-exec, and therefore small: see rtl_thread_context. */
static _Thread_local struct {
    struct stack *stack;
    uint32_t beyond; /* ranges on top of the stack that found no memory */
} own __attribute__((tls_model("initial-exec")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stack *stacks;
static struct started *starts[BUCKETS];
static struct name *names;
static uint32_t name_count;
static uint64_t names_lost; /* before recording began */

void (*_Atomic rtl_range_ended)(uint64_t id);

static _Atomic uint32_t state = RTL_RANGES_BEFORE;
static _Atomic uint64_t next_number = 1;

static unsigned measured = RTL_RANGE_BY_ALL; /* set up once */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key;

static bool is(enum rtl_ranges_state wanted)
{
    return atomic_load_explicit(&state, memory_order_acquire) == (uint32_t)wanted;
}

/* Whether what the calling thread does is recorded. */
static bool is_on(void)
{
    return is(RTL_RANGES_ON) && !rtl_thread_context.paused;
}

static uint16_t length_of(const char *text)
{
    return text != NULL ? (uint16_t)strnlen(text, UINT16_MAX) : 0;
}

/* ---- one range ---- */

static bool send_begin(const struct range *range, const char *text)
{
    struct rtl_wire_range wire = {
        .id = range->id,
        .start_ns = range->start_ns,
        .parent = range->parent,
        .thread = range->thread,
        .kind = (uint8_t)range->kind,
        .flags = range->aside ? RTL_RANGE_ASIDE : 0,
        .text_length = range->length,
    };
    struct rtl_piece pieces[] = {{&wire, sizeof wire}, {text, range->length}};
    return rtl_emit_or_keep(RTL_WIRE_RANGE, pieces, 2);
}

static bool send_end(uint64_t id, uint64_t now)
{
    struct rtl_wire_range_end wire = {.id = id, .end_ns = now};
    struct rtl_piece piece = {&wire, sizeof wire};
    return rtl_emit_or_keep(RTL_WIRE_RANGE_END, &piece, 1) ||
           rtl_emit_try(RTL_WIRE_RANGE_END, &piece, 1);
}

static void hold(struct range *range, const char *text)
{
    range->text = malloc(range->length > 0 ? range->length : 1);
    range->progress = range->text != NULL ? HELD : GONE;
    if (range->text != NULL && range->length > 0)
        memcpy(range->text, text, range->length);
}

static struct range make(enum rtl_range_kind kind, enum rtl_range_by by, const char *text)
{
    return (struct range){
        .id = rtl_thread_context_new_id(),
        .start_ns = rtl_stamp(),
        .parent = rtl_thread_context.range,
        .thread = rtl_thread_context_thread(),
        .kind = (uint16_t)kind,
        .length = length_of(text),
        .aside = (measured & by) == 0,
    };
}

/* One that is wanted from now on, and has not been sent. */
static void count_unsent(const struct range *range)
{
    if (range->progress == HELD)
        rtl_account_wait(RTL_KIND_RANGES, 1);
    else if (!range->joined)
        rtl_account_lose(RTL_KIND_RANGES, RTL_LOST_MEMORY, 1);
}

static void begin(struct range *range, const char *text)
{
    range->wanted = is_on();
    if (range->wanted && send_begin(range, text)) {
        range->progress = SENT;
        return;
    }
    range->progress = GONE;
    if (!is(RTL_RANGES_NEVER))
        hold(range, text);
    if (range->wanted)
        count_unsent(range);
}

/* Sends a range that was held, if there is room for it now. */
static void send_held(struct range *range)
{
    bool counted = range->wanted;
    range->wanted = true;
    if (range->progress == HELD && send_begin(range, range->text)) {
        free(range->text);
        range->text = NULL;
        range->progress = SENT;
        if (counted)
            rtl_account_waited(RTL_KIND_RANGES, 1);
    } else if (range->progress != SENT && !counted) {
        count_unsent(range);
    }
}

/* It had found no room, and will not be tried again. */
static void give_up(struct range *range)
{
    rtl_account_lose(RTL_KIND_RANGES, rtl_emit_why(), 1);
    rtl_account_waited(RTL_KIND_RANGES, 1);
    range->progress = GONE;
}

static void end(struct range *range, uint64_t now)
{
    void (*tell)(uint64_t) = atomic_load_explicit(&rtl_range_ended, memory_order_relaxed);
    if (tell != NULL)
        tell(range->id);
    if (range->wanted || is_on()) {
        send_held(range);
        if (range->progress == HELD)
            give_up(range);
        else if (range->progress == SENT && !send_end(range->id, now))
            rtl_account_lose(RTL_KIND_RANGE_ENDS, rtl_emit_why(), 1);
    } else {
        rtl_account_leave_out(RTL_KIND_RANGES);
    }
    free(range->text);
    range->text = NULL;
}

/* ---- the ranges of a thread ---- */

/* At the end of its thread: it has no end. */
static void forget_range(struct range *range)
{
    if (range->wanted && range->progress == HELD)
        send_held(range);
    if (range->wanted && range->progress == HELD)
        give_up(range);
    free(range->text);
}

/* At the end of a thread. */
static void forget(void *memory)
{
    struct stack *stack = memory;
    pthread_mutex_lock(&lock);
    *stack->link = stack->next;
    if (stack->next != NULL)
        stack->next->link = stack->link;
    pthread_mutex_unlock(&lock);
    for (uint32_t i = 0; i < stack->depth; i++)
        forget_range(&stack->ranges[i]);
    free(stack->ranges);
    pthread_mutex_destroy(&stack->lock);
    free(stack);
    own.stack = NULL;
    own.beyond = 0;
    rtl_thread_context_set_range(0);
}

/* In a forked child there is one thread, and what others had in hand is in no known state. If
 * recording has not begun yet, it may in the child as well: the thread's ranges are its own, too.
 */
static void in_child(void)
{
    struct stack *stack = own.stack;
    pthread_mutex_init(&lock, NULL);
    memset(starts, 0, sizeof starts);
    names = NULL;
    name_count = 0;
    stacks = stack;
    rtl_thread_context.thread = 0;
    if (stack == NULL)
        return;
    pthread_mutex_init(&stack->lock, NULL);
    stack->next = NULL;
    stack->link = &stacks;
    for (uint32_t i = 0; i < stack->depth; i++)
        stack->ranges[i].thread = rtl_thread_context_thread();
}

static void set_up(void)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): read once
    (void)rtl_config_ranges(secure_getenv("RTL_RANGES"), &measured);
    has_key = pthread_key_create(&key, forget) == 0;
    (void)pthread_atfork(NULL, NULL, in_child);
}

static void enlist(struct stack *stack)
{
    pthread_mutex_lock(&lock);
    stack->next = stacks;
    stack->link = &stacks;
    if (stacks != NULL)
        stacks->link = &stack->next;
    stacks = stack;
    pthread_mutex_unlock(&lock);
}

static struct stack *own_stack(void)
{
    if (own.stack != NULL)
        return own.stack;
    pthread_once(&once, set_up);
    struct stack *stack = calloc(1, sizeof *stack);
    if (stack == NULL)
        return NULL;
    pthread_mutex_init(&stack->lock, NULL);
    enlist(stack);
    if (has_key)
        (void)pthread_setspecific(key, stack);
    own.stack = stack;
    return stack;
}

/* Under the stack's lock. */
static bool has_room(struct stack *stack)
{
    if (stack->depth < stack->capacity)
        return true;
    uint32_t capacity = stack->capacity > 0 ? 2 * stack->capacity : FIRST_RANGES;
    struct range *ranges = realloc(stack->ranges, capacity * sizeof *ranges);
    if (ranges == NULL)
        return false;
    stack->ranges = ranges;
    stack->capacity = capacity;
    return true;
}

/* A new range, or (`joined` is not 0) one that was started. False if memory was short. */
static bool enter(struct stack *stack, const char *text, enum rtl_range_by by, uint64_t joined)
{
    pthread_mutex_lock(&stack->lock);
    bool room = has_room(stack);
    if (room) {
        struct range *range = &stack->ranges[stack->depth++];
        if (joined != 0) {
            *range = (struct range){.id = joined,
                                    .parent = rtl_thread_context.range,
                                    .progress = GONE,
                                    .joined = true,
                                    .aside = (measured & by) == 0};
            rtl_thread_context_ids_after(joined);
        } else {
            *range = make(RTL_RANGE_PUSH, by, text);
            begin(range, text);
        }
        rtl_thread_context_set_range(range->id);
    }
    pthread_mutex_unlock(&stack->lock);
    return room;
}

static int level(void)
{
    return (int)((own.stack != NULL ? own.stack->depth : 0) + own.beyond);
}

static int put(const char *text, enum rtl_range_by by, uint64_t joined)
{
    int saved = errno;
    int before = level();
    struct stack *stack = own.beyond == 0 ? own_stack() : NULL;
    if (stack == NULL || !enter(stack, text, by, joined)) {
        own.beyond++;
        if (joined == 0 && is_on())
            rtl_account_lose(RTL_KIND_RANGES, RTL_LOST_MEMORY, 1);
    }
    errno = saved;
    return before;
}

int rtl_range_push(const char *text, enum rtl_range_by by)
{
    return put(text, by, 0);
}

static void describe(const struct range *range, uint64_t now, struct rtl_popped *popped)
{
    *popped = (struct rtl_popped){.id = range->id};
    if (range->joined)
        return;
    popped->parent = range->parent;
    popped->start_ns = range->start_ns;
    popped->end_ns = now;
    popped->thread = range->thread;
    popped->ended = true;
}

int rtl_range_pop(struct rtl_popped *popped)
{
    struct stack *stack = own.stack;
    if (own.beyond > 0) {
        own.beyond--;
        if (popped != NULL)
            *popped = (struct rtl_popped){.id = 0};
        return level();
    }
    if (stack == NULL || stack->depth == 0)
        return -1;
    int saved = errno;
    uint64_t now = rtl_stamp();
    pthread_mutex_lock(&stack->lock);
    struct range *range = &stack->ranges[--stack->depth];
    if (popped != NULL)
        describe(range, now, popped);
    if (!range->joined)
        end(range, now);
    rtl_thread_context_set_range(range->parent);
    pthread_mutex_unlock(&stack->lock);
    errno = saved;
    return level();
}

/* The thread's own stack changes by the thread alone. Where all ranges are measured, level and
 * place are one. */
bool rtl_range_at(uint32_t level, uint64_t *id, bool *joined)
{
    const struct stack *stack = own.stack;
    uint32_t first = measured == RTL_RANGE_BY_ALL ? level : 0;
    uint32_t depth = stack != NULL ? stack->depth : 0;
    for (uint32_t at = first, seen = first; at < depth; at++) {
        const struct range *range = &stack->ranges[at];
        if (range->aside || seen++ != level)
            continue;
        *id = range->id;
        *joined = range->joined;
        return true;
    }
    return false;
}

/* Under the stack's lock. */
static void send_stack(struct stack *stack)
{
    for (uint32_t i = 0; i < stack->depth && !stack->paused; i++)
        send_held(&stack->ranges[i]);
}

void rtl_range_pause(bool paused)
{
    int saved = errno;
    struct stack *stack = own_stack();
    rtl_thread_context.paused = paused;
    if (stack != NULL) {
        pthread_mutex_lock(&stack->lock);
        stack->paused = paused;
        if (is_on())
            send_stack(stack);
        pthread_mutex_unlock(&stack->lock);
    }
    errno = saved;
}

/* ---- ranges that any thread ends ---- */

/* A range of that number, or (0) one that goes by its id. Returns its id, 0 if memory was short. */
static uint64_t start(const char *text, uint64_t number)
{
    struct started *started = malloc(sizeof *started);
    if (started == NULL) {
        if (is_on())
            rtl_account_lose(RTL_KIND_RANGES, RTL_LOST_MEMORY, 1);
        return 0;
    }
    pthread_mutex_lock(&lock);
    started->range =
        make(RTL_RANGE_START, number != 0 ? RTL_RANGE_BY_ROCTX : RTL_RANGE_BY_RTL, text);
    uint64_t id = started->range.id;
    started->by_id = number == 0;
    started->number = number != 0 ? number : id;
    begin(&started->range, text);
    started->next = starts[started->number % BUCKETS];
    starts[started->number % BUCKETS] = started;
    pthread_mutex_unlock(&lock);
    return id;
}

/* Under the lock: where it hangs, or the end of its list. */
static struct started **find_started(uint64_t number, bool by_id)
{
    struct started **at = &starts[number % BUCKETS];
    while (*at != NULL && ((*at)->number != number || (*at)->by_id != by_id))
        at = &(*at)->next;
    return at;
}

/* False if there is none. */
static bool stop(uint64_t number, bool by_id)
{
    int saved = errno;
    uint64_t now = rtl_stamp();
    pthread_mutex_lock(&lock);
    struct started **at = find_started(number, by_id);
    struct started *started = *at;
    if (started != NULL) {
        *at = started->next;
        end(&started->range, now);
    }
    pthread_mutex_unlock(&lock);
    free(started);
    errno = saved;
    return started != NULL;
}

uint64_t rtl_range_start(const char *text)
{
    int saved = errno;
    pthread_once(&once, set_up);
    uint64_t number = atomic_fetch_add_explicit(&next_number, 1, memory_order_relaxed);
    (void)start(text, number);
    errno = saved;
    return number;
}

void rtl_range_stop(uint64_t number)
{
    if (!is(RTL_RANGES_NEVER))
        (void)stop(number, false);
}

uint64_t rtl_range_open(const char *text)
{
    int saved = errno;
    pthread_once(&once, set_up);
    uint64_t id = start(text, 0);
    errno = saved;
    return id;
}

int rtl_range_enter(uint64_t id)
{
    pthread_mutex_lock(&lock);
    bool open = *find_started(id, true) != NULL;
    pthread_mutex_unlock(&lock);
    return open ? put("", RTL_RANGE_BY_RTL, id) : -1;
}

int rtl_range_close(uint64_t id)
{
    return stop(id, true) ? 0 : -1;
}

void rtl_range_mark(const char *text)
{
    int saved = errno;
    if (!is_on()) {
        rtl_account_leave_out(RTL_KIND_MARKS);
    } else {
        struct range mark = make(RTL_RANGE_MARK, RTL_RANGE_BY_ALL, text);
        if (!send_begin(&mark, text))
            rtl_account_lose(RTL_KIND_MARKS, rtl_emit_why(), 1);
    }
    errno = saved;
}

/* ---- names ---- */

static void send_name(const struct rtl_wire_name *wire, const char *text)
{
    struct rtl_piece pieces[] = {{wire, sizeof *wire}, {text, wire->text_length}};
    rtl_emit_definition(RTL_WIRE_NAME, pieces, 2);
}

/* Under the lock. A thing that has a name already gets another. */
static struct name *find_name(const struct rtl_wire_name *wire)
{
    for (struct name *name = names; name != NULL; name = name->next)
        if (name->wire.kind == wire->kind && name->wire.handle == wire->handle)
            return name;
    struct name *name = name_count < MOST_NAMES ? calloc(1, sizeof *name) : NULL;
    if (name == NULL)
        return NULL;
    name->next = names;
    names = name;
    name_count++;
    return name;
}

/* Under the lock. */
static void hold_name(const struct rtl_wire_name *wire, const char *text)
{
    char *copy = strndup(text, wire->text_length);
    struct name *name = copy != NULL ? find_name(wire) : NULL;
    if (name == NULL) {
        free(copy);
        names_lost++;
        return;
    }
    free(name->text);
    name->wire = *wire;
    name->text = copy;
}

void rtl_range_name(enum rtl_named kind, uint64_t handle, const char *text)
{
    int saved = errno;
    pthread_once(&once, set_up);
    struct rtl_wire_name wire = {
        .handle = handle, .kind = (uint32_t)kind, .text_length = length_of(text)};
    pthread_mutex_lock(&lock);
    if (is(RTL_RANGES_BEFORE))
        hold_name(&wire, text != NULL ? text : "");
    else if (!is(RTL_RANGES_NEVER))
        send_name(&wire, text);
    pthread_mutex_unlock(&lock);
    errno = saved;
}

/* ---- recording begins, stops, ends ---- */

/* Under the lock. */
static void send_names(void)
{
    rtl_account_lose(RTL_KIND_NAMES, RTL_LOST_MEMORY, names_lost);
    names_lost = 0;
    while (names != NULL) {
        struct name *name = names;
        names = name->next;
        send_name(&name->wire, name->text);
        free(name->text);
        free(name);
    }
    name_count = 0;
}

/* Under the lock. */
static void send_open(void)
{
    for (struct stack *stack = stacks; stack != NULL; stack = stack->next) {
        pthread_mutex_lock(&stack->lock);
        send_stack(stack);
        pthread_mutex_unlock(&stack->lock);
    }
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (struct started *started = starts[i]; started != NULL; started = started->next)
            send_held(&started->range);
}

void rtl_ranges_set(enum rtl_ranges_state to)
{
    pthread_mutex_lock(&lock);
    atomic_store_explicit(&state, (uint32_t)to, memory_order_release);
    if (to == RTL_RANGES_ON || to == RTL_RANGES_STOPPED)
        send_names();
    if (to == RTL_RANGES_ON)
        send_open();
    pthread_mutex_unlock(&lock);
}

void rtl_ranges_forked(void)
{
    atomic_store_explicit(&state, RTL_RANGES_NEVER, memory_order_relaxed);
}

/* What still finds no room is counted as waiting, and lost with the process. */
static void send_again(struct range *range)
{
    if (range->wanted && range->progress == HELD)
        send_held(range);
}

void rtl_ranges_end(void)
{
    pthread_mutex_lock(&lock);
    for (struct stack *stack = stacks; stack != NULL; stack = stack->next) {
        pthread_mutex_lock(&stack->lock);
        for (uint32_t i = 0; i < stack->depth; i++)
            send_again(&stack->ranges[i]);
        pthread_mutex_unlock(&stack->lock);
    }
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (struct started *started = starts[i]; started != NULL; started = started->next)
            send_again(&started->range);
    pthread_mutex_unlock(&lock);
}
