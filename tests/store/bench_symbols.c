/* What a kernel symbol costs the collector and the file: names as Tensile makes them, of which some
 * are dispatched. */
#include "store/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BATCH 1000u /* symbols that come at once, as with a code object */

struct bench {
    uint32_t symbols, dispatched;
    const char *path;
};

static double seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* SplitMix64 (Steele, Lea and Flood 2014). */
static unsigned choose(uint64_t *state, unsigned count)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (unsigned)((z ^ z >> 31) % count);
}

static void give_symbol(struct rtl_writer *writer, uint32_t process, uint32_t number)
{
    uint64_t seed = number;
    char name[1024];
    int length = snprintf(
        name, sizeof name,
        "Cijk_A%s_B%s_HHS_BH_MT%ux%ux%u_MI32x32x8x1_SE_1LDSB%u_APM1_ABV0_ACED0_AF0EM%u_AF1EM1_"
        "AMAS3_ASE_"
        "ASGT_ASLT_ASAE01_ASCE01_ASEM1_AAC0_BL1_BS1_DTL0_DTVA0_DVO0_ETSP_EPS0_FL0_GLVWA%u_GLVWB%u_"
        "GRCGA1_"
        "GRCGB1_GRPM1_GRVW%u_GSU%u_GSUASB_GLS0_ISA90a_IU1_K1_KLA_LBSPP%u_LPA%u_LPB%u_LDL1_LRVW%u_"
        "LWPMn1_"
        "LDW0_FMA_MIAV1_MDA2_MO40_MMFGLC_NTA0_NTB0_NTC0_NTD0_NEPBS0_NLCA%u_NLCB1_ONLL1_OPLV0_PK0_"
        "PAP%u_"
        "PGR%u_PLR%u_RK0_SIA3_SS1_SU32_SUM0_SUS256_SCIUI1_SPO0_SRVW0_SSO0_SVW4_SNLL0_TT4_%u_TLDS%u_"
        "USFGROn1_VAW2_VSn1_VW%u_WSGRA0_WSGRB0_WS64_WG32_%u_1_WGM%u_%u",
        choose(&seed, 2) ? "ilk" : "lik", choose(&seed, 2) ? "jlk" : "ljk", 16u << choose(&seed, 5),
        16u << choose(&seed, 5), 8u << choose(&seed, 3), choose(&seed, 2), 1u << choose(&seed, 4),
        1u << choose(&seed, 4), 1u << choose(&seed, 4), 1u << choose(&seed, 4),
        1 + choose(&seed, 16), 128 * choose(&seed, 3), 4 * choose(&seed, 3), 4 * choose(&seed, 3),
        1u << choose(&seed, 4), 1 + choose(&seed, 3), choose(&seed, 2), choose(&seed, 3),
        choose(&seed, 4), 32u << choose(&seed, 2), choose(&seed, 2), 1u << choose(&seed, 3),
        4u << choose(&seed, 3), choose(&seed, 16), number);
    const struct rtl_wire_symbol symbol = {.kernel_object =
                                               UINT64_C(0x7f0000000000) + 64 * (uint64_t)number,
                                           .symbol = number,
                                           .kernarg_size = 112,
                                           .group_size = 1024 * choose(&seed, 64),
                                           .name_length = (uint16_t)length};
    rtl_writer_symbol(writer, process, &symbol, name);
}

/* Shape and kernel of a symbol. */
static void dispatch(struct rtl_writer *writer, uint32_t process, uint32_t symbol, uint32_t number)
{
    const struct rtl_wire_shape shape = {
        .shape = number, .symbol = symbol, .grid = {256, 1, 1}, .block = {256, 1, 1}};
    const struct rtl_wire_kernel kernel = {.packet = number,
                                           .start = 1000 * (uint64_t)number,
                                           .end = 1000 * (uint64_t)number + 500,
                                           .shape = number,
                                           .launch = RTL_NONE,
                                           .ordinal = RTL_NONE};
    rtl_writer_shape(writer, process, &shape);
    rtl_writer_kernel(writer, process, &kernel);
}

static void give_all(struct rtl_writer *writer, const struct bench *bench)
{
    const struct rtl_wire_process body = {.time_ns = 1, .pid = 1, .mode = RTL_MODE_FULL};
    const struct rtl_wire_agent agent = {
        .clock_hz = 1000000000, .device_type = 1, .name_length = 6};
    const struct rtl_wire_queue queue = {.size = 1024, .interception = RTL_INTERPOSED};
    uint32_t process = rtl_writer_process(writer, &body, "");
    rtl_writer_agent(writer, process, &agent, "gfx90a");
    rtl_writer_queue(writer, process, &queue);
    for (uint32_t i = 0; i < bench->symbols; i++) {
        give_symbol(writer, process, i);
        if (i % BATCH == BATCH - 1)
            rtl_writer_relieve(writer);
    }
    (void)rtl_writer_checkpoint(writer);
    for (uint32_t i = 0; i < bench->dispatched; i++)
        dispatch(writer, process, (uint32_t)((uint64_t)i * bench->symbols / bench->dispatched), i);
    rtl_writer_process_end(writer, process, "closed", 2, 0);
}

static int run(const struct bench *bench)
{
    char error[512] = "";
    struct stat status;
    (void)unlink(bench->path);
    double begin = seconds();
    struct rtl_writer *writer = rtl_writer_open(bench->path, NULL, error, sizeof error);
    if (writer)
        give_all(writer, bench);
    if (!writer || rtl_writer_close(writer, 0, error, sizeof error) != 0 ||
        stat(bench->path, &status) != 0) {
        (void)fprintf(stderr, "bench_symbols: %s\n", error);
        return 1;
    }
    (void)printf("{\"symbols\": %u, \"dispatched\": %u, \"write_cpu_ns\": %.0f, \"bytes\": %.1f}\n",
                 bench->symbols, bench->dispatched, (seconds() - begin) * 1e9 / bench->symbols,
                 (double)status.st_size / bench->symbols);
    return 0;
}

int main(int count, char **arguments)
{
    struct bench bench = {.symbols = 100000, .dispatched = 2, .path = "/tmp/rtl-bench-symbols.db"};
    for (int i = 1; i < count; i += 2) {
        const char *value = i + 1 < count ? arguments[i + 1] : "";
        unsigned long number = strtoul(value, NULL, 10);
        if (strcmp(arguments[i], "--symbols") == 0 && number > 0) {
            bench.symbols = (uint32_t)number;
        } else if (strcmp(arguments[i], "--dispatched") == 0 && number > 0) {
            bench.dispatched = (uint32_t)number;
        } else if (strcmp(arguments[i], "--file") == 0 && *value) {
            bench.path = value;
        } else {
            (void)fprintf(stderr, "usage: bench_symbols [--symbols N] [--dispatched K]"
                                  " [--file PATH]\n");
            return 2;
        }
    }
    return run(&bench);
}
