/*
 * The table of known kernels, by kernel object.
 *
 * The device asks for a kernel with each dispatch, other threads free code memory now and then. The
 * table is therefore under a lock, and in front of it stands a cache that only the device thread
 * touches. A generation counter, moved by each forgetting, makes the whole cache stale.
 *
 * Forgotten kernels are kept for a while: a dispatch of one that is being executed while its code
 * is freed (a mistake of the program) must not read freed memory of ours.
 */
#include "softgpu/kernel.h"
#include "softgpu/say.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS        1024U
#define CACHE_SLOTS    256U
#define FORGOTTEN_KEPT 1024U

/* Layout of a kernel descriptor and of amd_kernel_code_t, as far as they agree and are needed here:
 * LLVM's "User Guide for AMDGPU Backend", Kernel Descriptor; hsa/amd_hsa_kernel_code.h. */
#define DESCRIPTOR_SIZE         64U
#define DESCRIPTOR_KERNARG_SIZE 8U
#define DESCRIPTOR_ENTRY        16U

/* s_endpgm of all GPUs up to GFX10, and of GFX11: a kernel that begins with it computes nothing. */
#define INSTRUCTION_END       0xBF810000U
#define INSTRUCTION_END_GFX11 0xBFB00000U

/* __cxa_demangle, from the C++ ABI: https://itanium-cxx-abi.github.io/cxx-abi/abi.html#demangler */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

typedef struct cache_slot {
    uint64_t object;
    unsigned generation;
    sg_kernel_t *kernel;
} cache_slot_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sg_kernel_t *buckets[BUCKETS];
static uint64_t lowest = UINT64_MAX, highest; /* bounds of the kernel objects in the table */
static sg_kernel_t *forgotten_first, **forgotten_end = &forgotten_first;
static size_t forgotten_count;

static atomic_uint generation = 1;
static cache_slot_t cache[CACHE_SLOTS];

static const softgpu_kernel_t computes_nothing = {.name = ""};

static size_t hash_object(uint64_t object)
{
    return (size_t)((object * 0x9E3779B97F4A7C15U) >> 40U);
}

static void free_kernel(sg_kernel_t *kernel)
{
    free(kernel->name);
    free(kernel->demangled);
    free(kernel->arguments);
    free(kernel);
}

static char *demangle(const char *name)
{
    if (strncmp(name, "_Z", 2) != 0) {
        return NULL;
    }
    int status = 0;
    return __cxa_demangle(name, NULL, NULL, &status);
}

/* The code that the descriptor leads to, and how much of it may be read. NULL if it leads out of
 * the memory. */
static const uint8_t *find_code(uint64_t object, const uint8_t *base, size_t size, size_t *readable)
{
    uint64_t at = object - (uint64_t)(uintptr_t)base;
    if (at > size || size - at < DESCRIPTOR_SIZE) {
        return NULL;
    }
    int64_t entry;
    memcpy(&entry, base + at + DESCRIPTOR_ENTRY, sizeof entry);
    uint64_t code = at + (uint64_t)entry;
    if (code >= size) {
        return NULL;
    }
    *readable = size - code;
    return base + code;
}

static bool ends_at_once(const uint8_t *code, size_t readable)
{
    uint32_t first = 0;
    if (code != NULL && readable >= sizeof first) {
        memcpy(&first, code, sizeof first);
    }
    return first == INSTRUCTION_END || first == INSTRUCTION_END_GFX11;
}

static void take_symbol(sg_kernel_t *kernel, const sg_elf_kernel_t *elf, const uint8_t *descriptor)
{
    uint32_t kernarg_size;
    memcpy(&kernarg_size, descriptor + DESCRIPTOR_KERNARG_SIZE, sizeof kernarg_size);
    kernel->kernarg_size = kernarg_size;
    kernel->name = strndup(elf->symbol, strlen(elf->symbol) - strlen(".kd"));
    (void)sg_metadata_arguments(elf->metadata, elf->metadata_size, elf->symbol, &kernel->arguments,
                                &kernel->argument_count);
}

