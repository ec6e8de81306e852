#include "../common/check.h"
#include "ring/files.h"
#include "ring/report.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MANY 500u

/* What is sent arrives, with who sent it; and nothing after that. */
const char *Report_Arrives(void)
{
    struct rtl_report_end end;
    struct rtl_refusal refusal;
    char text[RTL_REPORT_TEXT];
    unsigned budget = 10;
    uint32_t pid = 0;
    rtl_report_open(&end);
    CHECK(end.socket >= 0 && strlen(end.address) < RTL_REPORT_ADDRESS);
    CHECK(!rtl_report_take(&end, &budget, text, &pid) && budget == 10);
    const struct rtl_refusal sent = {.why = RTL_REFUSED_SESSION,
                                     .error = EACCES,
                                     .needed = UINT64_MAX,
                                     .free = UINT64_MAX,
                                     .limit = UINT64_MAX,
                                     .tool = RTL_TOOL_NAMED,
                                     .named = UINT64_MAX};
    rtl_refusal_write(&sent, text);
    CHECK(strlen(text) + 1 < RTL_REFUSAL_TEXT);
    errno = 7;
    CHECK(rtl_report_send(end.address, text) && errno == 7);
    memset(text, 'x', sizeof text);
    CHECK(rtl_report_take(&end, &budget, text, &pid) && pid == (uint32_t)getpid());
    CHECK(rtl_refusal_parse(text, &refusal));
    CHECK(refusal.why == sent.why && refusal.error == sent.error && refusal.tool == sent.tool &&
          refusal.needed == sent.needed && refusal.named == sent.named);
    CHECK(!rtl_report_take(&end, &budget, text, &pid) && budget == 9);
    rtl_report_close(&end);
    CHECK(end.socket < 0 && end.address[0] == '\0');
    return NULL;
}

/* The key is the address's last part. */
const char *Report_NotWithoutTheKey(void)
{
    struct rtl_report_end end;
    char text[RTL_REPORT_TEXT];
    char address[RTL_REPORT_ADDRESS];
    char much[RTL_REPORT_TEXT + 1];
    unsigned budget = 10;
    uint32_t pid;
    rtl_report_open(&end);
    memcpy(address, end.address, sizeof address);
    char *last = address + strlen(address) - 1;
    *last = *last == '0' ? '1' : '0';
    CHECK(rtl_report_send(address, "1"));
    CHECK(rtl_report_send(end.address, "2"));
    CHECK(rtl_report_take(&end, &budget, text, &pid) && strcmp(text, "2") == 0 && budget == 8);
    memset(much, '1', sizeof much);
    much[sizeof much - 1] = '\0';
    CHECK(!rtl_report_send(end.address, much));
    CHECK(rtl_report_send(end.address, much + 1));
    CHECK(rtl_report_take(&end, &budget, text, &pid) && strcmp(text, much + 1) == 0);
    rtl_report_close(&end);
    return NULL;
}

/* An address that is none, or nobody's, is told at once. */
const char *Report_NobodyThere(void)
{
    struct rtl_report_end end;
    char address[RTL_REPORT_ADDRESS];
    rtl_report_open(&end);
    memcpy(address, end.address, sizeof address);
    rtl_report_close(&end);
    CHECK(!rtl_report_send(address, "1") && !rtl_report_send("", "1"));
    CHECK(!rtl_report_send("systemd", "1") && !rtl_report_send(strchr(address, ':'), "1"));
    address[0] = 'x';
    CHECK(!rtl_report_send(address, "1"));
    return NULL;
}

struct sender {
    const char *address;
    atomic_bool done;
    unsigned sent;
};

/* Who takes may be kept from a processor for longer than a sender waits: it tries again, some
 * times. */
static void *send_many(void *argument)
{
    struct sender *sender = argument;
    unsigned tries = 0;
    while (sender->sent < MANY && tries++ < 2 * MANY)
        sender->sent += rtl_report_send(sender->address, "many");
    atomic_store(&sender->done, true);
    return NULL;
}

/* More than the socket holds: who sends waits for who takes. */
const char *Report_Many(void)
{
    struct rtl_report_end end;
    char text[RTL_REPORT_TEXT];
    pthread_t thread;
    unsigned taken = 0;
    uint32_t pid;
    rtl_report_open(&end);
    struct sender sender = {.address = end.address};
    CHECK(pthread_create(&thread, NULL, send_many, &sender) == 0);
    for (bool done = false; !done;) {
        unsigned budget = 8;
        done = atomic_load(&sender.done);
        while (rtl_report_take(&end, &budget, text, &pid))
            taken++;
        done = done && budget > 0;
    }
    CHECK(pthread_join(thread, NULL) == 0 && sender.sent == MANY && taken == MANY);
    rtl_report_close(&end);
    return NULL;
}

/* Texts of anybody, and of an older librtl. */
const char *Report_ReadsWhatIsOne(void)
{
    static const char *const none[] = {
        "",       "x", "1 2 3", "1 2 3 4 8 0 0", "1 2 3 4 -1", "1 2 3 4 0 3 0", "1 2 3 4 0 -1",
        "a b c d"};
    struct rtl_refusal refusal;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        refusal = (struct rtl_refusal){.pid = 0};
        CHECK(!rtl_refusal_parse(none[i], &refusal));
    }
    refusal = (struct rtl_refusal){.pid = 5};
    CHECK(rtl_refusal_parse("27 1048576 4096 0", &refusal));
    CHECK(refusal.why == RTL_REFUSED_RING && refusal.error == EFBIG && refusal.pid == 5);
    return NULL;
}
