/* Kernels of executor_test.c: right ones, and one planted mistake each. */
__kernel void saxpy(float a, __global const float *x, __global float *y)
{
    size_t i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}

/* Every work-item function, one row of eight words an item. */
__kernel void ids(__global uint *out)
{
    uint at = (get_global_id(1) - get_global_offset(1)) * get_global_size(0) + get_global_id(0) -
              get_global_offset(0);
    __global uint *row = out + 8 * at;
    row[0] = get_global_id(0);
    row[1] = get_global_id(1);
    row[2] = get_local_id(0);
    row[3] = get_local_id(1);
    row[4] = get_group_id(0);
    row[5] = get_group_id(1);
    row[6] = get_local_size(0) * 1000 + get_local_size(1);
    row[7] = get_num_groups(0) * 1000 + get_num_groups(1);
}

struct pair {
    int a;
    char pad; /* three bytes after it are nobody's */
    int b;
};
int pair_sum(struct pair p)
{
    p.a += p.b;
    return p.a;
}
__kernel void by_value(struct pair p, __global int *out)
{
    struct pair copy = p;
    out[get_global_id(0)] = pair_sum(copy) + copy.a;
}

/* The sum of each work-group's values, by a tree in work-group memory. */
__kernel void group_sum(__global const int *in, __global int *out, __local int *scratch)
{
    __local int base[4];
    uint i = get_local_id(0), n = get_local_size(0);
    if (i < 4)
        base[i] = i == 0 ? 100 : 0;
    scratch[i] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = n / 2; step > 0; step /= 2) {
        if (i < step)
            scratch[i] += scratch[i + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i == 0)
        out[get_group_id(0)] = scratch[0] + base[0] + base[3];
}

__kernel void builtins(__global const float *x, __global const uint *u, __global float *fo,
                       __global uint *uo)
{
    float4 v = (float4)(x[0], x[1], x[2], x[3]);
    float4 w = select(min(v, 0.5f), max(v, 0.25f), v < 0.3f);
    fo[0] = sqrt(x[0]);
    fo[1] = floor(x[1]) + rint(x[2]) + fabs(-x[3]);
    fo[2] = sin(x[0]) + cos(x[1]) + atan2(x[2], x[3]) + pow(x[3], 3.0f);
    fo[3] = clamp(x[3], 0.0f, 1.0f);
    fo[4] = w.x + 10.0f * w.y + 100.0f * w.z + 1000.0f * w.w;
    fo[5] = mad(x[0], x[1], x[2]);
    uo[0] = mul_hi(u[0], u[1]);
    uo[1] = clz(u[0]) + 100u * popcount(u[1]);
    uo[2] = convert_uint(x[3]) + (uint)convert_int(-x[3]);
    uo[3] = rotate(u[0], 7u);
    uo[4] = (uint)min((int)u[0], (int)u[1]);
    uo[5] = max(u[0], u[1]);
    uo[6] = as_uint(convert_float(u[0]));
    uo[7] = (uint)isnan(x[4]) + 10u * (uint)isnan(x[0]);
}

__kernel void count(__global uint *counter, __global uint *low)
{
    atomic_inc(counter);
    atomic_add(counter + 1, 3u);
    atomic_min(low, (uint)get_global_id(0) + 5u);
}

__constant int table[4] = {2, 3, 5, 7};
__kernel void from_table(__global const uint *at, __global int *out)
{
    uint i = get_global_id(0);
    out[i] = table[at[i]];
}

/* ---- planted ---- */

__kernel void past_the_end(__global int *out, int n)
{
    out[get_global_id(0) + n] = 1;
}
__kernel void private_past_the_end(__global int *out, int n)
{
    int stack[8];
    for (int i = 0; i < n; i++)
        stack[i] = i;
    out[get_global_id(0)] = stack[n - 1];
}
__kernel void local_past_the_end(__global int *out, __local int *scratch)
{
    scratch[get_local_size(0)] = 1;
    out[get_global_id(0)] = 0;
}
__kernel void sum_all(__global const int *in, __global int *out, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += in[i];
    out[get_global_id(0)] = sum;
}
__kernel void private_unwritten(__global int *out, int n)
{
    int a[8];
    for (int i = 0; i < n; i++)
        a[i] = i;
    int sum = 0;
    for (int i = 0; i < 8; i++)
        sum += a[i];
    out[get_global_id(0)] = sum;
}
__kernel void all_write_one(__global int *out) { out[0] = (int)get_global_id(0); }
__kernel void neighbour_read(__global int *out)
{
    size_t i = get_global_id(0), n = get_global_size(0);
    out[i] = 1;
    out[n + i] = out[(i + 1) % n];
}
__kernel void lost_barrier(__global int *out, __local int *scratch)
{
    uint i = get_local_id(0), n = get_local_size(0);
    scratch[i] = (int)i;
    out[get_global_id(0)] = scratch[n - 1 - i];
}
__kernel void split_barrier(__global int *out)
{
    if (get_local_id(0) < 2)
        barrier(CLK_GLOBAL_MEM_FENCE);
    out[get_global_id(0)] = 1;
}
__kernel void forever(__global volatile int *out)
{
    while (out[0] == 0)
        out[1] = 1;
}
/* What nobody wrote may be 0, and a division by it ends no process. */
__kernel void quotients(__global int *out, __global const int *by)
{
    int i = get_global_id(0);
    out[i] = 9 / by[i] + 9 % by[i] + (int)(9u / (uint)by[i]) + (int)(9u % (uint)by[i]);
}
