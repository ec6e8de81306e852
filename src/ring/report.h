/**
 * A way to the collector that needs no file: for processes of a session that cannot reach its
 * folder.
 *
 * The collector has an abstract socket (unix(7)), which belongs to the network namespace: another
 * user's process reaches it, and one that sees other files. Its *address*, `NAME:KEY`, is random
 * and goes to the traced program in RTL_REPORT. Names of such sockets can be seen by everybody, so
 * what comes without the key is dropped; the environment, where the key is, can be read by the
 * program's user and by whom the program lets in. Who sent is known from Linux.
 */
#ifndef RTL_RING_REPORT_H
#define RTL_RING_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RTL_REPORT_ADDRESS 64u  /* bytes, with its NUL */
#define RTL_REPORT_TEXT    128u /* bytes of what is sent, with its NUL */

struct rtl_report_end {
    int socket; /* -1: none */
    char address[RTL_REPORT_ADDRESS];
};

/** Makes the collector's end. If it cannot be made its socket is -1, and the address is "". */
void rtl_report_open(struct rtl_report_end *end);

void rtl_report_close(struct rtl_report_end *end);

/** Sends a text of less than RTL_REPORT_TEXT bytes to an address. Where very many send at the same
 * time it waits, a tenth of a second at most. False if nobody has it. Keeps errno. Any thread. */
bool rtl_report_send(const char *address, const char *text);

/** Takes the next text, and the pid of who sent it, as this process sees it (0: it does not). Drops
 * what has not the key. At most `*budget` datagrams are looked at, which is counted down. False if
 * there is none, or the budget is spent. Does not wait. */
bool rtl_report_take(const struct rtl_report_end *end, unsigned *budget, char text[RTL_REPORT_TEXT],
                     uint32_t *pid);

#endif
