/**
 * Session folders that a killed collector left behind.
 */
#ifndef RTL_COLLECT_STALE_SESSIONS_H
#define RTL_COLLECT_STALE_SESSIONS_H

/** Removes the sessions of this user that nobody needs any more: whoever made it has ended (or died
 * before it wrote who it is: the file `session` is empty), nobody holds it (session_lock.h), no
 * process that writes into it lives, and its file `session` is RTL_RING_DIR_YOUNG_S old. Looks
 * where rtl_ring_dir_create makes them; what is no session, or another user's, is left alone. A
 * folder that has files of a session alone, but not the file `session`, is what somebody left of
 * one, and goes as well. Returns how many there were. */
unsigned rtl_stale_sessions_remove(void);

#endif
