#include "export/rocpd_rows.h"

#include "common/command.h"
#include "common/say.h"
#include "export/lookup.h"

int64_t rocpd_text_id(struct rocpd *rocpd, struct texts *texts, const char *text, bool *added)
{
    size_t before = texts->count;
    size_t number = texts_number(texts, text);
    *added = texts->count != before;
    if (number != TEXTS_NONE)
        return (int64_t)number + 1;
    if (!rocpd->database.failed)
        say("there is not enough memory");
    rocpd->database.failed = true;
    return 0;
}

int64_t rocpd_string_id(struct rocpd *rocpd, const char *text)
{
    bool added;
    int64_t id = rocpd_text_id(rocpd, &rocpd->strings, text, &added);
    if (added)
        (void)database_row(&rocpd->database, ROCPD_STRING,
                           "INSERT INTO rocpd_string(id, string) VALUES (?, ?)", "it", id, text);
    return id;
}

int64_t rocpd_node_id(struct rocpd *rocpd, uint32_t process)
{
    if (rocpd->node.key == process)
        return rocpd->node.id;
    const rtl_process_t *found = export_process(rocpd->export, process);
    const char *host = found && found->host[0] ? found->host : rocpd->export->info.host;
    bool added;
    int64_t id = rocpd_text_id(rocpd, &rocpd->hosts, host, &added);
    if (added)
        (void)database_row(&rocpd->database, ROCPD_NODE,
                           "INSERT INTO rocpd_info_node(id, hash, machine_id, hostname)"
                           " VALUES (?, ?, ?, ?)",
                           "iitt", id, id, host, host);
    rocpd->node = (struct rocpd_last){.key = process, .id = id};
    return id;
}

int64_t rocpd_process_id(const struct rocpd *rocpd, uint32_t process)
{
    return rocpd->base + process;
}

int64_t rocpd_unknown_thread_id(const struct rocpd *rocpd, uint32_t process)
{
    return rocpd->base + (int64_t)rocpd->threads + process;
}

int64_t rocpd_thread_id(const struct rocpd *rocpd, uint32_t process, uint32_t thread)
{
    size_t place = lookup_thread_place(rocpd->export, process, thread);
    return place < rocpd->threads ? rocpd->base + (int64_t)place + 1
                                  : rocpd_unknown_thread_id(rocpd, process);
}

int64_t rocpd_agent_id(const struct rocpd *rocpd, uint32_t process, uint32_t agent)
{
    size_t place = lookup_agent_place(rocpd->export, process, agent);
    return (int64_t)(place < rocpd->agents ? place + 1 : rocpd->agents + process);
}

int64_t rocpd_queue_id(const struct rocpd *rocpd, uint32_t process, uint32_t queue)
{
    size_t place = lookup_queue_place(rocpd->export, process, queue);
    return (int64_t)(place < rocpd->queues ? place + 1 : rocpd->queues + process);
}

int64_t rocpd_stream_id(const struct rocpd *rocpd, uint32_t process, uint32_t stream)
{
    size_t place = lookup_stream_place(rocpd->export, process, stream);
    return (int64_t)(place < rocpd->streams ? place + 1 : rocpd->streams + process);
}

/* Host calls and ranges share the ids of their process; here is one row of ids for all. */
int64_t rocpd_region_id(uint32_t process, uint64_t correlation)
{
    return correlation ? (int64_t)((uint64_t)(process - 1) << 40 | correlation) : 0;
}

int64_t rocpd_category_id(struct rocpd *rocpd, enum rocpd_category category)
{
    static const char *const names[ROCPD_CATEGORIES] = {"HIP_RUNTIME_API", "MARKER_CORE_RANGE_API",
                                                        "KERNEL_DISPATCH", "MEMORY_COPY",
                                                        "GRAPH_LAUNCH",    "MEMORY_ALLOCATION"};
    if (rocpd->categories[category] == 0)
        rocpd->categories[category] = rocpd_string_id(rocpd, names[category]);
    return rocpd->categories[category];
}

/* Ids of the device's events come from SQLite, which is quicker and counts as we do: no other
 * statement writes some then. */
int rocpd_event_row(struct rocpd *rocpd, enum rocpd_category category, int64_t stack,
                    int64_t parent)
{
    const int64_t row[] = {++rocpd->events, rocpd_category_id(rocpd, category), stack, parent,
                           stack};
    if (category == ROCPD_KERNELS || category == ROCPD_COPIES || category == ROCPD_LAUNCHES)
        return database_numbers(&rocpd->database, ROCPD_DEVICE_EVENT,
                                "INSERT OR ROLLBACK INTO rocpd_event(category_id, stack_id,"
                                " parent_stack_id, correlation_id)",
                                4, row + 1);
    return database_numbers(&rocpd->database, ROCPD_EVENT,
                            "INSERT OR ROLLBACK INTO rocpd_event(id, category_id, stack_id,"
                            " parent_stack_id, correlation_id)",
                            5, row);
}

int rocpd_sample_rows(struct rocpd *rocpd, const struct export_event *event)
{
    int status = EXIT_FINE;
    for (size_t i = 0; i < event->sample_count; ++i)
        for (uint32_t j = 0; j < event->samples[i].count && status == EXIT_FINE; ++j) {
            const rtl_trace_sample_t *sample = &event->samples[i];
            size_t place = lookup_counter_place(rocpd->export, sample->counters[j]);
            status = database_row(
                &rocpd->database, ROCPD_PMC_EVENT,
                "INSERT INTO rocpd_pmc_event(event_id, pmc_id, value) VALUES (?, ?, ?)", "iid",
                rocpd->events, (int64_t)place + 1, (double)sample->values[j]);
        }
    return status;
}
