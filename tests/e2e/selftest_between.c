/* Stands in rtl doctor --selftest, between the recording and the comparison: where it runs
 * `rtl trace …`, the script of SELFTEST_BETWEEN is run with all that as its arguments. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_WORDS 64

__attribute__((visibility("default"))) int execvpe(const char *file, char *const words[],
                                                   char *const environment[])
{
    const char *script = secure_getenv("SELFTEST_BETWEEN");
    char *more[MOST_WORDS] = {(char *)script};
    int (*next)(const char *, char *const[], char *const[]);
    void *symbol = dlsym(RTLD_NEXT, "execvpe");
    memcpy((void *)&next, (const void *)&symbol, sizeof next);
    if (!script || !words[1] || strcmp(words[1], "trace") != 0)
        return next(file, words, environment);
    for (int i = 0; words[i] && i + 2 < MOST_WORDS; ++i)
        more[i + 1] = words[i];
    return next(script, more, environment);
}
