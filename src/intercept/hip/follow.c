/*
 * Libraries that reach HIP past the wrappers: what is opened with RTLD_DEEPBIND looks for symbols
 * among its own dependencies first, and finds HIP's functions there.
 *
 * The dynamic linker has written what it found into the library's table of addresses. Where that is
 * the very function that a wrapper goes on to, the wrapper is put in its place: the call then goes
 * where it went, through the wrapper. Nothing else is touched, nor are HIP itself and what was
 * loaded with the program, for which the wrappers come first. dlsym and dlvsym are put right in the
 * same way, and roctx.
 *
 * When: dlopen does not tell, and a dlopen of ours would be the caller whose place in the file
 * system libc looks at. But a program that has opened a library asks for its functions next
 * (dlsym.c). Only what the library's constructors call by then is not seen. A look costs one call
 * of dl_iterate_phdr where nothing was loaded.
 *
 * Addresses that are not bound yet (lazy binding) are bound here, since the linker would bind them
 * past us later: to the wrapper, if that is where they would lead by way of the real function. To
 * find out takes dlsym, so it is done where the linker may be asked.
 *
 * Where two copies of HIP came with libraries that are each on their own (RTLD_LOCAL), the wrappers
 * stand in front of both and go on to one. Libraries of the other get what they would have without
 * us: their own HIP, past the wrappers; and so does that HIP where it calls itself.
 *
 * An object that another thread is just loading may not have been relocated yet. It is seen again:
 * what its table holds is then no address, and that is waited for, for some looks. Pages that the
 * linker write-protects are opened only where it has done so, which is the last that it does.
 */
#include "intercept/hip/follow.h"

#include "intercept/hip/libc.h"
#include "intercept/hip/resolve.h"
#include "intercept/hip/slots.h"
#include "intercept/ranges/roctx.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>

#define MOST_ASKED 256u  /* objects of one look */
#define MOST_IDLE  1024u /* objects that want nothing, and are remembered */
#define PATIENCE   8u    /* looks at a table that is not ready */

/* An object of which it takes the linker to know where it should lead. */
struct asked {
    uintptr_t base;
    bool unbound; /* has addresses that are not bound yet */
};

struct walk {
    unsigned long long adds, subs;
    size_t count;   /* objects so far */
    size_t known;   /* of them, looked at before */
    uint32_t hips;  /* copies of HIP among them */
    bool wanted;    /* there is anything new */
    bool unready;   /* an object is not relocated yet */
    uint32_t asked; /* number of them */
    struct asked list[MOST_ASKED];
};

/* What an object finds by itself. */
struct own {
    uintptr_t base;
    uintptr_t functions[RTL_HIP_ENTRIES];
};

/* What the last walk has seen. A race of two leads to one walk more. */
static _Atomic unsigned long long seen_adds, seen_subs;
static _Atomic size_t seen_count;
static _Atomic uint32_t patience;
static _Atomic bool several;

static const char own_address; /* in librtl.so */

/* Objects that want nothing of HIP, so that they are not read again when others have gone. One that
 * takes their place, under the same name and with its tables in the same places, wants nothing
 * either. Under the linker's lock: nothing in here may take memory or another lock. */
static uint64_t idle[MOST_IDLE];

static bool looks_wrapped(const char *name)
{
    return strncmp(name, "hip", 3) == 0 || strncmp(name, "_Z", 2) == 0 ||
           strncmp(name, "roctx", 5) == 0 || strcmp(name, "dlsym") == 0 ||
           strcmp(name, "dlvsym") == 0;
}

/* The name of a symbol that the object takes from others, or may: its own functions are looked for
 * in the same way. NULL if it is none such. */
static const char *reference(const struct rtl_object *object, uint32_t number, bool its_own)
{
    const ElfW(Sym) *symbol = &object->symbols[number];
    bool taken = number != 0 && (its_own || symbol->st_shndx == SHN_UNDEF);
    return taken ? object->strings + symbol->st_name : NULL;
}

