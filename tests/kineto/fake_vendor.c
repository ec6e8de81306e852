/*
 * A library that a loader meets. How it is: FAKE_MAJOR, FAKE_MINOR, FAKE_RESULT (of registering),
 * FAKE_NO_ENTRY, FAKE_NO_VERSION, FAKE_HALF (a table with a hole), FAKE_OLD (the table of version
 * 1.0, with something behind it that is no function). It says on stdout when it is
 * loaded and when it is registered.
 */
#include <PrivateUse1TracingApi.h>

#include <stdio.h>
#include <string.h>

#ifndef FAKE_MAJOR
#define FAKE_MAJOR PU1_VERSION_MAJOR
#endif
#ifndef FAKE_MINOR
#define FAKE_MINOR PU1_VERSION_MINOR
#endif
#ifndef FAKE_RESULT
#define FAKE_RESULT 0
#endif

__attribute__((constructor)) static void at_load(void)
{
    (void)puts("loaded " FAKE_NAME);
}

#if !defined FAKE_NO_VERSION || !defined FAKE_NO_ENTRY
static uint32_t get_version(void)
{
    return (uint32_t)FAKE_MAJOR << 16 | FAKE_MINOR;
}
#endif

#ifndef FAKE_NO_VERSION
uint32_t pu1GetVersion(void)
{
    return get_version();
}
#endif

#ifndef FAKE_NO_ENTRY
static pu1Result kind_function(pu1ActivityKind kind)
{
    (void)kind;
    return PU1_SUCCESS;
}

static pu1Result set_callbacks(pu1BufferRequestFn request, pu1BufferCompleteFn complete)
{
    (void)request;
    (void)complete;
    return PU1_SUCCESS;
}

static pu1Result push(uint64_t id)
{
    (void)id;
    return PU1_SUCCESS;
}

static pu1Result pop(uint64_t *last)
{
    (void)last;
    return PU1_SUCCESS;
}

static pu1Result flush(void)
{
    return PU1_SUCCESS;
}

static pu1Result next(uint8_t *buffer, size_t valid, pu1ActivityRecord **record)
{
    (void)buffer;
    (void)valid;
    (void)record;
    return PU1_ERROR_END_OF_BUFFER;
}

static const char *last_error(void)
{
    return "";
}

static uint64_t dropped(void)
{
    return 0;
}

int kineto_register_privateuse1_plugin(pu1TracingApiTable *table)
{
    pu1TracingApiTable whole = {
        .struct_size = sizeof whole,
        .vendor = FAKE_NAME,
        .getVersion = get_version,
        .tracingEnable = kind_function,
        .tracingDisable = kind_function,
        .tracingSetCallbacks = set_callbacks,
        .pushExternalCorrelationId = push,
        .popExternalCorrelationId = pop,
        .flushAll = flush,
        .getNextRecord = next,
        .getLastError = last_error,
        .getDroppedRecords = dropped,
    };
#ifdef FAKE_HALF
    whole.flushAll = NULL;
#endif
#ifdef FAKE_OLD
    memset((char *)&whole + PU1_TABLE_1_0, 1, sizeof whole - PU1_TABLE_1_0);
#endif
    (void)puts("registered " FAKE_NAME);
    memcpy(table, &whole, whole.struct_size);
    return FAKE_RESULT;
}
#endif
