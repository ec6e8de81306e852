#include "store/text.h"

#include "ring/wire.h"

#include <stdlib.h>
#include <string.h>

/* libstdc++'s demangler, as the Itanium C++ ABI (3.4, "Demangler API") declares it. */
char *__cxa_demangle(const char *mangled, char *buffer, /* NOLINT(bugprone-reserved-identifier) */
                     size_t *length, int *status);

static const char *pick(const char *const *names, size_t count, uint32_t which, const char *other)
{
    return which < count ? names[which] : other;
}

const char *rtl_text_mode(uint32_t mode)
{
    static const char *const names[] = {"lite", "standard", "hip", "full"};
    return pick(names, sizeof names / sizeof *names, mode, "unknown");
}

const char *rtl_text_interception(uint32_t interception)
{
    static const char *const names[] = {"pass", "interpose", "intercept", "copies"};
    return pick(names, sizeof names / sizeof *names, interception, "unknown");
}

const char *rtl_text_copy_kind(uint32_t kind)
{
    static const char *const names[] = {
        [RTL_COPY_HOST_TO_HOST] = "host-to-host",
        [RTL_COPY_HOST_TO_DEVICE] = "host-to-device",
        [RTL_COPY_DEVICE_TO_HOST] = "device-to-host",
        [RTL_COPY_DEVICE_TO_DEVICE] = "device-to-device",
        [RTL_COPY_PEER] = "peer",
    };
    return pick(names, sizeof names / sizeof *names, kind, "unknown");
}

const char *rtl_text_copy_engine(uint32_t engine)
{
    static const char *const names[] = {
        [RTL_ENGINE_HOST] = "host", [RTL_ENGINE_SDMA] = "sdma", [RTL_ENGINE_KERNEL] = "kernel"};
    return pick(names, sizeof names / sizeof *names, engine, "unknown");
}

const char *rtl_text_range_kind(uint32_t kind)
{
    static const char *const names[] = {
        [RTL_RANGE_PUSH] = "push", [RTL_RANGE_START] = "start", [RTL_RANGE_MARK] = "mark"};
    return pick(names, sizeof names / sizeof *names, kind, "unknown");
}

const char *rtl_text_pause(uint32_t why)
{
    static const char *const names[] = {
        [RTL_PAUSE_PROGRAM] = "program", [RTL_PAUSE_ROCTX] = "roctx",
        [RTL_PAUSE_CTL] = "ctl",         [RTL_PAUSE_START_OFF] = "start-off",
        [RTL_PAUSE_DELAY] = "delay",     [RTL_PAUSE_DURATION] = "duration"};
    return pick(names, sizeof names / sizeof *names, why, "unknown");
}

const char *rtl_text_counting(uint32_t mode)
{
    static const char *const names[] = {
        "unknown", [RTL_COUNTING_KERNEL] = "kernel", [RTL_COUNTING_RANGE] = "range"};
    return pick(names, sizeof names / sizeof *names, mode, "unknown");
}

const char *rtl_text_uncounted(uint32_t why)
{
    static const char *const names[RTL_UNCOUNTED_REASONS] = {
        [RTL_UNCOUNTED_GRAPH] = "graph",     [RTL_UNCOUNTED_QUEUE] = "queue",
        [RTL_UNCOUNTED_MEMORY] = "memory",   [RTL_UNCOUNTED_SHUTDOWN] = "shutdown",
        [RTL_UNCOUNTED_DEVICE] = "device",   [RTL_UNCOUNTED_RING] = "ring",
        [RTL_UNCOUNTED_STOPPED] = "stopped", [RTL_UNCOUNTED_NAME] = "name",
    };
    return pick(names, sizeof names / sizeof *names, why, "unknown");
}

const char *rtl_text_hip_calls(uint32_t calls)
{
    static const char *const names[] = {
        [RTL_HIP_CALLS_LEFT_OUT] = "left_out",
        [RTL_HIP_CALLS_FOLLOWED] = "followed",
        [RTL_HIP_CALLS_INDIRECT] = "indirect",
        [RTL_HIP_CALLS_OFF] = "off",
        [RTL_HIP_CALLS_NOT_PRELOADED] = "not_preloaded",
        [RTL_HIP_CALLS_NAMESPACE] = "namespace",
        [RTL_HIP_CALLS_PASSED_BY] = "passed_by",
        [RTL_HIP_CALLS_OTHER_COPY] = "other_copy",
        [RTL_HIP_CALLS_STATIC] = "static",
    };
    return pick(names, sizeof names / sizeof *names, calls, "unknown");
}

const char *rtl_text_named(uint32_t kind)
{
    static const char *const names[] = {[RTL_NAMED_THREAD] = "thread",
                                        [RTL_NAMED_STREAM] = "stream",
                                        [RTL_NAMED_DEVICE] = "device",
                                        [RTL_NAMED_AGENT] = "agent"};
    return pick(names, sizeof names / sizeof *names, kind, "unknown");
}

const char *rtl_text_device(uint32_t type)
{
    static const char *const names[] = {"CPU", "GPU", "DSP"};
    return pick(names, sizeof names / sizeof *names, type, "other");
}

/* Length of the UTF-8 character at `text`, 0 if there is none. */
static size_t character(const unsigned char *text, size_t left)
{
    if (text[0] < 0x80)
        return 1;
    size_t length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    if (text[0] < 0xc2 || text[0] > 0xf4 || length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    /* Overlong forms, surrogates, and what lies beyond U+10FFFF. */
    if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
        (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
        return 0;
    return length;
}

char *rtl_text_copy(const char *bytes, size_t length)
{
    length = length ? strnlen(bytes, length) : 0;
    char *copy = malloc(length + 1);
    if (!copy)
        return NULL;
    if (length)
        memcpy(copy, bytes, length);
    copy[length] = '\0';
    for (size_t i = 0; i < length;) {
        size_t size = character((unsigned char *)copy + i, length - i);
        if (size == 0)
            copy[i] = '?';
        i += size ? size : 1;
    }
    return copy;
}

char *rtl_text_demangle(const char *mangled)
{
    /* Without the prefix the demangler would take a C name for a type: "i" for int. */
    if (strncmp(mangled, "_Z", 2) == 0) {
        int status = 0;
        char *name = __cxa_demangle(mangled, NULL, NULL, &status);
        if (name || status == -1) /* memory is short */
            return name;
    }
    return strdup(mangled);
}
