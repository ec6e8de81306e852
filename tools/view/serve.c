#include "view/serve.h"

#include "common/command.h"
#include "common/paths.h"
#include "common/say.h"
#include "common/written.h"
#include "export/served.h"
#include "view/browser.h"
#include "view/first.h"
#include "view/http.h"
#include "view/job.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define HTTP "librtlhttp.so"

#define BACKLOG 16

/* What the page may do: its own script and style, and ask this server. */
#define POLICY                                                                                     \
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "   \
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

struct server {
    const struct serve *serve;
    struct http_site site;
    struct export_served *served;
    struct stat trace;         /* the file that the page is of */
    int page;                  /* the file that has it; -1: it is being made */
    int first;                 /* the one that has the page until then; -1 */
    struct job_process making; /* the page, while it is being made */
    bool made;
    int signals;  /* signalfd of those that end it */
    int children; /* and of SIGCHLD */
    pid_t opener; /* the program that opens the page, while it is there; 0 */
    char address[sizeof "http://127.0.0.1:65535//" + HTTP_TOKEN];
};

static const struct http_functions *http;

bool serve_can(void)
{
    char path[PATH_MAX];
    if (!paths_library(HTTP, path, sizeof path))
        return false;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    http = library ? dlsym(library, "rtl_http") : NULL;
    if (!http)
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
        say("the page cannot be served: %s", dlerror());
    return http != NULL;
}

/* Where. */

static bool make_token(char token[HTTP_TOKEN + 1])
{
    unsigned char random[HTTP_TOKEN / 2];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return false;
    for (size_t i = 0; i < sizeof random; ++i)
        (void)snprintf(token + 2 * i, 3, "%02x", random[i]);
    return true;
}

/* A socket of this machine alone. -1 with errno. */
static int listen_at(unsigned port)
{
    const int on = 1;
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0)
        return -1;
    /* A port that was left a moment ago may be had again. */
    if (setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(listener, (const struct sockaddr *)&address, sizeof address) == 0 &&
        listen(listener, BACKLOG) == 0)
        return listener;
    int error = errno;
    (void)close(listener);
    errno = error;
    return -1;
}

static int begin_to_listen(struct server *server)
{
    struct http_site *site = &server->site;
    struct sockaddr_in address = {0};
    socklen_t size = sizeof address;
    site->listener = listen_at(server->serve->port);
    if (site->listener < 0 && server->serve->port)
        return say_fail(EXIT_USAGE, "--port %u: it could not be opened: %s", server->serve->port,
                        say_errno(errno));
    if (site->listener < 0 ||
        getsockname(site->listener, (struct sockaddr *)&address, &size) != 0 ||
        !make_token(site->token))
        return say_fail(EXIT_USAGE, "the page could not be served: %s", say_errno(errno));
    site->port = ntohs(address.sin_port);
    (void)snprintf(server->address, sizeof server->address, "http://127.0.0.1:%u/%s/", site->port,
                   site->token);
    return EXIT_FINE;
}

/* What. */

static int work_page(void *context)
{
    const struct server *server = context;
    return export_served(server->serve->argc, server->serve->argv, server->served);
}

static int work_first(void *context)
{
    return first_write(context);
}

static struct job page_job(struct server *server)
{
    return (struct job){.work = work_page, .context = server, .signals = -1, .client = -1};
}

/* Whoever looks at a large trace sees the first page in a moment. False: there is none. */
static bool make_first(struct server *server)
{
    char said[256];
    int status;
    struct first first = {.trace = server->serve->trace, .filter = server->serve->filter};
    const struct job job = {.work = work_first,
                            .context = &first,
                            .signals = -1,
                            .client = -1,
                            .said = said,
                            .said_size = sizeof said};
    if (!first_is_wanted(&first) || job_do(&job, &server->first, &status) != JOB_DONE)
        return false;
    return true;
}

/* Makes the page, or begins to. */
static int make_page(struct server *server)
{
    const struct job job = page_job(server);
    int status;
    if (make_first(server))
        return job_begin(&job, &server->making) ? EXIT_FINE : EXIT_USAGE;
    (void)job_do(&job, &server->page, &status);
    server->made = true;
    return status;
}

/* The page that was begun is there, or nobody waits for it any more. Returns its exit status. */
static int end_page(struct server *server, bool wanted)
{
    const struct job job = page_job(server);
    int status;
    (void)job_end(&job, &server->making, wanted, &server->page, &status);
    server->made = true;
    return status;
}

/* A recording may have taken the name: its events are none of this page's. */
static bool is_another(const struct server *server)
{
    struct stat now;
    return stat(server->serve->trace, &now) == 0 &&
           (now.st_dev != server->trace.st_dev || now.st_ino != server->trace.st_ino);
}

static bool answer_page(const struct server *server, struct http_answer *answer)
{
    answer->policy = POLICY;
    answer->file = fcntl(server->made ? server->page : server->first, F_DUPFD_CLOEXEC, 0);
    (void)snprintf(answer->text, sizeof answer->text, "the page could not be read: %s",
                   say_errno(errno));
    return true;
}

/* How many kernels were read for the page, or that it is there. */
static bool answer_progress(const struct server *server, struct http_answer *answer)
{
    answer->fine = true;
    if (server->made)
        (void)snprintf(answer->text, sizeof answer->text, "made");
    else
        (void)snprintf(answer->text, sizeof answer->text, "%" PRIu64, server->served->kernels);
    return true;
}

