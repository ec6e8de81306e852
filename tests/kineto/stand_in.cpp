#include "stand_in.h"

namespace libkineto
{

void GenericTraceActivity::log(ActivityLogger &logger) const
{
    logger.handleGenericActivity(*this);
}

LibkinetoApi &api()
{
    static LibkinetoApi api;
    return api;
}

} // namespace libkineto
