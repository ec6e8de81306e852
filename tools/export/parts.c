#include "export/parts.h"

#include "common/command.h"
#include "common/say.h"
#include "common/show.h"

/* What a visitor returns where the part is full; no exit status. */
#define FULL (-1)

void parts_begin(struct parts *parts, struct export *export)
{
    *parts = (struct parts){
        .export = export, .from = export->from, .to = export->to, .left = true, .correction = 1.0};
}

void parts_end(struct parts *parts)
{
    parts->export->from = parts->from;
    parts->export->to = parts->to;
    parts->export->since = 0;
}

static int add(void *state, const struct export_event *event)
{
    struct parts *parts = state;
    if (event->start > parts->last &&
        (double)parts->planned * parts->correction >= (double)parts->room) {
        parts->export->to = event->start;
        parts->left = true;
        return FULL;
    }
    parts->planned += parts->weigh(parts->state, event);
    parts->last = event->start;
    if (event->origin.call && event->origin.start < parts->reach)
        parts->reach = event->origin.start;
    return EXIT_FINE;
}

int parts_next(struct parts *parts, unsigned kinds, uint64_t fixed, parts_weigh weigh, void *state)
{
    struct export *export = parts->export;
    uint64_t size = export->split_size;
    if (++parts->number > 1)
        export->from = export->since = export->to;
    export->to = parts->to;
    parts->left = false;
    if (!size)
        return EXIT_FINE;
    if (size <= fixed)
        return say_fail(
            EXIT_USAGE,
            "--split-size: %s repeats %s in each file, so files of %s have no room for events",
            export->exporter->name, show_bytes(fixed).text, show_bytes(size).text);
    parts->planned = 0;
    parts->last = 0;
    parts->reach = export->from;
    parts->room = size - fixed;
    parts->weigh = weigh;
    parts->state = state;
    int status = export_walk(export, kinds, add, parts);
    return status == FULL ? EXIT_FINE : status;
}

int parts_earlier(struct parts *parts, unsigned kinds,
                  int (*visit)(void *state, const struct export_event *event), void *state)
{
    struct export *export = parts->export;
    const uint64_t since = export->since;
    const uint64_t to = export->to;
    if (since == 0)
        return EXIT_FINE;
    export->from = parts->reach > parts->from ? parts->reach : parts->from;
    export->to = since;
    export->since = 0;
    int status = export_walk(export, kinds, visit, state);
    export->from = export->since = since;
    export->to = to;
    return status;
}

void parts_took(struct parts *parts, uint64_t bytes)
{
    if (parts->planned && bytes)
        parts->correction = (double)bytes / (double)parts->planned;
}