/* Most objects want nothing of HIP. */
static bool wants_any(const struct rtl_object *object)
{
    uint32_t count = rtl_object_references(object);
    for (uint32_t i = 1; i < count; i++) {
        const char *name = reference(object, i, false);
        if (name != NULL && looks_wrapped(name))
            return true;
    }
    return false;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t key_of(const struct rtl_object *object)
{
    uint64_t hash = mix(object->info->dlpi_addr, (uintptr_t)object->symbols);
    for (const char *name = object->info->dlpi_name; *name != '\0'; name++)
        hash = mix(hash, (unsigned char)*name);
    return mix(hash, (uintptr_t)object->strings) | 1;
}

/* As wants_any, remembered. */
static bool is_idle(const struct rtl_object *object)
{
    uint64_t key = key_of(object);
    uint64_t *place = &idle[(key >> 32) % MOST_IDLE];
    if (*place != key && wants_any(object))
        return false;
    *place = key;
    return true;
}

/* What stands for a function of this name that is at `value`; `value` itself if nothing does. */
static uintptr_t instead_of(const char *name, uintptr_t value)
{
    rtl_hip_function function = rtl_hip_as_function((void *)value);
    rtl_hip_function instead = function;
    if (strcmp(name, "dlsym") == 0) {
        if (function == (rtl_hip_function)rtl_libc_dlsym())
            instead = (rtl_hip_function)dlsym;
    } else if (strcmp(name, "dlvsym") == 0) {
        if (function == (rtl_hip_function)rtl_libc_dlvsym())
            instead = (rtl_hip_function)dlvsym;
    } else if (strncmp(name, "roctx", 5) == 0) {
        return (uintptr_t)rtl_roctx_instead_of(name, (void *)value);
    } else {
        enum rtl_hip_entry entry = rtl_hip_named(name);
        if (entry != RTL_HIP_ENTRIES && rtl_hip_known(entry) == function)
            instead = rtl_hip_wrapper(entry);
    }
    return (uintptr_t)rtl_hip_as_symbol(instead);
}

/* Calls `visit` with each address that the object keeps of a function of others. */
static void each_slot(const struct rtl_object *object, bool its_own,
                      void (*visit)(void *context, const char *name, uintptr_t *slot),
                      void *context)
{
    for (size_t table = 0; table < 2; table++)
        for (size_t i = 0; i < object->relocation_count[table]; i++) {
            const ElfW(Rela) *entry = &object->relocations[table][i];
            uint32_t type = (uint32_t)ELF64_R_TYPE(entry->r_info);
            if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT &&
                (type != R_X86_64_64 || entry->r_addend != 0))
                continue;
            if (entry->r_offset % sizeof(uintptr_t) != 0)
                continue;
            const char *name = reference(object, (uint32_t)ELF64_R_SYM(entry->r_info), its_own);
            if (name != NULL && looks_wrapped(name))
                visit(context, name, (uintptr_t *)(object->info->dlpi_addr + entry->r_offset));
        }
}

static uintptr_t value_of(const uintptr_t *slot)
{
    return atomic_load_explicit((const _Atomic uintptr_t *)slot, memory_order_relaxed);
}

/* ---- the walk over all objects ---- */

struct visit {
    struct rtl_slots slots;
    bool unbound, unready, wrapped;
};

static void follow_slot(void *context, const char *name, uintptr_t *slot)
{
    struct visit *visit = context;
    uintptr_t value = value_of(slot);
    uintptr_t instead = value != 0 ? instead_of(name, value) : 0;
    if (instead != value) {
        (void)rtl_slots_write(&visit->slots, slot, instead);
        return;
    }
    enum rtl_hip_entry entry = rtl_hip_named(name);
    if (entry == RTL_HIP_ENTRIES)
        return;
    if (value == (uintptr_t)rtl_hip_as_symbol(rtl_hip_wrapper(entry)))
        visit->wrapped = true;
    else if (rtl_object_has(visit->slots.info, value))
        visit->unbound = true;
    else if (value < visit->slots.info->dlpi_addr && value < UINT32_MAX)
        visit->unready = true; /* an offset, as it is in the file */
}

