/*
 * hip_calls_dlsym [LIBRARY]: asks for functions in the ways that there are, and prints what it
 * finds, and how often it called what ("made NAME COUNT"). It is linked with no HIP; it opens
 * LIBRARY (what HIP_LIBRARY in the environment names when absent).
 *
 * HIP_CALLS_PRELOADED is in its environment where a library is preloaded that has a hipFree of its
 * own (hip_calls_before.c).
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int free_function(void *memory);

static unsigned made;

static void tell(const char *what, const char *name, void *symbol)
{
    const char *error = dlerror(); // NOLINT(concurrency-mt-unsafe): glibc's is of the thread
    (void)printf("%s %s: %s, %s\n", what, name, symbol != NULL ? "found" : "not found",
                 error != NULL ? "an error" : "no error");
}

/* With the preloaded library in between, what its handle gives is not what it calls next. */
static void call(void *symbol, bool recorded)
{
    free_function *function;
    memcpy(&function, &symbol, sizeof function);
    (void)printf("called: %d\n", function(NULL));
    made += recorded;
}

static void ask(const char *where, void *handle)
{
    static const char *const names[] = {"hipFree", "hipGraphAddNode", "hipNoSuchCall", "puts"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        tell(where, names[i], dlsym(handle, names[i]));
}

static void *ask_in_thread(void *handle)
{
    for (unsigned i = 0; i < 1000; i++)
        if (dlsym(handle, "hipFree") == NULL || dlsym(handle, "hipNoSuchCall") != NULL)
            return handle;
    return NULL;
}

static void ask_in_threads(void *handle)
{
    pthread_t threads[4];
    void *wrong = NULL;
    for (unsigned i = 0; i < 4; i++)
        (void)pthread_create(&threads[i], NULL, ask_in_thread, handle);
    for (unsigned i = 0; i < 4; i++) {
        void *result = NULL;
        (void)pthread_join(threads[i], &result);
        wrong = result != NULL ? result : wrong;
    }
    (void)printf("in threads: %s\n", wrong == NULL ? "right" : "wrong");
}

int main(int argc, char **argv)
{
    bool preloaded = secure_getenv("HIP_CALLS_PRELOADED") != NULL;
    if (!preloaded) {
        ask("before, by default", RTLD_DEFAULT);
        ask("before, next", RTLD_NEXT);
        ask("before, by the program", dlopen(NULL, RTLD_LAZY));
    }
    void *library =
        dlopen(argc > 1 ? argv[1] : secure_getenv("HIP_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        (void)fprintf(stderr, "there is no such library\n");
        return 1;
    }
    ask("by its handle", library);
    call(dlsym(library, "hipFree"), !preloaded);
    call(dlvsym(library, "hipFree", "hip_4.2"), !preloaded);
    (void)printf("by other versions: %d\n", dlvsym(library, "hipFree", "hip_0.1") != NULL);
    void *once = dlsym(library, "hipFree");
    (void)printf("the same: %d\n", dlsym(library, "hipFree") == once);
    ask_in_threads(library);
    ask("after, next", RTLD_NEXT);
    void *global = dlopen(argc > 1 ? argv[1] : secure_getenv("HIP_LIBRARY"),
                          RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
    ask("in all, by default", RTLD_DEFAULT);
    call(dlsym(RTLD_DEFAULT, "hipFree"), true);
    (void)printf("the library is one: %d\n", global == library);
    (void)printf("made hipFree %u\n", made);
    return 0;
}
