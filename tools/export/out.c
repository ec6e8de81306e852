#include "export/out.h"

#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int out_begin(struct out *out, struct export *export)
{
    out->export = export;
    out->error = 0;
    out->written = 0;
    out->used = 0;
    out->fd = STDOUT_FILENO;
    if (export->files.to_stdout)
        return EXIT_FINE;
    const char *path = export_file(export);
    if (!path) {
        out->fd = -1;
        return EXIT_USAGE;
    }
    out->fd = open(path, O_WRONLY | O_CLOEXEC);
    return out->fd >= 0 ? EXIT_FINE : export_file_failed(export, errno);
}

static void flush(struct out *out)
{
    size_t done = 0;
    while (done < out->used && !out->error) {
        ssize_t count = write(out->fd, out->buffer + done, out->used - done);
        if (count >= 0)
            done += (size_t)count;
        else if (errno != EINTR)
            out->error = errno;
    }
    out->used = 0;
}

int out_end(struct out *out)
{
    flush(out);
    if (out->fd != STDOUT_FILENO && close(out->fd) != 0 && !out->error)
        out->error = errno;
    out->fd = -1;
    return out->error ? export_file_failed(out->export, out->error) : EXIT_FINE;
}

void out_drop(struct out *out)
{
    if (out->fd >= 0 && out->fd != STDOUT_FILENO)
        (void)close(out->fd);
    out->fd = -1;
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

static bool follows(const unsigned char *text, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if ((text[i] & 0xC0) != 0x80)
            return false;
    return true;
}

/* Bytes of the UTF-8 sequence at `text` (Unicode 15, table 3-7), 0 if it is none. */
static size_t sequence(const unsigned char *text)
{
    if (text[0] < 0x80)
        return 1;
    if (text[0] >= 0xC2 && text[0] <= 0xDF)
        return follows(text + 1, 1) ? 2 : 0;
    if ((text[0] & 0xF0) == 0xE0) {
        bool overlong = text[0] == 0xE0 && text[1] < 0xA0;
        bool surrogate = text[0] == 0xED && text[1] >= 0xA0;
        return !overlong && !surrogate && follows(text + 1, 2) ? 3 : 0;
    }
    if (text[0] >= 0xF0 && text[0] <= 0xF4) {
        bool overlong = text[0] == 0xF0 && text[1] < 0x90;
        bool beyond = text[0] == 0xF4 && text[1] >= 0x90;
        return !overlong && !beyond && follows(text + 1, 3) ? 4 : 0;
    }
    return 0;
}

static void escape(struct out *out, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    const char code[] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
    const char simple[] = {'\\', (char)c};
    if (c == '"' || c == '\\')
        out_bytes(out, simple, sizeof simple);
    else
        out_bytes(out, code, sizeof code);
}

void out_json(struct out *out, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    out_text(out, "\"");
    while (*at) {
        size_t plain = 0;
        size_t length = 1;
        while (at[plain] >= 0x20 && at[plain] != '"' && at[plain] != '\\' &&
               (length = sequence(at + plain)) > 0)
            plain += length;
        out_bytes(out, at, plain);
        at += plain;
        if (length == 0)
            out_text(out, "\xEF\xBF\xBD");
        else if (*at)
            escape(out, *at);
        at += *at ? 1 : 0;
    }
    out_text(out, "\"");
}

void out_csv(struct out *out, const char *text)
{
    if (!strpbrk(text, "\",\r\n")) {
        out_text(out, text);
        return;
    }
    out_text(out, "\"");
    for (const char *at = text; *at; ++at) {
        if (*at == '"')
            out_text(out, "\"");
        out_bytes(out, at, 1);
    }
    out_text(out, "\"");
}
