/**
 * Session folders that a killed collector left behind.
 */
#ifndef RTL_COLLECT_SWEEP_H
#define RTL_COLLECT_SWEEP_H

/** Marks the session as one that this process collects: a lock that ends with the process, however
 * it ends. Returns the descriptor that holds it, or -1 (then another may sweep the session once the
 * process that made it has ended). */
int rtl_session_hold(const char *path);

/** Removes the sessions of this user that nobody needs any more: whoever made it has ended, nobody
 * holds it, no process that writes into it lives, and it is some seconds old. Looks where
 * rtl_session_create makes them; what is no session, or another user's, is left alone. Returns how
 * many there were. */
unsigned rtl_session_sweep(void);

#endif
