/* What rocminfo looks for beside the thunk before it asks ROCr: the amdgpu module in lsmod's list,
 * and /dev/kfd. Preloaded into it (libsoftgpu-host.so), this answers both for a machine without the
 * driver; where the driver is there, nothing changes. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

typedef FILE *popen_function_t(const char *command, const char *mode);
typedef int open_function_t(const char *path, int flags, ...);

/* POSIX makes a function pointer out of dlsym's result; ISO C has no cast for it. */
static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

FILE *popen(const char *command, const char *mode)
{
    popen_function_t *real = NULL;
    *(void **)&real = next("popen");
    if (strcmp(command, "lsmod | grep amdgpu") == 0 && access("/dev/kfd", F_OK) != 0)
        return real("echo 'amdgpu (software GPU)'", mode);
    return real(command, mode);
}

int open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    if (flags & (O_CREAT | O_TMPFILE)) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    open_function_t *real = NULL;
    *(void **)&real = next("open");
    if (strcmp(path, "/dev/kfd") == 0 && access(path, F_OK) != 0)
        path = "/dev/null";
    return real(path, flags, mode);
}
