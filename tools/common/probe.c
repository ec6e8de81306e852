#include "common/probe.h"

#include "common/child.h"
#include "common/command.h"
#include "common/hip_names.h"
#include "common/paths.h"
#include "common/show.h"
#include "common/softgpu.h"

#include <dlfcn.h>
#include <errno.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_S 60u

/* The functions of the runtime that are asked; it is loaded, not linked. */
struct runtime {
    hsa_status_t (*init)(void);
    hsa_status_t (*shut_down)(void);
    hsa_status_t (*system_get_info)(hsa_system_info_t, void *);
    hsa_status_t (*iterate_agents)(hsa_status_t (*)(hsa_agent_t, void *), void *);
    hsa_status_t (*agent_get_info)(hsa_agent_t, hsa_agent_info_t, void *);
    hsa_status_t (*status_string)(hsa_status_t, const char **);
    hsa_status_t (*extension_table)(uint16_t, uint16_t, size_t, void *);
};

static void *load(const char *const *names, const char *key)
{
    for (; *names; ++names) {
        struct link_map *map = NULL;
        char real[PATH_MAX];
        void *library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        if (!library)
            continue;
        if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && realpath(map->l_name, real))
            (void)printf("%s %s\n", key, real);
        return library;
    }
    return NULL;
}

static bool find(void *library, const char *name, void *function, size_t size)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, size);
    return symbol != NULL;
}

static bool find_all(void *library, struct runtime *runtime)
{
#define FIND(field, name) find(library, name, &runtime->field, sizeof runtime->field)
    return FIND(init, "hsa_init") && FIND(shut_down, "hsa_shut_down") &&
           FIND(system_get_info, "hsa_system_get_info") &&
           FIND(iterate_agents, "hsa_iterate_agents") &&
           FIND(agent_get_info, "hsa_agent_get_info") && FIND(status_string, "hsa_status_string") &&
           FIND(extension_table, "hsa_system_get_major_extension_table");
#undef FIND
}

static hsa_status_t print_agent(hsa_agent_t agent, void *context)
{
    const struct runtime *runtime = context;
    hsa_device_type_t type;
    char name[64] = "";
    char product[64] = "";
    if (runtime->agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type) != HSA_STATUS_SUCCESS ||
        type != HSA_DEVICE_TYPE_GPU)
        return HSA_STATUS_SUCCESS;
    (void)runtime->agent_get_info(agent, HSA_AGENT_INFO_NAME, name);
    (void)runtime->agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_PRODUCT_NAME,
                                  product);
    (void)printf("gpu %.63s%s%.63s\n", name, product[0] ? " " : "", product);
    return HSA_STATUS_SUCCESS;
}

/* AMD's aqlprofile, as librtl.so gets it: a table of functions, of which all that count must be
 * there (hsa_ven_amd_aqlprofile_1_00_pfn_t). */
static void print_counters(const struct runtime *runtime)
{
    enum { ENTRIES = 10, VERSION = 1, VALIDATE_EVENT = 3, ITERATE_DATA = 9 };
    void *entries[ENTRIES] = {NULL};
    Dl_info where;
    if (runtime->extension_table(HSA_EXTENSION_AMD_AQLPROFILE, VERSION, sizeof entries, entries) ==
            HSA_STATUS_SUCCESS &&
        entries[VALIDATE_EVENT] && entries[ITERATE_DATA] &&
        dladdr(entries[VALIDATE_EVENT], &where) != 0)
        (void)printf("counters %s\n", where.dli_fname);
}

static void ask(struct runtime *runtime)
{
    uint16_t number;
    hsa_status_t status = runtime->init();
    if (status != HSA_STATUS_SUCCESS) {
        const char *text = "unknown reason";
        (void)runtime->status_string(status, &text);
        (void)printf("failure %.*s\n", (int)strcspn(text, ":"), text);
        return;
    }
    if (runtime->system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &number) == HSA_STATUS_SUCCESS)
        (void)printf("major %u\n", number);
    if (runtime->system_get_info(HSA_SYSTEM_INFO_VERSION_MINOR, &number) == HSA_STATUS_SUCCESS)
        (void)printf("minor %u\n", number);
    (void)runtime->iterate_agents(print_agent, runtime);
    print_counters(runtime);
    (void)runtime->shut_down();
}

int probe_answer(void)
{
    static const char *const hsa[] = {"libhsa-runtime64.so.1", NULL};
    static const char *const hip[] = {HIP_NAMES, NULL};
    static const char *const registers[] = {"librocprofiler-register.so.0", NULL};
    struct runtime runtime;
    (void)alarm(PATIENCE_S);
    void *library = load(hsa, "runtime");
    (void)load(registers, "register");
    (void)load(hip, "hip");
    (void)fflush(stdout);
    if (library && find_all(library, &runtime))
        ask(&runtime);
    (void)printf("end\n");
    return EXIT_FINE;
}

