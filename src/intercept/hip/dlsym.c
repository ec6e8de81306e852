/*
 * Programs that load HIP themselves and ask for its functions by handle (Python's ctypes) pass
 * every preloaded library by. So librtl.so exports dlsym and dlvsym, which are libc's for every
 * name but those of the wrapped calls.
 *
 * - A handle: what libc finds is asked for first. If that is the function which the wrapper goes on
 *   to, the answer is the wrapper; else (another copy of HIP, somebody's function of the same name)
 *   it stays.
 * - RTLD_DEFAULT and the handle of the program find the wrapper by themselves, but also where there
 *   is no HIP, or none with that function. Then the answer is the one without RTL: there is no
 *   such.
 * - RTLD_NEXT asks for what comes behind the caller. libc knows the caller by the return address,
 *   so it is jumped to, not called; so is it for all other names. That takes the few lines in
 *   assembler.
 *
 * roctx's functions are replaced as well, where they are asked for by handle (roctx.h), and those
 * of the HSA runtime that librtl.so has (starts.h, queue/creation.h).
 *
 * dlvsym differs in the version that libc is asked for, which HIP has one of for each function.
 * Where another library has put its dlsym behind ours, it gets what ours passes on.
 *
 * Who has loaded something asks for what is in it next: that is the moment to look at what was
 * loaded (follow.c).
 */
#include "intercept/hip/follow.h"
#include "intercept/hip/libc.h"
#include "intercept/hip/resolve.h"
#include "intercept/hip/starts.h"
#include "intercept/queue/creation.h"
#include "intercept/ranges/roctx.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

/* Two registers, as the stub below wants them: an answer, or where to go on. */
struct looked {
    void *answer;
    rtl_hip_function go_on;
};

struct looked rtl_dlsym_look(void *handle, const char *name, void *caller);
struct looked rtl_dlvsym_look(void *handle, const char *name, const char *version, void *caller);

/* dlsym or dlvsym of the next library that has one. */
static rtl_hip_function find_next(_Atomic(rtl_hip_function) *known, const char *name,
                                  rtl_hip_function libc)
{
    rtl_hip_function function = atomic_load_explicit(known, memory_order_relaxed);
    if (function == NULL) {
        function = rtl_hip_as_function(rtl_dlsym(RTLD_NEXT, name));
        if (function == NULL)
            function = libc;
        atomic_store_explicit(known, function, memory_order_relaxed);
    }
    return function;
}

static const char looked_from; /* an address in librtl.so */
static const struct looked nothing;

static bool looks_wrapped(const char *name)
{
    return strncmp(name, "hip", 3) == 0 || strncmp(name, "_Z", 2) == 0;
}

/* Whether the object of an address has been loaded before librtl.so, as the program and what is
 * preloaded in front of it are. */
static bool in_front(void *address)
{
    Dl_info info;
    struct link_map *object = NULL;
    struct link_map *map = NULL;
    if (dladdr1(address, &info, (void **)&object, RTLD_DL_LINKMAP) == 0 ||
        dladdr1(&looked_from, &info, (void **)&map, RTLD_DL_LINKMAP) == 0)
        return false;
    while (map != NULL && map != object)
        map = map->l_prev;
    return map != NULL;
}

/* What libc finds; NULL for a version is any. */
static void *ask(void *handle, const char *name, const char *version)
{
    return version == NULL ? rtl_dlsym(handle, name) : rtl_libc_dlvsym()(handle, name, version);
}

/* Without a function of libc's, which a sanitizer that asks may not have yet. */
static bool is_init(const char *name)
{
    static const char init[] = "hsa_init";
    return rtl_object_begins(name, init) && name[sizeof init - 1] == '\0';
}

/* librtl.so has it whether the runtime does or not. */
static struct looked look_for_hsa(void *handle, const char *name, const char *version, void *caller,
                                  struct looked pass)
{
    if (handle == RTLD_NEXT || handle == RTLD_DEFAULT) {
        bool is_ours = handle == RTLD_DEFAULT || in_front(caller);
        return is_ours && ask(RTLD_NEXT, name, version) == NULL ? nothing : pass;
    }
    void *found = ask(handle, name, version);
    return (struct looked){
        is_init(name) ? rtl_starts_instead_of(found) : rtl_creation_instead_of(name, found), NULL};
}

