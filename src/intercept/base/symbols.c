#include "intercept/base/symbols.h"

#include "common/pages.h"
#include "intercept/base/agents.h"
#include "intercept/base/api.h"
#include "intercept/base/emit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 16384u
#define ROCCLR  "__amd_rocclr_" /* what its own kernels are called */

/* Never freed, so that look-ups need no lock. */
struct symbol {
    struct symbol *_Atomic next; /* in the bucket */
    uint64_t kernel_object;
    uint64_t name_hash;
    uint64_t executable; /* 0 while unloaded */
    uint32_t id;
    uint32_t private_size;
    bool marked;
    uint32_t first_epoch;
    _Atomic uint32_t last_epoch; /* RTL_NONE while loaded */
    struct symbol *next_loaded;  /* all loaded ones, under the lock */
};

static struct symbol *_Atomic *buckets; /* BUCKETS; NULL before rtl_symbols_begin */
static struct symbol *loaded;
static bool (*marker)(const char *name, size_t length); /* set before the first symbol */
static void (*tell_rocclr)(const void *address);        /* set before anything is hooked */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t next_id;
static _Atomic uint32_t epoch_now;

bool rtl_symbols_begin(void)
{
    if (buckets == NULL)
        buckets = rtl_pages(BUCKETS * sizeof *buckets);
    return buckets != NULL;
}

/* Kernel objects of a page of the code object, 64 bytes each, share eight lines of the table: an
 * executable with a hundred kernels takes few pages of it, not one for each kernel. */
static struct symbol *_Atomic *bucket_of(uint64_t kernel_object)
{
    uint64_t page = ((kernel_object >> 12) * UINT64_C(0x9E3779B97F4A7C15)) >> 50;
    return &buckets[page ^ ((kernel_object >> 6) & 63)];
}

_Static_assert(BUCKETS == 1u << (64 - 50) && BUCKETS > 63, "bucket_of yields 14 bits");

uint32_t rtl_symbols_epoch(void)
{
    return atomic_load_explicit(&epoch_now, memory_order_relaxed);
}

struct rtl_symbol_found rtl_symbols_find(uint64_t kernel_object, uint32_t epoch)
{
    struct symbol *at = atomic_load_explicit(bucket_of(kernel_object), memory_order_acquire);
    for (; at != NULL; at = atomic_load_explicit(&at->next, memory_order_acquire))
        if (at->kernel_object == kernel_object && at->first_epoch <= epoch &&
            epoch <= atomic_load_explicit(&at->last_epoch, memory_order_relaxed))
            return (struct rtl_symbol_found){at->id, at->private_size, at->marked};
    return (struct rtl_symbol_found){RTL_NONE, 0, marker == NULL};
}

