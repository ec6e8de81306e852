#include "analysis/selection_phase.h"

#include "analysis/selection_names.h"
#include "analysis/steps_measure.h"
#include "analysis/steps_ranges.h"
#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/say.h"

#include <stdlib.h>
#include <string.h>

/* How a text names a phase, the closest first. */
enum closeness { BY_NUMBER, BY_NAME, BY_END, BY_PART, FAR };

struct place {
    size_t thread, phase;
    uint64_t number;
};

static bool ends_with_word(const char *name, const char *text)
{
    size_t length = strlen(name);
    size_t end = strlen(text);
    return end < length && strcmp(name + length - end, text) == 0 && name[length - end - 1] == ' ';
}

static enum closeness closeness_of(const struct phase *phase, uint64_t number, const char *text)
{
    char *end;
    unsigned long long asked = strtoull(text, &end, 10);
    if (!*end && asked == number)
        return BY_NUMBER;
    if (strcmp(phase->name, text) == 0)
        return BY_NAME;
    if (ends_with_word(phase->name, text))
        return BY_END;
    return strstr(phase->name, text) ? BY_PART : FAR;
}

/* The closest phases; returns how many there are, the first in `found`. */
static size_t find(const struct steps *steps, const char *text, struct place *found,
                   enum closeness *best, struct selection_names *meant, struct selection_names *all)
{
    size_t count = 0;
    uint64_t number = 0;
    *best = FAR;
    for (size_t i = 0; i < steps->count; ++i)
        for (size_t k = 0; k < steps->threads[i].phase_count; ++k) {
            char name[96];
            const struct phase *phase = &steps->threads[i].phases[k];
            enum closeness closeness = closeness_of(phase, ++number, text);
            (void)snprintf(name, sizeof name, "%llu (%.60s)", (unsigned long long)number,
                           phase->name);
            selection_names_add(all, name);
            if (closeness == FAR || closeness > *best)
                continue;
            if (closeness < *best) {
                *best = closeness;
                *meant = (struct selection_names){0};
                *found = (struct place){i, k, number};
                count = 0;
            }
            selection_names_add(meant, name);
            ++count;
        }
    return count;
}

int selection_find_phase(const char *path, const struct steps *steps, struct selection *selection,
                         size_t *thread, size_t *phase)
{
    const char *text = selection->filter->phase;
    struct selection_names meant = {0};
    struct selection_names all = {0};
    struct place found = {0};
    enum closeness best;
    size_t count = find(steps, text, &found, &best, &meant, &all);
    if (count == 0)
        return say_fail(EXIT_USAGE, "%s has no phase %s: it has %s", path, text,
                        all.count ? selection_names_text(&all) : "no steps");
    if (count > 1)
        return say_fail(EXIT_USAGE, "%s has several phases %s: %s", path, text,
                        selection_names_text(&meant));
    *thread = found.thread;
    *phase = found.phase;
    selection->phase_number = found.number;
    (void)snprintf(selection->phase, sizeof selection->phase, "%s",
                   steps->threads[found.thread].phases[found.phase].name);
    return EXIT_FINE;
}

bool selection_knows_phase(const struct steps *steps, const char *text)
{
    struct selection_names meant = {0};
    struct selection_names all = {0};
    struct place found;
    enum closeness best;
    return find(steps, text, &found, &best, &meant, &all) > 0;
}

bool selection_has_range(rtl_trace_t *trace, const char *name)
{
    rtl_range_iter_t *iter = NULL;
    rtl_range_t range;
    bool found = false;
    rtl_status_t status = rtlTraceRanges(trace, NULL, &iter);
    while (!found && status == RTL_OK && (status = rtlRangeNext(iter, &range)) == RTL_OK)
        found = strcmp(range.name, name) == 0;
    rtlRangeIterFree(iter);
    return found;
}

/* Steps in a row are one window. */
static void take_windows(struct selection *selection, const struct steps_thread *thread,
                         size_t phase)
{
    selection->windows = memory_new(thread->count + 1, sizeof *selection->windows);
    for (size_t i = 0; i < thread->count; ++i) {
        const struct step *step = &thread->steps[i];
        struct rtl_select_window *last = selection->windows + selection->window_count;
        if (step->phase != phase || step->end <= step->begin)
            continue;
        if (selection->window_count && last[-1].to == step->begin)
            last[-1].to = step->end;
        else
            selection->windows[selection->window_count++] =
                (struct rtl_select_window){step->begin, step->end};
    }
}

static void take_process(struct selection *selection, uint32_t process)
{
    if (!selection->processes)
        selection->processes = memory_new(selection->process_count + 1, sizeof(bool));
    for (size_t i = 0; i < selection->process_count; ++i)
        selection->processes[i] = selection->process_list[i].process == process;
}

static rtl_status_t find_ranges(rtl_trace_t *trace, const char *name, struct steps *steps)
{
    uint64_t ranges = 0;
    steps_free(steps);
    rtl_status_t status = steps_by_range(trace, name, steps, &ranges);
    return status == RTL_OK && steps->count ? steps_measure(trace, steps) : status;
}

int selection_name_phase(rtl_trace_t *trace, const char *path, struct selection *selection)
{
    const char *text = selection->filter->phase;
    struct steps steps = {0};
    struct steps ranges = {0};
    size_t thread = 0;
    size_t phase = 0;
    rtl_status_t status = steps_find(trace, &steps);
    if (status == RTL_OK && steps.count)
        status = steps_measure(trace, &steps);
    if (status == RTL_OK && !selection_knows_phase(&steps, text) &&
        selection_has_range(trace, text))
        status = find_ranges(trace, text, &ranges);
    const struct steps *of = ranges.count ? &ranges : &steps;
    int result = status == RTL_OK ? selection_find_phase(path, of, selection, &thread, &phase)
                                  : open_failed(trace, path);
    if (result == EXIT_FINE) {
        take_windows(selection, &of->threads[thread], phase);
        take_process(selection, of->threads[thread].process);
    }
    steps_free(&steps);
    steps_free(&ranges);
    return result;
}
