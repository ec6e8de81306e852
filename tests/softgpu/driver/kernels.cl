// Kernels of these tests. Nothing runs this code: the plugin has what they compute,
// SOFTGPU_DURATION how long they take.
__kernel void quick(void)
{
}

__kernel void slow(void)
{
}

// Appends `value` to list, whose first element counts the others.
__kernel void append(__global int *list, int value)
{
    list[++list[0]] = value;
}