static bool answer_window(struct server *server, const struct http_question *question,
                          struct http_answer *answer)
{
    const struct job job = {.work = work_page,
                            .context = server,
                            .signals = server->signals,
                            .client = question->client,
                            .said = answer->text,
                            .said_size = sizeof answer->text};
    int status;
    if (!server->made) {
        (void)snprintf(answer->text, sizeof answer->text, "the page is not there yet");
        return true;
    }
    if (is_another(server)) {
        (void)snprintf(answer->text, sizeof answer->text,
                       "%.200s is another file now: begin rtl view again", server->serve->trace);
        say("%s", answer->text);
        return true;
    }
    server->served->window = true;
    server->served->from = question->from;
    server->served->to = question->to;
    enum job_end end = job_do(&job, &answer->file, &status);
    if (end == JOB_FAILED)
        say("a part of the page could not be made: %s", answer->text);
    return end != JOB_GIVEN_UP;
}

static bool answer(void *context, const struct http_question *question, struct http_answer *answer)
{
    struct server *server = context;
    switch (question->what) {
    case HTTP_WINDOW:
        return answer_window(server, question, answer);
    case HTTP_PROGRESS:
        return answer_progress(server, answer);
    default:
        return answer_page(server, answer);
    }
}

/* The browser. */

static int not_opened(const struct server *server)
{
    return say_fail(EXIT_DIFFERENT,
                    "'%s' did not open the page; open %s by hand, or name a --browser",
                    browser_name(server->serve->browser), server->address);
}

static void open_page(struct server *server)
{
    if (server->serve->closed)
        return;
    server->opener = browser_begin(server->serve->browser, server->address, true);
    if (server->opener < 0) {
        server->opener = 0;
        (void)not_opened(server);
    }
}

/* A child has ended: whoever opened the page, or a job that has been seen to already. */
static void take_child(struct server *server)
{
    struct signalfd_siginfo info;
    siginfo_t ended = {0};
    (void)!read(server->children, &info, sizeof info);
    if (server->opener == 0 ||
        waitid(P_PID, (id_t)server->opener, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        ended.si_pid == 0)
        return;
    if (!browser_end(server->opener))
        (void)not_opened(server);
    server->opener = 0;
}

/* Serving. */

/* A descriptor that tells of a signal that is blocked from now on. */
static int watch(int first, int second)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, first);
    (void)sigaddset(&set, second);
    if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0)
        return -1;
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int run(struct server *server, struct http_server *running)
{
    struct pollfd events[] = {{.fd = server->signals, .events = POLLIN},
                              {.fd = server->children, .events = POLLIN},
                              {.fd = http->descriptor(running), .events = POLLIN},
                              {.fd = server->made ? -1 : server->making.ended, .events = POLLIN}};
    int status = EXIT_FINE;
    while (!(events[0].revents & POLLIN) && status == EXIT_FINE) {
        if (poll(events, sizeof events / sizeof events[0], http->timeout(running)) < 0 &&
            errno != EINTR)
            return say_fail(EXIT_USAGE, "the page could not be served any longer: %s",
                            say_errno(errno));
        if (events[1].revents)
            take_child(server);
        if (events[3].revents) {
            events[3].fd = -1;
            events[3].revents = 0; /* which a poll that is interrupted leaves */
            status = end_page(server, true);
        }
        http->run(running);
    }
    return status;
}

static int tell(const struct server *server)
{
    (void)printf("%s\n", server->address);
    if (isatty(STDERR_FILENO) == 1)
        (void)fprintf(stderr, "rtl: the page is served until Ctrl-C\n");
    return written(EXIT_FINE);
}

static int go(struct server *server)
{
    (void)signal(SIGPIPE, SIG_IGN);
    server->signals = watch(SIGINT, SIGTERM);
    server->children = watch(SIGCHLD, SIGCHLD);
    struct http_server *running =
        server->signals < 0 || server->children < 0 ? NULL : http->start(&server->site);
    if (!running)
        return say_fail(EXIT_USAGE, "the page could not be served: %s", say_errno(errno));
    server->site.listener = -1; /* it is closed there */
    int status = tell(server);
    if (status == EXIT_FINE) {
        open_page(server);
        status = run(server, running);
    }
    http->stop(running);
    return status;
}

int serve(const struct serve *serve)
{
    struct server server = {.serve = serve,
                            .page = -1,
                            .first = -1,
                            .signals = -1,
                            .children = -1,
                            .site.listener = -1};
    server.site.answer = answer;
    server.site.context = &server;
    server.served = job_share(sizeof *server.served);
    int status = server.served ? begin_to_listen(&server)
                               : say_fail(EXIT_USAGE, "there is not enough memory");
    /* Where it is not there the page tells. */
    (void)!stat(serve->trace, &server.trace);
    if (status == EXIT_FINE)
        status = make_page(&server);
    if (status == EXIT_FINE)
        status = go(&server);
    if (server.making.pid > 0 && !server.made)
        (void)end_page(&server, false);
    const int files[] = {server.page, server.first, server.signals, server.children,
                         server.site.listener};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; ++i)
        if (files[i] >= 0)
            (void)close(files[i]);
    return status;
}
