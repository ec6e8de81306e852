#include "../../common/check.h"
#include "common/heap.h"
#include "common/pages.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB  ((size_t)1 << 20)
#define PAGE ((size_t)RTL_PAGE)

/* ThreadSanitizer's own memory is data, too, and more of it than the limit. */
#ifdef __SANITIZE_THREAD__
enum { IS_UNDER_TSAN = 1 };
#else
enum { IS_UNDER_TSAN = 0 };
#endif

/* Nobody has more than is allowed, and what is given back may be had again. */
const char *Pages_AreNoMoreThanAllowed(void)
{
    uint64_t before = rtl_pages_held();
    rtl_pages_allow(before + 3 * PAGE);
    void *two = rtl_pages(2 * PAGE - 1);
    void *more = rtl_pages(2 * PAGE);
    bool charged = rtl_pages_charge(RTL_PAGE);
    void *none = rtl_pages(1);
    rtl_pages_discharge(RTL_PAGE);
    void *one = rtl_pages(1);
    uint64_t held = rtl_pages_held();
    rtl_pages_allow(UINT64_MAX);
    CHECK(two != NULL && more == NULL && charged && none == NULL && one != NULL);
    CHECK(held == before + 3 * PAGE);
    rtl_pages_give(two, 2 * PAGE - 1);
    rtl_pages_give(one, 1);
    CHECK(rtl_pages_held() == before);
    return NULL;
}

/* In a process of its own, whose limit nobody else is to have. */
static int use_beside_data(void)
{
    const struct rlimit limit = {8 * MIB, 8 * MIB};
    int status = 0;
    if (setrlimit(RLIMIT_DATA, &limit) != 0 ||
        mmap(NULL, 64 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
            MAP_FAILED)
        return 1;
    char *memory = rtl_pages(64 * MIB);
    if (memory == NULL)
        return 2;
    memset(memory, 'a', 64 * MIB);
    pid_t child = fork();
    if (child == 0) {
        memory[MIB] = 'b';
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0 || memory[MIB] != 'a')
        return 3;
    child = fork();
    if (child == 0) {
        ((volatile char *)memory)[-1] = 'b'; /* a stack would grow */
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status == 0)
        return 4;
    rtl_pages_give(memory, 64 * MIB);
    return 0;
}

const char *Pages_AreApartFromData(void)
{
    int status = -1;
    if (IS_UNDER_TSAN)
        return NULL;
    pid_t child = fork();
    if (child == 0)
        _exit(use_beside_data());
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return NULL;
}

/* Pieces of every size do not overlap, and are used again by others of their size alone. */
const char *Heap_PiecesAreUsedAgain(void)
{
    static const size_t sizes[] = {1, 63, 64, 65, 100, 1000, 4096, 40000, 65536, 65537, 200000};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    unsigned char *pieces[SIZES];
    for (unsigned i = 0; i < SIZES; i++) {
        pieces[i] = rtl_heap_take(sizes[i]);
        CHECK(pieces[i] != NULL && (uintptr_t)pieces[i] % 64 == 0);
        memset(pieces[i], (int)i + 1, sizes[i]);
    }
    for (unsigned i = 0; i < SIZES; i++)
        for (size_t at = 0; at < sizes[i]; at++)
            CHECK(pieces[i][at] == i + 1);
    rtl_heap_give(pieces[4], sizes[4]);
    void *other = rtl_heap_take(129);
    void *again = rtl_heap_take(65 + 1);
    CHECK(other != pieces[4] && again == pieces[4]);
    uint64_t held = rtl_pages_held();
    rtl_heap_give(pieces[SIZES - 1], sizes[SIZES - 1]);
    CHECK(rtl_pages_held() < held);
    return NULL;
}

/* Without memory there is none, and what was given back is there all the same. */
const char *Heap_WithoutMemoryThereIsNone(void)
{
    void *piece = rtl_heap_take(30000);
    CHECK(piece != NULL);
    rtl_pages_allow(rtl_pages_held());
    while (rtl_heap_take(30000) != NULL)
        ;
    rtl_heap_give(piece, 30000);
    void *again = rtl_heap_take(30000);
    void *more = rtl_heap_take(30000);
    rtl_pages_allow(UINT64_MAX);
    CHECK(again == piece && more == NULL);
    return NULL;
}