static void ask_later(struct walk *walk, const struct dl_phdr_info *info, bool unbound)
{
    if (walk->asked < MOST_ASKED)
        walk->list[walk->asked++] = (struct asked){info->dlpi_addr, unbound};
}

static void follow_object(struct walk *walk, const struct rtl_object *object)
{
    struct visit visit = {.slots = {.info = object->info}};
    each_slot(object, false, follow_slot, &visit);
    rtl_slots_end(&visit.slots);
    walk->unready |= visit.unready;
    if (visit.unbound || visit.wrapped)
        ask_later(walk, object->info, visit.unbound);
}

/* The first object tells whether there is anything new. */
static int look_at_first(struct dl_phdr_info *info, size_t size, void *data)
{
    struct walk *walk = data;
    (void)size;
    walk->adds = info->dlpi_adds;
    walk->subs = info->dlpi_subs;
    bool loaded = walk->adds != atomic_load_explicit(&seen_adds, memory_order_relaxed);
    bool gone = walk->subs != atomic_load_explicit(&seen_subs, memory_order_relaxed);
    bool waiting = atomic_load_explicit(&patience, memory_order_relaxed) > 0;
    walk->wanted = loaded || waiting;
    walk->known = gone || waiting ? 0 : atomic_load_explicit(&seen_count, memory_order_relaxed);
    return 1;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *data)
{
    struct walk *walk = data;
    struct rtl_object object;
    if (walk->count++ == 0)
        (void)look_at_first(info, size, walk);
    if (rtl_object_has(info, (uintptr_t)&own_address) || !rtl_object_read(info, &object))
        return 0;
    bool is_new = walk->count > walk->known;
    if (rtl_hip_is_library(&object)) {
        walk->hips++;
        if (is_new)
            ask_later(walk, info, false);
    } else if (is_new && !is_idle(&object)) {
        follow_object(walk, &object);
    }
    return 0;
}

static void remember(const struct walk *walk)
{
    uint32_t left = atomic_load_explicit(&patience, memory_order_relaxed);
    bool loaded = walk->adds != atomic_load_explicit(&seen_adds, memory_order_relaxed);
    atomic_store_explicit(&seen_adds, walk->adds, memory_order_relaxed);
    atomic_store_explicit(&seen_subs, walk->subs, memory_order_relaxed);
    atomic_store_explicit(&seen_count, walk->count, memory_order_relaxed);
    if (!walk->unready)
        left = 0;
    else if (loaded)
        left = PATIENCE;
    else
        left -= left > 0;
    atomic_store_explicit(&patience, left, memory_order_relaxed);
    if (walk->hips > 1)
        atomic_store_explicit(&several, true, memory_order_relaxed);
}

/* ---- where the linker has to be asked ---- */

struct named {
    uintptr_t base;
    char path[PATH_MAX];
};

static int name_object(struct dl_phdr_info *info, size_t size, void *data)
{
    struct named *named = data;
    size_t length = strlen(info->dlpi_name);
    (void)size;
    if (info->dlpi_addr != named->base || length == 0 || length >= sizeof named->path)
        return 0;
    memcpy(named->path, info->dlpi_name, length + 1);
    return 1;
}

/* The program itself has no name, and needs none: it finds the wrappers. */
static bool find_own(struct own *own)
{
    struct named named;
    named.base = own->base;
    if (dl_iterate_phdr(name_object, &named) == 0)
        return false;
    void *library = dlopen(named.path, RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL)
        return false;
    for (unsigned i = 0; i < RTL_HIP_ENTRIES; i++)
        own->functions[i] = (uintptr_t)rtl_dlsym(library, rtl_hip_name((enum rtl_hip_entry)i));
    (void)dlclose(library);
    return true;
}

