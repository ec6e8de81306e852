/* When recording was stopped, and the accounts of what is stored between checkpoints. */
#include "fixture.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void change(struct rtl_writer *writer, uint32_t process, bool stopped, uint64_t time,
                   enum rtl_pause_why why)
{
    const struct rtl_wire_pause body = {.time_ns = time, .stopped = stopped, .why = why};
    rtl_writer_pause(writer, process, &body);
}

/* Of process 1 a pause that a checkpoint falls into, one that is over at once, and one that stays;
 * of process 2 one at the same time as the first, and one by nobody that this version knows. */
static bool write_pauses(const char *path)
{
    char error[512];
    struct rtl_writer *writer = fixture_open(path);
    if (!writer)
        return false;
    uint32_t one = fixture_define(writer, 1, 1);
    uint32_t two = fixture_define(writer, 1, 1);
    change(writer, one, true, 100, RTL_PAUSE_DELAY);
    change(writer, two, true, 100, RTL_PAUSE_START_OFF);
    (void)rtl_writer_checkpoint(writer);
    change(writer, one, false, 200, RTL_PAUSE_DELAY);
    change(writer, one, true, 300, RTL_PAUSE_CTL);
    change(writer, one, false, 310, RTL_PAUSE_PROGRAM);
    change(writer, one, true, UINT64_C(0x7fffffffffffffff), RTL_PAUSE_DURATION);
    change(writer, two, false, 400, RTL_PAUSE_ROCTX);
    (void)rtl_writer_checkpoint(writer);
    change(writer, two, true, 500, (enum rtl_pause_why)77);
    change(writer, two, false, 600, RTL_PAUSE_PROGRAM);
    return rtl_writer_close(writer, 0, error, sizeof error) == 0;
}

static const rtl_pause_t want[] = {
    {1, 100, 200, "delay"},     {1, 300, 310, "ctl"},     {1, INT64_MAX, 0, "duration"},
    {2, 100, 400, "start-off"}, {2, 500, 600, "unknown"},
};

enum { WANTED = sizeof want / sizeof *want };

const char *Pauses_EveryField(void)
{
    char path[FIXTURE_PATH];
    const rtl_pause_t *pauses;
    size_t count;
    rtl_trace_t *trace;
    CHECK(fixture_path(path));
    CHECK(write_pauses(path));
    CHECK(rtlTraceOpen(path, &trace, NULL, 0) == RTL_OK);
    CHECK(rtlTracePauses(trace, &pauses, &count) == RTL_OK);
    CHECK(count == WANTED);
    for (size_t i = 0; i < count; i++) {
        CHECK(pauses[i].process == want[i].process && strcmp(pauses[i].why, want[i].why) == 0);
        CHECK(pauses[i].start == want[i].start && pauses[i].end == want[i].end);
    }
    rtlTraceClose(trace);
    CHECK(rtlTracePauses(NULL, &pauses, &count) == RTL_E_ARGUMENT);
    CHECK(fixture_number(path, "SELECT sum(duration) FROM pauses") == 100 + 10 + 300 + 100);
    CHECK(fixture_number(path, "SELECT count(*) FROM pauses WHERE end IS NULL") == 1);
    fixture_remove(path);
    return NULL;
}

const char *Pauses_OlderFilesHaveNone(void)
{
    char path[FIXTURE_PATH];
    const rtl_pause_t *pauses;
    size_t count = 7;
    rtl_trace_t *trace;
    CHECK(fixture_path(path));
    CHECK(fixture_trace(path, 10));
    CHECK(fixture_sql(path, "DROP TABLE pauses; PRAGMA user_version = 1002"));
    CHECK(rtlTraceOpen(path, &trace, NULL, 0) == RTL_OK);
    CHECK(rtlTracePauses(trace, &pauses, &count) == RTL_OK);
    CHECK(count == 0);
    rtlTraceClose(trace);
    CHECK(fixture_number(path, "SELECT count(*) FROM pauses") == 0);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernels") == 20);
    fixture_remove(path);
    return NULL;
}

static uint64_t given; /* kernels and copies that the writer got */

/* An account that moves while the writer works: all that was given, and ten more on their way. */
static bool account_of_now(void *context, uint32_t process, uint32_t queue,
                           struct rtl_writer_account *account)
{
    (void)context;
    if (process != 1 || queue > 1)
        return false;
    *account = (struct rtl_writer_account){.seen = given + 10, .recorded = given};
    account->lost[RTL_LOST_RING] = 3;
    return true;
}

/* More kernels than a chunk takes, a copy, and no checkpoint. */
static void write_and_die(const char *path)
{
    struct rtl_writer *writer = fixture_open(path);
    if (!writer)
        _exit(1);
    uint32_t process = fixture_define(writer, 2, 1);
    rtl_writer_ask_for_accounts(writer, account_of_now, NULL);
    const struct rtl_wire_copy copy = {.start = 1, .end = 2, .queue = 1, .src = RTL_NONE};
    rtl_writer_copy(writer, process, &copy);
    for (given = 1; given <= 40000; given++)
        fixture_kernels(writer, process, 0, given - 1, given);
    (void)raise(SIGKILL);
}

const char *Pauses_AccountsOfWhatIsStored(void)
{
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path));
    pid_t child = fork();
    if (child == 0)
        write_and_die(path);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    int64_t stored = fixture_number(path, "SELECT count(*) FROM kernels");
    CHECK(stored >= 16384 && stored < 40000);
    CHECK(fixture_number(path, "SELECT stored FROM ledger WHERE queue = 0 AND reason IS NULL") ==
          stored);
    CHECK(fixture_number(path, "SELECT recorded FROM ledger WHERE queue = 0 AND reason IS NULL") >=
          stored);
    CHECK(fixture_number(path, "SELECT seen - recorded FROM ledger WHERE queue = 0 AND"
                               " reason IS NULL") == 10);
    CHECK(fixture_number(path, "SELECT lost FROM ledger WHERE queue = 0 AND reason = 'ring'") == 3);
    CHECK(fixture_number(path, "SELECT stored FROM ledger WHERE queue = 1 AND reason IS NULL") ==
          1);
    CHECK(fixture_number(path, "SELECT recorded >= stored FROM ledger WHERE queue = 1 AND"
                               " reason IS NULL") == 1);
    fixture_remove(path);
    return NULL;
}
