/* HIP and hipRTC, opened; and the kernels. */
#include "selftest/work.h"

#include "common/hip_names.h"
#include "selftest/kernels.h"

#include <hip/hiprtc.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

struct work_hip work_hip;
_Atomic uint64_t work_calls[WORK_CALL_COUNT];
hipFunction_t work_functions[WORK_KERNEL_COUNT];
char work_stubs[WORK_KERNEL_COUNT];

const char *const work_kernel_names[] = {
#define X(name) #name,
    SELFTEST_KERNELS(X)
#undef X
};

/* hipRTC is in HIP's library, in one of its own, or in both. */
struct rtc {
#define RTC_CALLS(X)                                                                               \
    X(hiprtcCreateProgram)                                                                         \
    X(hiprtcCompileProgram)                                                                        \
    X(hiprtcGetCodeSize)                                                                           \
    X(hiprtcGetCode)                                                                               \
    X(hiprtcDestroyProgram)
// NOLINTNEXTLINE(bugprone-macro-parentheses): a member cannot be named in parentheses
#define X(name) __typeof__(name) *name;
    RTC_CALLS(X)
#undef X
};

/* What a compiler has a program call for the kernels that are linked into it. */
struct compiled {
    void **(*__hipRegisterFatBinary)(const void *wrapper);
    void (*__hipRegisterFunction)(void **modules, const void *stub, char *name,
                                  const char *device_name, unsigned threads, void *tid, void *bid,
                                  void *block, void *grid, int *warp);
};

/* What __hipRegisterFatBinary is given. */
struct wrapper {
    uint32_t magic, version;
    const void *binary;
    void *unused;
};

#define WRAPPER_MAGIC 0x48495046u /* "HIPF" */

struct code {
    char *bytes;
    size_t size;
};

static void *hip_library;

static void *open_first(const char *const *names)
{
    void *library = NULL;
    for (; !library && *names; ++names)
        library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
    return library;
}

static bool find(void *library, const char *name, void *function, size_t size)
{
    void *symbol = library ? dlsym(library, name) : NULL;
    memcpy(function, &symbol, size);
    return symbol != NULL;
}

void work_open(void)
{
    static const char *const names[] = {HIP_NAMES, NULL};
    hip_library = open_first(names);
    if (!hip_library)
        work_fail("there is no libamdhip64 on the library path");
#define X(name)                                                                                    \
    if (!find(hip_library, #name, &work_hip.name, sizeof work_hip.name))                           \
        work_fail("HIP has no %s", #name);
    WORK_CALLS(X)
    WORK_QUESTIONS(X)
#undef X
}

static bool find_rtc(void *library, struct rtc *rtc)
{
#define X(name) find(library, #name, &rtc->name, sizeof rtc->name) &&
    return RTC_CALLS(X) true;
#undef X
}

static bool open_rtc(struct rtc *rtc)
{
    static const char *const names[] = {"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5",
                                        "libhiprtc.so", NULL};
    return find_rtc(open_first(names), rtc) || find_rtc(hip_library, rtc);
}

/* To C the headers say that it is nothing. */
#undef __global__
#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...)    TEXT_OF(__VA_ARGS__)

/* The caller frees it. */
static char *source_text(void)
{
    static const char *const kernels[] = {
#define X(name) TEXT(SELFTEST_KERNEL(name)),
        SELFTEST_KERNELS(X)
#undef X
    };
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        work_fail("memory is short");
    for (unsigned i = 0; i < WORK_KERNEL_COUNT; ++i)
        (void)fprintf(file, "%s\n", kernels[i]);
    if (fclose(file) != 0)
        work_fail("memory is short");
    return text;
}

/* For the GPU that is there, as no other is named. */
static bool compile(struct code *code)
{
    struct rtc rtc;
    hiprtcProgram program;
    if (!open_rtc(&rtc))
        return false;
    char *source = source_text();
    hiprtcResult made =
        rtc.hiprtcCreateProgram(&program, source, "rtl_selftest.hip", 0, NULL, NULL);
    free(source);
    if (made != HIPRTC_SUCCESS)
        return false;
    bool fine = rtc.hiprtcCompileProgram(program, 0, NULL) == HIPRTC_SUCCESS &&
                rtc.hiprtcGetCodeSize(program, &code->size) == HIPRTC_SUCCESS && code->size > 0;
    code->bytes = fine ? malloc(code->size) : NULL;
    fine = code->bytes && rtc.hiprtcGetCode(program, code->bytes) == HIPRTC_SUCCESS;
    (void)rtc.hiprtcDestroyProgram(&program);
    return fine;
}

static bool read_code(const char *path, struct code *code)
{
    FILE *file = fopen(path, "r");
    long size = -1;
    if (file && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    code->bytes = size > 0 ? malloc((size_t)size) : NULL;
    code->size = size > 0 ? (size_t)size : 0;
    bool fine = code->bytes && fseek(file, 0, SEEK_SET) == 0 &&
                fread(code->bytes, 1, code->size, file) == code->size;
    if (file)
        (void)fclose(file);
    if (!fine) {
        free(code->bytes);
        *code = (struct code){0};
    }
    return fine;
}

/* Runs go on without it, and compile again. */
static void leave_code(const char *path, const struct code *code)
{
    FILE *file = fopen(path, "w");
    bool fine = file && fwrite(code->bytes, 1, code->size, file) == code->size;
    if (file && (fclose(file) != 0 || !fine))
        (void)remove(path);
}

/* As of a program with kernels of its own; HIP keeps what it is given. */
static void register_kernels(const struct code *code)
{
    static struct wrapper wrapper = {.magic = WRAPPER_MAGIC, .version = 1};
    struct compiled compiled;
#define FIND(name) find(hip_library, #name, &compiled.name, sizeof compiled.name)
    if (!FIND(__hipRegisterFatBinary) || !FIND(__hipRegisterFunction))
        work_fail("HIP has no way to register kernels");
#undef FIND
    wrapper.binary = code->bytes;
    void **modules = compiled.__hipRegisterFatBinary(&wrapper);
    for (unsigned i = 0; i < WORK_KERNEL_COUNT; ++i)
        compiled.__hipRegisterFunction(
            modules, &work_stubs[i], (char *)(uintptr_t)work_kernel_names[i], work_kernel_names[i],
            UINT32_MAX, NULL, NULL, NULL, NULL, NULL);
}

const char *work_load(const char *path, const char *spare)
{
    struct code code = {0};
    hipModule_t module;
    const char *from = "file";
    if (!read_code(path, &code)) {
        from = "hiprtc";
        if (compile(&code))
            leave_code(path, &code);
        else
            from = read_code(spare, &code) ? "spare" : NULL;
    }
    if (!from)
        work_fail("hipRTC is not there or cannot compile, and there is no %s", spare);
    HIP(hipModuleLoadData, &module, code.bytes);
    for (unsigned i = 0; i < WORK_KERNEL_COUNT; ++i)
        HIP(hipModuleGetFunction, &work_functions[i], module, work_kernel_names[i]);
    register_kernels(&code);
    return from;
}
