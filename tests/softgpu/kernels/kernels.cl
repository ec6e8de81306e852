/* Kernels whose code object the tests read. */
__kernel void nothing(void)
{
}

__kernel void store(__global int *target, char small, long wide, int4 vector)
{
    *target = small + (int)wide + vector.x;
}

__kernel void with_a_name_that_is_quite_a_bit_longer_than_the_others(__global int *target)
{
    *target = 1;
}

/* Named as a C++ compiler would name `void ns::scale<float>(float*, float)`. */
__kernel void _ZN2ns5scaleIfEEvPT_S1_(__global float *values, float factor)
{
    values[0] *= factor;
}
