// Modules: loaded from a file, launched, unloaded, and another one loaded in its place.

#include "check.h"

namespace
{

const int count = 300;

void launch(hipModule_t module, const char *name, int *values, int number)
{
    hipFunction_t function = nullptr;
    MUST(hipModuleGetFunction(&function, module, name));
    int total = count;
    void *arguments[] = {&values, &total, &number};
    MUST(hipModuleLaunchKernel(function, 2, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
    MUST(hipDeviceSynchronize());
}

// The same by a packed buffer in place of single arguments.
void launch_packed(hipModule_t module, const char *name, int *values, int number)
{
    hipFunction_t function = nullptr;
    MUST(hipModuleGetFunction(&function, module, name));
    struct {
        int *values;
        int count, number;
    } packed = {values, count, number};
    size_t size = sizeof packed;
    void *config[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                      HIP_LAUNCH_PARAM_END};
    MUST(hipModuleLaunchKernel(function, 2, 1, 1, 256, 1, 1, 0, nullptr, nullptr, config));
    MUST(hipDeviceSynchronize());
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 3) {
        std::fprintf(stderr, "usage: %s ADD-MODULE SCALE-MODULE\n", argv[0]);
        return 2;
    }
    void *memory = nullptr;
    MUST(hipHostMalloc(&memory, count * sizeof(int)));
    auto *values = static_cast<int *>(memory);
    // Unloaded code makes room for other code at its address; each must still be taken for what it
    // is.
    for (int round = 0; round < 10; round++) {
        hipModule_t module = nullptr;
        std::memset(values, 0, count * sizeof(int));
        MUST(hipModuleLoad(&module, argv[1]));
        launch(module, "module_add", values, round + 2);
        launch_packed(module, "module_add", values, 1);
        MUST(hipModuleUnload(module));
        MUST(hipModuleLoad(&module, argv[2]));
        launch(module, "module_scale", values, 3);
        MUST(hipModuleUnload(module));
        for (int i = 0; i < count; i++) {
            CHECK(values[i] == (round + 3) * 3 + i, "round " + std::to_string(round));
        }
    }
    return finish();
}
