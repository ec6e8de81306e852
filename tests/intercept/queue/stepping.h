/**
 * Runs a function one instruction after the other, so that a test can act between any two of them
 * as another thread or a device would. x86-64 alone, and not under ThreadSanitizer, whose own
 * instructions would be interrupted: STEPPING is not defined there.
 */
#ifndef RTL_TESTS_STEPPING_H
#define RTL_TESTS_STEPPING_H

#include <stdbool.h>
#include <stdint.h>

#if defined __x86_64__ && !defined __SANITIZE_THREAD__
#define STEPPING

/** Runs `function`. Behind each instruction `between` is called with how many there have been, from
 * 1 on, in a signal handler on the same thread; once it returns false, the rest runs at full speed.
 * Returns how many instructions were stepped through; 0 if that cannot be done. One thread at a
 * time. */
uint32_t stepping_run(void (*function)(void *), void *context,
                      bool (*between)(void *context, uint32_t step));

#endif

#endif
