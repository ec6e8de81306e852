/* The report. */
#include "selftest/selftest.h"

#include "common/open.h"

#include <string.h>

static json_t *checks_json(const struct recording *is)
{
    json_t *list = json_array();
    for (size_t i = 0; i < is->check_count; ++i) {
        const struct check *check = &is->checks[i];
        (void)json_array_append_new(
            list, json_pack("{s:s, s:o, s:o, s:o, s:b}", "aspect", selftest_aspects[check->aspect],
                            "what", open_text(check->what), "expected", open_text(check->expected),
                            "seen", open_text(check->seen), "right", (int)check->right));
    }
    return list;
}

static json_t *times_json(const struct recording *is)
{
    return json_pack("{s:f, s:f}", "eager", selftest_time(is, "eager"), "graph",
                     selftest_time(is, "graph"));
}

static json_t *recording_json(const struct recording *is)
{
    json_t *object =
        json_pack("{s:s?, s:s?, s:s, s:I}", "mode", is->mode, "queue", is->way, "state",
                  is->red          ? "red"
                  : is->refused[0] ? "refused"
                                   : "right",
                  "red", (json_int_t)is->red);
    if (is->mode) {
        (void)json_object_set_new(object, "refused", open_text(is->refused));
        (void)json_object_set_new(object, "queues",
                                  json_pack("{s:i, s:i}", "followed", (int)is->followed,
                                            "passed_through", (int)is->passed));
        (void)json_object_set_new(object, "kernels", open_number(is->kernels));
        (void)json_object_set_new(object, "left_out", open_number(is->skipped));
    }
    (void)json_object_set_new(object, "ns_per_kernel", times_json(is));
    (void)json_object_set_new(object, "checks", checks_json(is));
    return object;
}

static json_t *gpus_json(const struct probe *probe)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < probe->gpus; ++i)
        (void)json_array_append_new(list, open_text(probe->gpu[i]));
    return list;
}

static json_t *runtime_json(const struct selftest *selftest)
{
    const struct probe *probe = &selftest->probe;
    const struct known *known = &selftest->first.known;
    const struct known_line *hip = known_next(known, "hip", NULL);
    const struct known_line *code = known_next(known, "code", NULL);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:{s:i, s:i}, s:{s:i, s:i}, s:o}", "hip",
                     open_text(probe->hip), "hip_version", open_text(hip ? hip->word[0] : ""),
                     "rocr", open_text(probe->runtime), "registration", open_text(probe->registers),
                     "intercept_queues", open_text(probe->generation), "kernels_from",
                     code ? code->word[0] : "", "core_table", "bytes", (int)probe->core_table,
                     "step", (int)probe->core_step, "ext_table", "bytes", (int)probe->ext_table,
                     "step", (int)probe->ext_step, "missing", open_text(probe->missing));
}

static json_t *rocprofv3_json(const struct selftest *selftest)
{
    json_t *names = json_object();
    size_t index = 0;
    if (!selftest->compared)
        return json_pack("{s:o}", "said", open_text(selftest->rocprofv3));
    for (const struct known_line *line = NULL;
         (line = known_next(&selftest->profiled, "kernel", line)); ++index)
        (void)json_object_set_new(
            names, line->word[0],
            json_pack("{s:o, s:o}", "expected",
                      open_number(known_number(line, 1) + known_number(line, 2)), "seen",
                      open_number(selftest->counted[index])));
    return json_pack("{s:o}", "kernels", names);
}

json_t *selftest_json(const struct selftest *selftest, json_t *machine)
{
    const struct known_line *gpu = known_next(&selftest->first.known, "gpu", NULL);
    json_t *recordings = json_array();
    (void)json_array_append_new(recordings, recording_json(&selftest->first));
    for (unsigned i = 0; i < SELFTEST_ALONE; ++i)
        (void)json_array_append_new(recordings, recording_json(&selftest->alone[i]));
    for (unsigned i = 0; i < SELFTEST_WAYS * SELFTEST_MODES; ++i)
        (void)json_array_append_new(
            recordings,
            recording_json(&selftest->recordings[i / SELFTEST_MODES][i % SELFTEST_MODES]));
    return json_pack("{s:s, s:s, s:b, s:I, s:I, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "made_by",
                     "rtl doctor --selftest", "rtl_version", RTL_VERSION, "right",
                     selftest_red(selftest) == 0, "checks", (json_int_t)selftest_checks(selftest),
                     "red", (json_int_t)selftest_red(selftest), "software_gpu",
                     selftest->gpu == GPU_SOFT, "gpu", open_text(gpu ? gpu->word[0] : ""), "gpus",
                     gpus_json(&selftest->probe), "runtime", runtime_json(selftest), "recordings",
                     recordings, "rocprofv3", rocprofv3_json(selftest), "machine", machine);
}
