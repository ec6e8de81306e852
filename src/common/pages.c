#include "common/pages.h"

#include <stdatomic.h>
#include <sys/resource.h>

static _Atomic uint64_t allowed = UINT64_MAX;
static _Atomic uint64_t held;

/* What is taken from the system: whole pages. */
static size_t whole_pages(size_t bytes)
{
    return (bytes + RTL_PAGE - 1) & ~(size_t)(RTL_PAGE - 1);
}

bool rtl_pages_charge(uint64_t bytes)
{
    uint64_t before = atomic_fetch_add(&held, bytes);
    uint64_t most = atomic_load(&allowed);
    if (before <= most && bytes <= most - before)
        return true;
    rtl_pages_discharge(bytes);
    return false;
}

void rtl_pages_discharge(uint64_t bytes)
{
    (void)atomic_fetch_sub(&held, bytes);
}

uint64_t rtl_pages_held(void)
{
    return atomic_load(&held);
}

void rtl_pages_allow(uint64_t most)
{
    atomic_store(&allowed, most);
}

static bool are_data_limited(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/* A mapping that could grow downwards, as a stack: the kernel does not count these among the data
 * (is_data_mapping in mm/vma.h). It never grows, since a page that nobody may touch lies below;
 * what a wild pointer would meet there is as without. */
static void *map_apart_from_data(size_t size)
{
    unsigned char *whole =
        mmap(NULL, size + RTL_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (whole == MAP_FAILED)
        return MAP_FAILED;
    void *memory = mmap(whole + RTL_PAGE, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_GROWSDOWN, -1, 0);
    if (memory == MAP_FAILED)
        (void)munmap(whole, size + RTL_PAGE);
    return memory;
}

static void *map(size_t size)
{
    if (are_data_limited())
        return map_apart_from_data(size);
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

void *rtl_pages(size_t bytes)
{
    int saved = errno;
    size_t size = whole_pages(bytes);
    void *memory = MAP_FAILED;
    if (rtl_pages_charge(size)) {
        memory = map(size);
        if (memory == MAP_FAILED)
            rtl_pages_discharge(size);
        else
            (void)madvise(memory, size, MADV_NOHUGEPAGE); /* a kernel without large pages refuses */
    }
    errno = saved;
    return memory != MAP_FAILED ? memory : NULL;
}

/* The page below one that is apart from data stays: nobody has access to it. */
void rtl_pages_give(void *memory, size_t bytes)
{
    int saved = errno;
    size_t size = whole_pages(bytes);
    if (munmap(memory, size) == 0)
        rtl_pages_discharge(size);
    errno = saved;
}
