/* Kernel symbols: those that are dispatched are rows, all others lie in blocks. */
#include "fixture.h"
#include "store/columns.h"
#include "store/sql.h"
#include "store/symbol_codec.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAME(one, two) (strcmp(one, two) == 0)

enum { MANY = 6000, NAME = 640 };

/* The codec. */

/* The example of docs/format.md, worked out there by hand. */
const char *Symbols_BlockHasTheBytesOfTheSpecification(void)
{
    static const unsigned char want[] = {
        1, 2, 10,   0,             /* symbol: 5 - -1 - 1, folded; then the next */
        1, 2, 2,    0,             /* agent 1, then the same */
        1, 4, 0x80, 0x40, 0x80, 1, /* kernel object: 0x1000 folded, then 0x40 more */
        0, 1, 16,                  /* kernarg: 16 bytes each */
        1, 3, 0x80, 4,    0,       /* group: 512 bytes, then none */
        0, 1, 0,                   /* private: none */
        1, 2, 5,    1,             /* bytes of the mangled names */
        1, 2, 4,    0,             /* bytes of the name, and one; the same as the mangled one */
        1, 6, '_',  'Z',  '1',  'f', 'v', 'g', 1, 3, 'f', '(', ')',
    };
    const struct rtl_packed_symbol symbols[] = {{.kernel_object = 0x1000,
                                                 .symbol = 5,
                                                 .agent = 1,
                                                 .kernarg_size = 16,
                                                 .group_size = 512,
                                                 .mangled = "_Z1fv",
                                                 .name = "f()"},
                                                {.kernel_object = 0x1040,
                                                 .symbol = 6,
                                                 .agent = 1,
                                                 .kernarg_size = 16,
                                                 .mangled = "g",
                                                 .name = "g"}};
    struct rtl_symbol_block block = {.process = 1};
    const unsigned char *data = NULL;
    size_t size = 0;
    struct rtl_symbol_codec *codec = rtl_symbol_codec_new();
    CHECK(codec && rtl_symbol_add(codec, &symbols[0]) && rtl_symbol_add(codec, &symbols[1]));
    CHECK(rtl_symbol_pack(codec, &block, &data, &size) == 0);
    CHECK(size == sizeof want && memcmp(data, want, size) == 0);
    CHECK(block.symbols == 2 && block.bytes == 9 && block.symbol_min == 5 && block.symbol_max == 6);
    const uint64_t fields[] = {1, 2, 9, 5, 6};
    CHECK(block.checksum == fixture_checksum(fields, 5, want, sizeof want));
    rtl_symbol_codec_free(codec);
    return NULL;
}

/* Any bytes but 0. */
static void make_text(char *text, uint64_t length, uint64_t *seed)
{
    for (uint64_t i = 0; i < length; i++)
        text[i] = (char)(1 + fixture_random(seed) % 255);
    text[length] = '\0';
}

static struct rtl_packed_symbol make_any(char text[2][64], uint64_t *seed)
{
    make_text(text[0], fixture_random(seed) % 60, seed);
    make_text(text[1], fixture_random(seed) % 60, seed);
    return (struct rtl_packed_symbol){.kernel_object = fixture_random(seed),
                                      .symbol = (uint32_t)fixture_random(seed),
                                      .agent = (uint32_t)fixture_random(seed),
                                      .kernarg_size = (uint32_t)fixture_random(seed),
                                      .group_size = (uint32_t)fixture_random(seed),
                                      .private_size = (uint32_t)fixture_random(seed),
                                      .mangled = text[0],
                                      .name = text[fixture_random(seed) % 2]};
}

static bool are_same(const struct rtl_packed_symbol *a, const struct rtl_packed_symbol *b)
{
    return a->kernel_object == b->kernel_object && a->symbol == b->symbol && a->agent == b->agent &&
           a->kernarg_size == b->kernarg_size && a->group_size == b->group_size &&
           a->private_size == b->private_size && SAME(a->mangled, b->mangled) &&
           SAME(a->name, b->name);
}

