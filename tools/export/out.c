#include "export/out.h"

#include "common/command.h"
#include "common/plain.h"
#include "export/utf8.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define LEVEL       3         /* as of what is packed in pages (common/bytes.c) */
#define GZIP_WINDOW (15 + 16) /* 15 bits, with gzip's head */

static int begin_gzip(struct out *out)
{
    out->gzip = (z_stream){0};
    if (!out->export->gzip)
        return 0;
    return deflateInit2(&out->gzip, LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) == Z_OK
               ? 0
               : ENOMEM;
}

static void end_gzip(struct out *out)
{
    if (out->gzip.state)
        (void)deflateEnd(&out->gzip);
    out->gzip = (z_stream){0};
}

void out_count(struct out *out, struct export *export)
{
    out->export = export;
    out->output = NULL;
    out->gzip.state = NULL;
    out->error = 0;
    out->written = 0;
    out->used = 0;
}

int out_begin(struct out *out, struct export *export)
{
    out_count(out, export);
    out->output = export_file(export, OUTPUT_STREAM);
    if (!out->output)
        return EXIT_USAGE;
    out->terminal = isatty(out->output->fd) == 1;
    out->error = begin_gzip(out);
    return EXIT_FINE;
}

static void write_bytes(struct out *out, const void *bytes, size_t size)
{
    size_t done = 0;
    while (done < size && !out->error) {
        ssize_t count = write(out->output->fd, (const char *)bytes + done, size - done);
        if (count >= 0)
            done += (size_t)count;
        else if (errno != EINTR)
            out->error = errno;
    }
}

/* `flush`: Z_NO_FLUSH, or Z_FINISH at the end. */
static void write_packed(struct out *out, int flush)
{
    unsigned char packed[OUT_BUFFER];
    out->gzip.next_in = (unsigned char *)out->buffer;
    out->gzip.avail_in = (unsigned)out->used;
    do {
        out->gzip.next_out = packed;
        out->gzip.avail_out = sizeof packed;
        (void)deflate(&out->gzip, flush); /* which fails of wrong arguments only */
        write_bytes(out, packed, sizeof packed - out->gzip.avail_out);
    } while (out->gzip.avail_out == 0 && !out->error);
}

static void flush(struct out *out)
{
    if (out->gzip.state && !out->error)
        write_packed(out, Z_NO_FLUSH);
    else if (out->output)
        write_bytes(out, out->buffer, out->used);
    out->used = 0;
}

int out_end(struct out *out)
{
    if (out->gzip.state && !out->error)
        write_packed(out, Z_FINISH);
    else
        flush(out);
    out->used = 0;
    end_gzip(out);
    int error = output_close(out->output);
    if (error && !out->error)
        out->error = error;
    return out->error ? export_file_failed(out->export, out->error) : EXIT_FINE;
}

void out_drop(struct out *out)
{
    end_gzip(out);
    if (out->output)
        (void)output_close(out->output);
    out->output = NULL;
}

bool out_full(const struct out *out)
{
    return out->export->split_size && out->written >= out->export->split_size;
}

void out_bytes(struct out *out, const void *bytes, size_t size)
{
    const char *from = bytes;
    out->written += size;
    while (size > 0) {
        size_t room = sizeof out->buffer - out->used;
        size_t piece = size < room ? size : room;
        memcpy(out->buffer + out->used, from, piece);
        out->used += piece;
        from += piece;
        size -= piece;
        if (out->used == sizeof out->buffer)
            flush(out);
    }
}

void out_text(struct out *out, const char *text)
{
    out_bytes(out, text, strlen(text));
}

void out_number(struct out *out, uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    out_bytes(out, digits + at, sizeof digits - at);
}

void out_signed(struct out *out, int64_t number)
{
    if (number < 0)
        out_text(out, "-");
    out_number(out, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

void out_micros(struct out *out, uint64_t ns)
{
    const char decimals[] = {'.', (char)('0' + ns / 100 % 10), (char)('0' + ns / 10 % 10),
                             (char)('0' + ns % 10)};
    out_number(out, ns / 1000);
    out_bytes(out, decimals, sizeof decimals);
}

static void escape(struct out *out, unsigned code)
{
    static const char hex[] = "0123456789abcdef";
    const char number[] = {
        '\\', 'u', hex[code >> 12 & 15], hex[code >> 8 & 15], hex[code >> 4 & 15], hex[code & 15]};
    const char simple[] = {'\\', (char)code};
    if (code == '"' || code == '\\')
        out_bytes(out, simple, sizeof simple);
    else
        out_bytes(out, number, sizeof number);
}

void out_json(struct out *out, const char *text)
{
    const char *at = text;
    out_text(out, "\"");
    while (*at) {
        size_t plain = 0;
        size_t length = 1;
        while ((unsigned char)at[plain] >= 0x20 && at[plain] != '"' && at[plain] != '\\' &&
               (length = utf8_sequence(at + plain)) > 0 && !plain_unsafe(at + plain))
            plain += length;
        out_bytes(out, at, plain);
        at += plain;
        if (length == 0)
            out_text(out, "\xEF\xBF\xBD");
        else if (*at)
            escape(out, plain_unsafe(at) ? plain_unsafe(at) : (unsigned char)*at);
        at += *at ? (length ? length : 1) : 0;
    }
    out_text(out, "\"");
}

/* A cell that a spreadsheet takes for a formula is one by its first character, which may have its
 * full width. */
static bool is_formula(const char *text)
{
    static const char *const wide[] = {"\xEF\xBC\x9D", "\xEF\xBC\x8B", "\xEF\xBC\x8D",
                                       "\xEF\xBC\xA0"};
    bool is = text[0] && strchr("=+-@\t\r\n", text[0]);
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; ++i)
        is = is || strncmp(text, wide[i], 3) == 0;
    return is;
}

void out_csv(struct out *out, const char *text)
{
    bool formula = is_formula(text);
    if (out->terminal)
        text = plain(text);
    if (!formula && !strpbrk(text, "\",\r\n")) {
        out_text(out, text);
        return;
    }
    out_text(out, formula ? "\"'" : "\"");
    for (const char *at = text; *at; ++at) {
        if (*at == '"')
            out_text(out, "\"");
        out_bytes(out, at, 1);
    }
    out_text(out, "\"");
}
