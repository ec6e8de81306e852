/**
 * Limits (setrlimit) that rtl was started with: they are meant for the program that it runs.
 */
#ifndef RTL_TOOLS_LIMITS_H
#define RTL_TOOLS_LIMITS_H

/** Raises rtl's own limits as far as it may, and has a file that becomes longer than allowed fail
 * instead of ending rtl by SIGXFSZ. Once, before any file is written. */
void limits_raise(void);

/** Raises rtl's own limit of the stack where it is too low. 0, or an exit status, with what is to
 * be said about it said: it may not be raised. Once, before anything that takes much of the stack.
 */
int limits_check_stack(void);

/** In a child that is about to become the program: the limits and the signal are what they were.
 * Does nothing that was not done. Async-signal-safe. */
void limits_restore(void);

#endif