/* A full block of anything, which unpacks to what went in. */
static const char *check_block(struct rtl_symbol_codec *codec, uint64_t seed)
{
    struct rtl_symbol_block block = {.process = 3};
    const unsigned char *data = NULL;
    char text[2][64];
    size_t size = 0;
    uint64_t again = seed;
    uint32_t count = 0;
    rtl_symbol_begin(codec);
    for (;; count++) {
        const struct rtl_packed_symbol symbol = make_any(text, &seed);
        if (!rtl_symbol_add(codec, &symbol))
            break;
    }
    CHECK(count == RTL_BLOCK_SYMBOLS && rtl_symbol_count(codec) == count);
    CHECK(rtl_symbol_pack(codec, &block, &data, &size) == 0);
    CHECK(block.symbols == count && rtl_symbol_intact(&block, data, size));
    struct rtl_packed_symbol *symbols = calloc(count, sizeof *symbols);
    char *names = malloc(rtl_symbol_text_size(&block));
    CHECK(symbols && names && rtl_symbol_unpack(codec, &block, data, size, symbols, names) == 0);
    for (uint32_t i = 0; i < count; i++) {
        const struct rtl_packed_symbol symbol = make_any(text, &again);
        CHECK(are_same(&symbols[i], &symbol));
    }
    free(symbols);
    free(names);
    return NULL;
}

const char *Symbols_BlockReturnsWhatWentIn(void)
{
    struct rtl_symbol_codec *codec = rtl_symbol_codec_new();
    CHECK(codec);
    for (uint64_t seed = 1; seed <= 3; seed++)
        CHECK_DONE(check_block(codec, seed));
    rtl_symbol_codec_free(codec);
    return NULL;
}

/* What is too long for any block stays out of it. */
const char *Symbols_BlockHasItsLimits(void)
{
    static char text[RTL_BLOCK_BYTES + 2];
    struct rtl_symbol_codec *codec = rtl_symbol_codec_new();
    CHECK(codec);
    memset(text, 'a', RTL_BLOCK_BYTES + 1);
    text[RTL_BLOCK_BYTES + 1] = '\0';
    struct rtl_packed_symbol symbol = {.mangled = text, .name = text};
    CHECK(!rtl_symbol_add(codec, &symbol) && rtl_symbol_count(codec) == 0);
    symbol.mangled = symbol.name = text + 1;
    CHECK(rtl_symbol_add(codec, &symbol));
    symbol.mangled = symbol.name = "b";
    CHECK(!rtl_symbol_add(codec, &symbol));
    symbol.mangled = symbol.name = "";
    CHECK(rtl_symbol_add(codec, &symbol) && rtl_symbol_count(codec) == 2);
    rtl_symbol_codec_free(codec);
    return NULL;
}

/* Whatever the bytes and the counts beside them are. */
const char *Symbols_BlockStaysInsideWhateverTheBytes(void)
{
    uint64_t seed = 9;
    char text[2][64];
    size_t size = 0;
    const unsigned char *data = NULL;
    struct rtl_symbol_block whole = {.process = 1};
    struct rtl_symbol_codec *codec = rtl_symbol_codec_new();
    CHECK(codec);
    for (int i = 0; i < 20; i++) {
        const struct rtl_packed_symbol symbol = make_any(text, &seed);
        CHECK(rtl_symbol_add(codec, &symbol));
    }
    CHECK(rtl_symbol_pack(codec, &whole, &data, &size) == 0);
    unsigned char *bytes = malloc(size);
    CHECK(bytes);
    for (int i = 0; i < 20000; i++) {
        struct rtl_symbol_block block = whole;
        memcpy(bytes, data, size);
        for (uint64_t n = fixture_random(&seed) % 4; n > 0; n--)
            bytes[fixture_random(&seed) % size] = (unsigned char)fixture_random(&seed);
        block.symbols += (uint32_t)(fixture_random(&seed) % 3) - 1;
        block.bytes += (uint32_t)(fixture_random(&seed) % 3) - 1;
        size_t cut = i % 8 == 0 ? fixture_random(&seed) % size : size;
        struct rtl_packed_symbol *symbols = calloc(block.symbols, sizeof *symbols);
        char *names = malloc(rtl_symbol_text_size(&block));
        CHECK(symbols && names);
        int done = rtl_symbol_unpack(codec, &block, bytes, cut, symbols, names);
        CHECK(done == 0 || done == -1);
        if (block.symbols != whole.symbols || block.bytes != whole.bytes)
            CHECK(done == -1 || memcmp(bytes, data, size) != 0);
        free(symbols);
        free(names);
    }
    free(bytes);
    rtl_symbol_codec_free(codec);
    return NULL;
}

