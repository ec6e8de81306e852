#include "model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct model_counts model_counts;
pid_t model_process_id;

void model_report(void)
{
    static const char *const names[] = {"G1", "UNSTAGED", "G2", "G3"};
    const char *path = getenv("MODEL_REPORT"); // NOLINT(concurrency-mt-unsafe): nobody sets it
    FILE *file = path != NULL && getpid() == model_process_id ? fopen(path, "we") : NULL;
    if (file == NULL)
        return;
    (void)fprintf(file,
                  "{\"generation\": \"%s\", \"queues\": %" PRIu64 ", \"callbacks\": %" PRIu64
                  ", \"packets\": %" PRIu64 ", \"largest\": %" PRIu64 ", \"overflow\": %" PRIu64
                  ", \"altered\": %" PRIu64 "}\n",
                  names[model_generation], atomic_load(&model_counts.queues),
                  atomic_load(&model_counts.callbacks), atomic_load(&model_counts.packets),
                  atomic_load(&model_counts.largest), atomic_load(&model_counts.overflow),
                  atomic_load(&model_counts.altered));
    (void)fclose(file);
}

void model_die(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fprintf(stderr, "intercept_model: ");
    (void)vfprintf(stderr, format, arguments);
    (void)fprintf(stderr, "\n");
    va_end(arguments);
    model_report();
    _exit(status);
}
