#include "fleet/server.h"

#include "common/command.h"
#include "common/memory.h"
#include "common/paths.h"
#include "common/say.h"

#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_SECONDS 10u
#define LONGEST_SECONDS 600u

static const struct http_client *http;

int server_begin(void)
{
    char path[PATH_MAX];
    if (http)
        return EXIT_FINE;
    if (!paths_library("librtlcurl.so", path, sizeof path))
        return say_fail(EXIT_USAGE, "this rtl was built without libcurl, and speaks to no server");
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    http = library ? dlsym(library, "rtl_curl") : NULL;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
    return http ? EXIT_FINE : say_fail(EXIT_USAGE, "no server can be spoken to: %s", dlerror());
}

struct server server_open(const struct url *url)
{
    return (struct server){.url = url,
                           .target = {.url = url->base,
                                      .user = url->user,
                                      .key = url->password,
                                      .connect_seconds = CONNECT_SECONDS,
                                      .longest_seconds = LONGEST_SECONDS}};
}

void server_close(struct server *server)
{
    if (server->connection)
        http->close(server->connection);
    server->connection = NULL;
}

static void connect_to(struct server *server)
{
    if (!server->connection)
        server->connection = http->open(&server->target);
    if (!server->connection)
        memory_is_short();
}

/* What went wrong. */

/* The sentence of an exception, without what is about its making. */
static void read_exception(const char *text, char *sentence, size_t size)
{
    const char *begin = strstr(text, "Exception: ");
    begin = begin ? begin + strlen("Exception: ") : text;
    const char *end = strstr(begin, ", e.what()");
    if (!end)
        end = strstr(begin, " (version ");
    size_t length = end ? (size_t)(end - begin) : strcspn(begin, "\n");
    while (length && strchr(". \n", begin[length - 1]))
        --length;
    (void)snprintf(sentence, size, "%.*s", (int)(length < 240 ? length : 240), begin);
    for (char *letter = sentence; *letter; ++letter)
        if (iscntrl((unsigned char)*letter))
            *letter = ' ';
}

/* NOT_ENOUGH_SPACE, and what the system says in an exception about a file. */
static bool is_full(int code, const char *text)
{
    return code == 243 || strstr(text, "No space left on device") != NULL;
}

static bool is_password(int code)
{
    return code == 192 || code == 193 || code == 194 || code == 516;
}

/* TIMEOUT_EXCEEDED, TOO_MANY_SIMULTANEOUS_QUERIES, NO_FREE_CONNECTION, SOCKET_TIMEOUT,
 * NETWORK_ERROR, MEMORY_LIMIT_EXCEEDED, TOO_MANY_PARTS, ALL_CONNECTION_TRIES_FAILED,
 * ATTEMPT_TO_READ_AFTER_EOF, QUERY_WITH_SAME_ID, QUERY_WAS_CANCELLED, ABORTED. */
static bool is_passing(int code)
{
    static const int passing[] = {159, 202, 203, 209, 210, 241, 252, 279, 32, 216, 394, 236};
    for (size_t i = 0; i < sizeof passing / sizeof passing[0]; ++i)
        if (passing[i] == code)
            return true;
    return false;
}

static void fail(struct server *server, enum server_failed how, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void fail(struct server *server, enum server_failed how, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    server->failed = how;
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang-tidy 14 misses va_start */
    (void)vsnprintf(server->error, sizeof server->error, format, arguments);
    va_end(arguments);
}

/* The exception of a reply, NULL if it has none. One after the head of the answer has gone out is
 * in its text; servers from 23.9 to 25.10 make what they have written valid JSON with it. */
static const char *exception_of(const struct http_reply *reply)
{
    static const char key[] = "\"exception\": \"Code: ";
    const char *within = NULL;
    if (reply->status == 200 && reply->text[0] == '{')
        within = strstr(reply->text, key);
    if (within)
        return within + sizeof key - sizeof "Code: ";
    return reply->status == 200 && strncmp(reply->text, "Code: ", 6) != 0 ? NULL : reply->text;
}

static void refuse(struct server *server, const struct http_reply *reply, const char *exception)
{
    char sentence[256];
    const char *shown = server->url->shown;
    server->code = 0;
    if (strncmp(exception, "Code: ", 6) == 0)
        server->code = (int)strtol(exception + 6, NULL, 10);
    read_exception(exception, sentence, sizeof sentence);
    if (server->code == 0)
        fail(server, reply->status >= 500 ? SERVER_LATER : SERVER_NEVER,
             "%s answers with status %ld, and not as a ClickHouse does", shown, reply->status);
    else if (is_password(server->code))
        fail(server, SERVER_NEVER, "%s refuses the user '%s' or the password", shown,
             server->url->user);
    else if (server->code == 81)
        fail(server, SERVER_NEVER, "%s: there is no database '%s'", server->url->base,
             server->url->database);
    else if (is_full(server->code, exception))
        fail(server, SERVER_NEVER, "%s has no room left on its disk: %s", shown, sentence);
    else
        fail(server, is_passing(server->code) ? SERVER_LATER : SERVER_NEVER,
             "%s refuses a query: %s", shown, sentence);
}

static const char *answered(struct server *server, bool came, const struct http_reply *reply)
{
    const char *exception = came ? exception_of(reply) : NULL;
    server->failed = SERVER_FINE;
    if (!came)
        fail(server, SERVER_LATER, "%s does not answer: %s", server->url->shown, reply->error);
    else if (exception)
        refuse(server, reply, exception);
    return server->failed == SERVER_FINE ? reply->text : NULL;
}

/* Queries. */

static char *parameters_of(struct server *server, const char *settings, const char *query)
{
    char *escaped = http->escape(server->connection, query);
    size_t size = strlen(server->url->database) + strlen(settings) + strlen(escaped ? escaped : "");
    char *parameters = memory_new(size + 64, 1);
    if (!escaped)
        memory_is_short();
    (void)snprintf(parameters, size + 64, "database=%s%s%s%s", server->url->database, settings,
                   *query ? "&query=" : "", escaped);
    free(escaped);
    return parameters;
}

const char *server_ask(struct server *server, const char *settings, const char *query)
{
    struct http_reply reply;
    connect_to(server);
    char *parameters = parameters_of(server, settings, "");
    bool came = http->post(server->connection, parameters, query, strlen(query), &reply);
    free(parameters);
    return answered(server, came, &reply);
}

const char *server_askf(struct server *server, const char *format, ...)
{
    char query[4096];
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang-tidy 14 misses va_start */
    (void)vsnprintf(query, sizeof query, format, arguments);
    va_end(arguments);
    return server_ask(server, "", query);
}

bool server_insert(struct server *server, const char *settings, const char *query, const void *data,
                   size_t size)
{
    struct http_reply reply;
    connect_to(server);
    char *parameters = parameters_of(server, settings, query);
    bool came = http->post(server->connection, parameters, data, size, &reply);
    free(parameters);
    return answered(server, came, &reply) != NULL;
}

bool server_stream(struct server *server, const char *settings, const char *query,
                   size_t (*more)(void *context, char *room, size_t size), void *context)
{
    struct http_reply reply;
    connect_to(server);
    char *parameters = parameters_of(server, settings, query);
    bool came = http->stream(server->connection, parameters, more, context, &reply);
    free(parameters);
    return answered(server, came, &reply) != NULL;
}