/* In a trace. */

/* Kernel `i` of a library: Tensile's names say how a kernel was made. One in ten is C++. */
static void name_of(uint32_t i, char *mangled, char *name)
{
    uint64_t seed = i;
    unsigned tile = 16u << fixture_random(&seed) % 5;
    unsigned wide = 1u << fixture_random(&seed) % 4;
    unsigned unroll = 8u << fixture_random(&seed) % 3;
    (void)snprintf(
        mangled, NAME,
        "Cijk_A%s_B%s_HHS_BH_MT%ux%ux%u_MI32x32x8x1_SE_1LDSB0_APM1_ABV0_ACED0_AF0EM%u_AF1EM1_AMAS3_"
        "ASE_ASGT_ASLT_ASAE01_ASCE01_ASEM1_AAC0_BL1_BS1_DTL0_DTVA0_DVO0_ETSP_EPS0_FL0_GLVWA%u_"
        "GLVWB%u_GRCGA1_GRCGB1_GRPM1_GRVW%u_GSU%u_GSUASB_GLS0_ISA90a_IU1_K1_KLA_LBSPP%u_LPA0_LPB0_"
        "LDL1_LRVW%u_LWPMn1_LDW0_FMA_MIAV1_MDA2_MO40_MMFGLC_NTA0_NTB0_NTC0_NTD0_NEPBS0_NLCA1_NLCB1_"
        "ONLL1_OPLV0_PK0_PAP%u_PGR1_PLR1_RK0_SIA3_SS1_SU32_SUM0_SUS256_SCIUI1_SPO0_SRVW0_SSO0_SVW4_"
        "SNLL0_TT4_64_TLDS0_USFGROn1_VAW2_VSn1_VW4_WSGRA0_WSGRB0_WS64_WG32_4_1_WGM%u_%u",
        i % 3 ? "ilk" : "lik", i % 2 ? "jlk" : "ljk", tile, 2 * tile, unroll, wide, wide, wide / 2,
        wide, 1 + tile % 7, unroll * 16, wide, i % 2, 1 + i % 9, i);
    (void)snprintf(name, NAME, "%s", mangled);
    if (i % 10 == 9) {
        (void)snprintf(mangled, NAME, "_Z4gemmILi%uELi%uEEvPKfPfi", tile, i);
        (void)snprintf(name, NAME, "void gemm<%u, %u>(float const*, float*, int)", tile, i);
    }
}

static uint64_t object_of(uint32_t i)
{
    return UINT64_C(0x7f0000000000) + UINT64_C(64) * i;
}

static void give_symbol(struct rtl_writer *writer, uint32_t process, uint32_t i)
{
    char mangled[NAME];
    char name[NAME];
    name_of(i, mangled, name);
    const struct rtl_wire_symbol symbol = {.kernel_object = object_of(i),
                                           .symbol = i,
                                           .kernarg_size = 8 * (i % 16),
                                           .group_size = i % 3 * 1024,
                                           .private_size = i % 50 ? 0 : 128,
                                           .name_length = (uint16_t)strlen(mangled)};
    rtl_writer_symbol(writer, process, &symbol, mangled);
}

