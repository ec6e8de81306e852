/**
 * The members of a JSON object, as text: what a vendor says about a record goes into a trace member
 * by member, and only if it is JSON.
 */
#ifndef RTL_KINETO_MEMBERS_H
#define RTL_KINETO_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Pieces of the text; `key` without its quotes, with its escapes as they are. */
typedef struct pu1_member {
    const char *key, *value;
    size_t key_length, value_length;
} pu1_member_t;

/** True if the text is one JSON object (RFC 8259), no deeper than 32. */
bool pu1_is_object(const char *text);

/** The next member of an object for which pu1_is_object holds; `*at` begins as the text. False
 * after the last one. */
bool pu1_next_member(const char **at, pu1_member_t *member);

#ifdef __cplusplus
}
#endif

#endif
