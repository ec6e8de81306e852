/**
 * Families of kernels: what a kernel does, by its name. family.def has the rules.
 */
#ifndef RTL_TOOLS_FAMILY_H
#define RTL_TOOLS_FAMILY_H

#define FAMILY_OTHER "other" /* of names that no rule matches */

struct family_rules;

/** The built-in rules, and before them those of a file (NULL: none): lines `pattern = family`, of
 * which the first that matches counts; empty ones and those that begin with # are left out. NULL
 * when a sentence has been said that names file and line. The caller frees the rules with
 * family_rules_free. Memory that is short ends the program with a sentence. */
struct family_rules *family_rules_read(const char *file);

/** The family of a demangled name. Each different name is looked at once. The text belongs to the
 * rules; a family always has the same one. One thread. */
const char *family_of(struct family_rules *rules, const char *name);

/** NULL is fine. */
void family_rules_free(struct family_rules *rules);

#endif
