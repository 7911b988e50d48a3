/* Prints the cost of one message in nanoseconds, by merkle_sha256_many with 256 messages a call: the least of many
 * rounds. With --sum, prints only the sum of the costs of all sizes, to compare two builds. */
#include "merkle_sha256.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { COUNT = 256, LONGEST = 4096, ROUNDS = 200 };

static uint8_t messages[COUNT * LONGEST], digests[COUNT * MERKLE_SHA256_SIZE];

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Seconds that one of `count` messages takes. */
static double cost(int prefix, size_t size, size_t count) {
    double least = 1;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now();
        merkle_sha256_many(prefix, messages, size, count, digests);
        double each = (now() - begin) / (double)count;
        least = each < least ? each : least;
    }
    return least;
}

int main(int count, char **arguments) {
    static const size_t SIZES[] = {16, 64, 256, 1024, 4096};
    if (count == 2 && strcmp(arguments[1], "--sum") == 0) {
        double sum = 0;
        for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
            for (size_t messages_at_once = 1; messages_at_once <= 2; messages_at_once++) {
                sum += cost(MERKLE_SHA256_NO_PREFIX, SIZES[i], messages_at_once) + cost(0, SIZES[i], messages_at_once);
            }
        }
        printf("%.0f\n", 1e9 * sum);
        return 0;
    }
    printf("%s\n%8s %18s %18s\n", merkle_sha256_implementation(), "bytes", "plain, ns", "with a prefix, ns");
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
        printf("%8zu %18.1f %18.1f\n", SIZES[i], 1e9 * cost(MERKLE_SHA256_NO_PREFIX, SIZES[i], COUNT),
               1e9 * cost(0, SIZES[i], COUNT));
    }
    printf("one message of %zu bytes: %.0f MB/s; one of two: %.0f MB/s\n", sizeof messages,
           (double)sizeof messages / cost(MERKLE_SHA256_NO_PREFIX, sizeof messages, 1) / 1e6,
           (double)LONGEST / cost(MERKLE_SHA256_NO_PREFIX, LONGEST, COUNT) / 1e6);
    return 0;
}
