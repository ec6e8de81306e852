#include "fleet/url.h"

#include "common/command.h"
#include "common/say.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIKE "http://[user[:password]@]host:port[/database]"

static int digit(char letter)
{
    if (isdigit((unsigned char)letter))
        return letter - '0';
    return isxdigit((unsigned char)letter) ? tolower((unsigned char)letter) - 'a' + 10 : -1;
}

/* Without line ends: they would end a header. */
static bool decode(const char *from, size_t length, char *to, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < length; ++i) {
        int letter = (unsigned char)from[i];
        if (letter == '%') {
            if (i + 2 >= length || digit(from[i + 1]) < 0 || digit(from[i + 2]) < 0)
                return false;
            letter = digit(from[i + 1]) * 16 + digit(from[i + 2]);
            i += 2;
        }
        if (letter < ' ' || letter == 127 || used + 1 >= size)
            return false;
        to[used++] = (char)letter;
    }
    to[used] = 0;
    return true;
}

static int read_file(const char *path, struct url *url)
{
    char line[256] = "";
    FILE *file = fopen(path, "re");
    if (!file)
        return say_fail(EXIT_USAGE, "the password's file %s cannot be read: %s", path,
                        say_errno(errno));
    (void)fgets(line, sizeof line, file);
    (void)fclose(file);
    if (!decode("", 0, url->password, sizeof url->password))
        return EXIT_USAGE;
    (void)snprintf(url->password, sizeof url->password, "%.*s", (int)strcspn(line, "\r\n"), line);
    return EXIT_FINE;
}

static int from_environment(struct url *url)
{
    /* NOLINTBEGIN(concurrency-mt-unsafe): one thread */
    const char *password = getenv("RTL_CLICKHOUSE_PASSWORD");
    const char *file = getenv("RTL_CLICKHOUSE_PASSWORD_FILE");
    /* NOLINTEND(concurrency-mt-unsafe) */
    if (!password)
        return file ? read_file(file, url) : EXIT_FINE;
    if (strlen(password) >= sizeof url->password || strpbrk(password, "\r\n"))
        return say_fail(EXIT_USAGE, "RTL_CLICKHOUSE_PASSWORD is too long, or of several lines");
    (void)snprintf(url->password, sizeof url->password, "%s", password);
    return EXIT_FINE;
}

/* user[:password] */
static bool read_user(const char *text, size_t length, struct url *url, bool *has_password)
{
    const char *colon = memchr(text, ':', length);
    size_t user = colon ? (size_t)(colon - text) : length;
    *has_password = colon != NULL;
    return decode(text, user, url->user, sizeof url->user) &&
           (!colon || decode(colon + 1, length - user - 1, url->password, sizeof url->password));
}

static bool is_host(const char *text, size_t length)
{
    if (length == 0 || length > 400)
        return false;
    for (size_t i = 0; i < length; ++i)
        if (!isalnum((unsigned char)text[i]) && !strchr("-._:[]", text[i]))
            return false;
    return true;
}

static bool is_database(const char *name)
{
    for (size_t i = 0; name[i]; ++i)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_')
            return false;
    return name[0] && !isdigit((unsigned char)name[0]);
}

/* Behind the colon that is in no brackets (an address of IPv6 is in some), if there is one. */
static bool has_port(const char *host, size_t length)
{
    const char *end = host + length;
    const char *colon = memchr(host, '[', length) ? memchr(host, ']', length) : host;
    colon = colon ? memchr(colon, ':', (size_t)(end - colon)) : NULL;
    if (!colon)
        return true;
    size_t digits = strspn(colon + 1, "0123456789");
    return digits && colon + 1 + digits == end && digits <= 5 && strtoul(colon + 1, NULL, 10) &&
           strtoul(colon + 1, NULL, 10) <= UINT16_MAX;
}

static bool take_apart(const char *text, struct url *url, bool *has_password)
{
    size_t scheme = strncmp(text, "http://", 7) == 0    ? 7
                    : strncmp(text, "https://", 8) == 0 ? 8
                                                        : 0;
    const char *rest = text + scheme;
    size_t length = strcspn(rest, "/?#");
    const char *path = rest + length;
    const char *at = NULL;
    for (size_t i = 0; i < length; ++i)
        at = rest[i] == '@' ? rest + i : at;
    if (!scheme || *path == '?' || *path == '#')
        return false;
    if (at && !read_user(rest, (size_t)(at - rest), url, has_password))
        return false;
    const char *host = at ? at + 1 : rest;
    if (!is_host(host, (size_t)(path - host)) || !has_port(host, (size_t)(path - host)))
        return false;
    path += *path == '/';
    size_t name = strcspn(path, "/?#");
    if (path[name] && strcmp(path + name, "/") != 0)
        return false;
    if (name &&
        (!decode(path, name, url->database, sizeof url->database) || !is_database(url->database)))
        return false;
    (void)snprintf(url->base, sizeof url->base, "%.*s%.*s/", (int)scheme, text,
                   (int)strcspn(host, "/"), host);
    return true;
}

int url_read(const char *text, struct url *url)
{
    bool has_password = false;
    *url = (struct url){.user = "default", .database = "default"};
    if (!take_apart(text, url, &has_password))
        return say_fail(EXIT_USAGE,
                        "--url is not of the form " LIKE
                        ", with a port from 1 to 65535 and a database of letters, digits and _");
    (void)snprintf(url->shown, sizeof url->shown, "%s%s", url->base, url->database);
    return has_password ? EXIT_FINE : from_environment(url);
}
