/* A program that is built with AddressSanitizer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    const char *options = getenv("ASAN_OPTIONS"); // NOLINT(concurrency-mt-unsafe): one thread
    const char *own = options != NULL ? strstr(options, "detect_leaks") : NULL;
    (void)printf("well, %s\n", own != NULL ? own : "without its options");
    return 0;
}
