// In front of ROCm's code object manager (comgr): what amd_comgr_do_action made of the same input
// once is read from a file. HIP 5 compiles its own kernels for copies and fills with it in each
// process, which is half of the processor time of a test.
//
// This library has comgr's soname and depends on the real one, where dlsym finds what is not
// defined here. A file's name is a hash of all that the action was told and given, and of the real
// library's path, size and time. Whatever goes wrong with a file, the action is done.
#if __has_include(<amd_comgr/amd_comgr.h>)
#include <amd_comgr/amd_comgr.h>
#else
#include <amd_comgr.h>
#endif

#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

typedef amd_comgr_status_t (*action_function)(amd_comgr_action_kind_t, amd_comgr_action_info_t,
                                              amd_comgr_data_set_t, amd_comgr_data_set_t);

// Two hashes in the manner of FNV-1a, over words.
struct key {
    uint64_t a, b;
};

// Before a piece of data's name and bytes.
struct piece {
    uint64_t kind, name_size, size;
};

struct bytes {
    const char *at;
    size_t size;
};

static void mix(struct key *key, const void *bytes, size_t size)
{
    uint64_t a = key->a ^ size;
    uint64_t b = key->b + size;
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, (const char *)bytes + at, size - at < sizeof word ? size - at : sizeof word);
        a = (a ^ word) * 0x100000001b3;
        b = (b ^ word) * 0x9e3779b97f4a7c15;
        a ^= a >> 29;
        b ^= b >> 32;
    }
    *key = (struct key){a, b};
}

static bool mix_options(struct key *key, amd_comgr_action_info_t info)
{
    size_t count = 0;
    if (amd_comgr_action_info_get_option_list_count(info, &count)) {
        return false;
    }
    for (size_t i = 0; i < count; ++i) {
        char option[4096];
        size_t size = 0;
        if (amd_comgr_action_info_get_option_list_item(info, i, &size, NULL) ||
            size > sizeof option ||
            amd_comgr_action_info_get_option_list_item(info, i, &size, option)) {
            return false;
        }
        mix(key, option, size);
    }
    return true;
}

static bool mix_info(struct key *key, amd_comgr_action_kind_t action, amd_comgr_action_info_t info)
{
    char isa[256];
    size_t size = 0;
    bool logging = false;
    amd_comgr_language_t language = AMD_COMGR_LANGUAGE_NONE;
    if (amd_comgr_action_info_get_isa_name(info, &size, NULL) || size > sizeof isa ||
        amd_comgr_action_info_get_isa_name(info, &size, isa) ||
        amd_comgr_action_info_get_language(info, &language) ||
        amd_comgr_action_info_get_logging(info, &logging)) {
        return false;
    }
    const int numbers[] = {(int)action, (int)language, logging};
    mix(key, isa, size);
    mix(key, numbers, sizeof numbers);
    return mix_options(key, info);
}

// A piece of data as it stands in a file: its head, its name and its bytes. The caller frees it;
// NULL where there is none.
static char *piece_of(amd_comgr_data_t data, amd_comgr_data_kind_t kind, size_t *total)
{
    size_t name_size = 0;
    size_t size = 0;
    if (amd_comgr_get_data_name(data, &name_size, NULL) || amd_comgr_get_data(data, &size, NULL)) {
        return NULL;
    }
    struct piece head = {(uint64_t)kind, name_size, size};
    *total = sizeof head + name_size + size;
    char *piece = malloc(*total);
    if (!piece) {
        return NULL;
    }
    memcpy(piece, &head, sizeof head);
    if (amd_comgr_get_data_name(data, &name_size, piece + sizeof head) ||
        amd_comgr_get_data(data, &size, piece + sizeof head + name_size)) {
        free(piece);
        return NULL;
    }
    return piece;
}

// Calls `take` with each piece of a set; whether it took all.
static bool each_piece(amd_comgr_data_set_t set,
                       bool (*take)(void *context, const char *piece, size_t size), void *context)
{
    for (int kind = AMD_COMGR_DATA_KIND_UNDEF + 1; kind <= AMD_COMGR_DATA_KIND_LAST; ++kind) {
        size_t count = 0;
        if (amd_comgr_action_data_count(set, (amd_comgr_data_kind_t)kind, &count)) {
            continue; // a number that is no kind
        }
        for (size_t i = 0; i < count; ++i) {
            amd_comgr_data_t data;
            size_t size = 0;
            if (amd_comgr_action_data_get_data(set, (amd_comgr_data_kind_t)kind, i, &data)) {
                return false;
            }
            char *piece = piece_of(data, (amd_comgr_data_kind_t)kind, &size);
            const bool taken = piece && take(context, piece, size);
            free(piece);
            amd_comgr_release_data(data);
            if (!taken) {
                return false;
            }
        }
    }
    return true;
}

static bool mix_piece(void *context, const char *piece, size_t size)
{
    mix(context, piece, size);
    return true;
}

// An empty log is left out: comgr takes no data of no bytes.
static bool write_piece(void *context, const char *piece, size_t size)
{
    return !((const struct piece *)piece)->size || fwrite(piece, 1, size, context) == size;
}

