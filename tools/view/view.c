/* rtl view: opens the page of a trace in a browser, served or as a file. */
#include "common/command.h"
#include "common/filter.h"
#include "common/folder.h"
#include "common/output.h"
#include "common/parse.h"
#include "common/say.h"
#include "common/trace_command.h"
#include "common/written.h"
#include "view/browser.h"
#include "view/serve.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_PASSED    (FILTER_MOST + 3) /* and --detail, --page-size, --families */
#define MOST_ARGUMENTS (MOST_PASSED + 9)

struct view {
    const char *trace, *output, *browser;
    bool closed;   /* --no-open */
    unsigned port; /* 0: any */
    bool force;
    const char *families;
    struct filter filter;
    char *passed[MOST_PASSED];
    size_t passed_count;
    char page[PATH_MAX];
};

enum { KEY_DETAIL = 256, KEY_PAGE_SIZE, KEY_BROWSER, KEY_FAMILIES, KEY_PORT };

static const struct argp_option option_list[] = {
    {"output", 'o', "FILE", 0,
     "make the page in FILE, with all that there is room for, and serve nothing; a page that rtl "
     "has "
     "made before is replaced, another file is not",
     0},
    {"force", 'f', NULL, 0, "replace FILE whatever it is", 0},
    {"no-open", 'n', NULL, 0, "open no browser: the address, or FILE, is printed", 0},
    {"port", KEY_PORT, "N", 0, "serve at this port of 127.0.0.1 (default: any that is free)", 0},
    {"browser", KEY_BROWSER, "PROGRAM", 0, "open it with PROGRAM (default: xdg-open)", 0},
    {"detail", KEY_DETAIL, "SIZE", 0, "as in rtl export", 0},
    {"page-size", KEY_PAGE_SIZE, "SIZE", 0, "as in rtl export", 0},
    {"families", KEY_FAMILIES, "FILE", 0, "rules for families of kernels, before the built-in ones",
     0},
    {0},
};

/* Hands an option on to rtl export. */
static int pass(struct view *view, const char *option, const char *value)
{
    char *text = NULL;
    if (view->passed_count == MOST_PASSED)
        return say_fail(EINVAL, "more than %u options", MOST_PASSED);
    if (asprintf(&text, "--%s=%s", option, value) < 0)
        return say_fail(ENOMEM, "there is not enough memory");
    view->passed[view->passed_count++] = text;
    return 0;
}

static int pass_filters(struct view *view)
{
    int status = 0;
    for (size_t i = 0; i < view->filter.count && status == 0; ++i)
        status = pass(view, filter_name(view->filter.words[i].option), view->filter.words[i].text);
    return status ? EXIT_USAGE : EXIT_FINE;
}

