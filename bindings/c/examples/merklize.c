/* merklize [HASH [DEVICE]] < LEAVES > NODES: computes all nodes over digests, and prints the root on standard error. */
#include <mksum.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const char *hash = argc > 1 ? argv[1] : "blake3";
    const char *device = argc > 2 ? argv[2] : NULL;
    size_t len = 0, room = 1 << 20, size = mksum_digest_size(hash);
    unsigned char *leaves = malloc(room);

    while (leaves) {
        len += fread(leaves + len, 1, room - len, stdin);
        if (len < room)
            break;
        unsigned char *larger = realloc(leaves, room *= 2);
        if (!larger)
            free(leaves);
        leaves = larger;
    }
    unsigned char *nodes = leaves ? calloc(1, len ? len : 1) : NULL;
    if (!leaves || !nodes || ferror(stdin)) {
        fprintf(stderr, "merklize: the leaves cannot be read\n");
        free(leaves);
        return 1;
    }

    int failed = mksum_merklize_on(device, 0, hash, leaves, len, nodes, len) != MKSUM_OK;
    if (failed) {
        fprintf(stderr, "merklize: %s\n", mksum_error());
    } else {
        for (size_t i = 0; i < size; i++)
            fprintf(stderr, "%02x", nodes[size + i]);
        fprintf(stderr, "\n");
        failed = fwrite(nodes, 1, len, stdout) != len || fflush(stdout) != 0;
    }
    free(nodes);
    free(leaves);
    return failed;
}
