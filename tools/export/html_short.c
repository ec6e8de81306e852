#include "export/html_short.h"

#include "common/memory.h"
#include "common/open.h"
#include "common/shorten.h"

#include <stdlib.h>
#include <string.h>

#define TABLE_WIDTH 80u
#define LABEL_WIDTH 24u

struct kernel_names {
    struct shorten_item *items;
    size_t *places; /* among the texts */
    size_t count;
};

/* Kernels of graphs are among those that ran, where any of their replays did. */
static struct kernel_names collect(const struct html_page *page)
{
    struct kernel_names names = {memory_new(page->kernels.count, sizeof(struct shorten_item)),
                                 memory_new(page->kernels.count, sizeof(size_t)), 0};
    bool *seen = memory_new(page->texts.count, sizeof *seen);
    for (size_t i = 0; i < page->kernels.count; ++i) {
        uint32_t name = page->kernels.list[i].numbers[0];
        if (seen[name])
            continue;
        seen[name] = true;
        names.places[names.count] = name;
        names.items[names.count++].name = page->texts.list[name];
    }
    free(seen);
    return names;
}

static char **shortened(const struct kernel_names *names, unsigned width)
{
    for (size_t i = 0; i < names->count; ++i)
        names->items[i].width = width;
    return shorten_names(names->items, names->count);
}

json_t *html_short_json(const struct html_page *page)
{
    json_t *list = json_array();
    struct kernel_names names = collect(page);
    char **tables = shortened(&names, TABLE_WIDTH);
    char **labels = shortened(&names, LABEL_WIDTH);
    for (size_t i = 0; i < names.count; ++i)
        if (strcmp(names.items[i].name, labels[i]) != 0)
            (void)json_array_append_new(list,
                                        json_pack("[I,o,o]", (json_int_t)names.places[i],
                                                  open_text(tables[i]), open_text(labels[i])));
    shorten_free(tables, names.count);
    shorten_free(labels, names.count);
    free(names.items);
    free(names.places);
    return list;
}
