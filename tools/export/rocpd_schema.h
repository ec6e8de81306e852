/**
 * Tables and views of rocpd 3.0. All functions return SQL that the caller frees with sqlite3_free,
 * NULL when memory is short.
 */
#ifndef RTL_TOOLS_EXPORT_ROCPD_SCHEMA_H
#define RTL_TOOLS_EXPORT_ROCPD_SCHEMA_H

/** Makes the tables, rocpd_X, without their suffix, those with many rows without constraints and
 * types; rows carry `guid` by default. */
char *rocpd_schema_tables(const char *guid);

/** Gives the tables, when they have their rows, what they were filled without: constraints, types,
 * their suffix, which references follow; and each a view without the suffix. */
char *rocpd_schema_names(const char *guid, const char *suffix);

/** Makes the views over those. */
char *rocpd_schema_views(void);

#endif
