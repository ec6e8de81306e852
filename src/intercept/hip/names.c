/*
 * The names of kernels, by what programs launch them with: the address of a host function, which
 * code of the compiler's registers when the program or a library is loaded, or a hipFunction_t, or
 * a hipKernel_t.
 *
 * A table of chains to which anybody may add at any time, without a lock: registration runs in
 * constructors, forked children and all. Nothing is ever taken out. What is unloaded loses its
 * name; the texts of registered functions lie in the library that goes, those of modules are copies
 * of ours, kept since somebody may be reading. What was registered past us (RTLD_DEEPBIND), HIP is
 * asked for.
 *
 * Registration is the first that code of a library does with HIP. Where there are several HIPs, it
 * has to reach the one that the library finds by itself.
 */
#include "intercept/hip/follow.h"
#include "intercept/hip/libc.h"
#include "intercept/hip/resolve.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* PyTorch registers some ten thousand kernels, in some hundred modules. */
#define CHAINS       4096u
#define OWNER_CHAINS 512u

/* In the chain of its function, and in the one of its owner: a module, of whatever kind. */
struct kernel {
    struct kernel *next, *next_of_owner;
    const void *function, *owner;
    const char *name;
    bool copied;       /* the name is ours */
    _Atomic bool gone; /* unloaded */
};

static struct kernel *_Atomic functions[CHAINS];
static struct kernel *_Atomic owners[OWNER_CHAINS];

/** As the compiler's code calls them. Source: hip_api_trace.hpp of HIP 6.3. */
RTL_EXPORTED void __hipRegisterFunction(void **modules, const void *host, char *function,
                                        const char *name, unsigned threads, void *tid, void *bid,
                                        dim3 *block, dim3 *grid, int *warp);
RTL_EXPORTED void __hipUnregisterFatBinary(void **modules);

static uint64_t chain_of(const void *key)
{
    return (uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15) >> 52;
}

static uint64_t chain_of_owner(const void *key)
{
    return chain_of(key) % OWNER_CHAINS;
}

_Static_assert(CHAINS == 1u << (64 - 52), "chain_of yields 12 bits");

static struct kernel *find(const void *function)
{
    struct kernel *kernel =
        atomic_load_explicit(&functions[chain_of(function)], memory_order_acquire);
    while (kernel != NULL && kernel->function != function)
        kernel = kernel->next;
    return kernel;
}

static void put(struct kernel *_Atomic *chain, struct kernel *kernel, struct kernel **next)
{
    *next = atomic_load_explicit(chain, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(chain, next, kernel, memory_order_release,
                                                  memory_order_relaxed))
        ;
}

/* False if memory is short. A name that is a copy is the table's from then on. */
static bool add(const void *function, const void *owner, const char *name, bool copied)
{
    struct kernel *kernel = malloc(sizeof *kernel);
    if (kernel == NULL)
        return false;
    kernel->function = function;
    kernel->owner = owner;
    kernel->name = name;
    kernel->copied = copied;
    atomic_init(&kernel->gone, false);
    put(&owners[chain_of_owner(owner)], kernel, &kernel->next_of_owner);
    put(&functions[chain_of(function)], kernel, &kernel->next);
    return true;
}

/* As add, with a copy of the name, where it is not known already. */
static void add_copy(const void *function, const void *owner, const char *name)
{
    struct kernel *known = find(function);
    if (known != NULL && known->owner == owner && known->copied && strcmp(known->name, name) == 0) {
        atomic_store(&known->gone, false);
        return;
    }
    char *copy = strdup(name);
    if (copy != NULL && !add(function, owner, copy, true))
        free(copy);
} // NOLINT(clang-analyzer-unix.Malloc): the table has it

static void forget(const void *owner)
{
    struct kernel *kernel =
        atomic_load_explicit(&owners[chain_of_owner(owner)], memory_order_acquire);
    for (; kernel != NULL; kernel = kernel->next_of_owner)
        if (kernel->owner == owner)
            atomic_store(&kernel->gone, true);
}

static rtl_hip_function real_function(_Atomic(rtl_hip_function) *known, const char *name)
{
    rtl_hip_function function = atomic_load_explicit(known, memory_order_relaxed);
    if (function == NULL) {
        function = rtl_hip_symbol(name);
        atomic_store_explicit(known, function, memory_order_relaxed);
    }
    return function;
}

/* NULL if HIP has registered nothing there, either. Sets no error. */
static const char *ask_for_name(const void *function)
{
    typedef const char *name_by_pointer(const void *function, hipStream_t stream);
    static _Atomic(rtl_hip_function) known;
    name_by_pointer *ask = (name_by_pointer *)real_function(&known, "hipKernelNameRefByPtr");
    return ask != NULL ? ask(function, NULL) : NULL;
}

const char *rtl_hip_kernel_name(const void *function)
{
    struct kernel *kernel = find(function);
    if (kernel == NULL)
        return ask_for_name(function);
    return !atomic_load(&kernel->gone) ? kernel->name : NULL;
}

/* Modules that belong to another HIP than the one that is followed. */
struct other_hip {
    struct other_hip *next;
    void **modules;
    rtl_hip_function unregister;
};