struct binding {
    struct rtl_slots slots;
    const struct own *own;
    bool apart; /* libraries find each its own HIP */
};

static void bind_slot(void *context, const char *name, uintptr_t *slot)
{
    struct binding *binding = context;
    enum rtl_hip_entry entry = rtl_hip_named(name);
    if (entry == RTL_HIP_ENTRIES)
        return;
    uintptr_t wrapper = (uintptr_t)rtl_hip_as_symbol(rtl_hip_wrapper(entry));
    uintptr_t real = (uintptr_t)rtl_hip_as_symbol(rtl_hip_known(entry));
    uintptr_t own = binding->own->functions[entry];
    uintptr_t value = value_of(slot);
    bool unbound = rtl_object_has(binding->slots.info, value);
    if (own == 0 || real == 0)
        return;
    if (unbound && own == real)
        (void)rtl_slots_write(&binding->slots, slot, wrapper);
    else if ((unbound || value == wrapper) && own != real && own != wrapper && binding->apart)
        (void)rtl_slots_write(&binding->slots, slot, own);
}

static int bind_object(struct dl_phdr_info *info, size_t size, void *data)
{
    struct binding *binding = data;
    struct rtl_object object;
    (void)size;
    if (info->dlpi_addr != binding->own->base || !rtl_object_read(info, &object))
        return 0;
    binding->slots.info = info;
    each_slot(&object, rtl_hip_is_library(&object), bind_slot, binding);
    rtl_slots_end(&binding->slots);
    return 1;
}

static void ask(const struct walk *walk)
{
    bool apart = rtl_hip_several();
    for (uint32_t i = 0; i < walk->asked; i++) {
        struct own own = {.base = walk->list[i].base};
        struct binding binding = {.own = &own, .apart = apart};
        if (!walk->list[i].unbound && !apart)
            continue;
        if (find_own(&own))
            (void)dl_iterate_phdr(bind_object, &binding);
    }
    (void)dlerror(); // NOLINT(concurrency-mt-unsafe): glibc's is of the thread
}

/* What could not be asked for now is looked at again. */
static void walk_all(bool may_ask)
{
    struct walk walk;
    walk.count = walk.asked = walk.hips = 0;
    walk.unready = false;
    (void)dl_iterate_phdr(look_at, &walk);
    if (may_ask || walk.asked == 0)
        remember(&walk);
    if (may_ask && walk.asked > 0 && rtl_hip_known(RTL_HIP_hipMalloc) != NULL)
        ask(&walk);
}

void rtl_hip_follow(bool may_ask)
{
    struct walk first;
    int saved = errno;
    if (rtl_hip_place() != RTL_HIP_IN_FRONT || dl_iterate_phdr(look_at_first, &first) == 0 ||
        !first.wanted)
        return;
    bool known = rtl_hip_known(RTL_HIP_hipMalloc) != NULL ||
                 (may_ask && rtl_hip_find(RTL_HIP_hipMalloc) != NULL);
    if (known || may_ask)
        walk_all(may_ask);
    errno = saved;
}

static int count_object(struct dl_phdr_info *info, size_t size, void *data)
{
    struct walk *walk = data;
    if (walk->count++ == 0)
        (void)look_at_first(info, size, walk);
    return 0;
}

/* What is loaded now has found the wrappers: it need not be looked at. */
__attribute__((constructor)) static void follow_from_now(void)
{
    if (!rtl_hip_possible())
        return;
    rtl_hip_find_place();
    struct walk walk = {.count = 0};
    (void)dl_iterate_phdr(count_object, &walk);
    remember(&walk);
}

bool rtl_hip_several(void)
{
    return atomic_load_explicit(&several, memory_order_relaxed) &&
           rtl_dlsym(RTLD_NEXT, rtl_hip_name(RTL_HIP_hipMalloc)) == NULL;
}