/* Shape `i`, of symbol `i`, and kernel `packet` of queue 0. */
static void dispatch(struct rtl_writer *writer, uint32_t process, uint32_t i, uint64_t packet)
{
    const struct rtl_wire_shape shape = {.shape = i,
                                         .symbol = i,
                                         .kernel_object = object_of(i),
                                         .grid = {64, 1, 1},
                                         .block = {64, 1, 1}};
    struct rtl_wire_kernel kernel = fixture_kernel(0, packet);
    kernel.shape = i;
    rtl_writer_shape(writer, process, &shape);
    rtl_writer_kernel(writer, process, &kernel);
}

static bool is_right(const rtl_symbol_t *symbol, uint32_t process, uint32_t i)
{
    char mangled[NAME];
    char name[NAME];
    name_of(i, mangled, name);
    return symbol->process == process && symbol->symbol == i && symbol->agent == 0 &&
           symbol->kernel_object == object_of(i) && symbol->kernarg_size == 8 * (i % 16) &&
           symbol->group_size == i % 3 * 1024 && symbol->private_size == (i % 50 ? 0 : 128u) &&
           SAME(symbol->name, name) && SAME(symbol->mangled, mangled);
}

/* The trace has the first `count` symbols, in each of its processes up to `processes`. */
static const char *check_symbols(const char *path, uint32_t processes, uint32_t count)
{
    const rtl_symbol_t *symbols = NULL;
    rtl_trace_t *trace = NULL;
    size_t found = 0;
    CHECK(rtlTraceOpen(path, &trace, NULL, 0) == RTL_OK);
    CHECK(rtlTraceSymbols(trace, &symbols, &found) == RTL_OK);
    CHECK(found == (size_t)processes * count);
    for (uint32_t i = 0; i < found; i++)
        CHECK(is_right(&symbols[i], 1 + i / count, i % count));
    rtlTraceClose(trace);
    return NULL;
}

/* The same by SQL, in the words that scripts use. */
static const char *check_sql(const char *path, uint32_t count)
{
    char error[512];
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    uint32_t i = 0;
    CHECK(rtl_sql_open(path, &db, error, sizeof error) == RTL_OK);
    CHECK(sqlite3_prepare_v2(db,
                             "SELECT process, symbol, agent, kernel_object, name, mangled,"
                             " kernarg_size, group_size, private_size FROM symbols"
                             " ORDER BY process, symbol",
                             -1, &row, NULL) == SQLITE_OK);
    for (; sqlite3_step(row) == SQLITE_ROW; i++) {
        const rtl_symbol_t symbol = {
            (uint32_t)sqlite3_column_int(row, 0),      (uint32_t)sqlite3_column_int(row, 1),
            (uint32_t)sqlite3_column_int(row, 2),      (uint64_t)sqlite3_column_int64(row, 3),
            (const char *)sqlite3_column_text(row, 4), (const char *)sqlite3_column_text(row, 5),
            (uint32_t)sqlite3_column_int(row, 6),      (uint32_t)sqlite3_column_int(row, 7),
            (uint32_t)sqlite3_column_int(row, 8)};
        CHECK(is_right(&symbol, 1, i));
    }
    CHECK(i == count);
    CHECK(sqlite3_finalize(row) == SQLITE_OK && sqlite3_close(db) == SQLITE_OK);
    return NULL;
}

static bool is_below(const char *path, int64_t bytes)
{
    struct stat status;
    return stat(path, &status) == 0 && status.st_size < bytes;
}

