/* ssz < CHUNKS: prints the SHA-256 root of up to 65,536 chunks of 32 bytes, as Ethereum's SSZ merkleizes a vector: levels of odd length end
 * with the root of a subtree of zeros. Written for hashtree.h alone, so that it can be linked with hashtree too. */
#include <hashtree.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 1 << 16 };

int main(void)
{
    /* One chunk more than there may be: to fill up a level. */
    static unsigned char level[32 * (MOST + 1)];
    unsigned char zeros[64] = {0};
    size_t len = fread(level, 1, sizeof level, stdin), count = len / 32;

    if (ferror(stdin) || len == 0 || len % 32 || count > MOST) {
        fprintf(stderr, "ssz: expected 1 to %d chunks of 32 bytes, found %zu bytes\n", MOST, len);
        return 1;
    }
    while (count > 1) {
        if (count % 2)
            memcpy(level + 32 * count++, zeros, 32);
        count /= 2;
        hashtree_hash(level, level, count);
        /* The root of a subtree of zeros that is one level higher. */
        memcpy(zeros + 32, zeros, 32);
        hashtree_hash(zeros, zeros, 1);
    }
    for (size_t i = 0; i < 32; i++)
        printf("%02x", level[i]);
    printf("\n");
    return 0;
}
