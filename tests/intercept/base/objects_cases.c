/* What the dynamic linker has loaded, against what it says itself; and writing where it has
 * write-protected memory. */
#include "../../common/check.h"
#include "intercept/base/objects.h"
#include "intercept/hip/slots.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- objects ---- */

struct search {
    const char *name;
    uintptr_t address, function; /* of the object that the address lies in */
    unsigned found;
    bool names_it; /* among what it takes from others */
};

static int look_at(struct dl_phdr_info *info, size_t size, void *data)
{
    struct search *search = data;
    struct rtl_object object;
    (void)size;
    if (!rtl_object_has(info, search->address) || !rtl_object_read(info, &object))
        return 0;
    search->found++;
    search->function = rtl_object_function(&object, search->name);
    uint32_t references = rtl_object_references(&object);
    for (uint32_t i = 1; i < references; i++)
        search->names_it |= object.symbols[i].st_shndx == SHN_UNDEF &&
                            strcmp(object.strings + object.symbols[i].st_name, search->name) == 0;
    return 0;
}

static struct search search_in(const void *address, const char *name)
{
    struct search search = {.name = name, .address = (uintptr_t)address};
    (void)dl_iterate_phdr(look_at, &search);
    return search;
}

const char *Objects_FunctionsAreThoseOfTheLinker(void)
{
    static const char *const names[] = {"qsort", "setenv", "fopen", "getpid", "strtoul"};
    void *libc = dlopen("libc.so.6", RTLD_LAZY);
    CHECK(libc != NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *function = dlsym(libc, names[i]);
        struct search search = search_in(function, names[i]);
        CHECK(function != NULL && search.found == 1);
        CHECK(search.function == (uintptr_t)function);
    }
    struct search none = search_in(dlsym(libc, "qsort"), "no_such_function");
    CHECK(none.found == 1 && none.function == 0 && !none.names_it);
    (void)dlclose(libc);
    return NULL;
}

const char *Objects_ReferencesAreFound(void)
{
    static const char here;
    struct search search = search_in(&here, "dl_iterate_phdr");
    CHECK(search.found == 1 && search.names_it && search.function == 0);
    CHECK(search_in(&search, "dl_iterate_phdr").found == 0); /* the stack is no object */
    return NULL;
}

const char *Objects_BaseNames(void)
{
    CHECK(strcmp(rtl_object_base_name("/lib/libc.so.6"), "libc.so.6") == 0);
    CHECK(strcmp(rtl_object_base_name("libc.so.6"), "libc.so.6") == 0);
    CHECK(strcmp(rtl_object_base_name(""), "") == 0);
    CHECK(rtl_object_begins("libc.so.6", "libc.so") && rtl_object_begins("libc.so", "libc.so"));
    CHECK(!rtl_object_begins("libc.s", "libc.so") && !rtl_object_begins("libcxx.so", "libc.so"));
    return NULL;
}

/* ---- slots ---- */

static const char targets[2];

/* Pointers that the linker writes and then protects, and others. */
static const void *const guarded[] = {&targets[0], &targets[0]};
static const void *open_to_all[] = {&targets[0], &targets[0]};

static uintptr_t read_slot(const void *slot)
{
    return atomic_load((const _Atomic uintptr_t *)slot);
}

static int write_both(struct dl_phdr_info *info, size_t size, void *data)
{
    struct rtl_slots slots = {.info = info};
    unsigned *written = data;
    uintptr_t value = (uintptr_t)&targets[1];
    (void)size;
    if (!rtl_object_has(info, (uintptr_t)guarded))
        return 0;
    *written += rtl_slots_write(&slots, (uintptr_t *)(uintptr_t)&guarded[1], value);
    *written += rtl_slots_write(&slots, (uintptr_t *)(uintptr_t)&open_to_all[1], value);
    /* What can only be read, the linker has no tables in. */
    *written += rtl_slots_write(&slots, (uintptr_t *)(uintptr_t)targets, value);
    rtl_slots_end(&slots);
    return 1;
}

static bool can_be_written(const void *slot)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        atomic_store((_Atomic uintptr_t *)(uintptr_t)slot, 0);
        _exit(0);
    }
    return child < 0 || waitpid(child, &status, 0) != child ||
           (WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

const char *Slots_ProtectedOnesAreWrittenAndProtectedAgain(void)
{
    unsigned written = 0;
    CHECK(!can_be_written(&guarded[0]) && can_be_written(&open_to_all[0]));
    CHECK(dl_iterate_phdr(write_both, &written) == 1 && written == 2);
    CHECK(read_slot(&guarded[1]) == (uintptr_t)&targets[1]);
    CHECK(read_slot(&open_to_all[1]) == (uintptr_t)&targets[1]);
    CHECK(read_slot(&guarded[0]) == (uintptr_t)&targets[0]);
    CHECK(!can_be_written(&guarded[0]) && !can_be_written(&guarded[1]));
    return NULL;
}
