/**
 * Which places in the layers of two graphs are the same: by the kernels' names, and between those
 * by their families, so that another batch size, whose kernels have other names, and a fusion do
 * not shift the rest.
 */
#ifndef RTL_TOOLS_GRAPH_PLACES_H
#define RTL_TOOLS_GRAPH_PLACES_H

#include <stdbool.h>
#include <stddef.h>

/** What is at a place. Equal numbers are equal texts and shapes. */
struct graph_place_key {
    size_t name, family;
    size_t shape; /**< grid and block: of several ways to match that with most equal ones */
};

/** Places that are the same work: one each, or a part of a layer that is done by another number of
 * kernels. */
struct graph_places_group {
    size_t a, a_count; /**< first place, how many */
    size_t b, b_count; /**< as many from there on, in the second's order (graph_places_second) */
    bool same;         /**< one each, of one name */
};

struct graph_places {
    struct graph_places_group *list; /**< in the order of the layers */
    size_t count;
    size_t turn;    /**< the second's layers begin so many places later, to match best */
    size_t b_count; /**< of the second's layer */
};

/** Matches the places of two layers, each one at least. The second's may begin anywhere: layers
 * begin where nodes begin to repeat (period.h). The caller frees it. */
void graph_places_match(const struct graph_place_key *a, size_t a_count,
                        const struct graph_place_key *b, size_t b_count,
                        struct graph_places *places);

/** The place in the second's layer, of one in the order of the groups. */
size_t graph_places_second(const struct graph_places *places, size_t place);

void graph_places_free(struct graph_places *places);

#endif