/* Six thousand kernels, two of which are dispatched, one of them C++. */
const char *Symbols_ThousandsOfWhichTwoAreDispatched(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    CHECK(fixture_path(path));
    struct rtl_writer *writer = fixture_open(path);
    CHECK(writer);
    uint32_t process = fixture_define(writer, 1, 0);
    for (uint32_t i = 0; i < MANY; i++)
        give_symbol(writer, process, i);
    dispatch(writer, process, 4321, 0);
    dispatch(writer, process, 5999, 1);
    CHECK(rtl_writer_close(writer, 0, error, sizeof error) == 0);
    CHECK(is_below(path, 1 << 20));
    CHECK_DONE(check_symbols(path, 1, MANY));
    CHECK_DONE(check_sql(path, MANY));
    /* Any SQLite program sees those that ran. */
    CHECK(fixture_number(path, "SELECT count(*) FROM main.symbols") == 2);
    CHECK(fixture_number(path, "SELECT sum(symbol) FROM main.symbols WHERE mangled IS NULL") ==
          4321);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernels k JOIN main.symbols s ON"
                               " s.process = k.process AND s.symbol = k.symbol AND s.name = k.name"
                               " AND coalesce(s.mangled, s.name) = k.mangled") == 2);
    CHECK(fixture_number(path, "SELECT symbol FROM symbols WHERE process = 1 AND symbol = 77") ==
          77);
    CHECK(fixture_number(path, "SELECT count(*) FROM symbols WHERE symbol = 77") == 1);
    CHECK(fixture_number(path, "SELECT count(*) FROM symbols WHERE process = 2") == 0);
    CHECK(fixture_number(path, "SELECT count(*) FROM symbols WHERE process = 1") == MANY);
    fixture_remove(path);
    return NULL;
}

/* Code objects that come late, kernels that are dispatched long after, again and by others: with a
 * checkpoint after each step the trace says the same as without. */
const char *Symbols_DispatchedLater(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    CHECK(fixture_path(path));
    struct rtl_writer *writer = fixture_open(path);
    CHECK(writer);
    uint32_t one = fixture_define(writer, 1, 0);
    uint32_t two = fixture_define(writer, 1, 0);
    dispatch(writer, one, 250, 0); /* its definition is late */
    for (uint32_t i = 0; i < 300; i++) {
        give_symbol(writer, one, i);
        give_symbol(writer, two, i);
        if (i % 7 == 0)
            CHECK(rtl_writer_checkpoint(writer) == 0);
        if (i % 50 == 20)
            dispatch(writer, two, i - 13, i);
    }
    CHECK(rtl_writer_checkpoint(writer) == 0);
    for (uint32_t i = 299; i > 280; i--)
        dispatch(writer, one, i, i);
    CHECK(rtl_writer_checkpoint(writer) == 0);
    CHECK_DONE(check_symbols(path, 2, 300));
    dispatch(writer, one, 290, 400);
    CHECK(rtl_writer_close(writer, 0, error, sizeof error) == 0);
    CHECK_DONE(check_symbols(path, 2, 300));
    CHECK(fixture_number(path, "SELECT count(*) FROM main.symbols WHERE process = 1") == 20);
    CHECK(fixture_number(path, "SELECT count(*) FROM main.symbols WHERE process = 2") == 6);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernels WHERE name LIKE 'kernel object%'") ==
          0);
    CHECK(fixture_number(path,
                         "SELECT count(*) FROM kernels k JOIN symbols s USING(process, symbol)"
                         " WHERE s.name = k.name AND s.mangled = k.mangled") == 27);
    fixture_remove(path);
    return NULL;
}

/* Processes that load a library at the same time, symbol by symbol in turn: each has its block. */
const char *Symbols_OfSeveralProcessesInTurn(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    CHECK(fixture_path(path));
    struct rtl_writer *writer = fixture_open(path);
    CHECK(writer);
    for (uint32_t process = 1; process <= 4; process++)
        CHECK(fixture_define(writer, 1, 0) == process);
    for (uint32_t i = 0; i < 300; i++)
        for (uint32_t process = 1; process <= 4; process++)
            give_symbol(writer, process, i);
    CHECK(rtl_writer_close(writer, 0, error, sizeof error) == 0);
    CHECK_DONE(check_symbols(path, 4, 300));
    CHECK(fixture_number(path, "SELECT count(*) FROM symbol_blocks") == 4);
    fixture_remove(path);
    return NULL;
}