static struct other_hip *_Atomic other_hips;

static struct other_hip *find_other_hip(void **modules)
{
    struct other_hip *other = atomic_load_explicit(&other_hips, memory_order_acquire);
    while (other != NULL && other->modules != modules)
        other = other->next;
    return other;
}

static void add_other_hip(void **modules, rtl_hip_function unregister)
{
    struct other_hip *other = find_other_hip(modules) == NULL ? malloc(sizeof *other) : NULL;
    if (other == NULL)
        return;
    other->modules = modules;
    other->unregister = unregister;
    other->next = atomic_load_explicit(&other_hips, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&other_hips, &other->next, other,
                                                  memory_order_release, memory_order_relaxed))
        ;
} // NOLINT(clang-analyzer-unix.Malloc): the list has it

/* What the library of the caller would register with if there were no `real`; NULL: nothing
 * else. */
static rtl_hip_function of_other_hip(const void *caller, void **modules, rtl_hip_function real)
{
    rtl_hip_follow(true);
    if (!rtl_hip_several())
        return NULL;
    rtl_hip_function own = rtl_hip_own_symbol(caller, "__hipRegisterFunction");
    if (own == NULL || own == real || own == (rtl_hip_function)__hipRegisterFunction)
        return NULL;
    add_other_hip(modules, rtl_hip_own_symbol(caller, "__hipUnregisterFatBinary"));
    return own;
}

void __hipRegisterFunction(void **modules, const void *host, char *function, const char *name,
                           unsigned threads, void *tid, void *bid, dim3 *block, dim3 *grid,
                           int *warp)
{
    static _Atomic(rtl_hip_function) known;
    rtl_hip_function next = real_function(&known, "__hipRegisterFunction");
    rtl_hip_function other = of_other_hip(__builtin_return_address(0), modules, next);
    __typeof__(__hipRegisterFunction) *real =
        (__typeof__(__hipRegisterFunction) *)(other != NULL ? other : next);
    if (other == NULL && rtl_hip_possible() && name != NULL)
        (void)add(host, modules, name, false);
    if (real != NULL)
        real(modules, host, function, name, threads, tid, bid, block, grid, warp);
}

void __hipUnregisterFatBinary(void **modules)
{
    static _Atomic(rtl_hip_function) known;
    struct other_hip *other = find_other_hip(modules);
    rtl_hip_function next =
        other != NULL ? other->unregister : real_function(&known, "__hipUnregisterFatBinary");
    __typeof__(__hipUnregisterFatBinary) *real = (__typeof__(__hipUnregisterFatBinary) *)next;
    if (rtl_hip_possible())
        forget(modules);
    if (real != NULL)
        real(modules);
}

void rtl_hip_always_hipModuleGetFunction(hipError_t result, hipFunction_t *function,
                                         hipModule_t module, const char *kname)
{
    if (result == hipSuccess && rtl_hip_possible())
        add_copy(*function, module, kname);
}

void rtl_hip_always_hipModuleUnload(hipError_t result, hipModule_t module)
{
    if (result == hipSuccess && rtl_hip_possible())
        forget(module);
}

void rtl_hip_always_hipGetFuncBySymbol(hipError_t result, hipFunction_t *functionPtr,
                                       const void *symbolPtr)
{
    const char *name = rtl_hip_kernel_name(symbolPtr);
    if (result == hipSuccess && name != NULL)
        add_copy(*functionPtr, symbolPtr, name);
}

void rtl_hip_always_hipLibraryGetKernel(hipError_t result, hipKernel_t *pKernel,
                                        hipLibrary_t library, const char *name)
{
    if (result == hipSuccess && rtl_hip_possible())
        add_copy(*pKernel, library, name);
}

/* It fills no more of the array than the library has kernels. */
static unsigned enumerated(unsigned asked_for, hipLibrary_t library)
{
    typedef hipError_t count_kernels(unsigned *count, hipLibrary_t library);
    static _Atomic(rtl_hip_function) known;
    count_kernels *ask = (count_kernels *)real_function(&known, "hipLibraryGetKernelCount");
    unsigned count = 0;
    if (ask == NULL || ask(&count, library) != hipSuccess)
        return 0;
    return count < asked_for ? count : asked_for;
}

void rtl_hip_always_hipLibraryEnumerateKernels(hipError_t result, hipKernel_t *kernels,
                                               unsigned int numKernels, hipLibrary_t library)
{
    typedef hipError_t name_of_kernel(const char **name, hipKernel_t kernel);
    static _Atomic(rtl_hip_function) known;
    if (result != hipSuccess || !rtl_hip_possible())
        return;
    int error = errno;
    name_of_kernel *ask = (name_of_kernel *)real_function(&known, "hipKernelGetName");
    unsigned count = ask != NULL ? enumerated(numKernels, library) : 0;
    for (unsigned i = 0; i < count; i++) {
        const char *name = NULL;
        if (ask(&name, kernels[i]) == hipSuccess && name != NULL)
            add_copy(kernels[i], library, name);
    }
    errno = error;
}

void rtl_hip_always_hipLibraryUnload(hipError_t result, hipLibrary_t library)
{
    if (result == hipSuccess && rtl_hip_possible())
        forget(library);
}
