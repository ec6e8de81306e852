/**
 * Names under which HIP's library is opened: a release's own before that which is a developer's
 * link.
 */
#ifndef RTL_TOOLS_HIP_NAMES_H
#define RTL_TOOLS_HIP_NAMES_H

#define HIP_NAMES "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"

#endif
