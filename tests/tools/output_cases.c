/* Names of trace files. */
#include "collect/output.h"
#include "made.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *set(const char *name, const char *value)
{
    CHECK(setenv(name, value, 1) == 0); // NOLINT(concurrency-mt-unsafe): one thread
    return NULL;
}

const char *Output_Expansions(void)
{
    char path[300];
    char host[256] = "";
    char wanted[300];
    CHECK(rtl_output_expand("a-%p.db", 42, path, sizeof path) == 0);
    CHECK(strcmp(path, "a-42.db") == 0);
    CHECK(rtl_output_expand("100%%-%x-%", 1, path, sizeof path) == 0);
    CHECK(strcmp(path, "100%-%x-%") == 0);
    CHECK_DONE(set("OMPI_COMM_WORLD_RANK", "3"));
    CHECK(rtl_output_expand("%r%r", 1, path, sizeof path) == 0);
    CHECK(strcmp(path, "33") == 0);
    CHECK(gethostname(host, sizeof host - 1) == 0);
    (void)snprintf(wanted, sizeof wanted, "<%s>", host);
    CHECK(rtl_output_expand("<%h>", 1, path, sizeof path) == 0);
    CHECK(strcmp(path, wanted) == 0);
    return NULL;
}

/* As Slurm and torchrun set them: each task of Slurm is a node's torchrun, and starts several. */
const char *Output_RankOfTorchrun(void)
{
    char path[300];
    (void)unsetenv("OMPI_COMM_WORLD_RANK"); // NOLINT(concurrency-mt-unsafe): one thread
    CHECK_DONE(set("SLURM_PROCID", "1"));
    CHECK_DONE(set("RANK", "11"));
    CHECK(rtl_output_expand("%r", 1, path, sizeof path) == 0);
    CHECK(strcmp(path, "1") == 0);
    CHECK_DONE(set("WORLD_SIZE", "16"));
    CHECK_DONE(set("LOCAL_RANK", "3"));
    CHECK(rtl_output_expand("%r", 1, path, sizeof path) == 0);
    CHECK(strcmp(path, "11") == 0);
    CHECK_DONE(set("RANK", "a rank that is longer than any launcher's"));
    CHECK(rtl_output_expand("%r", 1, path, sizeof path) == 0);
    CHECK(strcmp(path, "1") == 0);
    return NULL;
}

const char *Output_NamesAfterTheProcess(void)
{
    CHECK(rtl_output_names_pid("%p") && rtl_output_names_pid("run-%r.%p.db"));
    CHECK(rtl_output_names_pid("%%%p") && rtl_output_names_pid("%x%p"));
    CHECK(!rtl_output_names_pid("trace.db") && !rtl_output_names_pid(""));
    CHECK(!rtl_output_names_pid("%%p") && !rtl_output_names_pid("%h%r%") &&
          !rtl_output_names_pid("p%"));
    return NULL;
}

const char *Output_TooLong(void)
{
    char path[6];
    CHECK(rtl_output_expand("%p", 12345, path, sizeof path) == 0);
    CHECK(rtl_output_expand("%p", 123456, path, sizeof path) == -1);
    CHECK(rtl_output_expand("abcdef", 1, path, sizeof path) == -1);
    return NULL;
}

const char *Output_FreeNames(void)
{
    struct made made;
    char path[MADE_PATH];
    char wanted[MADE_PATH];
    char command[2 * MADE_PATH];
    CHECK_DONE(made_begin(&made));
    (void)snprintf(path, sizeof path, "%s/run.x.db", made.folder);
    CHECK(rtl_output_free_name(path, sizeof path) == 0);
    (void)snprintf(command, sizeof command, "cd %s && touch run.x.db run.x-1.db bare .hidden",
                   made.folder);
    CHECK(made_shell(command) == 0);
    CHECK(rtl_output_free_name(path, sizeof path) == 2);
    (void)snprintf(wanted, sizeof wanted, "%s/run.x-2.db", made.folder);
    CHECK(strcmp(path, wanted) == 0);
    (void)snprintf(path, sizeof path, "%s/bare", made.folder);
    (void)snprintf(wanted, sizeof wanted, "%s/bare-1", made.folder);
    CHECK(rtl_output_free_name(path, sizeof path) == 1);
    CHECK(strcmp(path, wanted) == 0);
    (void)snprintf(path, sizeof path, "%s/.hidden", made.folder);
    (void)snprintf(wanted, sizeof wanted, "%s/.hidden-1", made.folder);
    CHECK(rtl_output_free_name(path, sizeof path) == 1);
    CHECK(strcmp(path, wanted) == 0);
    CHECK_DONE(made_end(&made));
    made_clean(&made);
    return NULL;
}

/* A name beside such a thing would be that of a file in /dev, or in a folder above the one that was
 * named. */
const char *Output_NoNameIsMadeBesideWhatIsNoFile(void)
{
    struct made made;
    char path[MADE_PATH];
    char wanted[MADE_PATH];
    char command[2 * MADE_PATH];
    static const char *const names[] = {"fifo", "to-null", "folder"};
    CHECK_DONE(made_begin(&made));
    (void)snprintf(command, sizeof command,
                   "cd %s && mkfifo fifo && ln -s /dev/null to-null && mkdir folder", made.folder);
    CHECK(made_shell(command) == 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", made.folder, names[i]);
        (void)snprintf(wanted, sizeof wanted, "%s", path);
        CHECK(rtl_output_free_name(path, sizeof path) == 0 && strcmp(path, wanted) == 0);
    }
    (void)snprintf(path, sizeof path, "/dev/null");
    CHECK(rtl_output_free_name(path, sizeof path) == 0 && strcmp(path, "/dev/null") == 0);
    CHECK_DONE(made_end(&made));
    made_clean(&made);
    return NULL;
}
