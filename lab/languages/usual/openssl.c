/* The usual way in C: a digest at a time by OpenSSL. */
#include <openssl/sha.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char stack[64][32];

int main(int count, char **arguments) {
    size_t segment = count == 3 ? strtoull(arguments[1], NULL, 10) : 0, got;
    FILE *file = segment > 0 ? fopen(arguments[2], "rb") : NULL;
    unsigned char *leaf = malloc(segment), pair[64], digest[32];
    if (file == NULL || leaf == NULL) {
        return 1;
    }
    setvbuf(file, NULL, _IOFBF, 1 << 17);
    uint64_t leaves = 0;
    while ((got = fread(leaf, 1, segment, file)) > 0) {
        int level = 0;
        SHA256(leaf, got, digest);
        for (; leaves >> level & 1; level++) {
            memcpy(pair, stack[level], 32);
            memcpy(pair + 32, digest, 32);
            SHA256(pair, 64, digest);
        }
        memcpy(stack[level], digest, 32);
        leaves++;
    }
    int begun = 0;
    SHA256(leaf, 0, digest);
    for (int level = 0; level < 64; level++) {
        if (leaves >> level & 1) {
            memcpy(pair, stack[level], 32);
            memcpy(pair + 32, digest, 32);
            if (begun) {
                SHA256(pair, 64, digest);
            } else {
                memcpy(digest, pair, 32);
            }
            begun = 1;
        }
    }
    for (int i = 0; i < 32; i++) {
        printf("%02x", digest[i]);
    }
    putchar('\n');
    return ferror(file) || fflush(stdout);
}