static int parse_port(const char *text, unsigned *port)
{
    char *end = NULL;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || errno || *end || number == 0 || number > UINT16_MAX)
        return say_fail(EINVAL, "'%s' is no port for --port: it is a number from 1 to 65535", text);
    *port = (unsigned)number;
    return 0;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct view *view = state->input;
    switch (key) {
    case 'o':
        view->output = value;
        return 0;
    case 'f':
        view->force = true;
        return 0;
    case 'n':
        view->closed = true;
        return 0;
    case KEY_BROWSER:
        view->browser = value;
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &view->filter;
        return 0;
    case KEY_DETAIL:
        return pass(view, "detail", value);
    case KEY_PAGE_SIZE:
        return pass(view, "page-size", value);
    case KEY_FAMILIES:
        return parse_once("families", value, &view->families) ? EINVAL
                                                              : pass(view, "families", value);
    case KEY_PORT:
        return parse_port(value, &view->port);
    case ARGP_KEY_ARG:
        return trace_command_take(value, &view->trace);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* A folder that is this user's alone, for pages that nobody gave a name. */
static int make_folder(char *folder, size_t size)
{
    struct stat status;
    (void)snprintf(folder, size, "%.3000s/rtl-view-%u", folder_temporary(), (unsigned)geteuid());
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return say_fail(EXIT_USAGE, "no folder could be made as %s: %s", folder, say_errno(errno));
    if (lstat(folder, &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
        (status.st_mode & 077) != 0)
        return say_fail(EXIT_USAGE, "%s is not a folder of yours alone; -o names another place",
                        folder);
    return EXIT_FINE;
}

/* Where the page goes. */
static int name_page(struct view *view)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(view->trace, '/');
    const char *name = slash ? slash + 1 : view->trace;
    const char *dot = strrchr(name, '.');
    int stem = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    if (view->output) {
        (void)snprintf(view->page, sizeof view->page, "%s", view->output);
        return EXIT_FINE;
    }
    int status = make_folder(folder, sizeof folder);
    if (status == EXIT_FINE && (size_t)snprintf(view->page, sizeof view->page, "%s/%.*s.html",
                                                folder, stem, name) >= sizeof view->page)
        status = say_fail(EXIT_USAGE, "'%s' is too long a name", name);
    return status;
}

/* The command line of rtl export; returns its length. */
static int arguments_of(struct view *view, const char *output, bool force, char **arguments)
{
    static char words[][9] = {"rtl view", "--format", "html", "--output", "--force", "--"};
    int count = 0;
    for (size_t i = 0; i < 4; ++i)
        arguments[count++] = words[i];
    arguments[count++] = (char *)(uintptr_t)output;
    if (force)
        arguments[count++] = words[4];
    for (size_t i = 0; i < view->passed_count; ++i)
        arguments[count++] = view->passed[i];
    arguments[count++] = words[5];
    arguments[count++] = (char *)(uintptr_t)view->trace;
    arguments[count] = NULL;
    return count;
}

/* rtl export tells its name. */
static int make_page(struct view *view)
{
    char *arguments[MOST_ARGUMENTS];
    bool force = !view->output || view->force || output_is_own(view->page, EXPORT_PAGE_HEAD);
    return cmd_export(arguments_of(view, view->page, force, arguments), arguments);
}

static int open_page(const struct view *view)
{
    char page[PATH_MAX];
    if (!realpath(view->page, page))
        return say_fail(EXIT_USAGE, "%s is not there any more: %s", view->page, say_errno(errno));
    pid_t pid = browser_begin(view->browser, page, false);
    if (pid < 0)
        return EXIT_USAGE;
    if (browser_end(pid))
        return EXIT_FINE;
    return say_fail(EXIT_DIFFERENT,
                    "'%s' did not open %s; open it by hand, name a --browser, or make the page "
                    "alone (--no-open)",
                    browser_name(view->browser), page);
}

static int with_file(struct view *view)
{
    int status = name_page(view);
    if (status == EXIT_FINE)
        status = make_page(view);
    status = written(status);
    if (status == EXIT_FINE && !view->closed)
        status = open_page(view);
    return status;
}

static int with_server(struct view *view)
{
    char *arguments[MOST_ARGUMENTS];
    struct serve request = {.argv = arguments,
                            .trace = view->trace,
                            .filter = &view->filter,
                            .port = view->port,
                            .closed = view->closed,
                            .browser = view->browser};
    request.argc = arguments_of(view, "-", false, arguments);
    return serve(&request);
}

/* Where this rtl has no server the page is a file. */
static int show(struct view *view)
{
    int status = pass_filters(view);
    if (status != EXIT_FINE)
        return status;
    if (!view->output && serve_can())
        return with_server(view);
    if (view->port)
        return say_fail(EXIT_USAGE, "--port: this rtl was built without libmicrohttpd, so that it "
                                    "serves nothing");
    return with_file(view);
}

static int check(const struct view *view)
{
    if (trace_command_needs(view->trace, "rtl view FILE"))
        return EXIT_USAGE;
    if (view->closed && view->browser)
        return say_fail(EXIT_USAGE, "--no-open and --browser do not go together: the page is "
                                    "opened, or it is not");
    if (view->output && strcmp(view->output, "-") == 0)
        return say_fail(EXIT_USAGE, "-o -: a browser opens files; rtl export -F html -o - writes "
                                    "to the standard output");
    if (view->output && view->port)
        return say_fail(EXIT_USAGE, "--port and -o do not go together: the page is served, or it "
                                    "is a file");
    return EXIT_FINE;
}

int cmd_view(int argc, char **argv)
{
    static const char doc[] =
        "Shows a trace in a browser: serves the page of `rtl export -F html` and opens it."
        "\vThe page is served to this machine alone, at an address that nobody can guess, until "
        "Ctrl-C; where one zooms in it gets the single events that it has no room for. With -o it "
        "is "
        "a file instead, which needs no rtl.\n\n"
        "Examples:\n"
        "  rtl view trace.db\n"
        "  rtl view trace.db --no-open --port 8080     and on the other machine ssh -L "
        "8080:127.0.0.1:8080\n"
        "  rtl view trace.db -o page.html --no-open";
    const struct argp argp = {.options = option_list,
                              .parser = parse_option,
                              .args_doc = "FILE",
                              .doc = doc,
                              .children = filter_children(FILTER_ALL)};
    static struct view view;
    if (parse(&argp, argc, argv, 0, &view) != 0)
        return EXIT_USAGE;
    int status = check(&view);
    if (status == EXIT_FINE)
        status = show(&view);
    for (size_t i = 0; i < view.passed_count; ++i)
        free(view.passed[i]);
    filter_free(&view.filter);
    return status;
}
