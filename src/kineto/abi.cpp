#include "kineto/abi.h"

#include <libkineto.h>
#if __has_include(<ActivityProfilerInterface.h>)
#include <ActivityProfilerInterface.h>
#define HAS_PROFILER_INTERFACE 1
#endif

// PyTorch's version: in the headers of PyTorch, if they are there.
#ifndef PU1_TORCH_VERSION
#if __has_include(<torch/headeronly/version.h>)
#include <torch/headeronly/version.h>
#define PU1_TORCH_VERSION TORCH_VERSION
#elif __has_include(<torch/csrc/api/include/torch/version.h>)
#include <torch/csrc/api/include/torch/version.h>
#define PU1_TORCH_VERSION TORCH_VERSION
#else
#define PU1_TORCH_VERSION ""
#endif
#endif

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <link.h>

namespace
{

// ---- what the bridge was built with ----

// A virtual function behind those of a class: its place in the table is their number.
template <typename Base> struct Behind : Base {
    virtual void behind();
};

// A pointer to a virtual function is, in the C++ ABI of all systems that there is a PyTorch for,
// its place in the table in bytes, on some with 1 added.
template <typename Base> size_t virtual_functions()
{
    auto pointer = &Behind<Base>::behind;
    std::uintptr_t place = 0;
    static_assert(sizeof pointer >= sizeof place);
    std::memcpy(&place, &pointer, sizeof place);
    return place / sizeof(void *);
}

size_t functions_of_record()
{
    return virtual_functions<libkineto::GenericTraceActivity>();
}

size_t functions_of_profiler()
{
#ifdef HAS_PROFILER_INTERFACE
    return virtual_functions<libkineto::ActivityProfilerInterface>();
#else
    return 0;
#endif
}

// ---- what the library has ----

// The library that has Kineto, which is loaded.
void *kineto_library()
{
    Dl_info info = {};
    libkineto::LibkinetoApi &(*api)() = &libkineto::api;
    void *address = nullptr;
    std::memcpy(&address, &api, sizeof address);
    return dladdr(address, &info) != 0 ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
}

// The number of virtual functions in a table that the library exports; 0 if it does not. Before
// them stand an offset and the type.
size_t functions_in(void *library, const char *table)
{
    Dl_info info = {};
    ElfW(Sym) *symbol = nullptr;
    void *address = dlsym(library, table);
    if (address == nullptr ||
        dladdr1(address, &info, reinterpret_cast<void **>(&symbol), RTLD_DL_SYMENT) == 0 ||
        symbol == nullptr || symbol->st_size < 2 * sizeof(void *)) {
        return 0;
    }
    return symbol->st_size / sizeof(void *) - 2;
}

std::string differing_class()
{
    const struct {
        const char *name, *table;
        size_t functions;
    } classes[] = {
        {"GenericTraceActivity", "_ZTVN9libkineto20GenericTraceActivityE", functions_of_record()},
        {"ActivityProfilerInterface", "_ZTVN9libkineto21ActivityProfilerProxyE",
         functions_of_profiler()},
    };
    void *library = kineto_library();
    std::string difference;
    for (const auto &each : classes) {
        size_t found = library != nullptr ? functions_in(library, each.table) : 0;
        if (found != 0 && each.functions != 0 && found != each.functions) {
            difference = std::string(each.name) + " has " + std::to_string(found) +
                         " virtual functions here, and " + std::to_string(each.functions) +
                         " there";
            break;
        }
    }
    if (library != nullptr) {
        (void)dlclose(library);
    }
    return difference;
}

// ---- what Python says ----

// Python's functions, found at run time: a program without Python needs none.
template <typename Function> bool find(Function *&function, const char *name)
{
    void *address = dlsym(RTLD_DEFAULT, name);
    std::memcpy(&function, &address, sizeof address);
    return address != nullptr;
}

// torch.__version__, "" where there is no Python or it has not imported PyTorch.
std::string running_version()
{
    int (*is_initialized)() = nullptr;
    int (*ensure)() = nullptr;
    void (*release)(int) = nullptr;
    void *(*modules)() = nullptr;
    void *(*item)(void *, const char *) = nullptr;
    void *(*attribute)(void *, const char *) = nullptr;
    const char *(*utf8)(void *) = nullptr;
    void (*decrement)(void *) = nullptr;
    void (*clear)() = nullptr;
    if (!find(is_initialized, "Py_IsInitialized") || !find(ensure, "PyGILState_Ensure") ||
        !find(release, "PyGILState_Release") || !find(modules, "PyImport_GetModuleDict") ||
        !find(item, "PyDict_GetItemString") || !find(attribute, "PyObject_GetAttrString") ||
        !find(utf8, "PyUnicode_AsUTF8") || !find(decrement, "Py_DecRef") ||
        !find(clear, "PyErr_Clear") || is_initialized() == 0) {
        return "";
    }
    std::string version;
    int state = ensure();
    void *torch = item(modules(), "torch");
    void *value = torch != nullptr ? attribute(torch, "__version__") : nullptr;
    const char *text = value != nullptr ? utf8(value) : nullptr;
    version = text != nullptr ? text : "";
    if (value != nullptr) {
        decrement(value);
    }
    clear();
    release(state);
    return version;
}

// Releases of one minor version have the same Kineto, whatever they are built for ("+cpu").
bool are_alike(const std::string &a, const std::string &b)
{
    unsigned major[2] = {};
    unsigned minor[2] = {};
    return std::sscanf(a.c_str(), "%u.%u", &major[0], &minor[0]) != 2 ||
           std::sscanf(b.c_str(), "%u.%u", &major[1], &minor[1]) != 2 ||
           (major[0] == major[1] && minor[0] == minor[1]);
}

} // namespace

std::string pu1_built_for()
{
    auto shown = [](size_t count) { return count > 0 ? std::to_string(count) : "?"; };
    const char *version = PU1_TORCH_VERSION;
    return std::string("PyTorch ") + (*version != '\0' ? version : "?") + ", Kineto " +
           shown(functions_of_record()) + "." + shown(functions_of_profiler());
}

std::string pu1_mismatch()
{
    std::string running = running_version();
    std::string difference =
        are_alike(running, PU1_TORCH_VERSION) ? differing_class() : "this is PyTorch " + running;
    if (difference.empty()) {
        return "";
    }
    return "the bridge was built for " + pu1_built_for() + ", and " + difference +
           ": it is not used, build it for this PyTorch";
}
