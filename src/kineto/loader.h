/**
 * Finds vendors of PrivateUse1 tracing, loads their libraries and has them fill their tables.
 *
 * KINETO_PLUGIN_PATH names files and folders, with colons between them. If it is not set, or empty,
 * nothing is loaded and nothing is looked for. If it is, the standard folders come behind it:
 * /usr/lib/kineto/plugins, /usr/local/lib/kineto/plugins, ~/.local/lib/kineto/plugins. Of a folder
 * all files are tried that end in ".so", in the order of their names; a standard folder that is not
 * there is no mistake. A file that was tried is not tried again under another name. A process that
 * runs with other rights than its user's (setuid) loads nothing.
 *
 * A library is opened (RTLD_NOW | RTLD_LOCAL), asked for kineto_register_privateuse1_plugin, then
 * for pu1GetVersion, which must have our major, and only then registered. What goes wrong costs
 * that library and no other. Libraries are never closed.
 */
#ifndef RTL_KINETO_LOADER_H
#define RTL_KINETO_LOADER_H

#include <PrivateUse1TracingApi.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A vendor that has registered. Valid as long as the process. */
typedef struct pu1_vendor {
    const char *path; /**< as it was opened */
    uint32_t version; /**< pu1GetVersion */
    pu1TracingApiTable api;
} pu1_vendor_t;

typedef struct pu1_vendors {
    size_t count;
    const pu1_vendor_t *items;
} pu1_vendors_t;

typedef enum pu1_severity {
    PU1_INFO,    /**< a vendor is there */
    PU1_WARNING, /**< a library that could not be opened, is no plugin, or declines */
    PU1_FAULT    /**< one that has another ABI, or breaks it */
} pu1_severity_t;

/** Gets one sentence, without a newline; NULL: nothing is said. Called in pu1_load only. */
typedef void (*pu1_say_fn)(void *context, pu1_severity_t severity, const char *sentence);

/** Loads all vendors, the first time; later calls find what there is, and say nothing. Any thread;
 * the first call reads the environment. Never NULL. */
const pu1_vendors_t *pu1_load(pu1_say_fn say, void *context);

#ifdef __cplusplus
}
#endif

#endif