/* What was stored is all there, and nothing else. */
const char *Symbols_KilledWriterLeavesWhatItStored(void)
{
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path));
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct rtl_writer *writer = fixture_open(path);
        uint32_t process = fixture_define(writer, 1, 0);
        for (uint32_t i = 0; i < 500; i++)
            give_symbol(writer, process, i);
        if (rtl_writer_checkpoint(writer) != 0)
            _exit(1);
        dispatch(writer, process, 123, 0);
        if (rtl_writer_checkpoint(writer) != 0)
            _exit(1);
        dispatch(writer, process, 124, 1);
        give_symbol(writer, process, 500);
        (void)raise(SIGKILL);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    CHECK_DONE(check_symbols(path, 1, 500));
    CHECK(fixture_number(path, "SELECT symbol FROM kernels WHERE name = (SELECT name FROM symbols"
                               " WHERE process = 1 AND symbol = 123)") == 123);
    CHECK(fixture_number(path, "SELECT count(*) FROM main.symbols") == 1);
    fixture_remove(path);
    return NULL;
}

static void give_named(struct rtl_writer *writer, uint32_t process, uint32_t number,
                       const char *name)
{
    const struct rtl_wire_symbol symbol = {.symbol = number, .name_length = (uint16_t)strlen(name)};
    rtl_writer_symbol(writer, process, &symbol, name);
}

/* From a ring that lost records a symbol may come twice: the later one is taken. */
const char *Symbols_TheLastDefinitionHolds(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    CHECK(fixture_path(path));
    struct rtl_writer *writer = fixture_open(path);
    CHECK(writer);
    uint32_t process = fixture_define(writer, 1, 0);
    for (uint32_t i = 0; i < 3; i++)
        give_named(writer, process, i, "first");
    CHECK(rtl_writer_checkpoint(writer) == 0);
    give_named(writer, process, 0, "second");
    give_named(writer, process, 1, "second");
    CHECK(rtl_writer_checkpoint(writer) == 0);
    dispatch(writer, process, 1, 0);
    dispatch(writer, process, 2, 1);
    CHECK(rtl_writer_checkpoint(writer) == 0);
    give_named(writer, process, 2, "third");
    CHECK(rtl_writer_close(writer, 0, error, sizeof error) == 0);
    CHECK(fixture_number(path, "SELECT count(*) FROM symbols") == 3);
    CHECK(fixture_number(path, "SELECT sum(symbol = 0 AND name = 'second' OR symbol = 1 AND name ="
                               " 'second' OR symbol = 2 AND name = 'third') FROM symbols") == 3);
    CHECK(fixture_number(
              path, "SELECT sum(name = 'second') * 10 + sum(name = 'third') FROM kernels") == 11);
    fixture_remove(path);
    return NULL;
}

/* Before format 1.6 all symbols were rows. */
const char *Symbols_OlderFilesHaveRows(void)
{
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path) && fixture_trace(path, 10));
    CHECK(fixture_sql(path, "UPDATE symbols SET mangled = name; INSERT INTO symbols VALUES(1, 2, 0,"
                            " 7, 'never', 'ran', 1, 2, 3); DROP TABLE symbol_blocks;"
                            " PRAGMA user_version = 1005"));
    CHECK(fixture_number(path, "SELECT count(*) FROM symbols") == 3);
    CHECK(fixture_number(path, "SELECT count(*) FROM symbols WHERE name = 'never' AND"
                               " mangled = 'ran' AND kernel_object = 7") == 1);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernels WHERE mangled = name") == 20);
    fixture_remove(path);
    return NULL;
}

/* Damage. */

static const char *check_damaged(const char *path, const char *what)
{
    const rtl_kernel_filter_t all = RTL_KERNEL_FILTER_ALL;
    const rtl_symbol_t *symbols = NULL;
    rtl_trace_t *trace = NULL;
    rtl_status_t status;
    size_t count = 0;
    CHECK(rtlTraceOpen(path, &trace, NULL, 0) == RTL_OK);
    CHECK(rtlTraceSymbols(trace, &symbols, &count) == RTL_E_DAMAGED && count == 0);
    CHECK(strstr(rtlTraceError(trace), path) && strstr(rtlTraceError(trace), what));
    CHECK(rtlTraceSymbols(trace, &symbols, &count) == RTL_E_DAMAGED);
    /* What was dispatched has its name all the same. */
    rtl_kernel_t *kernels = fixture_read(trace, &all, &count, &status);
    CHECK(kernels && count == 20 && SAME(kernels[0].name, "a"));
    free(kernels);
    rtlTraceClose(trace);
    CHECK(fixture_number(path, "SELECT count(*) FROM symbols") == INT64_MIN);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernels") == 20);
    return NULL;
}

