#include "analysis/unseen.h"
#include "common/open.h"
#include "common/plain.h"
#include "common/show.h"

#include <string.h>

/* What `calls` says of host calls that are missing. */
static const struct reason {
    const char *calls, *meaning, *advice;
} reasons[] = {
    {"off", "RTL_PRELOAD=off", "unset RTL_PRELOAD"},
    {"not_preloaded", "librtl.so was not preloaded",
     "use rtl trace, or name librtl.so in LD_PRELOAD as well as in HSA_TOOLS_LIB; the dynamic "
     "linker takes no LD_PRELOAD for programs with more rights than their user"},
    {"namespace", "it was opened in a namespace of its own (dlmopen)",
     "open it in the namespace of the program"},
    {"passed_by", "none came through librtl.so (RTLD_DEEPBIND, or functions found without dlsym)",
     "open the library that uses HIP without RTLD_DEEPBIND"},
    {"other_copy", "librtl.so follows another copy of HIP in this process",
     "have the program and its libraries use one copy"},
    {"static", "it is linked statically", "link HIP as a shared library"},
};

/* Of one of these; unseen.c lets no other through. */
static const struct reason *reason_of(const char *calls)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; ++i)
        if (strcmp(reasons[i].calls, calls) == 0)
            return &reasons[i];
    return &reasons[0];
}

void unseen_show(const struct unseen *unseen, bool advise, FILE *out)
{
    for (size_t i = 0; i < unseen->count; ++i) {
        const struct unseen_hip *hip = &unseen->list[i];
        const struct reason *reason = reason_of(hip->calls);
        char library[4096];
        (void)fprintf(out,
                      "  not seen: the host calls of %s, which came from the HIP in %s: "
                      "%s; its host calls, streams and graphs are missing\n",
                      show_things(hip->kernels, "kernel").text,
                      hip->library[0] ? plain_text(hip->library, library, sizeof library)
                                      : "the program",
                      reason->meaning);
        if (advise)
            (void)fprintf(out, "    what to do: %s\n", reason->advice);
    }
}

json_t *unseen_json(const struct unseen *unseen)
{
    json_t *list = json_array();
    for (size_t i = 0; i < unseen->count; ++i) {
        const struct unseen_hip *hip = &unseen->list[i];
        (void)json_array_append_new(
            list, json_pack("{s:o, s:o, s:o, s:o}", "process", open_id(hip->process), "library",
                            open_text(hip->library), "calls", open_text(hip->calls), "kernels",
                            open_number(hip->kernels)));
    }
    return list;
}
