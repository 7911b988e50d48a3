// Before the kernels: CUDA's words and built-in functions in C++ for the CPU.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <tuple>
#include <ucontext.h>
#include <utility>
#include <vector>

// The kernels have another use for this name.
#undef BIG_ENDIAN

#define __device__
#define __global__
#define __constant__
#define __shared__ thread_local
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(items)

struct Numbers {
    unsigned x, y;
};
static thread_local Numbers threadIdx, blockIdx, blockDim, gridDim;

static void __syncthreads();

static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned bits) {
    return bits & 31 ? high << (bits & 31) | low >> (32 - (bits & 31)) : high;
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned bits) {
    return bits & 31 ? low >> (bits & 31) | high << (32 - (bits & 31)) : low;
}
// Byte i of the result is the byte of b:a that digit i of `selector` names.
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
    unsigned long long bytes = (unsigned long long)b << 32 | a;
    unsigned result = 0;
    for (int at = 0; at < 4; at++) result |= (unsigned)(bytes >> 8 * (selector >> 4 * at & 7) & 0xff) << 8 * at;
    return result;
}
static inline int min(int a, int b) {
    return a < b ? a : b;
}
