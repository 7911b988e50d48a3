/* Ways to get the bytes of a cached file: reading FILE [ROUNDS]. Prints, for each way and for one thread and two, the bytes a second and the
 * CPU seconds for each GiB: medians of the rounds, in which the ways take turns. Each thread adds up all bytes, 32 at a time, as a hash would
 * read them; every sum is compared with the first. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define KIB 1024ul
#define MIB (1024 * KIB)
/* What a thread takes at once; the threads take turns. */
#define PIECE (4 * MIB)

struct way {
    const char *name;
    /* The bytes of a call, or of a mapping that is populated at once. */
    size_t step;
    enum { READ, LANES, MAP, POPULATE, HUGE } kind;
};

static const struct way WAYS[] = {
    {"pread, 64 KiB a call", 64 * KIB, READ},      {"pread, 256 KiB a call", 256 * KIB, READ},
    {"pread, 1 MiB a call", MIB, READ},            {"pread, 4 MiB a call", 4 * MIB, READ},
    {"preadv, 16 leaves of 64 KiB a line apart", MIB, LANES},
    {"mmap, faults around 64 KiB", PIECE, MAP},    {"mmap, MADV_POPULATE_READ of 1 MiB", MIB, POPULATE},
    {"mmap, MADV_POPULATE_READ of 4 MiB", PIECE, POPULATE}, {"mmap, MADV_HUGEPAGE", PIECE, HUGE},
};
enum { COUNT = sizeof WAYS / sizeof *WAYS };

struct work {
    const struct way *way;
    int file;
    size_t len, first, threads;
    uint64_t sum;
    int failed;
};

__attribute__((target("avx2"))) static uint64_t sum(const uint8_t *bytes, size_t len)
{
    __m256i total = _mm256_setzero_si256();
    for (size_t at = 0; at + 32 <= len; at += 32)
        total = _mm256_add_epi64(total, _mm256_loadu_si256((const __m256i *)(bytes + at)));
    uint64_t parts[4];
    _mm256_storeu_si256((__m256i *)parts, total);
    return parts[0] + parts[1] + parts[2] + parts[3];
}

static void *run(void *argument)
{
    struct work *work = argument;
    const struct way *way = work->way;
    uint8_t *buffer = NULL, *map = NULL;
    if (way->kind == READ || way->kind == LANES) {
        if (posix_memalign((void **)&buffer, 4096, way->step + 16 * 64)) {
            work->failed = 1;
            return NULL;
        }
    } else {
        map = mmap(NULL, work->len, PROT_READ, MAP_SHARED, work->file, 0);
        if (map == MAP_FAILED || (way->kind == HUGE && madvise(map, work->len, MADV_HUGEPAGE))) {
            work->failed = 1;
            return NULL;
        }
    }
    for (size_t piece = work->first * PIECE; piece + PIECE <= work->len; piece += work->threads * PIECE) {
        for (size_t at = piece; at < piece + PIECE; at += way->step) {
            if (way->kind == READ) {
                work->failed |= pread(work->file, buffer, way->step, (off_t)at) != (ssize_t)way->step;
                work->sum += sum(buffer, way->step);
            } else if (way->kind == LANES) {
                struct iovec lanes[16];
                for (size_t lane = 0; lane < 16; lane++)
                    lanes[lane] = (struct iovec){buffer + lane * (64 * KIB + 64), 64 * KIB};
                work->failed |= preadv(work->file, lanes, 16, (off_t)at) != (ssize_t)way->step;
                for (size_t lane = 0; lane < 16; lane++)
                    work->sum += sum(lanes[lane].iov_base, 64 * KIB);
            } else {
                if (way->kind == POPULATE)
                    work->failed |= madvise(map + at, way->step, MADV_POPULATE_READ);
                work->sum += sum(map + at, way->step);
            }
        }
    }
    free(buffer);
    if (map)
        munmap(map, work->len);
    return NULL;
}

static double seconds(struct timespec time)
{
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int ascending(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

int main(int count, char **arguments)
{
    int rounds = count > 2 ? atoi(arguments[2]) : 9;
    int file = count > 1 ? open(arguments[1], O_RDONLY) : -1;
    struct stat about;
    if (file < 0 || fstat(file, &about) || rounds < 1 || rounds > 99) {
        fprintf(stderr, "usage: reading FILE [ROUNDS]\n");
        return 2;
    }
    size_t len = (size_t)about.st_size / PIECE * PIECE;
    static double wall[COUNT][2][99], cpu[COUNT][2][99];
    uint64_t expected = 0;
    for (int round = -1; round < rounds; round++) {
        for (int at = 0; at < COUNT; at++) {
            for (size_t threads = 1; threads <= 2; threads++) {
                struct work works[2] = {{0}};
                pthread_t ids[2];
                struct timespec begin, end, cpu_begin, cpu_end;
                clock_gettime(CLOCK_MONOTONIC, &begin);
                clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu_begin);
                for (size_t thread = 0; thread < threads; thread++) {
                    works[thread] = (struct work){&WAYS[at], file, len, thread, threads, 0, 0};
                    pthread_create(&ids[thread], NULL, run, &works[thread]);
                }
                for (size_t thread = 0; thread < threads; thread++)
                    pthread_join(ids[thread], NULL);
                clock_gettime(CLOCK_MONOTONIC, &end);
                clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu_end);
                uint64_t found = works[0].sum + works[1].sum;
                if (works[0].failed || works[1].failed || (expected && found != expected)) {
                    fprintf(stderr, "reading: %s: failed, or other bytes\n", WAYS[at].name);
                    return 1;
                }
                expected = found;
                /* The round before the first fills the cache. */
                if (round >= 0) {
                    wall[at][threads - 1][round] = seconds(end) - seconds(begin);
                    cpu[at][threads - 1][round] = seconds(cpu_end) - seconds(cpu_begin);
                }
            }
        }
    }
    printf("%-42s %10s %12s %10s %12s\n", "", "1 thread", "CPU s a GiB", "2 threads", "CPU s a GiB");
    for (int at = 0; at < COUNT; at++) {
        printf("%-42s", WAYS[at].name);
        for (int threads = 0; threads < 2; threads++) {
            qsort(wall[at][threads], (size_t)rounds, sizeof(double), ascending);
            qsort(cpu[at][threads], (size_t)rounds, sizeof(double), ascending);
            printf(" %5.2f GB/s %12.3f", (double)len / 1e9 / wall[at][threads][rounds / 2],
                   cpu[at][threads][rounds / 2] * (double)(1024 * MIB) / (double)len);
        }
        puts("");
    }
    return 0;
}
