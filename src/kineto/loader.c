#include "kineto/loader.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_VENDORS 64u
#define MOST_FILES   1024u

static const char *const standard_folders[] = {"/usr/lib/kineto/plugins",
                                               "/usr/local/lib/kineto/plugins"};
static const char own_folder[] = ".local/lib/kineto/plugins";

struct file {
    dev_t device;
    ino_t inode;
};

/* The state of the one time that anything is loaded. */
struct loading {
    pu1_say_fn say;
    void *context;
    struct file tried[MOST_FILES];
    size_t tried_count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool loaded;
static pu1_vendor_t vendors[MOST_VENDORS];
static pu1_vendors_t all = {0, vendors};

__attribute__((format(printf, 3, 4))) static void
say(const struct loading *loading, pu1_severity_t severity, const char *format, ...)
{
    char sentence[2 * PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): a false alarm of clang-tidy 14
    (void)vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (loading->say != NULL)
        loading->say(loading->context, severity, sentence);
}

/* ---- one library ---- */

/* A table that can be called: what the first version has is all there. What came later is NULL in
 * an older vendor's. */
static bool is_whole(const pu1TracingApiTable *api)
{
    return api->struct_size >= PU1_TABLE_1_0 && api->getVersion != NULL &&
           api->tracingEnable != NULL && api->tracingDisable != NULL &&
           api->tracingSetCallbacks != NULL && api->pushExternalCorrelationId != NULL &&
           api->popExternalCorrelationId != NULL && api->flushAll != NULL &&
           api->getNextRecord != NULL && api->getLastError != NULL &&
           api->getDroppedRecords != NULL;
}

/* dlsym hands out functions as data pointers; POSIX says that they convert. */
static bool find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static bool check_version(const struct loading *loading, const char *path, uint32_t version)
{
    if (PU1_MAJOR_OF(version) == PU1_VERSION_MAJOR)
        return true;
    say(loading, PU1_FAULT,
        "%s is for version %u.%u of PrivateUse1 tracing, and this is %u.%u: it is left out", path,
        PU1_MAJOR_OF(version), PU1_MINOR_OF(version), PU1_VERSION_MAJOR, PU1_VERSION_MINOR);
    return false;
}

static void register_vendor(const struct loading *loading, const char *path, uint32_t version,
                            pu1RegisterFn enter)
{
    pu1_vendor_t *vendor = &vendors[all.count];
    *vendor = (pu1_vendor_t){.version = version, .api = {.struct_size = sizeof vendor->api}};
    int result = enter(&vendor->api);
    if (result != 0) {
        say(loading, PU1_WARNING, "%s does not register (%s returned %d): it is left out", path,
            PU1_REGISTER_SYMBOL, result);
        return;
    }
    vendor->path = strdup(path);
    if (!is_whole(&vendor->api) || vendor->path == NULL) {
        say(loading, PU1_FAULT, "%s has registered without all of its functions: it is left out",
            path);
        return;
    }
    if (vendor->api.vendor == NULL)
        vendor->api.vendor = "unnamed";
    if (PU1_MINOR_OF(version) < 1) /* whatever it has written there */
        vendor->api.getDeviceProperties = NULL;
    all.count++;
    say(loading, PU1_INFO, "%s is the PrivateUse1 vendor %s, version %u.%u", path,
        vendor->api.vendor, PU1_MAJOR_OF(version), PU1_MINOR_OF(version));
}

static void load_library(const struct loading *loading, const char *path)
{
    uint32_t (*get_version)(void) = NULL;
    pu1RegisterFn enter = NULL;
    if (all.count == MOST_VENDORS) {
        say(loading, PU1_WARNING, "%s is left out: there are %u vendors", path, MOST_VENDORS);
        return;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        // NOLINTNEXTLINE(concurrency-mt-unsafe): glibc keeps it per thread
        say(loading, PU1_WARNING, "%s could not be loaded: %s", path, dlerror());
        return;
    }
    if (!find(library, PU1_REGISTER_SYMBOL, &enter)) {
        say(loading, PU1_WARNING, "%s is no PrivateUse1 plugin: it has no %s", path,
            PU1_REGISTER_SYMBOL);
        return;
    }
    if (!find(library, "pu1GetVersion", &get_version)) {
        say(loading, PU1_FAULT, "%s does not tell its version: it has no pu1GetVersion", path);
        return;
    }
    uint32_t version = get_version();
    if (check_version(loading, path, version))
        register_vendor(loading, path, version, enter);
}

/* ---- files and folders ---- */

/* False if it was tried already. */
static bool is_new(struct loading *loading, const struct stat *status)
{
    for (size_t i = 0; i < loading->tried_count; i++)
        if (loading->tried[i].device == status->st_dev && loading->tried[i].inode == status->st_ino)
            return false;
    if (loading->tried_count == MOST_FILES)
        return false;
    loading->tried[loading->tried_count++] = (struct file){status->st_dev, status->st_ino};
    return true;
}

static void load_file(struct loading *loading, const char *path)
{
    struct stat status;
    char whole[PATH_MAX]; /* dlopen looks for a name without a slash elsewhere */
    if (stat(path, &status) != 0 || realpath(path, whole) == NULL)
        say(loading, PU1_WARNING, "%s could not be loaded: %s", path, strerrordesc_np(errno));
    else if (is_new(loading, &status))
        load_library(loading, whole);
}

static int is_library(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 3 && strcmp(entry->d_name + length - 3, ".so") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void load_folder(struct loading *loading, const char *folder)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_library, by_name);
    if (count < 0)
        say(loading, PU1_WARNING, "%s could not be read: %s", folder, strerrordesc_np(errno));
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (length > 0 && (size_t)length < sizeof path)
            load_file(loading, path);
        free(entries[i]);
    }
    free(entries);
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static void load_path(struct loading *loading, const char *path)
{
    if (is_folder(path))
        load_folder(loading, path);
    else
        load_file(loading, path);
}