static struct looked look(void *handle, const char *name, const char *version, void *caller,
                          struct looked pass)
{
    bool by_handle = handle != RTLD_NEXT && handle != RTLD_DEFAULT;
    if (by_handle && strncmp(name, "roctx", 5) == 0)
        return (struct looked){rtl_roctx_instead_of(name, ask(handle, name, version)), NULL};
    if (is_init(name) || rtl_creation_has(name))
        return look_for_hsa(handle, name, version, caller, pass);
    if ((!by_handle && !looks_wrapped(name)) || !rtl_hip_possible())
        return pass;
    rtl_hip_follow(true);
    if (!looks_wrapped(name))
        return pass;
    enum rtl_hip_entry entry = rtl_hip_named(name);
    if (entry == RTL_HIP_ENTRIES)
        return pass;
    if (handle == RTLD_NEXT)
        return in_front(caller) && rtl_dlsym(RTLD_NEXT, name) == NULL ? nothing : pass;
    rtl_hip_function wrapper = rtl_hip_wrapper(entry);
    rtl_hip_function found = wrapper;
    if (handle != RTLD_DEFAULT)
        found = rtl_hip_as_function(ask(handle, name, version));
    struct looked answer = {rtl_hip_as_symbol(found), NULL};
    if (found == NULL)
        return answer;
    rtl_hip_function real = rtl_hip_find(entry);
    if (found == wrapper &&
        (real == NULL || (version != NULL && ask(RTLD_NEXT, name, version) == NULL)))
        answer.answer = ask(RTLD_NEXT, name, version); /* nothing, and dlerror says so */
    else if (found == real)
        answer.answer = rtl_hip_as_symbol(wrapper);
    return answer;
}

struct looked rtl_dlsym_look(void *handle, const char *name, void *caller)
{
    static _Atomic(rtl_hip_function) next;
    rtl_hip_function libc = (rtl_hip_function)rtl_libc_dlsym();
    return look(handle, name, NULL, caller, (struct looked){NULL, find_next(&next, "dlsym", libc)});
}

struct looked rtl_dlvsym_look(void *handle, const char *name, const char *version, void *caller)
{
    static _Atomic(rtl_hip_function) next;
    rtl_hip_function libc = (rtl_hip_function)rtl_libc_dlvsym();
    return look(handle, name, version, caller,
                (struct looked){NULL, find_next(&next, "dlvsym", libc)});
}

/* A look with the arguments of the call and the return address as the next one; then back with the
 * answer, or on to where it says, with the stack as the caller left it. */
#define JUMPING(name, caller)                                                                      \
    __asm__(".pushsection .text\n"                                                                 \
            ".globl " #name "\n"                                                                   \
            ".type " #name ", @function\n" #name ":\n"                                             \
            "    .cfi_startproc\n"                                                                 \
            "    endbr64\n"                                                                        \
            "    push %rdi\n"                                                                      \
            "    .cfi_adjust_cfa_offset 8\n"                                                       \
            "    push %rsi\n"                                                                      \
            "    .cfi_adjust_cfa_offset 8\n"                                                       \
            "    push %rdx\n"                                                                      \
            "    .cfi_adjust_cfa_offset 8\n"                                                       \
            "    mov 24(%rsp), %" #caller "\n"                                                     \
            "    call rtl_" #name "_look\n"                                                        \
            "    mov %rdx, %r11\n"                                                                 \
            "    pop %rdx\n"                                                                       \
            "    .cfi_adjust_cfa_offset -8\n"                                                      \
            "    pop %rsi\n"                                                                       \
            "    .cfi_adjust_cfa_offset -8\n"                                                      \
            "    pop %rdi\n"                                                                       \
            "    .cfi_adjust_cfa_offset -8\n"                                                      \
            "    test %r11, %r11\n"                                                                \
            "    jz 1f\n"                                                                          \
            "    jmp *%r11\n"                                                                      \
            "1:  ret\n"                                                                            \
            "    .cfi_endproc\n"                                                                   \
            ".size " #name ", . - " #name "\n"                                                     \
            ".popsection\n")

JUMPING(dlsym, rdx);
JUMPING(dlvsym, rcx);