/* FNV-1a: tells a reloaded symbol from another one at its address. */
static uint64_t hash_name(const char *name, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* The symbol that was entered last for the kernel object; with `hash`, the last one of that name.
 */
static struct symbol *find_last(uint64_t kernel_object, const uint64_t *hash)
{
    struct symbol *at = atomic_load_explicit(bucket_of(kernel_object), memory_order_relaxed);
    while (at != NULL &&
           (at->kernel_object != kernel_object || (hash != NULL && at->name_hash != *hash)))
        at = atomic_load_explicit(&at->next, memory_order_relaxed);
    return at;
}

static struct symbol *enter(const struct rtl_symbol_facts *facts, size_t length, uint64_t hash,
                            uint32_t id)
{
    struct symbol *symbol = calloc(1, sizeof *symbol);
    if (symbol == NULL)
        return NULL;
    symbol->kernel_object = facts->kernel_object;
    symbol->name_hash = hash;
    symbol->id = id;
    symbol->private_size = facts->private_size;
    symbol->marked = marker == NULL || marker(facts->name, length);
    symbol->first_epoch = rtl_symbols_epoch();
    atomic_init(&symbol->last_epoch, RTL_NONE);
    struct symbol *_Atomic *bucket = bucket_of(facts->kernel_object);
    atomic_init(&symbol->next, atomic_load_explicit(bucket, memory_order_relaxed));
    atomic_store_explicit(bucket, symbol, memory_order_release);
    return symbol;
}

static void send(const struct symbol *symbol, const struct rtl_symbol_facts *facts, size_t length)
{
    struct rtl_wire_symbol wire = {
        .kernel_object = facts->kernel_object,
        .symbol = symbol->id,
        .agent = facts->agent,
        .kernarg_size = facts->kernarg_size,
        .group_size = facts->group_size,
        .private_size = facts->private_size,
        .name_length = (uint16_t)length,
    };
    struct rtl_piece pieces[] = {{&wire, sizeof wire}, {facts->name, length}};
    rtl_emit_definition(RTL_WIRE_SYMBOL, pieces, 2);
}

/* The symbol revives if nothing else has been at its address since; else it is entered anew, so
 * that the spans of epochs at one address never overlap, and keeps its id if it has one. Under the
 * lock. */
static struct symbol *revive_or_enter(const struct rtl_symbol_facts *facts, uint64_t hash,
                                      size_t length)
{
    struct symbol *last = find_last(facts->kernel_object, NULL);
    if (last != NULL && last->name_hash == hash)
        return last;
    struct symbol *same = find_last(facts->kernel_object, &hash);
    struct symbol *symbol = enter(facts, length, hash, same != NULL ? same->id : next_id);
    if (symbol != NULL && same == NULL) {
        next_id++;
        send(symbol, facts, length);
    }
    return symbol;
}

void rtl_symbols_add(const struct rtl_symbol_facts *facts)
{
    size_t length = facts->name_length < UINT16_MAX ? facts->name_length : UINT16_MAX;
    if (length > 3 && memcmp(facts->name + length - 3, ".kd", 3) == 0)
        length -= 3;
    pthread_mutex_lock(&lock);
    struct symbol *symbol = revive_or_enter(facts, hash_name(facts->name, length), length);
    if (symbol != NULL) {
        atomic_store_explicit(&symbol->last_epoch, RTL_NONE, memory_order_relaxed);
        if (symbol->executable == 0) {
            symbol->next_loaded = loaded;
            loaded = symbol;
        }
        symbol->executable = facts->executable;
    }
    pthread_mutex_unlock(&lock);
}

void rtl_symbols_mark(bool (*matches)(const char *name, size_t length))
{
    marker = matches;
}

void rtl_symbols_end(uint64_t executable)
{
    pthread_mutex_lock(&lock);
    uint32_t epoch = rtl_symbols_epoch();
    bool any = false;
    struct symbol **at = &loaded;
    while (*at != NULL) {
        struct symbol *symbol = *at;
        if (symbol->executable != executable) {
            at = &symbol->next_loaded;
            continue;
        }
        *at = symbol->next_loaded;
        symbol->executable = 0;
        atomic_store_explicit(&symbol->last_epoch, epoch, memory_order_relaxed);
        any = true;
    }
    if (any)
        atomic_store_explicit(&epoch_now, epoch + 1, memory_order_release);
    pthread_mutex_unlock(&lock);
}

/* One symbol of a frozen executable; `data`: whether one of them is ROCclr's own. */
static hsa_status_t visit(hsa_executable_t executable, hsa_agent_t agent,
                          hsa_executable_symbol_t symbol, void *data)
{
    bool *rocclr = data;
    hsa_symbol_kind_t kind;
    if (rtl_api.hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind) !=
            HSA_STATUS_SUCCESS ||
        kind != HSA_SYMBOL_KIND_KERNEL)
        return HSA_STATUS_SUCCESS;
    struct rtl_symbol_facts facts = {.executable = executable.handle,
                                     .agent = rtl_agents_id(agent)};
    rtl_api.hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
                                           &facts.kernel_object);
    rtl_api.hsa_executable_symbol_get_info(
        symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, &facts.kernarg_size);
    rtl_api.hsa_executable_symbol_get_info(
        symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &facts.group_size);
    rtl_api.hsa_executable_symbol_get_info(
        symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &facts.private_size);
    rtl_api.hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH,
                                           &facts.name_length);
    char *name = calloc(1, (size_t)facts.name_length + 1);
    if (name == NULL)
        return HSA_STATUS_SUCCESS;
    rtl_api.hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name);
    facts.name = name;
    *rocclr |= strncmp(name, ROCCLR, strlen(ROCCLR)) == 0;
    rtl_symbols_add(&facts);
    free(name);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t freeze(hsa_executable_t executable, const char *options)
{
    bool rocclr = false;
    /* The runtime's own entry goes on by a jump: this is who called it. */
    const void *caller = __builtin_return_address(0);
    hsa_status_t status = rtl_api.hsa_executable_freeze(executable, options);
    for (uint32_t i = 0; status == HSA_STATUS_SUCCESS && i < rtl_agents_gpus(); i++)
        rtl_api.hsa_executable_iterate_agent_symbols(executable, rtl_agents_gpu(i), visit, &rocclr);
    if (rocclr)
        tell_rocclr(caller);
    return status;
}

static hsa_status_t destroy(hsa_executable_t executable)
{
    rtl_symbols_end(executable.handle);
    return rtl_api.hsa_executable_destroy(executable);
}

void rtl_symbols_hook(void (*rocclr)(const void *address))
{
    tell_rocclr = rocclr;
    RTL_HOOK(hsa_executable_freeze, freeze);
    RTL_HOOK(hsa_executable_destroy, destroy);
}
