/**
 * Macros over lists of arguments: RTL_EACH(M, a, b) is `M a M b`, RTL_LIST(M, a, b) is `M a, M b`.
 * With arguments in parentheses that makes `M (…)`, a call of M. Up to 14.
 */
#ifndef RTL_INTERCEPT_HIP_EACH_H
#define RTL_INTERCEPT_HIP_EACH_H

#define RTL_EACH_1(M, a)       M a
#define RTL_EACH_2(M, a, ...)  M a RTL_EACH_1(M, __VA_ARGS__)
#define RTL_EACH_3(M, a, ...)  M a RTL_EACH_2(M, __VA_ARGS__)
#define RTL_EACH_4(M, a, ...)  M a RTL_EACH_3(M, __VA_ARGS__)
#define RTL_EACH_5(M, a, ...)  M a RTL_EACH_4(M, __VA_ARGS__)
#define RTL_EACH_6(M, a, ...)  M a RTL_EACH_5(M, __VA_ARGS__)
#define RTL_EACH_7(M, a, ...)  M a RTL_EACH_6(M, __VA_ARGS__)
#define RTL_EACH_8(M, a, ...)  M a RTL_EACH_7(M, __VA_ARGS__)
#define RTL_EACH_9(M, a, ...)  M a RTL_EACH_8(M, __VA_ARGS__)
#define RTL_EACH_10(M, a, ...) M a RTL_EACH_9(M, __VA_ARGS__)
#define RTL_EACH_11(M, a, ...) M a RTL_EACH_10(M, __VA_ARGS__)
#define RTL_EACH_12(M, a, ...) M a RTL_EACH_11(M, __VA_ARGS__)
#define RTL_EACH_13(M, a, ...) M a RTL_EACH_12(M, __VA_ARGS__)
#define RTL_EACH_14(M, a, ...) M a RTL_EACH_13(M, __VA_ARGS__)

#define RTL_LIST_1(M, a)       M a
#define RTL_LIST_2(M, a, ...)  M a, RTL_LIST_1(M, __VA_ARGS__)
#define RTL_LIST_3(M, a, ...)  M a, RTL_LIST_2(M, __VA_ARGS__)
#define RTL_LIST_4(M, a, ...)  M a, RTL_LIST_3(M, __VA_ARGS__)
#define RTL_LIST_5(M, a, ...)  M a, RTL_LIST_4(M, __VA_ARGS__)
#define RTL_LIST_6(M, a, ...)  M a, RTL_LIST_5(M, __VA_ARGS__)
#define RTL_LIST_7(M, a, ...)  M a, RTL_LIST_6(M, __VA_ARGS__)
#define RTL_LIST_8(M, a, ...)  M a, RTL_LIST_7(M, __VA_ARGS__)
#define RTL_LIST_9(M, a, ...)  M a, RTL_LIST_8(M, __VA_ARGS__)
#define RTL_LIST_10(M, a, ...) M a, RTL_LIST_9(M, __VA_ARGS__)
#define RTL_LIST_11(M, a, ...) M a, RTL_LIST_10(M, __VA_ARGS__)
#define RTL_LIST_12(M, a, ...) M a, RTL_LIST_11(M, __VA_ARGS__)
#define RTL_LIST_13(M, a, ...) M a, RTL_LIST_12(M, __VA_ARGS__)
#define RTL_LIST_14(M, a, ...) M a, RTL_LIST_13(M, __VA_ARGS__)

#define RTL_PICK(a, b, c, d, e, f, g, h, i, j, k, l, m, n, picked, ...) picked
/* The zero at the end: ISO C wants an argument for every `...`. */
#define RTL_COUNT(...) RTL_PICK(__VA_ARGS__, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)

#define RTL_JOIN_(a, b)  a##b
#define RTL_JOIN(a, b)   RTL_JOIN_(a, b)
#define RTL_EACH(M, ...) RTL_JOIN(RTL_EACH_, RTL_COUNT(__VA_ARGS__))(M, __VA_ARGS__)
#define RTL_LIST(M, ...) RTL_JOIN(RTL_LIST_, RTL_COUNT(__VA_ARGS__))(M, __VA_ARGS__)

#endif
