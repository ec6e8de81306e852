#include "common/page.h"

#include "common/bytes.h"
#include "common/command.h"
#include "common/memory.h"
#include "common/paths.h"
#include "common/say.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MARK "<!--RTL-DATA-->" /* where the data belongs */

static void read_all(FILE *file, struct bytes *bytes)
{
    char piece[4096];
    for (size_t size; (size = fread(piece, 1, sizeof piece, file)) > 0;)
        bytes_add(bytes, piece, size);
    bytes_add(bytes, "", 1);
    if (bytes->failed)
        memory_is_short();
}

int page_frame_read(const char *name, struct page_frame *frame)
{
    char path[PATH_MAX];
    struct bytes bytes = {0};
    *frame = (struct page_frame){0};
    if (!paths_library(name, path, sizeof path))
        return say_fail(EXIT_USAGE,
                        "the page was not built with this rtl (%s is not in its library folder): "
                        "install npm, then configure and build again",
                        name);
    FILE *file = fopen(path, "re");
    if (file) {
        read_all(file, &bytes);
        (void)fclose(file);
    }
    frame->head = (char *)bytes.data;
    char *mark = frame->head ? strstr(frame->head, MARK) : NULL;
    if (!mark)
        return say_fail(EXIT_USAGE, "%s is not the page that this rtl was built with", path);
    *mark = '\0';
    frame->tail = mark + sizeof MARK - 1;
    return EXIT_FINE;
}

void page_frame_free(struct page_frame *frame)
{
    free(frame->head);
    *frame = (struct page_frame){0};
}
