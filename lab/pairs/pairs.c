/* pairs ROUNDS: compares hashtree_hash of libmksum with that of hashtree, whose names begin with peer_ here, and times both in turn.
 *
 * Prints a line for each case, round and subject: the case, the number of chunks, the subject, and the nanoseconds of processor time
 * that a call took. In each round the two take turns with a few milliseconds of calls, so that other load affects both. In the case
 * "batch", calls hash the same chunks again; in "path", each call's digest is half of the next call's chunk, as in the verification of a
 * Merkle proof. */
#define _POSIX_C_SOURCE 200809L
#include <hashtree.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void peer_hashtree_init(hashtree_hash_fcn function);
void peer_hashtree_hash(unsigned char *out, const unsigned char *chunks, uint64_t count);

enum { MOST = 65536, TURN_NS = 4000000, TURNS = 5 };

static const struct subject { const char *name; hashtree_hash_fcn hash; } subjects[] = {
    {"mksum", hashtree_hash},
    {"hashtree", peer_hashtree_hash},
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

/* Fails if a digest differs. */
static void same(const unsigned char *ours, const unsigned char *theirs, uint64_t count, const char *what)
{
    if (memcmp(ours, theirs, 32 * count)) {
        fprintf(stderr, "pairs: %s of %llu chunks differ\n", what, (unsigned long long)count);
        exit(1);
    }
}

static void compare(unsigned char *chunks, unsigned char *ours, unsigned char *theirs, uint64_t count)
{
    memset(ours, 0x11, 32 * count);
    memset(theirs, 0x22, 32 * count);
    hashtree_hash(ours, chunks, count);
    peer_hashtree_hash(theirs, chunks, count);
    same(ours, theirs, count, "digests");
    memcpy(ours, chunks, 64 * count);
    memcpy(theirs, chunks, 64 * count);
    hashtree_hash(ours, ours, count);
    peer_hashtree_hash(theirs, theirs, count);
    same(ours, theirs, count, "digests in place");
}

/* The nanoseconds of so many calls. */
static double timed(hashtree_hash_fcn hash, unsigned char *chunks, unsigned char *out, uint64_t count, long calls, int path)
{
    double begin = now();
    for (long call = 0; call < calls; call++)
        hash(path ? chunks : out, chunks, count);
    return now() - begin;
}

static void measure(const char *name, unsigned char *chunks, unsigned char *out, uint64_t count, int path, int rounds)
{
    /* As many calls as take a turn's time: of the peer, for both. */
    long calls = 1;
    double took;
    while ((took = timed(peer_hashtree_hash, chunks, out, count, calls, path)) < TURN_NS / 4)
        calls *= 2;
    calls = (long)((double)calls * TURN_NS / took) + 1;
    for (int round = 0; round < rounds; round++) {
        double total[2] = {0, 0};
        for (int turn = 0; turn < 2 * TURNS; turn++) {
            /* Who begins changes from round to round. */
            int who = (turn + round) % 2;
            total[who] += timed(subjects[who].hash, chunks, out, count, calls, path);
        }
        for (int who = 0; who < 2; who++)
            printf("%s\t%llu\t%s\t%.3f\n", name, (unsigned long long)count, subjects[who].name,
                   total[who] / (double)calls / TURNS);
    }
}

int main(int argc, char **argv)
{
    static const uint64_t counts[] = {1, 2, 4, 16, 64, 1024, MOST};
    int rounds = argc == 2 ? atoi(argv[1]) : 0;
    unsigned char *chunks = aligned_alloc(64, 64 * MOST), *ours = aligned_alloc(64, 64 * MOST),
                  *theirs = aligned_alloc(64, 64 * MOST);

    if (rounds < 1 || !chunks || !ours || !theirs) {
        fprintf(stderr, "usage: pairs ROUNDS\n");
        return 2;
    }
    hashtree_init(NULL);
    peer_hashtree_init(NULL);
    for (size_t at = 0; at < 64 * MOST; at++)
        chunks[at] = (unsigned char)(at * 131 + (at >> 8) * 17);
    for (uint64_t count = 0; count <= 70; count++)
        compare(chunks, ours, theirs, count);
    for (size_t at = 0; at < sizeof counts / sizeof *counts; at++)
        compare(chunks, ours, theirs, counts[at]);

    for (size_t at = 0; at < sizeof counts / sizeof *counts; at++)
        measure("batch", chunks, ours, counts[at], 0, rounds);
    measure("path", chunks, ours, 1, 1, rounds);
    free(chunks);
    free(ours);
    free(theirs);
    return 0;
}
