#include "intercept/base/refuse.h"

#include "ring/ancestor.h"
#include "ring/report.h"
#include "ring/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

_Static_assert(RTL_REFUSAL_TEXT <= RTL_REPORT_TEXT, "what is left can be sent");

static const char *setting(const char *name)
{
    const char *value = secure_getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

const char *rtl_refuse_session(void)
{
    return setting("RTL_SESSION");
}

static enum rtl_tool tool(void)
{
    const char *tools = setting("HSA_TOOLS_LIB");
    if (tools == NULL)
        return RTL_TOOL_UNSET;
    return strstr(tools, "librtl.so") != NULL ? RTL_TOOL_NAMED : RTL_TOOL_OTHER;
}

static int open_runtime(struct dl_phdr_info *library, size_t size, void *context)
{
    (void)size;
    (void)context;
    if (library->dlpi_name == NULL || strstr(library->dlpi_name, "/libhsa-runtime64.so") == NULL)
        return 0;
    int file = open(library->dlpi_name, O_RDONLY | O_CLOEXEC);
    if (file >= 0)
        close(file);
    return 1;
}

void rtl_refuse_show(const struct rtl_refusal *refusal)
{
    int saved = errno;
    rtl_refusal_show(refusal);
    (void)dl_iterate_phdr(open_runtime, NULL);
    errno = saved;
}

/* Whose environment has neither session nor address may still descend from who records. Not with
 * raised privileges: what ancestors have made is the user's. */
static bool leave_to_ancestor(const struct rtl_refusal *refusal)
{
    char session[RTL_RING_PATH];
    return getauxval(AT_SECURE) == 0 && rtl_ring_dir_of_ancestor(session, sizeof session) &&
           rtl_refusal_leave(session, refusal);
}

bool rtl_refuse(enum rtl_refused why, int error, size_t ring_bytes)
{
    const char *session = rtl_refuse_session();
    const char *address = setting("RTL_REPORT");
    struct rtl_refusal refusal;
    char text[RTL_REFUSAL_TEXT];
    rtl_refusal_fill(&refusal, session != NULL ? session : "", error, ring_bytes);
    refusal.why = why;
    refusal.tool = tool();
    refusal.named = session != NULL ? rtl_ring_dir_number(session) : 0;
    if (session != NULL && why != RTL_REFUSED_SESSION && rtl_refusal_leave(session, &refusal))
        return true;
    rtl_refusal_write(&refusal, text);
    if (address != NULL && rtl_report_send(address, text))
        return true;
    if (session == NULL && leave_to_ancestor(&refusal))
        return true;
    rtl_refuse_show(&refusal);
    return false;
}
