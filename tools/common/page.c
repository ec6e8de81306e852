#include "common/page.h"

#include "common/bytes.h"
#include "common/command.h"
#include "common/memory.h"
#include "common/paths.h"
#include "common/say.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARK  "<!--RTL-DATA-->" /* where the data belongs */
#define PIECE 3072u             /* bytes that become base64 at once */

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

/* It is written in pieces. 0, or an errno. */

static int write_text(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t done = write(fd, text, size);
        if (done < 0 && errno != EINTR)
            return errno;
        if (done > 0) {
            text += done;
            size -= (size_t)done;
        }
    }
    return 0;
}

static int write_data(int fd, const struct bytes *data)
{
    int error = 0;
    for (size_t at = 0; at < data->used && error == 0; at += PIECE) {
        size_t size = data->used - at < PIECE ? data->used - at : PIECE;
        char base64[BYTES_BASE64(PIECE)];
        bytes_base64(data->data + at, size, base64);
        error = write_text(fd, base64, BYTES_BASE64(size));
    }
    return error;
}

/* The data as the page has them. */
static void pack(const json_t *value, struct bytes *data)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(12));
    struct bytes plain = {0};
    if (!text)
        memory_is_short();
    bytes_add(&plain, text, strlen(text));
    free(text);
    if (plain.failed || !bytes_deflate(data, &plain))
        memory_is_short();
    bytes_free(&plain);
}

int page_write(int fd, const struct page_frame *frame, const json_t *value, const char *start)
{
    const char *const before[] = {frame->head,
                                  "<script type=\"application/octet-stream\" id=\"rtl-data\">"};
    const char *const after[] = {"</script>\n<script>", start, "</script>", frame->tail};
    struct bytes data = {0};
    int error = 0;
    pack(value, &data);
    for (size_t i = 0; i < sizeof before / sizeof *before && error == 0; ++i)
        error = write_text(fd, before[i], strlen(before[i]));
    if (error == 0)
        error = write_data(fd, &data);
    for (size_t i = 0; i < sizeof after / sizeof *after && error == 0; ++i)
        error = write_text(fd, after[i], strlen(after[i]));
    bytes_free(&data);
    return error;
}
