#include "view/http.h"

#include <ctype.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_CLIENTS 32u  /* connections at a time */
#define PATIENCE     120u /* s, for a client that neither reads nor asks */

/* Of an answer that shows nothing. */
#define NO_POLICY "default-src 'none'; frame-ancestors 'none'"

struct http_server {
    const struct http_site *site;
    struct MHD_Daemon *daemon;
};

/* Answers. */

static bool add_headers(struct MHD_Response *response, const char *type, const char *policy)
{
    const char *const headers[][2] = {
        {MHD_HTTP_HEADER_CONTENT_TYPE, type}, {MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"},
        {"Content-Security-Policy", policy},  {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Referrer-Policy", "no-referrer"},   {"X-Content-Type-Options", "nosniff"},
    };
    bool added = true;
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; ++i)
        added = added && MHD_add_response_header(response, headers[i][0], headers[i][1]) == MHD_YES;
    return added;
}

static enum MHD_Result queue(struct MHD_Connection *connection, unsigned status,
                             struct MHD_Response *response)
{
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned status,
                                   const char *text)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
    if (!response)
        return MHD_NO;
    bool fine = add_headers(response, "text/plain; charset=utf-8", NO_POLICY);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        fine = fine && MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    if (fine)
        return queue(connection, status, response);
    MHD_destroy_response(response);
    return MHD_NO;
}

static enum MHD_Result answer_file(struct MHD_Connection *connection,
                                   const struct http_answer *answer)
{
    struct stat status;
    struct MHD_Response *response =
        fstat(answer->file, &status) == 0
            ? MHD_create_response_from_fd_at_offset64((uint64_t)status.st_size, answer->file, 0)
            : NULL;
    if (!response) {
        (void)close(answer->file);
        return MHD_NO;
    }
    if (add_headers(response,
                    answer->policy ? "text/html; charset=utf-8" : "application/octet-stream",
                    answer->policy ? answer->policy : NO_POLICY))
        return queue(connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return MHD_NO;
}

/* Questions. */

static const char *value_of(struct MHD_Connection *connection, enum MHD_ValueKind kind,
                            const char *name)
{
    const char *value = MHD_lookup_connection_value(connection, kind, name);
    return value ? value : "";
}

/* A browser names the host as its address line does. */
static bool is_here(const struct http_site *site, const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        char name[32];
        (void)snprintf(name, sizeof name, "%s:%u", names[i], site->port);
        if (strcmp(host, name) == 0)
            return true;
    }
    return false;
}

/* What follows the token; NULL if it is another one. All letters are looked at, so that the time
 * does not tell how many are right. */
static const char *behind_token(const struct http_site *site, const char *path)
{
    unsigned char other = 0;
    if (path[0] != '/' || strlen(path) < HTTP_TOKEN + 2 || path[HTTP_TOKEN + 1] != '/')
        return NULL;
    for (size_t i = 0; i < HTTP_TOKEN; ++i)
        other |= (unsigned char)(path[i + 1] ^ site->token[i]);
    return other ? NULL : path + HTTP_TOKEN + 2;
}

static bool read_number(const char *text, uint64_t *number)
{
    char *end = NULL;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return isdigit((unsigned char)text[0]) && errno == 0 && *end == '\0';
}

static bool read_window(struct MHD_Connection *connection, struct http_question *question)
{
    question->what = HTTP_WINDOW;
    return read_number(value_of(connection, MHD_GET_ARGUMENT_KIND, "from"), &question->from) &&
           read_number(value_of(connection, MHD_GET_ARGUMENT_KIND, "to"), &question->to) &&
           question->from < question->to;
}

static enum MHD_Result ask(const struct http_site *site, struct MHD_Connection *connection,
                           struct http_question *question)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct http_answer answer = {.file = -1};
    question->client = info ? info->connect_fd : -1;
    if (!site->answer(site->context, question, &answer))
        return MHD_NO;
    if (answer.file >= 0)
        return answer_file(connection, &answer);
    return answer_text(connection, answer.fine ? MHD_HTTP_OK : MHD_HTTP_INTERNAL_SERVER_ERROR,
                       answer.text);
}

static enum MHD_Result take(void *context, struct MHD_Connection *connection, const char *path,
                            const char *method, const char *version, const char *data,
                            size_t *data_size, void **request)
{
    const struct http_site *site = context;
    struct http_question question = {.what = HTTP_PAGE};
    (void)version, (void)data, (void)data_size, (void)request;
    if (!is_here(site, value_of(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST)))
        return answer_text(connection, MHD_HTTP_FORBIDDEN, "This is not the host's name.\n");
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return answer_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET and HEAD.\n");
    const char *rest = behind_token(site, path);
    if (rest && rest[0] == '\0')
        return ask(site, connection, &question);
    question.what = HTTP_PROGRESS;
    if (rest && strcmp(rest, "progress") == 0)
        return ask(site, connection, &question);
    if (!rest || strcmp(rest, "window") != 0)
        return answer_text(connection, MHD_HTTP_NOT_FOUND, "There is nothing here.\n");
    if (!read_window(connection, &question))
        return answer_text(connection, MHD_HTTP_BAD_REQUEST,
                           "A window has a begin and an end behind it: from=NS&to=NS.\n");
    return ask(site, connection, &question);
}

/* The server. */

static struct http_server *start(const struct http_site *site)
{
    struct http_server *server = malloc(sizeof *server);
    if (!server)
        return NULL;
    server->site = site;
    server->daemon =
        MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, take, (void *)(uintptr_t)site,
                         MHD_OPTION_LISTEN_SOCKET, site->listener, MHD_OPTION_CONNECTION_LIMIT,
                         MOST_CLIENTS, MHD_OPTION_CONNECTION_TIMEOUT, PATIENCE, MHD_OPTION_END);
    if (server->daemon)
        return server;
    free(server);
    return NULL;
}

static int descriptor(const struct http_server *server)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info ? info->epoll_fd : -1;
}

static int timeout(const struct http_server *server)
{
    MHD_UNSIGNED_LONG_LONG ms;
    if (MHD_get_timeout(server->daemon, &ms) != MHD_YES)
        return -1;
    return ms < 1000 ? (int)ms : 1000;
}

static void run(struct http_server *server)
{
    (void)MHD_run(server->daemon);
}

static void stop(struct http_server *server)
{
    MHD_stop_daemon(server->daemon);
    free(server);
}

__attribute__((visibility("default")))
const struct http_functions rtl_http = {start, descriptor, timeout, run, stop};