/* Fills what the memory around the kernel object tells: name, arguments, whether there is anything
 * to compute. */
static void inspect(sg_kernel_t *kernel)
{
    void *base = NULL;
    size_t size = 0, readable = 0;
    if (!sg_memory_find((const void *)(uintptr_t)kernel->object, &base, &size)) {
        return;
    }
    const uint8_t *code = find_code(kernel->object, base, size, &readable);
    sg_elf_kernel_t elf = {0};
    if (code != NULL && sg_elf_find(kernel->object, base, size, &elf)) {
        take_symbol(kernel, &elf, (const uint8_t *)(uintptr_t)kernel->object);
    } else if (code != NULL) {
        const char *blit = sg_blit_recognise(code, readable);
        kernel->name = blit != NULL ? strdup(blit) : NULL;
    }
    if (ends_at_once(code, readable)) {
        kernel->host = &computes_nothing;
    }
}

/* A name that was already told about; the list lives as long as the process. */
typedef struct told {
    struct told *next;
    char name[];
} told_t;

/* HIP copies images by kernels of its own (__amd_rocclr_copyBufferToImage and others). */
static bool is_of_images(const char *name)
{
    return strncmp(name, "__amd_rocclr_", strlen("__amd_rocclr_")) == 0 &&
           strstr(name, "Image") != NULL;
}

/* Says once for each name that the kernel computes nothing. */
static void tell_unknown(const char *name)
{
    static told_t *all;
    for (const told_t *old = all; old != NULL; old = old->next) {
        if (strcmp(old->name, name) == 0) {
            return;
        }
    }
    told_t *told = malloc(sizeof *told + strlen(name) + 1);
    if (told == NULL) {
        return;
    }
    memcpy(told->name, name, strlen(name) + 1);
    told->next = all;
    all = told;
    if (is_of_images(name)) {
        sg_say(
            "kernel '%s' computes nothing: the software GPU has no images, and what textures read "
            "is wrong",
            name);
        return;
    }
    sg_say("kernel '%s' has no host implementation: it takes its time and computes "
           "nothing (a plugin can bring one, see SOFTGPU_PLUGINS)",
           name[0] != '\0' ? name : "without a name");
}

/* Out of memory here is the end of the device, as it has no way to refuse a kernel. */
static sg_kernel_t *make_kernel(uint64_t object)
{
    sg_kernel_t *kernel = calloc(1, sizeof *kernel);
    if (kernel == NULL) {
        abort();
    }
    kernel->object = object;
    inspect(kernel);
    if (kernel->name == NULL) {
        kernel->name = calloc(1, 1);
    }
    if (kernel->name == NULL) {
        abort();
    }
    kernel->demangled = demangle(kernel->name);
    const softgpu_kernel_t *nothing = kernel->host;
    sg_plugin_match(kernel);
    if (kernel->host == NULL) {
        kernel->host = nothing;
    }
    if (kernel->host == NULL) {
        tell_unknown(kernel->name);
    }
    sg_model_match(kernel);
    sg_mix_match(kernel);
    return kernel;
}

/* Under the lock. */
static sg_kernel_t *look_up(uint64_t object)
{
    sg_kernel_t *kernel = buckets[hash_object(object) % BUCKETS];
    while (kernel != NULL && kernel->object != object) {
        kernel = kernel->next;
    }
    return kernel;
}

/* Under the lock. */
static void insert(sg_kernel_t *kernel)
{
    sg_kernel_t **bucket = &buckets[hash_object(kernel->object) % BUCKETS];
    kernel->next = *bucket;
    *bucket = kernel;
    lowest = kernel->object < lowest ? kernel->object : lowest;
    highest = kernel->object > highest ? kernel->object : highest;
}

