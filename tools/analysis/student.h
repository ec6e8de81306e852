/**
 * Student's distribution. Pure.
 */
#ifndef RTL_TOOLS_STUDENT_H
#define RTL_TOOLS_STUDENT_H

/** The chance that a value of `freedom` (1 at least) degrees is as far from 0 as `t`, on either
 * side. */
double student_chance(double t, unsigned freedom);

/** The distance from 0 beyond which lie 5 % of the values, on both sides together. */
double student_reach(unsigned freedom);

#endif
