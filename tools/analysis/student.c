#include "analysis/student.h"

#include <math.h>

#define PI 3.14159265358979323846

/* Finite series (Abramowitz and Stegun 26.7.3 and 26.7.4); what is left is no smaller than the
 * rounding of 1. */
double student_chance(double t, unsigned freedom)
{
    double angle = atan(fabs(t) / sqrt(freedom));
    double square = cos(angle) * cos(angle);
    unsigned odd = freedom % 2;
    double term = odd ? cos(angle) : 1;
    double sum = freedom > 1 ? term : 0;
    for (unsigned i = odd + 2; i + 1 < freedom; i += 2) {
        term *= square * (i - 1) / i;
        sum += term;
    }
    double inside = odd ? 2 / PI * (angle + sin(angle) * sum) : sin(angle) * sum;
    return inside < 1 ? 1 - inside : 0;
}

double student_reach(unsigned freedom)
{
    double low = 0;
    double high = 13; /* of one degree it is 12.7 */
    for (int i = 0; i < 60; ++i) {
        double middle = (low + high) / 2;
        *(student_chance(middle, freedom) > 0.05 ? &low : &high) = middle;
    }
    return low;
}
