/* What a process leaves about its host's clock, and who records takes. */
#include "mpi/found.h"

#include "../common/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct taken {
    struct rtl_exchange list[8];
    size_t count;
};

static void take(void *context, const struct rtl_exchange *exchange)
{
    struct taken *taken = context;
    if (taken->count < 8)
        taken->list[taken->count++] = *exchange;
}

static const struct rtl_exchange first = {100, 200, 5100, 5110, "boot-1", "head"};
static const struct rtl_exchange second = {300, 400, 5300, 5310, "boot-1", "head"};

const char *MpiFound_ComesToWhoRecords(void)
{
    char session[] = "/tmp/mpi_found.XXXXXX";
    struct taken taken = {.count = 0};
    const struct rtl_exchange both[] = {first, second};
    CHECK(mkdtemp(session) != NULL);
    CHECK(rtl_mpi_found_leave(session, both, 2));
    CHECK(rtl_mpi_found_leave(session, &first, 1));
    CHECK(rtl_mpi_found_leave(session, NULL, 0));
    CHECK(rtl_mpi_found_take(session, take, &taken) == 3);
    CHECK(taken.count == 3);
    uint64_t sent = 0;
    for (size_t i = 0; i < taken.count; ++i) {
        sent += taken.list[i].sent;
        CHECK(strcmp(taken.list[i].peer_boot, "boot-1") == 0);
        CHECK(strcmp(taken.list[i].peer_host, "head") == 0);
    }
    CHECK(sent == 100 + 300 + 100);
    /* They are taken once, and the folder is empty. */
    CHECK(rtl_mpi_found_take(session, take, &taken) == 0);
    CHECK(rmdir(session) == 0);
    return NULL;
}

static const char *write_bytes(const char *session, const char *name, const void *bytes,
                               size_t size)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", session, name);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    CHECK(file >= 0);
    CHECK(write(file, bytes, size) == (ssize_t)size);
    (void)close(file);
    return NULL;
}

const char *MpiFound_DamageIsPassedOver(void)
{
    char session[] = "/tmp/mpi_found.XXXXXX";
    struct taken taken = {.count = 0};
    struct {
        uint64_t count;
        struct rtl_exchange exchanges[2];
    } content = {2, {first, second}};
    CHECK(mkdtemp(session) != NULL);
    CHECK_DONE(write_bytes(session, "clock.1.0", &content, sizeof content - 1));
    content.count = 3;
    CHECK_DONE(write_bytes(session, "clock.2.0", &content, sizeof content));
    content.count = 2;
    content.exchanges[0].returned = 99;
    memset(content.exchanges[1].peer_host, 'x', sizeof content.exchanges[1].peer_host);
    CHECK_DONE(write_bytes(session, "clock.3.0", &content, sizeof content));
    CHECK(rtl_mpi_found_take(session, take, &taken) == 1);
    CHECK(taken.count == 0);
    CHECK(rmdir(session) == 0);
    return NULL;
}

const char *MpiFound_SessionIsGone(void)
{
    struct taken taken = {.count = 0};
    struct rlimit before;
    CHECK(!rtl_mpi_found_leave("/no/such/session", &first, 1));
    CHECK(errno == ENOENT);
    CHECK(rtl_mpi_found_take("/no/such/session", take, &taken) == 0);
    /* Beyond the limit a write would end the program. */
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    const struct rlimit small = {16, before.rlim_max};
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK(!rtl_mpi_found_leave("/tmp", &first, 1));
    CHECK(errno == EFBIG);
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    return NULL;
}
