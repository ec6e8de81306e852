/**
 * Which GPU a command is about: the option --gpu.
 */
#ifndef RTL_TOOLS_GPU_H
#define RTL_TOOLS_GPU_H

enum gpu {
    GPU_AUTO, /**< what the environment leads to */
    GPU_SOFT, /**< the software GPU */
    GPU_REAL
};

/** Reads the value of --gpu. 0, or EINVAL when a sentence has been said. */
int gpu_parse(const char *text, enum gpu *gpu);

#endif