static void take_text(char *text, size_t size, const char *value)
{
    (void)snprintf(text, size, "%s", value);
}

static void take_tables(struct probe *probe, const char *value)
{
    char *rest;
    probe->tool = true;
    probe->core_table = (unsigned)strtoul(value, &rest, 10);
    probe->ext_table = (unsigned)strtoul(rest, &rest, 10);
    probe->core_step = (unsigned)strtoul(rest, &rest, 10);
    probe->ext_step = (unsigned)strtoul(rest, NULL, 10);
}

static void take_line(struct probe *probe, const char *key, const char *value)
{
    if (strcmp(key, "runtime") == 0)
        take_text(probe->runtime, sizeof probe->runtime, value);
    else if (strcmp(key, "hip") == 0)
        take_text(probe->hip, sizeof probe->hip, value);
    else if (strcmp(key, "register") == 0)
        take_text(probe->registers, sizeof probe->registers, value);
    else if (strcmp(key, "counters") == 0)
        take_text(probe->counters, sizeof probe->counters, value);
    else if (strcmp(key, "failure") == 0)
        take_text(probe->failure, sizeof probe->failure, value);
    else if (strcmp(key, "major") == 0)
        probe->hsa_major = (int)strtol(value, NULL, 10);
    else if (strcmp(key, "minor") == 0)
        probe->hsa_minor = (int)strtol(value, NULL, 10);
    else if (strcmp(key, "tables") == 0)
        take_tables(probe, value);
    else if (strcmp(key, "missing") == 0)
        take_text(probe->missing, sizeof probe->missing, value);
    else if (strcmp(key, "generation") == 0)
        take_text(probe->generation, sizeof probe->generation, value);
    else if (strcmp(key, "gpu") == 0 && probe->gpus < PROBE_GPUS)
        take_text(probe->gpu[probe->gpus++], sizeof probe->gpu[0], value);
    else if (strcmp(key, "end") == 0)
        probe->ran = true;
}

/* In the child. No tool but the own one is to be loaded into it, and what libraries print is not
 * for the user. A path with a blank would be two to the runtime. */
static _Noreturn void become_probe(int output, const char *softgpu)
{
    static char name[] = "rtl";
    static char command[] = "doctor";
    static char option[] = "--probe";
    char *arguments[] = {name, command, option, NULL};
    char self[PATH_MAX];
    char tool[PATH_MAX];
    bool found = paths_library("librtlprobe.so", tool, sizeof tool) && !strchr(tool, ' ');
    char **environment = child_environment(environ, "HSA_TOOLS_LIB", found ? tool : NULL);
    if (softgpu)
        environment = softgpu_environment(environment, softgpu);
    FILE *quiet = freopen("/dev/null", "w", stderr);
    if (environment && quiet && dup2(output, STDOUT_FILENO) >= 0 && paths_self(self, sizeof self))
        (void)execve(self, arguments, environment);
    _exit(EXIT_NOT_EXECUTABLE);
}

static void read_answer(FILE *answer, struct probe *probe)
{
    char line[512];
    while (fgets(line, sizeof line, answer)) {
        line[strcspn(line, "\n")] = '\0';
        char *value = strchr(line, ' ');
        if (value)
            *value++ = '\0';
        take_line(probe, line, value ? value : "");
    }
}

void probe_run(const char *softgpu, struct probe *probe)
{
    int ends[2];
    *probe = (struct probe){.hsa_major = -1, .hsa_minor = -1};
    if (pipe(ends) != 0)
        return;
    pid_t pid = fork();
    if (pid == 0)
        become_probe(ends[1], softgpu);
    (void)close(ends[1]);
    FILE *answer = fdopen(ends[0], "r");
    if (answer) {
        read_answer(answer, probe);
        (void)fclose(answer);
    }
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

const char *probe_limit(void)
{
    static _Thread_local char text[96];
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return "";
    (void)snprintf(text, sizeof text, ", under a limit of %s of address space (ulimit -v)",
                   show_bytes(limit.rlim_cur).text);
    return text;
}

void probe_trouble(const struct probe *probe, char *text, size_t size)
{
    if (!probe->runtime[0])
        (void)snprintf(text, size, "there is no libhsa-runtime64.so.1 on the library path");
    else if (!probe->ran)
        (void)snprintf(text, size, "%s crashed or hung when started%s", probe->runtime,
                       probe_limit());
    else if (probe->hsa_major < 0)
        (void)snprintf(text, size, "%s does not start: %s%s", probe->runtime, probe->failure,
                       probe_limit());
    else
        (void)snprintf(text, size, "%s has no GPU", probe->runtime);
}
