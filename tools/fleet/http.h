/**
 * Requests to an HTTP server, by libcurl.
 *
 * It is a library of its own, librtlcurl.so, which is loaded where a database server is spoken to:
 * libcurl brings TLS and a dozen of libraries along, and no other command is to start later because
 * of it. A connection belongs to one thread at a time.
 */
#ifndef RTL_TOOLS_FLEET_HTTP_H
#define RTL_TOOLS_FLEET_HTTP_H

#include <stdbool.h>
#include <stddef.h>

/** Whom to speak to. The texts outlive the connection. */
struct http_target {
    const char *url;          /**< "http://host:port/" */
    const char *user, *key;   /**< go as headers of their own, never in the address */
    unsigned connect_seconds; /**< most to wait for a connection */
    unsigned longest_seconds; /**< most to wait for an answer */
};

struct http_reply {
    long status; /**< 0: there was no answer */
    char *text;  /**< of the answer, with a 0 behind it; belongs to the connection */
    size_t size;
    char error[256]; /**< why there was none */
};

struct http_connection;

/** What the library gives away, as `rtl_curl`. */
struct http_client {
    /** NULL when memory is short. */
    struct http_connection *(*open)(const struct http_target *target);
    /** Sends `size` bytes; `parameters` is what stands behind the '?', escaped already. True if an
     * answer has come, whatever its status. */
    bool (*post)(struct http_connection *connection, const char *parameters, const void *data,
                 size_t size, struct http_reply *reply);
    /** The same with what `more` puts into `room` (at most `size` bytes, which it may wait for),
     * until it puts nothing. */
    bool (*stream)(struct http_connection *connection, const char *parameters,
                   size_t (*more)(void *context, char *room, size_t size), void *context,
                   struct http_reply *reply);
    /** A text as it may stand in `parameters`; the caller frees it. NULL when memory is short. */
    char *(*escape)(struct http_connection *connection, const char *text);
    void (*close)(struct http_connection *connection);
};

__attribute__((visibility("default"))) extern const struct http_client rtl_curl;

#endif
