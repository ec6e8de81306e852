#include "softgpu/kfd_svm.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, DEFAULT_GRANULARITY = 9, MOST_GRANULARITY = 63 };

typedef struct sg_svm_attributes {
    uint32_t access;   /* by GPU a bit */
    uint32_t in_place; /* of those, who do not want it moved */
    uint32_t preferred;
    uint32_t prefetched;
    uint32_t flags;
    uint32_t granularity;
} sg_svm_attributes_t;

typedef struct sg_svm_range {
    uintptr_t start;
    uintptr_t end;
    sg_svm_attributes_t attributes;
} sg_svm_range_t;

typedef struct sg_svm_ranges {
    sg_svm_range_t *range; /* by address; they do not overlap */
    size_t count;
} sg_svm_ranges_t;

/* As Linux's driver has it, while faults cannot be retried: no GPU may use what nobody asked for.
 */
static const sg_svm_attributes_t BY_DEFAULT = {.preferred = KFD_IOCTL_SVM_LOCATION_UNDEFINED,
                                               .prefetched = KFD_IOCTL_SVM_LOCATION_UNDEFINED,
                                               .flags = KFD_IOCTL_SVM_FLAG_HOST_ACCESS |
                                                        KFD_IOCTL_SVM_FLAG_COHERENT,
                                               .granularity = DEFAULT_GRANULARITY};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sg_svm_ranges_t ranges;

void sg_kfd_svm_clear(void)
{
    (void)pthread_mutex_lock(&lock);
    free(ranges.range);
    ranges = (sg_svm_ranges_t){0};
    (void)pthread_mutex_unlock(&lock);
}

void sg_kfd_svm_before_fork(void)
{
    (void)pthread_mutex_lock(&lock);
}

void sg_kfd_svm_after_fork(void)
{
    (void)pthread_mutex_unlock(&lock);
}

/* ---- what is mapped ---- */

/* Neither the driver nor the device sees the process unmap memory, and the device is a thread of
 * it. This call does nothing else: it tells whether all pages are mapped. */
static bool is_mapped(uintptr_t start, uint64_t bytes)
{
    int error = errno;
    bool mapped = msync((void *)start, bytes, MS_ASYNC) == 0;
    errno = error;
    return mapped;
}

