#include "export/html_put.h"

#include "common/command.h"
#include "common/folder.h"
#include "common/open.h"
#include "common/say.h"
#include "export/html_time.h"

const struct html_key html_no_key = {.gpu = RTL_TRACE_NONE,
                                     .queue = RTL_TRACE_NONE,
                                     .stream = RTL_TRACE_NONE,
                                     .thread = RTL_TRACE_NONE};

uint32_t html_number(struct html_page *page, const char *text)
{
    size_t number = texts_number(&page->texts, text);
    return number == TEXTS_NONE ? UINT32_MAX : (uint32_t)number;
}

void html_begin_at(struct html_page *page, uint64_t start)
{
    if (page->begun)
        return;
    page->zero = page->export->info.start < start ? page->export->info.start : start;
    page->first = html_time(start, page->zero);
    page->begun = true;
}

void html_begin_window(struct html_page *page, const struct export_served *window)
{
    page->zero = window->zero;
    page->first = window->from < HTML_TIME_LAST ? window->from : HTML_TIME_LAST;
    page->begun = true;
}

int html_before(struct html_page *page, uint64_t start)
{
    html_begin_at(page, start);
    if (page->idle.beside && html_idle_until(page, start) != RTL_OK)
        return open_failed(page->export->trace, page->export->path);
    if (page->segments.events < HTML_SEGMENT)
        return EXIT_FINE;
    int error = html_segments_end(&page->segments, &page->lanes, html_time(start, page->zero));
    return error ? say_fail(EXIT_USAGE, "the events could not be put aside in %s: %s",
                            folder_temporary(), say_errno(error))
                 : EXIT_FINE;
}

/* Where it is in the page's time. */
static void set_times(struct html_page *page, struct html_slice *slice, uint64_t start,
                      uint64_t end)
{
    slice->start = html_time(start, page->zero);
    slice->end = end > start ? html_time(end, page->zero) : slice->start;
    page->beyond += end > start && end - page->zero > HTML_TIME_LAST;
    if (slice->end > page->last)
        page->last = slice->end;
}

bool html_put(struct html_page *page, const struct html_place *place, struct html_slice *slice,
              uint64_t start, uint64_t end)
{
    set_times(page, slice, start, end);
    struct html_lane *lane = html_lanes_take(&page->lanes, &place->key, slice->start);
    if (!lane || place->name == UINT32_MAX)
        return false;
    struct html_entry entry = {.name = place->name,
                               .lane = (size_t)(lane - page->lanes.list),
                               .start = slice->start,
                               .duration = slice->end - slice->start,
                               .bytes = place->table == HTML_COPY_KINDS ? (uint64_t)slice->more : 0,
                               .failed = place->table == HTML_CALLS && slice->more != 0};
    ++page->segments.events;
    if (place->table != HTML_TABLES && !html_tables_add(&page->tables, place->table, &entry))
        return false;
    return html_lanes_count(&page->lanes, lane, slice, place->name) &&
           html_lanes_keep(lane, slice, page->segments.wanted);
}

bool html_put_late(struct html_page *page, const struct html_key *key, struct html_slice *slice,
                   uint64_t start, uint64_t end, bool event)
{
    struct html_segments *segments = &page->segments;
    set_times(page, slice, start, end);
    struct html_lane *lane = html_lanes_take(&page->lanes, key, slice->start);
    if (!lane || !html_lanes_count(&page->lanes, lane, slice, slice->item))
        return false;
    if (!event)
        return true;
    if (slice->start < html_segments_from(segments))
        return html_segments_cross(segments, lane, (size_t)(lane - page->lanes.list), slice);
    ++segments->events;
    return html_lanes_keep(lane, slice, segments->wanted);
}
