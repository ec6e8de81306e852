/* The demo's model on the host, layer after layer, to check what the GPU decoded. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

typedef struct state {
    int32_t hidden[DECODE_WIDTH];
    int32_t normal[DECODE_WIDTH];
    int position;
} state_t;

static int32_t bounded(int64_t value, int32_t limit)
{
    if (value > limit) {
        return limit;
    }
    return value < -limit ? -limit : (int32_t)value;
}

static void multiply(const int32_t *matrix, const int32_t *vector, int rows, int columns,
                     int32_t *result)
{
    for (int row = 0; row < rows; row++) {
        int64_t sum = 0;
        for (int column = 0; column < columns; column++) {
            sum += (int64_t)*matrix++ * vector[column];
        }
        result[row] = (int32_t)(sum / 16);
    }
}

static void normalise(state_t *state)
{
    int64_t sum = 1;
    for (int i = 0; i < DECODE_WIDTH; i++) {
        sum += labs(state->hidden[i]);
    }
    for (int i = 0; i < DECODE_WIDTH; i++) {
        int64_t scaled = (int64_t)state->hidden[i] * 16 * DECODE_WIDTH / sum;
        state->normal[i] = bounded(scaled, DECODE_LIMIT);
    }
}

/* Multiplies each pair, as a complex number, with a power of i. */
static void turn_pairs(int32_t *values, int pairs, int position)
{
    static const int cosine[4] = {1, 0, -1, 0}, sine[4] = {0, 1, 0, -1};
    for (int pair = 0; pair < pairs; pair++, values += 2) {
        int quarter = (position * (pair % 3 + 1)) % 4;
        int32_t real = values[0], imaginary = values[1];
        values[0] = real * cosine[quarter] - imaginary * sine[quarter];
        values[1] = real * sine[quarter] + imaginary * cosine[quarter];
    }
}

static int64_t score(const int32_t *query, const int32_t *key)
{
    int64_t sum = 0;
    for (int i = 0; i < DECODE_HEAD; i++) {
        sum += (int64_t)(query[i] / 4) * (key[i] / 4);
    }
    return sum / 16;
}

/* Where the part of head `head` begins in the key or value of slot `slot`. */
static size_t place(int slot, int head)
{
    return (size_t)slot * DECODE_WIDTH + (size_t)head * DECODE_HEAD;
}

static void attend_head(const int32_t *query, const decode_cache_t *cache, int head, int visible,
                        int32_t *mixed)
{
    int64_t scores[DECODE_WINDOW], best = INT64_MIN, total = 0, sums[DECODE_HEAD] = {0};
    for (int slot = 0; slot < visible; slot++) {
        scores[slot] = score(query, &cache->keys[place(slot, head)]);
        best = scores[slot] > best ? scores[slot] : best;
    }
    for (int slot = 0; slot < visible; slot++) {
        int64_t share = 64 + (scores[slot] - best) / 32;
        if (share <= 0) {
            continue;
        }
        total += share;
        for (size_t i = 0; i < DECODE_HEAD; i++) {
            sums[i] += share * cache->values[place(slot, head) + i];
        }
    }
    for (int i = 0; i < DECODE_HEAD && total > 0; i++) {
        mixed[i] = (int32_t)(sums[i] / total);
    }
}

static void attend(const decode_layer_t *layer, decode_cache_t *cache, state_t *state)
{
    int32_t qkv[DECODE_QKV], mixed[DECODE_WIDTH], change[DECODE_WIDTH];
    normalise(state);
    multiply(layer->qkv, state->normal, DECODE_QKV, DECODE_WIDTH, qkv);
    turn_pairs(qkv, DECODE_WIDTH, state->position);
    int slot = state->position % DECODE_WINDOW;
    memcpy(&cache->keys[place(slot, 0)], qkv + DECODE_WIDTH, sizeof change);
    memcpy(&cache->values[place(slot, 0)], qkv + DECODE_WIDTH + DECODE_WIDTH, sizeof change);
    int visible = state->position < DECODE_WINDOW ? state->position + 1 : DECODE_WINDOW;
    for (int head = 0; head < DECODE_HEADS; head++) {
        attend_head(qkv + place(0, head), cache, head, visible, mixed + place(0, head));
    }
    multiply(layer->out, mixed, DECODE_WIDTH, DECODE_WIDTH, change);
    for (int i = 0; i < DECODE_WIDTH; i++) {
        state->hidden[i] = bounded((int64_t)state->hidden[i] + change[i], DECODE_RANGE);
    }
}

static void think(const decode_layer_t *layer, state_t *state)
{
    int32_t up[DECODE_INNER], gate[DECODE_INNER], change[DECODE_WIDTH];
    normalise(state);
    multiply(layer->up, state->normal, DECODE_INNER, DECODE_WIDTH, up);
    multiply(layer->gate, state->normal, DECODE_INNER, DECODE_WIDTH, gate);
    for (int i = 0; i < DECODE_INNER; i++) {
        int64_t product = gate[i] > 0 ? (int64_t)up[i] * gate[i] / 64 : 0;
        up[i] = bounded(product, 4 * DECODE_LIMIT);
    }
    multiply(layer->down, up, DECODE_WIDTH, DECODE_INNER, change);
    for (int i = 0; i < DECODE_WIDTH; i++) {
        state->hidden[i] = bounded((int64_t)state->hidden[i] + change[i], DECODE_RANGE);
    }
}

static int32_t pick(const int32_t *logits, int position)
{
    int32_t best = 0;
    int64_t most = INT64_MIN;
    for (int32_t token = 0; token < DECODE_VOCABULARY; token++) {
        uint32_t noise = decode_hash((uint32_t)(position * DECODE_VOCABULARY + token)) % 256U;
        if (logits[token] + (int64_t)noise > most) {
            most = logits[token] + (int64_t)noise;
            best = token;
        }
    }
    return best;
}

int decode_reference(const decode_layer_t *weights, const int32_t *embedding, int layers,
                     int32_t first, int steps, int32_t *logits, int32_t *picked)
{
    decode_cache_t *caches = calloc((size_t)layers, sizeof *caches);
    if (caches == NULL) {
        return -1;
    }
    int32_t token = first;
    for (int step = 0; step < steps; step++) {
        state_t state = {.position = step};
        for (int i = 0; i < DECODE_WIDTH; i++) {
            state.hidden[i] = embedding[token * DECODE_WIDTH + i] * 512 + step % 7;
        }
        for (int layer = 0; layer < layers; layer++) {
            attend(&weights[layer], &caches[layer], &state);
            think(&weights[layer], &state);
        }
        normalise(&state);
        int32_t *out = logits + (size_t)step * DECODE_VOCABULARY;
        multiply(embedding, state.normal, DECODE_VOCABULARY, DECODE_WIDTH, out);
        token = picked[step] = pick(out, step);
    }
    free(caches);
    return 0;
}
