/**
 * The model that the demo decodes with: sizes, weights, and where they lie.
 *
 * A small transformer in integers: every operation is exact, so a GPU, the software GPU and the
 * host agree bit for bit. Used by the HIP program, by its plugin for the software GPU and by the
 * host's reference.
 */
#ifndef DECODE_MODEL_H
#define DECODE_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    DECODE_WIDTH = 32,  /**< elements of the hidden state */
    DECODE_HEADS = 2,   /**< attention heads */
    DECODE_HEAD = 16,   /**< elements of a head */
    DECODE_INNER = 64,  /**< elements within the MLP */
    DECODE_WINDOW = 64, /**< positions that attention sees: the key and value caches are rings */
    DECODE_VOCABULARY = 256,
    DECODE_QKV = 3 * DECODE_WIDTH, /**< query, key and value, one behind the other */
    DECODE_LIMIT = 127,            /**< bound of normalised values */
    DECODE_RANGE = 32767           /**< bound of the hidden state */
};

/** The weights of one layer, row by row. Values -8..7. */
typedef struct decode_layer {
    int32_t qkv[DECODE_QKV * DECODE_WIDTH];
    int32_t out[DECODE_WIDTH * DECODE_WIDTH];
    int32_t up[DECODE_INNER * DECODE_WIDTH];
    int32_t gate[DECODE_INNER * DECODE_WIDTH];
    int32_t down[DECODE_WIDTH * DECODE_INNER];
} decode_layer_t;

/** Keys and values of one layer, by position modulo DECODE_WINDOW. */
typedef struct decode_cache {
    int32_t keys[DECODE_WINDOW * DECODE_WIDTH];
    int32_t values[DECODE_WINDOW * DECODE_WIDTH];
} decode_cache_t;

/** What a step is about; copied to the device before it. */
typedef struct decode_step {
    int32_t token;
    int32_t position;
} decode_step_t;

/* The GPU's compiler is told that what follows is for the GPU too. */
#ifdef __HIPCC__
#define DECODE_ITEM __host__ __device__ static inline
#else
#define DECODE_ITEM static inline
#endif

/** Mixes bits; the source of all weights and of the noise in sampling. */
DECODE_ITEM uint32_t decode_hash(uint32_t value)
{
    value = (value ^ (value >> 16U)) * 0x7FEB352DU;
    value = (value ^ (value >> 15U)) * 0x846CA68BU;
    return value ^ (value >> 16U);
}

/** Fills `count` weights that depend on `seed` alone. */
static inline void decode_fill_weights(int32_t *weights, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++) {
        weights[i] = (int32_t)(decode_hash(seed * 0x9E3779B9U + (uint32_t)i) % 16U) - 8;
    }
}

/** Decodes on the host from `first` with `layers` layers: for each of `steps` steps, stores the
 * logits (DECODE_VOCABULARY of them) and the token that is picked. `weights` and `embedding` are
 * the device's. Returns 0, or -1 if memory is short. Written apart from the kernels, as a check of
 * them. */
int decode_reference(const decode_layer_t *weights, const int32_t *embedding, int layers,
                     int32_t first, int steps, int32_t *logits, int32_t *picked);

#ifdef __cplusplus
}
#endif

#endif
