/* Whether a program finds that there is a runtime, by weak references: in its code, in its data,
 * and in what its constructor sees. It starts the runtime if it finds one. */
#include <stdio.h>

#pragma weak hsa_init
#pragma weak hsa_shut_down
#pragma weak hipMalloc
extern int hsa_init(void);
extern int hsa_shut_down(void);
extern int hipMalloc(void **pointer, size_t size);

static int (*volatile in_data)(void) = hsa_init;
static int early;

__attribute__((constructor)) static void look_early(void)
{
    early = hsa_init != NULL;
}

int main(void)
{
    (void)printf("hsa_init: %s, in data %s, early %s\n", hsa_init ? "there" : "none",
                 in_data ? "there" : "none", early ? "there" : "none");
    (void)printf("hipMalloc: %s\n", hipMalloc ? "there" : "none");
    if (hsa_init && hsa_shut_down)
        (void)printf("started: %d\n", hsa_init() == 0 && hsa_shut_down() == 0);
    return 0;
}
