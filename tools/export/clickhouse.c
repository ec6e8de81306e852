/* A database server in place of a file. */
#include "export/clickhouse.h"

#include "common/command.h"
#include "common/memory.h"
#include "common/parse.h"
#include "common/say.h"
#include "export/export.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

enum { KEY_URL = 600, KEY_CLUSTER, KEY_LABEL, KEY_TTL, KEY_JOBS, KEY_SAMPLE, KEY_PATIENCE };

static const struct argp_option option_list[] = {
    {"url", KEY_URL, "URL", 0,
     "of the server: http://[user[:password]@]host:port[/database]; given several times: of "
     "servers of "
     "the cluster, each of which gets its tables, and the first one takes the rows",
     0},
    {"label", KEY_LABEL, "KEY=VALUE", 0, "something to find the runs by; may be repeated", 0},
    {"sample", KEY_SAMPLE, "N", 0,
     "one in N launches of graphs has its kernels as rows; sums are of all", 0},
    {"cluster", KEY_CLUSTER, "NAME", 0,
     "make tables that are spread over a cluster of the server's", 0},
    {"ttl", KEY_TTL, "DAYS", 0, "make tables whose rows go after so many days", 0},
    {"jobs", KEY_JOBS, "N", 0, "connections at a time (default: 2)", 0},
    {"patience", KEY_PATIENCE, "SECONDS", 0,
     "how long the server may be away before loading is given up (default: 60)", 0},
    {0},
};

static void add(const char ***list, unsigned *count, const char *text)
{
    *list = memory_grown((void *)*list, *count + 1, sizeof **list);
    (*list)[(*count)++] = text;
}

static int at_least_one(const char *option, const char *text, unsigned most, unsigned *number)
{
    int status = parse_count(option, text, number);
    if (status == 0 && (*number == 0 || *number > most))
        return say_fail(EINVAL, "--%s is a number from 1 to %u, not '%s'", option, most, text);
    return status;
}

static int take_cluster(struct load_options *load, const char *name)
{
    for (const char *letter = name; *letter; ++letter)
        if (!isalnum((unsigned char)*letter) && *letter != '_' && *letter != '-')
            return say_fail(EINVAL, "--cluster: '%s' is no name of a cluster", name);
    return parse_once("cluster", name, &load->cluster);
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct clickhouse *clickhouse = state->input;
    struct load_options *load = &clickhouse->load;
    for (size_t i = 0; option_list[i].name; ++i)
        if (option_list[i].key == key)
            clickhouse->given = option_list[i].name;
    switch (key) {
    case KEY_URL:
        add(&load->urls, &load->url_count, value);
        return 0;
    case KEY_LABEL:
        add(&load->labels, &load->label_count, value);
        return 0;
    case KEY_CLUSTER:
        return take_cluster(load, value);
    case KEY_TTL:
        return at_least_one("ttl", value, 36500, &load->ttl_days);
    case KEY_JOBS:
        return at_least_one("jobs", value, LOAD_JOBS_MOST, &load->jobs);
    case KEY_SAMPLE:
        return at_least_one("sample", value, 1000000000, &load->sample);
    case KEY_PATIENCE:
        load->has_patience = 1;
        return parse_count("patience", value, &load->patience);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp clickhouse_argp = {.options = option_list, .parser = parse_option};

void clickhouse_path(struct clickhouse *clickhouse, const char *path)
{
    add(&clickhouse->paths, &clickhouse->count, path);
}

int clickhouse_run(const struct clickhouse *clickhouse)
{
    if (clickhouse->load.url_count == 0)
        return say_fail(EXIT_USAGE, "clickhouse is a server, and --url tells which: "
                                    "http://host:port/database");
    if (clickhouse->load.url_count > 1 && !clickhouse->load.cluster)
        return say_fail(EXIT_USAGE, "--url is given several times: that goes with --cluster");
    return load_traces(clickhouse->paths, clickhouse->count, &clickhouse->load);
}

void clickhouse_free(struct clickhouse *clickhouse)
{
    free((void *)clickhouse->load.urls);
    free((void *)clickhouse->load.labels);
    free((void *)clickhouse->paths);
    *clickhouse = (struct clickhouse){0};
}

const struct exporter export_clickhouse = {"clickhouse", "", EXPORT_SERVER, NULL};
