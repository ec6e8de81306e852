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

/** Descriptors that a command needs beside those that it was given; one that records has a ring, a
 * process and a trace to look at. */
enum { LIMITS_FILES = 5, LIMITS_FILES_OF_RECORDING = 13 };

/** Raises rtl's own limit of descriptors where fewer than `needed` can be opened. 0, or an exit
 * status, with what is to be said about it said: even so there are not as many. */
int limits_check_files(unsigned needed);

/** For a command that starts a GPU runtime to see what recording would find: as
 * limits_check_files(LIMITS_FILES_OF_RECORDING), and the same for files as long as the smallest
 * ring. Without it the runtime, or its libraries, would seem to be broken. */
int limits_check_recording(void);

/** In a child that is about to become the program: the limits and the signal are what they were.
 * Does nothing that was not done. Async-signal-safe. */
void limits_restore(void);

#endif
