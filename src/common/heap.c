#include "common/heap.h"

#include "common/pages.h"

#include <pthread.h>
#include <string.h>

#define LEAST_BITS 6u  /* 64 bytes: a line of the cache */
#define SLAB_BITS  16u /* 64 KiB, from which smaller pieces are cut */
#define SIZES      (SLAB_BITS - LEAST_BITS + 1)
#define SLAB       ((size_t)1 << SLAB_BITS)

/* A piece that nobody has. */
struct piece {
    struct piece *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct piece *pieces[SIZES]; /* under the lock: of each size those that nobody has */
static unsigned char *slab;         /* under the lock: what is not cut yet of the newest */
static size_t slab_left;

/* Which of the sizes holds so many bytes. */
static unsigned size_for(size_t bytes)
{
    unsigned size = 0;
    while ((size_t)1 << (LEAST_BITS + size) < bytes)
        size++;
    return size;
}

/* What is left of a slab that is too small for a piece is lost: less than that piece. */
static void *cut(size_t bytes)
{
    if (slab_left < bytes) {
        unsigned char *more = rtl_pages(SLAB);
        if (more == NULL)
            return NULL;
        slab = more;
        slab_left = SLAB;
    }
    void *memory = slab;
    slab += bytes;
    slab_left -= bytes;
    return memory;
}

void *rtl_heap_take(size_t bytes)
{
    if (bytes > SLAB)
        return rtl_pages(bytes);
    unsigned size = size_for(bytes);
    pthread_mutex_lock(&lock);
    struct piece *piece = pieces[size];
    if (piece != NULL)
        pieces[size] = piece->next;
    void *memory = piece != NULL ? piece : cut((size_t)1 << (LEAST_BITS + size));
    pthread_mutex_unlock(&lock);
    return memory;
}

void rtl_heap_give(void *memory, size_t bytes)
{
    if (bytes > SLAB) {
        rtl_pages_give(memory, bytes);
        return;
    }
    struct piece *piece = memory;
    unsigned size = size_for(bytes);
    pthread_mutex_lock(&lock);
    piece->next = pieces[size];
    pieces[size] = piece;
    pthread_mutex_unlock(&lock);
}

void rtl_heap_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    memset((void *)pieces, 0, sizeof pieces);
    slab_left = 0;
}
