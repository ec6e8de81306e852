/**
 * The schema of a trace file: the one place where its tables are defined. docs/format.md is the
 * specification; a change here is a change there and of the version below.
 */
#ifndef RTL_STORE_SCHEMA_H
#define RTL_STORE_SCHEMA_H

/** SQLite application_id of every trace: "RTLt". */
#define RTL_APPLICATION_ID 0x52544c74

/** Of a merge that has not ended, "RTLm": no trace yet (merge_state.h). */
#define RTL_APPLICATION_ID_MERGE 0x52544c6d

/** A reader refuses a newer major version; a newer minor one only adds tables, columns and
 * keys. SQLite's user_version holds major * 1000 + minor. */
#define RTL_FORMAT_MAJOR 1
#define RTL_FORMAT_MINOR 7
#define RTL_FORMAT_SCALE 1000

/** Statements that make an empty trace in an empty database. */
extern const char rtl_schema[];
extern const char rtl_schema_ledger[];   /**< the tables of the ledger, of pauses and notes */
extern const char rtl_schema_graphs[];   /**< the tables of graphs */
extern const char rtl_schema_counters[]; /**< the tables of hardware counters */
extern const char rtl_schema_hip[];      /**< the table of HIP's queues */
extern const char rtl_schema_clocks[];   /**< the table of exchanges with other hosts */
extern const char rtl_schema_stats[];    /**< the tables of statistics, unless they are there */
extern const char rtl_schema_merged[];   /**< the table that only merged traces have */
extern const char rtl_schema_digests[];  /**< the table of digests, the same */

#endif
