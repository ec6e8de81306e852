/**
 * Queries to a ClickHouse over HTTP, and what its refusals mean.
 */
#ifndef RTL_TOOLS_FLEET_SERVER_H
#define RTL_TOOLS_FLEET_SERVER_H

#include "fleet/http.h"
#include "fleet/url.h"

#include <stdbool.h>
#include <stddef.h>

/** What a failure asks for. */
enum server_failed {
    SERVER_FINE,
    SERVER_LATER, /**< the connection broke, or the server is too busy: later it may go */
    SERVER_NEVER  /**< it will go no better next time */
};

/** A connection to a server, of one thread. */
struct server {
    const struct url *url;
    struct http_target target;
    struct http_connection *connection;
    enum server_failed failed; /**< of the last query */
    int code;                  /**< of the server's exception, 0 if it was none */
    char error[1024];          /**< one sentence that names the server, without "rtl:" */
};

/** ClickHouse's numbers of exceptions that more than this file asks for. */
#define SERVER_UNKNOWN_TABLE 60
#define SERVER_SAME_QUERY    216

/** Loads the library. EXIT_FINE, or EXIT_USAGE when a sentence has been said: RTL was built without
 * libcurl. Once, before other threads. */
int server_begin(void);

/** A connection, which is made with the first query. `url` outlives it. */
struct server server_open(const struct url *url);
void server_close(struct server *server);

/** Asks, with settings ("" or "&name=value…", escaped). NULL, with `failed` and `error`, or the
 * answer, which lives until the next query. */
const char *server_ask(struct server *server, const char *settings, const char *query);

/** Gives data to a query that ends with "FORMAT …". False with `failed` and `error`. */
bool server_insert(struct server *server, const char *settings, const char *query, const void *data,
                   size_t size);

/** As server_insert, with what `more` gives (http.h). */
bool server_stream(struct server *server, const char *settings, const char *query,
                   size_t (*more)(void *context, char *room, size_t size), void *context);

/** `format`ted query, as server_ask; for queries of less than 4096 bytes. */
const char *server_askf(struct server *server, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
