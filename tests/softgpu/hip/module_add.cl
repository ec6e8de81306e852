__kernel void module_add(__global int *values, int count, int addend)
{
    if (count > 0)
        values[0] += addend;
}
