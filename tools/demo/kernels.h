/**
 * What one work-item of each kernel of the demo does. The HIP program calls these on the GPU; the
 * plugin calls them for every work-item of the grid, which is all that the software GPU needs to
 * run the program.
 *
 * Work-items of one kernel are independent: none reads what another one writes.
 */
#ifndef DECODE_KERNELS_H
#define DECODE_KERNELS_H

#include "model.h"

DECODE_ITEM int32_t decode_clamp(int32_t value, int32_t limit)
{
    return value < -limit ? -limit : value > limit ? limit : value;
}

/** Row `row` of matrix times vector, scaled down. */
DECODE_ITEM int32_t decode_row(const int32_t *matrix, const int32_t *vector, int row, int columns)
{
    int32_t sum = 0;
    for (int column = 0; column < columns; column++) {
        sum += matrix[row * columns + column] * vector[column];
    }
    return sum / 16;
}

/** Positions that attention sees in this step. */
DECODE_ITEM int decode_visible(const decode_step_t *step)
{
    return step->position + 1 < DECODE_WINDOW ? step->position + 1 : DECODE_WINDOW;
}

DECODE_ITEM void decode_embed(int item, const int32_t *embedding, const decode_step_t *step,
                              int32_t *hidden)
{
    hidden[item] = embedding[step->token * DECODE_WIDTH + item] * 512 + step->position % 7;
}

/** Scales the mean magnitude to 16. */
DECODE_ITEM void decode_norm(int item, const int32_t *hidden, int32_t *normal)
{
    int32_t sum = 1;
    for (int i = 0; i < DECODE_WIDTH; i++) {
        sum += hidden[i] < 0 ? -hidden[i] : hidden[i];
    }
    normal[item] = decode_clamp(hidden[item] * (16 * DECODE_WIDTH) / sum, DECODE_LIMIT);
}

DECODE_ITEM void decode_matvec(int item, const int32_t *matrix, const int32_t *vector, int columns,
                               int32_t *result)
{
    result[item] = decode_row(matrix, vector, item, columns);
}

/** Turns pair `item` of queries and keys by quarter turns, as far as position and pair say. */
DECODE_ITEM void decode_rotate(int item, const decode_step_t *step, int32_t *qkv)
{
    int32_t *pair = qkv + (size_t)item * 2;
    int32_t one = pair[0], other = pair[1];
    for (int turn = (step->position * (item % 3 + 1)) % 4; turn > 0; turn--) {
        int32_t old = one;
        one = -other;
        other = old;
    }
    pair[0] = one;
    pair[1] = other;
}

DECODE_ITEM void decode_append(int item, const decode_step_t *step, const int32_t *qkv,
                               decode_cache_t *cache)
{
    int slot = step->position % DECODE_WINDOW * DECODE_WIDTH + item;
    cache->keys[slot] = qkv[DECODE_WIDTH + item];
    cache->values[slot] = qkv[2 * DECODE_WIDTH + item];
}

/** Score of the key in slot item % DECODE_WINDOW for head item / DECODE_WINDOW. */
DECODE_ITEM void decode_scores(int item, const int32_t *qkv, const decode_cache_t *cache,
                               int32_t *scores)
{
    int start = item / DECODE_WINDOW * DECODE_HEAD;
    const int32_t *key = &cache->keys[item % DECODE_WINDOW * DECODE_WIDTH + start];
    int32_t sum = 0;
    for (int i = 0; i < DECODE_HEAD; i++) {
        sum += qkv[start + i] / 4 * (key[i] / 4);
    }
    scores[item] = sum / 16;
}

/** In place of a softmax: linear, cut off at 64 steps below the best score. */
DECODE_ITEM void decode_soften(int item, const decode_step_t *step, const int32_t *scores,
                               int32_t *shares)
{
    const int32_t *head = scores + (size_t)(item / DECODE_WINDOW) * DECODE_WINDOW;
    int visible = decode_visible(step);
    int32_t best = head[0];
    for (int slot = 1; slot < visible; slot++) {
        best = head[slot] > best ? head[slot] : best;
    }
    int32_t share = 64 + (scores[item] - best) / 32;
    shares[item] = item % DECODE_WINDOW < visible && share > 0 ? share : 0;
}

DECODE_ITEM void decode_mix(int item, const int32_t *shares, const decode_cache_t *cache,
                            int32_t *mixed)
{
    const int32_t *head = shares + (size_t)(item / DECODE_HEAD) * DECODE_WINDOW;
    int32_t sum = 0, total = 0;
    for (int slot = 0; slot < DECODE_WINDOW; slot++) {
        sum += head[slot] * cache->values[slot * DECODE_WIDTH + item];
        total += head[slot];
    }
    mixed[item] = total > 0 ? sum / total : 0;
}

DECODE_ITEM void decode_add(int item, const int32_t *change, int32_t *hidden)
{
    hidden[item] = decode_clamp(hidden[item] + change[item], DECODE_RANGE);
}

DECODE_ITEM void decode_gated(int item, const int32_t *up, const int32_t *gate,
                              const int32_t *normal, int32_t *inner)
{
    int32_t open = decode_row(gate, normal, item, DECODE_WIDTH);
    int32_t value = decode_row(up, normal, item, DECODE_WIDTH);
    inner[item] = decode_clamp(open > 0 ? value * open / 64 : 0, 4 * DECODE_LIMIT);
}

DECODE_ITEM void decode_down(int item, const int32_t *down, const int32_t *inner, int32_t *hidden)
{
    hidden[item] =
        decode_clamp(hidden[item] + decode_row(down, inner, item, DECODE_INNER), DECODE_RANGE);
}

/** Greedy with a little noise, so that the text does not repeat itself; the lowest of equal tokens.
 */
DECODE_ITEM void decode_pick(const int32_t *logits, const decode_step_t *step, int32_t *next)
{
    int32_t best = 0, best_score = INT32_MIN;
    for (int token = 0; token < DECODE_VOCABULARY; token++) {
        uint32_t place = (uint32_t)(step->position * DECODE_VOCABULARY + token);
        int32_t score = logits[token] + (int32_t)(decode_hash(place) % 256U);
        if (score > best_score) {
            best = token;
            best_score = score;
        }
    }
    *next = best;
}

#endif
