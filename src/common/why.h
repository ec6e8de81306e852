/**
 * What an error of the system's means, in words.
 */
#ifndef RTL_COMMON_WHY_H
#define RTL_COMMON_WHY_H

/** Room for every such text. */
enum { RTL_WHY_SIZE = 128 };

/** What errno `number` means, and where a limit of this process's is behind it, which, with its
 * value: "Too many open files (RLIMIT_NOFILE, ulimit -n, is 12)". `text` may hold it; returns it,
 * or a constant. Any thread; keeps errno. */
const char *rtl_why(int number, char text[RTL_WHY_SIZE]);

#endif
