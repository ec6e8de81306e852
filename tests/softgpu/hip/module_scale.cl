__kernel void module_scale(__global int *values, int count, int factor)
{
    if (count > 0)
        values[0] *= factor;
}