/* A trace with symbols 0 and 1, which ran, and 2 to 9, which did not. */
static bool make_small(const char *path)
{
    char error[512];
    struct rtl_writer *writer = fixture_open(path);
    if (!writer)
        return false;
    uint32_t process = fixture_define(writer, 1, 2);
    for (uint32_t i = 2; i < 10; i++)
        give_symbol(writer, process, i);
    fixture_kernels(writer, process, 0, 0, 20);
    return rtl_writer_close(writer, 0, error, sizeof error) == 0;
}

const char *Symbols_DamageIsTold(void)
{
    static const char *const damages[] = {
        "UPDATE symbol_blocks SET checksum = checksum - 1",
        "UPDATE symbol_blocks SET data = substr(data, 2)",
        "UPDATE symbol_blocks SET data = NULL",
        "UPDATE symbol_blocks SET symbols = 0",
        "UPDATE symbol_blocks SET bytes = -1",
        "UPDATE symbol_blocks SET symbol_max = 8",
        "UPDATE symbol_blocks SET process = 2",
    };
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        char path[FIXTURE_PATH];
        CHECK(fixture_path(path) && make_small(path));
        CHECK(fixture_number(path, "SELECT count(*) FROM symbols") == 10);
        CHECK(fixture_sql(path, damages[i]));
        CHECK_DONE(check_damaged(path, "block 1 of symbols"));
        fixture_remove(path);
    }
    return NULL;
}

/* A block that unpacks to as many bytes as one may have, from very few. */
static bool add_dense(const char *path, int copies)
{
    enum { COLUMNS = 10, TEXT = 8 };
    struct rtl_column column[COLUMNS] = {{0}};
    struct rtl_columns columns = {.columns = column, .count = COLUMNS};
    const unsigned char *data = NULL;
    size_t size = 0;
    rtl_columns_begin(&columns);
    for (unsigned i = 0; i < TEXT; i++)
        rtl_columns_put(&columns, i, i == 6 ? RTL_BLOCK_BYTES_MAX : 0);
    for (uint32_t i = 0; i < RTL_BLOCK_BYTES_MAX; i++)
        rtl_columns_put(&columns, TEXT, 'a' + i % 2);
    bool made = rtl_columns_pack(&columns, &data, &size) == 0;
    const uint64_t fields[] = {1, 1, RTL_BLOCK_BYTES_MAX, 0, 0};
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    made =
        made && sqlite3_open(path, &db) == SQLITE_OK &&
        sqlite3_prepare_v2(db, "INSERT INTO symbol_blocks VALUES(NULL, 1, 1, 16777216, 0, 0, ?, ?)",
                           -1, &row, NULL) == SQLITE_OK;
    for (int i = 0; i < copies && made; i++) {
        (void)sqlite3_bind_int64(row, 1, fixture_checksum(fields, 5, data, size));
        (void)sqlite3_bind_blob64(row, 2, data, size, SQLITE_STATIC);
        made = sqlite3_step(row) == SQLITE_DONE && sqlite3_reset(row) == SQLITE_OK;
    }
    (void)sqlite3_finalize(row);
    (void)sqlite3_close(db);
    rtl_columns_free(&columns);
    return made;
}

/* Many such blocks are refused before they are unpacked. */
const char *Symbols_TooManyNamesAreDamage(void)
{
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path) && make_small(path) && add_dense(path, 1));
    CHECK(fixture_number(path, "SELECT count(*) FROM symbols") == 10);
    CHECK(add_dense(path, 40));
    CHECK_DONE(check_damaged(path, "too long names"));
    fixture_remove(path);
    return NULL;
}
