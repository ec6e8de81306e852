// Calls of RTL and roctx from HIP programs that also run without librtl: they are looked up, and
// left out where nobody has them.
#ifndef E2E_ROCTX_H
#define E2E_ROCTX_H

#include "../softgpu/hip/check.h"

#include <dlfcn.h>

inline void push(const char *name)
{
    using Push = int(const char *);
    static auto *call = reinterpret_cast<Push *>(dlsym(RTLD_DEFAULT, "roctxRangePushA"));
    if (call != nullptr) {
        call(name);
    }
}

inline void pop()
{
    using Pop = int();
    static auto *call = reinterpret_cast<Pop *>(dlsym(RTLD_DEFAULT, "roctxRangePop"));
    if (call != nullptr) {
        call();
    }
}

// rtlStop or rtlStart.
inline void control(const char *name)
{
    using Control = int();
    auto *call = reinterpret_cast<Control *>(dlsym(RTLD_DEFAULT, name));
    if (call != nullptr) {
        CHECK(call() == 0, name);
    }
}

#endif
