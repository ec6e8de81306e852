/**
 * Tests in C. A test is a function that returns NULL, or the place and text of the check that
 * failed; a GoogleTest case calls it (RTL_C_TEST), because headers with C11 atomics cannot be read
 * by C++.
 */
#ifndef RTL_TESTS_CHECK_H
#define RTL_TESTS_CHECK_H

#ifdef __cplusplus

#include <gtest/gtest.h>

/** A case `suite.name` that calls the C function `suite_name`. */
#define RTL_C_TEST(suite, name)                                                                    \
    extern "C" const char *suite##_##name(void);                                                   \
    TEST(suite, name)                                                                              \
    {                                                                                              \
        const char *failed = suite##_##name();                                                     \
        EXPECT_TRUE(failed == nullptr) << failed;                                                  \
    }

#else

#include <stdio.h>

/** Leaves the test function if the condition does not hold. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return check_failed(__FILE__, __LINE__, #condition);                                   \
    } while (0)

/** Passes on the failure of a helper that is a test function itself. */
#define CHECK_DONE(call)                                                                           \
    do {                                                                                           \
        const char *check_inner = (call);                                                          \
        if (check_inner != NULL)                                                                   \
            return check_inner;                                                                    \
    } while (0)

static inline const char *check_failed(const char *file, int line, const char *what)
{
    static _Thread_local char text[1024];
    (void)snprintf(text, sizeof text, "%s:%d: %.400s", file, line, what);
    return text;
}

#endif

#endif
