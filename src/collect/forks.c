#include "collect/forks.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define AT_A_TIME    100000u    /* events */
#define ROOM         (64 << 20) /* bytes of events that wait: some 80 000 */
#define EVENT_OFFSET (NLMSG_HDRLEN + sizeof(struct cn_msg))

struct event {
    uint32_t what, error; /* of PROC_EVENT_NONE: an answer */
    uint32_t parent, child, child_thread;
};

/* Threads begin and programs are executed far more often than processes are made. */
static int leave_out_others(int file)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, EVENT_OFFSET + offsetof(struct proc_event, what)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_FORK), 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_NONE), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    const struct sock_fprog filter = {sizeof code / sizeof code[0], code};
    return setsockopt(file, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
}

static int ask(int file)
{
    const enum proc_cn_mcast_op listen = PROC_CN_MCAST_LISTEN;
    const struct cn_msg message = {.id = {CN_IDX_PROC, CN_VAL_PROC}, .len = sizeof listen};
    char text[NLMSG_SPACE(sizeof message + sizeof listen)] = {0};
    const struct nlmsghdr header = {.nlmsg_len = NLMSG_LENGTH(sizeof message + sizeof listen),
                                    .nlmsg_type = NLMSG_DONE};
    memcpy(text, &header, sizeof header);
    memcpy(text + NLMSG_HDRLEN, &message, sizeof message);
    memcpy(text + EVENT_OFFSET, &listen, sizeof listen);
    return send(file, text, header.nlmsg_len, 0) == (ssize_t)header.nlmsg_len ? 0 : -1;
}

/* 1, 0 if there is nothing, or -1 with errno. */
static int take(int file, struct event *event)
{
    _Alignas(struct nlmsghdr) char text[1024];
    struct sockaddr_nl from = {0};
    socklen_t length = sizeof from;
    struct proc_event body;
    memset(event, 0, sizeof *event);
    ssize_t size =
        recvfrom(file, text, sizeof text, MSG_DONTWAIT, (struct sockaddr *)&from, &length);
    if (size < 0)
        return errno == EAGAIN ? 0 : -1;
    event->what = PROC_EVENT_EXIT; /* what is not from Linux, or short, is none of ours */
    if (from.nl_pid != 0 || (size_t)size < EVENT_OFFSET + offsetof(struct proc_event, event_data) +
                                               sizeof body.event_data.fork)
        return 1;
    memset(&body, 0, sizeof body);
    size -= (ssize_t)EVENT_OFFSET;
    memcpy(&body, text + EVENT_OFFSET, (size_t)size < sizeof body ? (size_t)size : sizeof body);
    *event = (struct event){.what = (uint32_t)body.what,
                            .error = body.event_data.ack.err,
                            .parent = (uint32_t)body.event_data.fork.parent_tgid,
                            .child = (uint32_t)body.event_data.fork.child_tgid,
                            .child_thread = (uint32_t)body.event_data.fork.child_pid};
    return 1;
}

/* The answer is there when the question has been sent. */
static bool is_heard(int file)
{
    struct event event;
    while (take(file, &event) > 0)
        if (event.what == PROC_EVENT_NONE)
            return event.error == 0;
    return false;
}

int forks_open(void)
{
    const struct sockaddr_nl name = {.nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC};
    const int room = ROOM;
    int file = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR);
    if (file < 0)
        return -1;
    if (setsockopt(file, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) != 0)
        (void)setsockopt(file, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    if (leave_out_others(file) == 0 &&
        bind(file, (const struct sockaddr *)&name, sizeof name) == 0 && ask(file) == 0 &&
        is_heard(file))
        return file;
    (void)close(file);
    return -1;
}

bool forks_take(int file, forks_met *met, void *context)
{
    struct event event;
    int got = 0;
    for (unsigned i = 0; i < AT_A_TIME && (got = take(file, &event)) > 0; i++)
        if (event.what == PROC_EVENT_FORK && event.child == event.child_thread)
            met(context, event.parent, event.child);
    return got >= 0 || errno == EINTR;
}