/* Index of the first range that ends behind `address`. */
static size_t first_behind(uintptr_t address)
{
    size_t low = 0;
    size_t high = ranges.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges.range[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t sg_kfd_svm_bytes(uintptr_t address)
{
    uint64_t bytes = 0;
    uintptr_t page = address & ~(uintptr_t)(PAGE - 1);
    (void)pthread_mutex_lock(&lock);
    size_t at = first_behind(address);
    if (at < ranges.count && ranges.range[at].start <= address &&
        ranges.range[at].attributes.access != 0)
        bytes = ranges.range[at].end - page;
    (void)pthread_mutex_unlock(&lock);
    while (bytes > 0 && !is_mapped(page, bytes))
        bytes = bytes / 2 & ~(uint64_t)(PAGE - 1);
    return bytes == 0 ? 0 : page + bytes - address;
}

/* ---- to set attributes ---- */

static bool is_location(uint32_t value)
{
    return value == KFD_IOCTL_SVM_LOCATION_SYSMEM || value == KFD_IOCTL_SVM_LOCATION_UNDEFINED ||
           sg_kfd_gpu_of(value) >= 0;
}

static bool can_set(const struct kfd_ioctl_svm_attribute *attribute)
{
    switch (attribute->type) {
    case KFD_IOCTL_SVM_ATTR_PREFERRED_LOC:
    case KFD_IOCTL_SVM_ATTR_PREFETCH_LOC:
        return is_location(attribute->value);
    case KFD_IOCTL_SVM_ATTR_ACCESS:
    case KFD_IOCTL_SVM_ATTR_ACCESS_IN_PLACE:
    case KFD_IOCTL_SVM_ATTR_NO_ACCESS:
        return sg_kfd_gpu_of(attribute->value) >= 0;
    default:
        return attribute->type <= KFD_IOCTL_SVM_ATTR_GRANULARITY;
    }
}

static void set_access(sg_svm_attributes_t *to, uint32_t type, uint32_t gpu_id)
{
    uint32_t gpu = 1U << (unsigned)sg_kfd_gpu_of(gpu_id);
    to->access &= ~gpu;
    to->in_place &= ~gpu;
    if (type != KFD_IOCTL_SVM_ATTR_NO_ACCESS)
        to->access |= gpu;
    if (type == KFD_IOCTL_SVM_ATTR_ACCESS_IN_PLACE)
        to->in_place |= gpu;
}

static void set_one(sg_svm_attributes_t *to, const struct kfd_ioctl_svm_attribute *attribute)
{
    switch (attribute->type) {
    case KFD_IOCTL_SVM_ATTR_PREFERRED_LOC:
        to->preferred = attribute->value;
        break;
    case KFD_IOCTL_SVM_ATTR_PREFETCH_LOC:
        to->prefetched = attribute->value;
        break;
    case KFD_IOCTL_SVM_ATTR_SET_FLAGS:
        to->flags |= attribute->value;
        break;
    case KFD_IOCTL_SVM_ATTR_CLR_FLAGS:
        to->flags &= ~attribute->value;
        break;
    case KFD_IOCTL_SVM_ATTR_GRANULARITY:
        to->granularity = attribute->value < MOST_GRANULARITY ? attribute->value : MOST_GRANULARITY;
        break;
    default:
        set_access(to, attribute->type, attribute->value);
    }
}

/* Appends a piece, to the one before it where that is of the same kind. */
static void append(sg_svm_ranges_t *to, uintptr_t start, uintptr_t end,
                   const sg_svm_attributes_t *attributes)
{
    sg_svm_range_t *last = to->count > 0 ? &to->range[to->count - 1] : NULL;
    if (start >= end)
        return;
    if (last && last->end == start &&
        memcmp(&last->attributes, attributes, sizeof(*attributes)) == 0)
        last->end = end;
    else
        to->range[to->count++] = (sg_svm_range_t){start, end, *attributes};
}

static void append_changed(sg_svm_ranges_t *to, uintptr_t start, uintptr_t end,
                           sg_svm_attributes_t attributes, const struct kfd_ioctl_svm_args *args)
{
    for (uint32_t i = 0; i < args->nattr; i++)
        set_one(&attributes, &args->attrs[i]);
    append(to, start, end, &attributes);
}

static uintptr_t lower(uintptr_t one, uintptr_t other)
{
    return one < other ? one : other;
}

static uintptr_t higher(uintptr_t one, uintptr_t other)
{
    return one > other ? one : other;
}

/* All ranges anew, with those that are meant split where it begins and ends, changed, and added
 * where there was none. */
static void change(sg_svm_ranges_t *to, const struct kfd_ioctl_svm_args *args)
{
    uintptr_t done = args->start_addr;
    uintptr_t end = args->start_addr + args->size;
    for (size_t i = 0; i < ranges.count; i++) {
        const sg_svm_range_t *range = &ranges.range[i];
        uintptr_t from = lower(higher(range->start, done), end);
        uintptr_t until = lower(range->end, end);
        append(to, range->start, lower(range->end, args->start_addr), &range->attributes);
        if (range->end > args->start_addr) {
            append_changed(to, done, from, BY_DEFAULT, args);
            append_changed(to, from, until, range->attributes, args);
            done = higher(from, until);
        }
        append(to, higher(range->start, end), range->end, &range->attributes);
    }
    append_changed(to, done, end, BY_DEFAULT, args);
}

static int set(const struct kfd_ioctl_svm_args *args)
{
    for (uint32_t i = 0; i < args->nattr; i++)
        if (!can_set(&args->attrs[i]))
            return EINVAL;
    if (!is_mapped(args->start_addr, args->size))
        return EFAULT;
    (void)pthread_mutex_lock(&lock);
    /* Of each range there can be a piece, and a gap before it; two are split. */
    sg_svm_ranges_t changed = {malloc((2 * ranges.count + 3) * sizeof(sg_svm_range_t)), 0};
    if (changed.range) {
        change(&changed, args);
        free(ranges.range);
        ranges = changed;
    }
    (void)pthread_mutex_unlock(&lock);
    return changed.range ? 0 : ENOMEM;
}

/* ---- to ask for them ---- */

/* What is true of all of the memory that is asked about. */
typedef struct sg_svm_common {
    bool any;
    sg_svm_attributes_t all;
    uint32_t flags_of_some;
} sg_svm_common_t;

static void add(sg_svm_common_t *common, const sg_svm_attributes_t *attributes)
{
    sg_svm_attributes_t *all = &common->all;
    if (!common->any)
        *all = *attributes;
    common->any = true;
    if (all->preferred != attributes->preferred)
        all->preferred = KFD_IOCTL_SVM_LOCATION_UNDEFINED;
    if (all->prefetched != attributes->prefetched)
        all->prefetched = KFD_IOCTL_SVM_LOCATION_UNDEFINED;
    all->access &= attributes->access;
    all->in_place &= attributes->in_place;
    all->flags &= attributes->flags;
    common->flags_of_some |= attributes->flags;
    if (all->granularity > attributes->granularity)
        all->granularity = attributes->granularity;
}

static sg_svm_common_t collect(uintptr_t start, uintptr_t end)
{
    sg_svm_common_t common = {0};
    (void)pthread_mutex_lock(&lock);
    for (size_t i = first_behind(start); i < ranges.count && ranges.range[i].start < end; i++)
        add(&common, &ranges.range[i].attributes);
    (void)pthread_mutex_unlock(&lock);
    if (!common.any)
        add(&common, &BY_DEFAULT);
    return common;
}

static bool can_get(const struct kfd_ioctl_svm_attribute *attribute)
{
    if (attribute->type == KFD_IOCTL_SVM_ATTR_ACCESS)
        return sg_kfd_gpu_of(attribute->value) >= 0;
    return attribute->type != KFD_IOCTL_SVM_ATTR_ACCESS_IN_PLACE &&
           attribute->type != KFD_IOCTL_SVM_ATTR_NO_ACCESS &&
           attribute->type <= KFD_IOCTL_SVM_ATTR_GRANULARITY;
}

/* A GPU's access is told in the attribute's type. */
static void tell(const sg_svm_common_t *common, struct kfd_ioctl_svm_attribute *attribute)
{
    switch (attribute->type) {
    case KFD_IOCTL_SVM_ATTR_PREFERRED_LOC:
        attribute->value = common->all.preferred;
        break;
    case KFD_IOCTL_SVM_ATTR_PREFETCH_LOC:
        attribute->value = common->all.prefetched;
        break;
    case KFD_IOCTL_SVM_ATTR_SET_FLAGS:
        attribute->value = common->all.flags;
        break;
    case KFD_IOCTL_SVM_ATTR_CLR_FLAGS:
        attribute->value = ~common->flags_of_some;
        break;
    case KFD_IOCTL_SVM_ATTR_GRANULARITY:
        attribute->value = common->all.granularity;
        break;
    default: {
        uint32_t gpu = 1U << (unsigned)sg_kfd_gpu_of(attribute->value);
        attribute->type = common->all.in_place & gpu ? KFD_IOCTL_SVM_ATTR_ACCESS_IN_PLACE
                          : common->all.access & gpu ? KFD_IOCTL_SVM_ATTR_ACCESS
                                                     : KFD_IOCTL_SVM_ATTR_NO_ACCESS;
    }
    }
}

static int get(struct kfd_ioctl_svm_args *args)
{
    sg_svm_common_t common = collect(args->start_addr, args->start_addr + args->size);
    for (uint32_t i = 0; i < args->nattr; i++)
        if (!can_get(&args->attrs[i]))
            return EINVAL;
    for (uint32_t i = 0; i < args->nattr; i++)
        tell(&common, &args->attrs[i]);
    return 0;
}

int sg_kfd_svm(struct kfd_ioctl_svm_args *args, size_t bytes)
{
    if (bytes < sizeof(*args) || (bytes - sizeof(*args)) / sizeof(args->attrs[0]) < args->nattr ||
        args->size == 0 || (args->start_addr | args->size) % PAGE != 0 ||
        args->start_addr + args->size < args->start_addr)
        return EINVAL;
    switch (args->op) {
    case KFD_IOCTL_SVM_OP_SET_ATTR:
        return set(args);
    case KFD_IOCTL_SVM_OP_GET_ATTR:
        return get(args);
    default:
        return EINVAL;
    }
}
