/*
 * Plugins: loading them, and finding the host function of a kernel by its name.
 */
#include "softgpu/kernel.h"
#include "softgpu/say.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLUGIN_LIMIT 32U

static const softgpu_plugin_t *plugins[PLUGIN_LIMIT];
static size_t plugin_count;

static bool is_whole(const softgpu_plugin_t *plugin)
{
    for (size_t i = 0; i < plugin->kernel_count; i++) {
        if (plugin->kernels[i].name == NULL) {
            return false;
        }
    }
    return plugin->name != NULL;
}

/* Why what the entry point gave cannot be used; NULL if it can. */
static const char *reject(const softgpu_plugin_t *plugin)
{
    if (plugin == NULL) {
        return "it refuses this version of the software GPU";
    }
    if (plugin->version != SOFTGPU_PLUGIN_VERSION) {
        return "it was built for another version of <softgpu/plugin.h>";
    }
    if (plugin_count == PLUGIN_LIMIT) {
        return "there are too many plugins";
    }
    return plugin->kernel_count > 0 && plugin->kernels != NULL && is_whole(plugin)
               ? NULL
               : "it brings no kernels, or one without a name";
}

static sg_linker_t linker = {.open = dlopen, .symbol = dlsym};

void sg_plugin_linker(const sg_linker_t *with)
{
    linker = *with;
}

/* dlsym gives an object pointer; ISO C has no conversion of it to a function pointer but through
 * memory. */
static softgpu_plugin_fn find_entry(void *library)
{
    void *symbol = linker.symbol(library, "softgpu_plugin");
    softgpu_plugin_fn entry = NULL;
    memcpy(&entry, &symbol, sizeof entry);
    return entry;
}

static const char *load_one(const char *path)
{
    void *library = linker.open(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        return dlerror(); // NOLINT(concurrency-mt-unsafe): glibc's is per thread
    }
    softgpu_plugin_fn entry = find_entry(library);
    const softgpu_plugin_t *plugin = entry != NULL ? entry(SOFTGPU_PLUGIN_VERSION) : NULL;
    const char *why = entry == NULL ? "it does not export softgpu_plugin" : reject(plugin);
    if (why != NULL) {
        (void)dlclose(library);
        return why;
    }
    plugins[plugin_count++] = plugin;
    return NULL;
}

static void load_all(void)
{
    const char *list = secure_getenv("SOFTGPU_PLUGINS");
    char *copy = list != NULL ? strdup(list) : NULL;
    char *rest = copy;
    for (char *path = rest != NULL ? strsep(&rest, ":") : NULL; path != NULL;
         path = strsep(&rest, ":")) {
        const char *why = path[0] != '\0' ? load_one(path) : NULL;
        if (why != NULL) {
            sg_say("plugin '%s' is not used: %s", path, why);
        }
    }
    free(copy);
    plugins[plugin_count < PLUGIN_LIMIT ? plugin_count++ : PLUGIN_LIMIT - 1] = sg_blit_plugin();
}

void sg_plugin_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, load_all);
}

/* Start of the bracketed part that ends at `end` (exclusive), going back; `end` if there is none.
 */
static size_t skip_back(const char *text, size_t end, char opening, char closing)
{
    size_t at = end;
    int depth = 0;
    while (at > 0) {
        char letter = text[--at];
        depth += letter == closing ? 1 : 0;
        depth -= letter == opening ? 1 : 0;
        if (depth == 0) {
            return at;
        }
    }
    return end;
}

/* Where the qualified name that ends at `end` begins: behind the return type's space. */
static size_t name_start(const char *text, size_t end)
{
    size_t at = end;
    int depth = 0;
    while (at > 0) {
        char letter = text[at - 1];
        depth += letter == '>' || letter == ')' ? 1 : 0;
        depth -= letter == '<' || letter == '(' ? 1 : 0;
        if (letter == ' ' && depth == 0) {
            break;
        }
        at--;
    }
    return at;
}

size_t sg_name_forms(const char *demangled, char *forms[3])
{
    size_t count = 0;
    size_t end = strlen(demangled);
    forms[count++] = strdup(demangled);
    if (end > 0 && demangled[end - 1] == ')') {
        end = skip_back(demangled, end, '(', ')');
    }
    size_t start = name_start(demangled, end);
    forms[count++] = strndup(demangled + start, end - start);
    if (end > start && demangled[end - 1] == '>') {
        end = skip_back(demangled, end, '<', '>');
        forms[count++] = strndup(demangled + start, end - start);
    }
    return count;
}

static bool match_name(sg_kernel_t *kernel, const char *name)
{
    for (size_t p = 0; name != NULL && p < plugin_count; p++) {
        for (size_t k = 0; k < plugins[p]->kernel_count; k++) {
            if (strcmp(plugins[p]->kernels[k].name, name) == 0) {
                kernel->host = &plugins[p]->kernels[k];
                kernel->context = plugins[p]->context;
                return true;
            }
        }
    }
    return false;
}

void sg_plugin_match(sg_kernel_t *kernel)
{
    if (kernel->name[0] == '\0' || match_name(kernel, kernel->name) || kernel->demangled == NULL) {
        return;
    }
    char *forms[3];
    size_t count = sg_name_forms(kernel->demangled, forms);
    bool found = false;
    for (size_t form = 0; form < count; form++) {
        found = found || match_name(kernel, forms[form]);
        free(forms[form]);
    }
}