static void load_list(struct loading *loading, const char *list)
{
    while (*list != '\0') {
        char path[PATH_MAX];
        size_t length = strcspn(list, ":");
        if (length > 0 && length < sizeof path) {
            memcpy(path, list, length);
            path[length] = '\0';
            load_path(loading, path);
        } else if (length > 0) {
            say(loading, PU1_WARNING, "KINETO_PLUGIN_PATH has a name of %zu bytes", length);
        }
        list += length + (list[length] == ':');
    }
}

/* HOME stays another user's where somebody becomes root and keeps the environment. */
static bool is_trusted(const struct loading *loading, const char *folder)
{
    struct stat status;
    if (stat(folder, &status) == 0 && (status.st_mode & S_IWOTH) == 0 &&
        (status.st_uid == 0 || status.st_uid == geteuid()))
        return true;
    say(loading, PU1_WARNING, "%s is another user's, or everybody may write to it: it is left out",
        folder);
    return false;
}

static void load_standard(struct loading *loading)
{
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof standard_folders / sizeof *standard_folders; i++)
        if (is_folder(standard_folders[i]))
            load_folder(loading, standard_folders[i]);
    const char *home = secure_getenv("HOME");
    int length = home != NULL ? snprintf(path, sizeof path, "%s/%s", home, own_folder) : 0;
    if (length > 0 && (size_t)length < sizeof path && is_folder(path) && is_trusted(loading, path))
        load_folder(loading, path);
}

const pu1_vendors_t *pu1_load(pu1_say_fn say_fn, void *context)
{
    pthread_mutex_lock(&lock);
    const char *list = loaded ? NULL : secure_getenv("KINETO_PLUGIN_PATH");
    loaded = true;
    if (list != NULL && *list != '\0') {
        static struct loading loading;
        loading = (struct loading){.say = say_fn, .context = context};
        load_list(&loading, list);
        load_standard(&loading);
    }
    pthread_mutex_unlock(&lock);
    return &all;
}