const sg_kernel_t *sg_kernel_find(uint64_t kernel_object)
{
    unsigned now = atomic_load_explicit(&generation, memory_order_acquire);
    cache_slot_t *slot = &cache[hash_object(kernel_object) % CACHE_SLOTS];
    if (slot->object == kernel_object && slot->generation == now) {
        return slot->kernel;
    }
    pthread_mutex_lock(&lock);
    sg_kernel_t *kernel = look_up(kernel_object);
    pthread_mutex_unlock(&lock);
    if (kernel == NULL) {
        /* Without the lock: it asks the memory's owner, who may be calling sg_kernel_forget right
         * now. */
        kernel = make_kernel(kernel_object);
        pthread_mutex_lock(&lock);
        insert(kernel);
        pthread_mutex_unlock(&lock);
    }
    *slot = (cache_slot_t){.object = kernel_object, .generation = now, .kernel = kernel};
    return kernel;
}

/* Puts a kernel that left the table among the forgotten, and frees the oldest beyond the number
 * kept. */
static void retire(sg_kernel_t *kernel)
{
    kernel->next = NULL;
    *forgotten_end = kernel;
    forgotten_end = &kernel->next;
    forgotten_count++;
    if (forgotten_count > FORGOTTEN_KEPT) {
        sg_kernel_t *oldest = forgotten_first;
        forgotten_first = oldest->next;
        forgotten_count--;
        free_kernel(oldest);
    }
}

/* Under the lock. */
static void forget_range(uint64_t first, uint64_t size)
{
    for (size_t bucket = 0; bucket < BUCKETS; bucket++) {
        for (sg_kernel_t **link = &buckets[bucket]; *link != NULL;) {
            sg_kernel_t *kernel = *link;
            if (kernel->object - first < size) {
                *link = kernel->next;
                retire(kernel);
            } else {
                link = &kernel->next;
            }
        }
    }
}

void sg_kernel_forget(const void *base, size_t size)
{
    uint64_t first = (uint64_t)(uintptr_t)base;
    pthread_mutex_lock(&lock);
    if (size > 0 && first <= highest && first + (size - 1) >= lowest) {
        forget_range(first, size);
        atomic_fetch_add_explicit(&generation, 1, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}

const char *sg_kernel_name(const sg_kernel_t *kernel)
{
    return kernel->name;
}

size_t sg_kernel_kernarg_size(const sg_kernel_t *kernel)
{
    return kernel->kernarg_size;
}

const sg_mix_t *sg_kernel_mix(const sg_kernel_t *kernel)
{
    return &kernel->mix;
}

softgpu_dispatch_t sg_kernel_dispatch(const sg_kernel_t *kernel,
                                      const hsa_kernel_dispatch_packet_t *packet, uint32_t gpu)
{
    return (softgpu_dispatch_t){
        .name = kernel->name,
        .demangled = kernel->demangled != NULL ? kernel->demangled : kernel->name,
        .gpu = gpu,
        .dynamic_lds = packet->group_segment_size,
        .grid = {packet->grid_size_x, packet->grid_size_y, packet->grid_size_z},
        .block = {packet->workgroup_size_x, packet->workgroup_size_y, packet->workgroup_size_z},
        .kernarg = packet->kernarg_address,
        .kernarg_size = kernel->kernarg_size,
        .argument_count = kernel->argument_count,
        .arguments = kernel->arguments};
}

void sg_kernel_run(const sg_kernel_t *kernel, const hsa_kernel_dispatch_packet_t *packet,
                   uint32_t gpu)
{
    if (kernel->host != NULL && kernel->host->run != NULL) {
        softgpu_dispatch_t dispatch = sg_kernel_dispatch(kernel, packet, gpu);
        kernel->host->run(&dispatch, kernel->context);
    }
}

bool sg_kernel_ready(const sg_kernel_t *kernel, const hsa_kernel_dispatch_packet_t *packet,
                     uint32_t gpu)
{
    if (kernel->host == NULL || kernel->host->ready == NULL) {
        return true;
    }
    softgpu_dispatch_t dispatch = sg_kernel_dispatch(kernel, packet, gpu);
    return kernel->host->ready(&dispatch, kernel->context);
}

void sg_exec_init(void)
{
    sg_plugin_load();
    sg_model_init();
    sg_mix_init();
}
