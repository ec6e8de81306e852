/* The only source of librtlcurl.so. */
#include "fleet/http.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct http_connection {
    const struct http_target *target;
    CURL *curl;
    struct curl_slist *headers;
    char *text;
    size_t size, room;
    char error[CURL_ERROR_SIZE];
    size_t (*more)(void *context, char *room, size_t size);
    void *context;
};

static size_t take(char *data, size_t unit, size_t count, void *state)
{
    struct http_connection *connection = state;
    size_t size = unit * count;
    if (connection->size + size + 1 > connection->room) {
        size_t room = 2 * (connection->size + size + 1);
        char *text = realloc(connection->text, room);
        if (!text)
            return 0;
        connection->text = text;
        connection->room = room;
    }
    memcpy(connection->text + connection->size, data, size);
    connection->size += size;
    connection->text[connection->size] = 0;
    return size;
}

static size_t give(char *room, size_t unit, size_t count, void *state)
{
    struct http_connection *connection = state;
    return connection->more(connection->context, room, unit * count);
}

static bool add_header(struct http_connection *connection, const char *name, const char *value)
{
    size_t size = strlen(name) + strlen(value) + 3;
    char *line = malloc(size);
    struct curl_slist *list = NULL;
    if (line) {
        (void)snprintf(line, size, *value ? "%s: %s" : "%s:%s", name, value);
        list = curl_slist_append(connection->headers, line);
    }
    free(line);
    if (list)
        connection->headers = list;
    return list != NULL;
}

static void close_connection(struct http_connection *connection)
{
    if (!connection)
        return;
    curl_easy_cleanup(connection->curl);
    curl_slist_free_all(connection->headers);
    free(connection->text);
    free(connection);
}

/* "Expect" would cost a round trip with each block. A server that is to keep the connection reads a
 * request to its end before it refuses it, and that of a stream never comes. */
static struct http_connection *open_connection(const struct http_target *target)
{
    static bool begun;
    if (!begun)
        begun = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    struct http_connection *connection = calloc(1, sizeof *connection);
    if (connection)
        connection->curl = curl_easy_init();
    if (!connection || !connection->curl || !add_header(connection, "Expect", "") ||
        !add_header(connection, "Connection", "close") ||
        !add_header(connection, "Content-Type", "application/octet-stream") ||
        !add_header(connection, "X-ClickHouse-User", target->user) ||
        (target->key[0] && !add_header(connection, "X-ClickHouse-Key", target->key))) {
        close_connection(connection);
        return NULL;
    }
    connection->target = target;
    return connection;
}

static void set_options(struct http_connection *connection, const char *address)
{
    CURL *curl = connection->curl;
    curl_easy_reset(curl);
    (void)curl_easy_setopt(curl, CURLOPT_URL, address);
    (void)curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    /* http_proxy is for the web: a password and the blocks are for nobody but the server. */
    (void)curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    (void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_HTTPHEADER, connection->headers);
    (void)curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, connection->error);
    (void)curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)connection->target->connect_seconds);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, connection);
    /* A connection that was used before may be gone, and libcurl would send the block again. */
    (void)curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_POST, 1L);
}

static bool perform(struct http_connection *connection, struct http_reply *reply)
{
    connection->size = 0;
    connection->error[0] = 0;
    (void)take("", 1, 0, connection);
    CURLcode result = curl_easy_perform(connection->curl);
    *reply = (struct http_reply){.text = connection->text, .size = connection->size};
    if (result != CURLE_OK) {
        (void)snprintf(reply->error, sizeof reply->error, "%s",
                       connection->error[0] ? connection->error : curl_easy_strerror(result));
        return false;
    }
    (void)curl_easy_getinfo(connection->curl, CURLINFO_RESPONSE_CODE, &reply->status);
    return true;
}

static char *address_of(const struct http_connection *connection, const char *parameters)
{
    size_t size = strlen(connection->target->url) + strlen(parameters) + 2;
    char *address = malloc(size);
    if (address)
        (void)snprintf(address, size, "%s?%s", connection->target->url, parameters);
    return address;
}

static bool no_memory(struct http_reply *reply)
{
    *reply = (struct http_reply){.error = "memory is short"};
    return false;
}

static bool post(struct http_connection *connection, const char *parameters, const void *data,
                 size_t size, struct http_reply *reply)
{
    char *address = address_of(connection, parameters);
    if (!address)
        return no_memory(reply);
    set_options(connection, address);
    (void)curl_easy_setopt(connection->curl, CURLOPT_TIMEOUT,
                           (long)connection->target->longest_seconds);
    (void)curl_easy_setopt(connection->curl, CURLOPT_POSTFIELDS, data);
    (void)curl_easy_setopt(connection->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
    bool done = perform(connection, reply);
    free(address);
    return done;
}

static bool stream(struct http_connection *connection, const char *parameters,
                   size_t (*more)(void *context, char *room, size_t size), void *context,
                   struct http_reply *reply)
{
    char *address = address_of(connection, parameters);
    if (!address)
        return no_memory(reply);
    connection->more = more;
    connection->context = context;
    set_options(connection, address);
    struct curl_slist *headers = curl_slist_append(NULL, "Transfer-Encoding: chunked");
    for (struct curl_slist *one = connection->headers; headers && one; one = one->next)
        (void)curl_slist_append(headers, one->data);
    (void)curl_easy_setopt(connection->curl, CURLOPT_HTTPHEADER, headers);
    (void)curl_easy_setopt(connection->curl, CURLOPT_READFUNCTION, give);
    (void)curl_easy_setopt(connection->curl, CURLOPT_READDATA, connection);
    bool done = perform(connection, reply);
    curl_slist_free_all(headers);
    free(address);
    return done;
}

static char *escape(struct http_connection *connection, const char *text)
{
    char *escaped = curl_easy_escape(connection->curl, text, 0);
    char *copy = escaped ? strdup(escaped) : NULL;
    curl_free(escaped);
    return copy;
}

__attribute__((visibility("default")))
const struct http_client rtl_curl = {open_connection, post, stream, escape, close_connection};
