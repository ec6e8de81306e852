/*
 * Drives a fuzzer's entry without libFuzzer, so that every compiler and sanitizer can: with random
 * inputs, or with files that libFuzzer found.
 *
 *     fuzz_X_random INPUTS SEED
 *     fuzz_X_random FILE
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define LONGEST 600u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
    static uint8_t data[1 << 20];
    FILE *file = fopen(path, "rbe");
    if (file == NULL) {
        (void)fprintf(stderr, "fuzz: cannot open %s\n", path);
        return 1;
    }
    size_t size = fread(data, 1, sizeof data, file);
    (void)fclose(file);
    return LLVMFuzzerTestOneInput(data, size);
}

/* SplitMix64. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

int main(int argc, char **argv)
{
    if (argc == 2)
        return replay(argv[1]);
    if (argc != 3) {
        (void)fprintf(stderr, "usage: %s INPUTS SEED | FILE\n", argv[0]);
        return 2;
    }
    unsigned long inputs = strtoul(argv[1], NULL, 10);
    uint64_t state = strtoull(argv[2], NULL, 10);
    for (unsigned long i = 0; i < inputs; i++) {
        /* Memory of its own for each, so that AddressSanitizer sees a read past its end. */
        size_t size = draw(&state) % LONGEST;
        uint8_t *data = malloc(size + 1);
        if (data == NULL)
            return 3;
        for (size_t at = 0; at < size; at++)
            data[at] = (uint8_t)draw(&state);
        (void)LLVMFuzzerTestOneInput(data, size);
        free(data);
    }
    (void)printf("%lu inputs\n", inputs);
    return 0;
}
