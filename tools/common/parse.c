#include "common/parse.h"

#include "command.h"

int parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): rtl has one thread
    return argp_parse(argp, argc, argv, flags, NULL, input) == 0 ? 0 : EXIT_USAGE;
}