// The file of an action on an input; false where none can be told.
static bool file_of(char *path, size_t size, amd_comgr_action_kind_t action,
                    amd_comgr_action_info_t info, amd_comgr_data_set_t input)
{
    struct key key = {0xcbf29ce484222325, 1};
    struct stat real;
    if (stat(COMGR_REAL, &real) || !mix_info(&key, action, info) ||
        !each_piece(input, mix_piece, &key)) {
        return false;
    }
    mix(&key, COMGR_REAL, sizeof COMGR_REAL);
    mix(&key, &real.st_size, sizeof real.st_size);
    mix(&key, &real.st_mtim, sizeof real.st_mtim);
    const int length =
        snprintf(path, size, "%s/%016" PRIx64 "%016" PRIx64, COMGR_FOLDER, key.a, key.b);
    return length > 0 && (size_t)length < size;
}

static bool add_piece(amd_comgr_data_set_t result, const struct piece *head, const char *name)
{
    amd_comgr_data_t data;
    if (amd_comgr_create_data((amd_comgr_data_kind_t)head->kind, &data)) {
        return false;
    }
    const bool added = !amd_comgr_set_data(data, head->size, name + head->name_size) &&
                       !amd_comgr_set_data_name(data, name) &&
                       !amd_comgr_data_set_add(result, data);
    amd_comgr_release_data(data);
    return added;
}

// The next piece of what was read; NULL at the end and where the rest is none.
static const char *next_piece(struct bytes *rest, struct piece *head)
{
    if (rest->size < sizeof *head) {
        return NULL;
    }
    memcpy(head, rest->at, sizeof *head);
    const char *name = rest->at + sizeof *head;
    const size_t left = rest->size - sizeof *head;
    if (!head->name_size || head->name_size > left || head->size > left - head->name_size ||
        name[head->name_size - 1]) {
        return NULL;
    }
    *rest =
        (struct bytes){name + head->name_size + head->size, left - head->name_size - head->size};
    return name;
}

static bool is_whole(struct bytes file)
{
    struct piece head;
    while (next_piece(&file, &head)) {
    }
    return !file.size;
}

static char *read_file(const char *path, size_t *size)
{
    struct stat about;
    FILE *file = fopen(path, "re");
    char *bytes = file && !fstat(fileno(file), &about) && about.st_size > 0
                      ? malloc((size_t)about.st_size)
                      : NULL;
    *size = bytes ? fread(bytes, 1, (size_t)about.st_size, file) : 0;
    if (file) {
        (void)fclose(file);
    }
    return bytes;
}

// Whether a file had what the action makes; then *status is the action's.
static bool recall(const char *path, amd_comgr_data_set_t result, amd_comgr_status_t *status)
{
    struct bytes rest;
    char *file = read_file(path, &rest.size);
    rest.at = file;
    const bool whole = file && rest.size && is_whole(rest);
    *status = AMD_COMGR_STATUS_SUCCESS;
    struct piece head;
    const char *name;
    while (whole && *status == AMD_COMGR_STATUS_SUCCESS && (name = next_piece(&rest, &head))) {
        *status = add_piece(result, &head, name) ? AMD_COMGR_STATUS_SUCCESS
                                                 : AMD_COMGR_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    free(file);
    return whole;
}

// A file over a limit of the program ends it.
static bool may_write(void)
{
    struct rlimit limit;
    return !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur == RLIM_INFINITY;
}

static void remember(const char *path, amd_comgr_data_set_t result)
{
    char beside[4096];
    const int length = snprintf(beside, sizeof beside, "%s.XXXXXX", path);
    const int fd = length > 0 && (size_t)length < sizeof beside ? mkstemp(beside) : -1;
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file) {
        return;
    }
    const bool written = each_piece(result, write_piece, file);
    if (fclose(file) || !written || rename(beside, path)) {
        unlink(beside);
    }
}

// Defined in the real library, too.
// The real library's; it stays where it is, for this one needs it.
static action_function real_action(void)
{
    action_function action = NULL;
    void *real = dlopen(COMGR_REAL, RTLD_LAZY | RTLD_NOLOAD);
    if (real) {
        void *symbol = dlsym(real, "amd_comgr_do_action");
        memcpy(&action, &symbol, sizeof symbol); // ISO C has no cast for it
        dlclose(real);
    }
    return action;
}

__attribute__((visibility("default"))) amd_comgr_status_t
amd_comgr_do_action(amd_comgr_action_kind_t action, amd_comgr_action_info_t info,
                    amd_comgr_data_set_t input, amd_comgr_data_set_t result)
{
    char path[4096];
    const bool known = file_of(path, sizeof path, action, info, input);
    amd_comgr_status_t status;
    if (known && recall(path, result, &status)) {
        return status;
    }
    const action_function do_action = real_action();
    if (!do_action) {
        return AMD_COMGR_STATUS_ERROR;
    }
    status = do_action(action, info, input, result);
    if (known && status == AMD_COMGR_STATUS_SUCCESS && may_write()) {
        remember(path, result);
    }
    return status;
}
