#include "intercept/hip/node_facts.h"

#include <pthread.h>
#include <stdlib.h>

#define FEWEST_BUCKETS 256u

/* Either a node with its facts, or a graph that is part of another one. Everything that ends with a
 * graph is in a list, whose head is an entry of the kind GRAPH. */
enum kind { NODE, GRAPH };

struct entry {
    struct entry *next; /* in the bucket */
    uint64_t handle;
    enum kind kind;
    struct entry *owner;          /* the graph it ends with, NULL if it is on its own */
    struct entry *before, *after; /* in the owner's list */
    struct entry *first;          /* of what ends with it */
    struct rtl_node_facts facts;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry **buckets;
static size_t bucket_count, entry_count;

static size_t bucket_of(uint64_t handle, enum kind kind, size_t count)
{
    return (((handle >> 4) + (uint64_t)kind) * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (count - 1);
}

static struct entry *find(uint64_t handle, enum kind kind)
{
    if (bucket_count == 0)
        return NULL;
    struct entry *at = buckets[bucket_of(handle, kind, bucket_count)];
    while (at != NULL && (at->handle != handle || at->kind != kind))
        at = at->next;
    return at;
}

/* Doubles the buckets when there are as many entries. False without memory for the first ones. */
static bool grow(void)
{
    if (entry_count < bucket_count)
        return true;
    size_t count = bucket_count == 0 ? FEWEST_BUCKETS : 2 * bucket_count;
    struct entry **wider = calloc(count, sizeof(struct entry *));
    if (wider == NULL)
        return bucket_count > 0;
    for (size_t i = 0; i < bucket_count; i++) {
        for (struct entry *at = buckets[i], *next; at != NULL; at = next) {
            next = at->next;
            struct entry **bucket = &wider[bucket_of(at->handle, at->kind, count)];
            at->next = *bucket;
            *bucket = at;
        }
    }
    free(buckets);
    buckets = wider;
    bucket_count = count;
    return true;
}

static struct entry *find_or_enter(uint64_t handle, enum kind kind)
{
    struct entry *entry = find(handle, kind);
    if (entry != NULL || !grow())
        return entry;
    entry = calloc(1, sizeof *entry);
    if (entry == NULL)
        return NULL;
    entry->handle = handle;
    entry->kind = kind;
    struct entry **bucket = &buckets[bucket_of(handle, kind, bucket_count)];
    entry->next = *bucket;
    *bucket = entry;
    entry_count++;
    return entry;
}

static void disown(struct entry *entry)
{
    if (entry->owner == NULL)
        return;
    if (entry->before != NULL)
        entry->before->after = entry->after;
    else
        entry->owner->first = entry->after;
    if (entry->after != NULL)
        entry->after->before = entry->before;
    entry->owner = entry->before = entry->after = NULL;
}

static void own(struct entry *owner, struct entry *entry)
{
    disown(entry);
    entry->owner = owner;
    entry->after = owner->first;
    if (entry->after != NULL)
        entry->after->before = entry;
    owner->first = entry;
}

/* An entry without anything that ends with it. */
static void drop(struct entry *entry)
{
    disown(entry);
    struct entry **at = &buckets[bucket_of(entry->handle, entry->kind, bucket_count)];
    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
    entry_count--;
    free(entry);
}

/* An entry with all that ends with it, the innermost first. */
static void drop_all(struct entry *top)
{
    for (struct entry *at = top;;) {
        while (at->first != NULL)
            at = at->first;
        if (at == top)
            break;
        struct entry *owner = at->owner;
        drop(at);
        at = owner;
    }
    drop(top);
}

void rtl_node_facts_set(uint64_t graph, uint64_t node, struct rtl_node_facts facts)
{
    pthread_mutex_lock(&lock);
    struct entry *owner = find_or_enter(graph, GRAPH);
    struct entry *entry = owner != NULL ? find_or_enter(node, NODE) : NULL;
    if (entry != NULL) {
        own(owner, entry);
        entry->facts = facts;
    }
    pthread_mutex_unlock(&lock);
}

bool rtl_node_facts_find(uint64_t graph, uint64_t node, struct rtl_node_facts *facts)
{
    pthread_mutex_lock(&lock);
    const struct entry *entry = find(node, NODE);
    bool found = entry != NULL && entry->owner->handle == graph;
    if (found)
        *facts = entry->facts;
    pthread_mutex_unlock(&lock);
    return found;
}

void rtl_node_facts_set_bytes(uint64_t node, uint64_t bytes)
{
    pthread_mutex_lock(&lock);
    struct entry *entry = find(node, NODE);
    if (entry != NULL)
        entry->facts.bytes = bytes;
    pthread_mutex_unlock(&lock);
}

void rtl_node_facts_forget(uint64_t node)
{
    pthread_mutex_lock(&lock);
    struct entry *entry = find(node, NODE);
    if (entry != NULL)
        drop(entry);
    pthread_mutex_unlock(&lock);
}

void rtl_node_facts_forget_graph(uint64_t graph)
{
    pthread_mutex_lock(&lock);
    struct entry *entry = find(graph, GRAPH);
    if (entry != NULL)
        drop_all(entry);
    pthread_mutex_unlock(&lock);
}

void rtl_node_facts_attach(uint64_t graph, uint64_t child)
{
    pthread_mutex_lock(&lock);
    struct entry *owner = find_or_enter(graph, GRAPH);
    struct entry *entry = owner != NULL ? find_or_enter(child, GRAPH) : NULL;
    if (entry != NULL)
        own(owner, entry);
    pthread_mutex_unlock(&lock);
}
