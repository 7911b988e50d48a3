/* OpenCL C as CUDA C++: the address spaces, types and functions of the kernels, for one lane a work-item. lanes.cl follows. */
#define CUDA

/* A kernel's work-items in a group, at most. */
#define GROUP 256
#define FN static __device__ __forceinline__
#define __kernel extern "C" __global__ __launch_bounds__(GROUP)
#define __constant static __constant__ const
#define __global
#define __local
#define LOCAL_PARAMETER(name)
#define LOCAL_MEMORY(name)                                                                                             \
    extern __shared__ uint4 local_memory[];                                                                            \
    uchar *name = (uchar *)local_memory;

/* Unrolls the rounds: a padding block's schedule becomes constants, and SHA-256 takes 39 registers where a loop takes 57. */
#define UNROLL_MORE _Pragma("unroll")

typedef unsigned char uchar;
typedef unsigned int uint;
/* A macro, because systems have another type of this name. */
#define ulong unsigned_long
typedef unsigned long long ulong;

/* Four words that are loaded and stored at once. CUDA's own type of this name has other members. */
#define uint4 words_of_16_bytes
struct alignas(16) uint4 {
    uint s0, s1, s2, s3;
};
#define UINT4(a, b, c, d) (uint4{(a), (b), (c), (d)})

#define CLK_LOCAL_MEM_FENCE
#define barrier(fence) __syncthreads()
FN uint get_local_id(int) {
    return threadIdx.x;
}
FN uint get_local_size(int) {
    return blockDim.x;
}
FN uint get_group_id(int) {
    return blockIdx.x;
}
/* A group has one work-item in dimension 1. */
FN ulong get_global_id(int dimension) {
    return dimension == 0 ? (ulong)blockIdx.x * blockDim.x + threadIdx.x : blockIdx.y;
}
FN uint get_global_size(int) {
    return gridDim.y;
}

FN uint rotate(uint x, uint bits) {
    return __funnelshift_l(x, x, bits);
}
FN ulong rotate(ulong x, ulong bits) {
    return x << bits | x >> (64 - bits);
}
FN uint bitselect(uint zeros, uint ones, uint mask) {
    return (zeros & ~mask) | (ones & mask);
}
FN ulong bitselect(ulong zeros, ulong ones, ulong mask) {
    return (zeros & ~mask) | (ones & mask);
}
FN uint SWAP(uint x) {
    return __byte_perm(x, 0, 0x0123);
}
FN ulong SWAP(ulong x) {
    return (ulong)SWAP((uint)x) << 32 | SWAP((uint)(x >> 32));
}
FN uint convert_uint(ulong x) {
    return (uint)x;
}
FN ulong convert_ulong(uint x) {
    return x;
}

FN uint4 vload4(int, const uint *words) {
    return UINT4(words[0], words[1], words[2], words[3]);
}
FN void vstore4(uint4 x, int, uint *words) {
    words[0] = x.s0, words[1] = x.s1, words[2] = x.s2, words[3] = x.s3;
}
/* Loads 16 bytes at any address: at once if it is aligned, else from the aligned words around them. */
FN uint4 unaligned_global(const uchar *p) {
    if (((size_t)p & 15) == 0) return *(const uint4 *)p;
    const uint *words = (const uint *)((size_t)p & ~(size_t)3);
    uint shift = 8 * (uint)((size_t)p & 3);
    uint4 low = vload4(0, words);
    /* An aligned load ends at its last byte. */
    uint last = shift ? words[4] : 0;
    return UINT4(__funnelshift_r(low.s0, low.s1, shift), __funnelshift_r(low.s1, low.s2, shift),
                 __funnelshift_r(low.s2, low.s3, shift), __funnelshift_r(low.s3, last, shift));
}
#define unaligned_local unaligned_global

