#include "analysis/trend.h"

#include "common/show.h"

void trend_show(const struct comparison *trend, const char *things, FILE *out)
{
    double part = trend->a > 0 ? 100 * trend->difference / trend->a : 0;
    (void)fprintf(out, "  trend: ");
    switch (trend->verdict) {
    case COMPARE_TOO_FEW:
        (void)fprintf(out, "too few %s to tell\n", things);
        break;
    case COMPARE_ALIKE:
        (void)fprintf(out, "steady, the last quarter does not differ from the first\n");
        break;
    default:
        show_styled(out, trend->verdict == COMPARE_SLOWER ? SHOW_BAD : SHOW_GOOD,
                    trend->verdict == COMPARE_SLOWER ? "longer" : "shorter");
        (void)fprintf(out, " by %.1f %%, first quarter to last (p50 %s, then %s)\n",
                      part < 0 ? -part : part, show_duration(trend->a).text,
                      show_duration(trend->b).text);
        break;
    }
}

json_t *trend_json(const struct comparison *trend)
{
    return json_pack("{s:s, s:f, s:f, s:o}", "verdict", compare_name(trend->verdict),
                     "first_quarter_p50_ns", trend->a, "last_quarter_p50_ns", trend->b, "p",
                     trend->verdict == COMPARE_TOO_FEW ? json_null() : json_real(trend->p));
}
