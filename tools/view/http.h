/**
 * An HTTP server for one reader on this machine: libmicrohttpd, behind a token.
 *
 * It is a library of its own, librtlhttp.so, which `rtl view` loads: libmicrohttpd brings TLS
 * along, and no other command is to start later because of it. All is done by the thread that calls
 * `run`.
 *
 * Who is answered: a request whose Host names this machine's loopback address and port (else 403,
 * against names that are made to lead here), with GET or HEAD (else 405), of the token's folder
 * (else 404). No answer may be kept, framed, or read by another site's page.
 */
#ifndef RTL_TOOLS_VIEW_HTTP_H
#define RTL_TOOLS_VIEW_HTTP_H

#include <stdbool.h>
#include <stdint.h>

/** Letters of a token: 128 bits. */
#define HTTP_TOKEN 32u

/** The page, what is in a window of it, how much of it is made (`progress`). */
enum http_what { HTTP_PAGE, HTTP_WINDOW, HTTP_PROGRESS };

struct http_question {
    enum http_what what;
    uint64_t from, to; /**< of a window, ns since the begin of the page; from < to */
    int client;        /**< socket, for poll's POLLRDHUP: nobody waits any more */
};

struct http_answer {
    int file; /**< the whole of this file is the answer; the server closes it; -1: `text` is, with
                 status 500 unless it is `fine` */
    bool fine;
    char text[512];     /**< how much there is; or what went wrong */
    const char *policy; /**< of the page: its Content-Security-Policy; else NULL */
};

/** What is served. It outlives the server. */
struct http_site {
    int listener; /**< bound and listening; the server closes it */
    unsigned port;
    char token[HTTP_TOKEN + 1];
    /** Fills in the answer. False: nobody waits for it any more, the connection is closed. */
    bool (*answer)(void *context, const struct http_question *question, struct http_answer *answer);
    void *context;
};

struct http_server;

/** What the library gives away, as `rtl_http`. */
struct http_functions {
    /** Begins to serve; NULL when that is not possible. */
    struct http_server *(*start)(const struct http_site *site);
    /** Can be read when there is something to do. */
    int (*descriptor)(const struct http_server *server);
    /** In how many ms `run` is to be called at the latest; -1: no matter. */
    int (*timeout)(const struct http_server *server);
    /** Does what can be done without waiting for a client. */
    void (*run)(struct http_server *server);
    void (*stop)(struct http_server *server);
};

extern const struct http_functions rtl_http;

#endif
