/* The files of an export, and their names. */
#include "export/export.h"

#include "common/command.h"
#include "common/plain.h"
#include "common/say.h"
#include "common/show.h"
#include "common/written.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* How much of a name is before its ending: NAME.json.gz ends in .json.gz. */
static size_t stem_of(const char *path)
{
    const char *name = base_name(path);
    size_t length = strlen(name);
    if (export_is_packed(path))
        length -= strlen(EXPORT_PACKED);
    size_t at = length > 0 ? length - 1 : 0;
    while (at > 0 && name[at] != '.')
        --at;
    return (size_t)(name - path) + (at > 0 ? at : length);
}

bool export_is_packed(const char *path)
{
    size_t length = strlen(path);
    size_t ending = strlen(EXPORT_PACKED);
    return length > ending && strcmp(path + length - ending, EXPORT_PACKED) == 0;
}

/* Parts `path` into stem and ending. */
static int part_name(struct export_files *files, const char *path)
{
    size_t stem = stem_of(path);
    if (stem >= sizeof files->stem || strlen(path) - stem >= sizeof files->ending)
        return say_fail(EXIT_USAGE, "'%s' is too long a name", path);
    memcpy(files->stem, path, stem);
    files->stem[stem] = '\0';
    (void)snprintf(files->ending, sizeof files->ending, "%s", path + stem);
    return EXIT_FINE;
}

int export_files_begin(struct export *export, const char *output)
{
    struct export_files *files = &export->files;
    output_signals();
    if (output && !output[0])
        return say_fail(EXIT_USAGE, "-o: the output's name is empty");
    if (output && (export->split_size || export->per_rank) && output_is_device(output))
        return say_fail(EXIT_USAGE, "-o %s: it is one place, and --%s makes files", output,
                        export->per_rank ? "per-rank" : "split-size");
    int status = part_name(files, output ? output : base_name(export->path));
    if (!output)
        (void)snprintf(files->ending, sizeof files->ending, "%s%s", export->exporter->ending,
                       export->gzip ? EXPORT_PACKED : "");
    return status;
}

/* The name of the file that is begun: stem[-rankR][-PART].ending */
static bool make_name(const struct export *export, char *name, size_t size)
{
    const struct export_files *files = &export->files;
    const rtl_process_t *only = export->only;
    char rank[80] = "";
    char part[24] = "";
    if (only && only->rank[0])
        (void)snprintf(rank, sizeof rank, "-rank%.64s", only->rank);
    else if (only)
        (void)snprintf(rank, sizeof rank, "-process%u", only->process);
    for (char *c = rank; *c; ++c)
        if (*c == '/')
            *c = '_';
    if (export->split_size)
        (void)snprintf(part, sizeof part, "-%u", files->part);
    int length = snprintf(name, size, "%s%s%s%s", files->stem, rank, part, files->ending);
    return length > 0 && (size_t)length < size;
}

static bool make_room(struct export_files *files)
{
    if (files->count < files->capacity)
        return true;
    size_t capacity = files->capacity ? 2 * files->capacity : 4;
    void *outputs = realloc(files->outputs, capacity * sizeof(struct output *));
    if (!outputs)
        return false;
    files->outputs = outputs;
    files->capacity = capacity;
    return true;
}

static bool taken(const struct export *export, const char *name)
{
    const struct export_files *files = &export->files;
    for (size_t i = 0; i < files->count; ++i)
        if (strcmp(files->outputs[i]->name, name) == 0)
            return true;
    return false;
}

/* Processes may have the same rank, in several jobs. */
static int choose_name(const struct export *export, char *name, size_t size)
{
    if (export->split_size && export->files.part > EXPORT_PARTS)
        return say_fail(EXIT_USAGE,
                        "--split-size: files of %s would be more than %u: choose a larger size",
                        show_bytes(export->split_size).text, EXPORT_PARTS);
    if (!make_name(export, name, size))
        return say_fail(EXIT_USAGE, "'%s' is too long a name", export->files.stem);
    if (taken(export, name))
        return say_fail(EXIT_USAGE,
                        "several processes are of rank %s: choose some with --process and export "
                        "them one by one",
                        export->only ? export->only->rank : "");
    return EXIT_FINE;
}

struct output *export_file(struct export *export, enum output_kind kind)
{
    struct export_files *files = &export->files;
    char name[EXPORT_PATH];
    const struct output_rules rules = {.kind = kind,
                                       .force = export->force,
                                       .dash = true,
                                       .inputs = &export->path,
                                       .input_count = 1};
    ++files->part;
    struct output *output = make_room(files) ? calloc(1, sizeof *output) : NULL;
    if (!output) {
        say("there is not enough memory");
        return NULL;
    }
    if (choose_name(export, name, sizeof name) != EXIT_FINE ||
        output_begin(output, name, &rules) != EXIT_FINE) {
        free(output);
        return NULL;
    }
    files->outputs[files->count++] = output;
    return output;
}

int export_file_failed(const struct export *export, int error)
{
    const struct export_files *files = &export->files;
    return say_fail(EXIT_USAGE, "'%s' could not be written: %s",
                    files->outputs[files->count - 1]->name, say_errno(error));
}

/* Gives a file its name, and tells it if anybody hears. */
static int commit(struct output *output)
{
    char *name = output_is_file(output) && !written_to_none() ? strdup(output->name) : NULL;
    int status = output_commit(output);
    if (status == EXIT_FINE && name)
        (void)printf("%s\n", show_terminal(stdout) ? plain(name) : name);
    free(name);
    return status;
}

int export_files_commit(struct export *export)
{
    const struct export_files *files = &export->files;
    int status = EXIT_FINE;
    for (size_t i = 0; i < files->count && status == EXIT_FINE; ++i)
        status = commit(files->outputs[i]);
    return status;
}

void export_files_end(struct export *export)
{
    struct export_files *files = &export->files;
    for (size_t i = 0; i < files->count; ++i) {
        output_drop(files->outputs[i]);
        free(files->outputs[i]);
    }
    free(files->outputs);
    *files = (struct export_files){0};
}
