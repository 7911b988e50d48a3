/* Prints the Merkle root of a file: cc -o simple simple.c -lcrypto && ./simple SEGMENT FILE
 *
 * The whole idea of this folder in one file, with the SHA-256 of OpenSSL. A leaf is the hash of one segment, a node the
 * hash of its two children's digests, and neither has a prefix (the format plain). */
#include <ctype.h>
#include <openssl/sha.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = SHA256_DIGEST_LENGTH, LEVELS = 64, BUFFER = 1 << 17 };

/* The roots of perfect subtrees, at most one of each height: the binary digits of the number of leaves. */
struct tree {
    uint64_t leaves;
    unsigned char subtrees[LEVELS][SIZE]; /* [k] is the root of 2^k leaves, where bit k of `leaves` is set */
};

/* Replaces the right digest by that of the node over both. */
static void join(const unsigned char *left, unsigned char *right) {
    unsigned char pair[2 * SIZE];
    memcpy(pair, left, SIZE);
    memcpy(pair + SIZE, right, SIZE);
    SHA256(pair, sizeof pair, right);
}

/* Appends a leaf as one is added to a binary number: each carry joins two subtrees of equal height, in `digest`. */
static void push(struct tree *tree, unsigned char *digest) {
    int level = 0;
    for (; tree->leaves >> level & 1; level++) {
        join(tree->subtrees[level], digest);
    }
    memcpy(tree->subtrees[level], digest, SIZE);
    tree->leaves++;
}

/* Joins the subtrees along the right edge, the smallest first. A tree without leaves has the hash of no bytes. */
static void root_of(const struct tree *tree, unsigned char *root) {
    bool found = false;
    SHA256((const unsigned char *)"", 0, root);
    for (int level = 0; level < LEVELS; level++) {
        if (tree->leaves >> level & 1) {
            if (found) {
                join(tree->subtrees[level], root);
            } else {
                memcpy(root, tree->subtrees[level], SIZE);
            }
            found = true;
        }
    }
}

/* Reads to the end, one segment at a time, of which only the last may be shorter. Returns false if a read fails. */
static bool hash_file(FILE *file, unsigned char *segment, size_t size, unsigned char *root) {
    struct tree tree = {0};
    size_t got;
    while ((got = fread(segment, 1, size, file)) > 0) {
        unsigned char digest[SIZE];
        SHA256(segment, got, digest);
        push(&tree, digest);
    }
    root_of(&tree, root);
    return !ferror(file);
}

int main(int count, char **arguments) {
    char *end = NULL;
    size_t size = count == 3 && isdigit((unsigned char)arguments[1][0]) ? strtoull(arguments[1], &end, 10) : 0;
    if (size == 0 || *end != '\0') {
        (void)fputs("usage: simple SEGMENT FILE\n", stderr);
        return 1;
    }
    static char buffer[BUFFER];
    unsigned char *segment = malloc(size), root[SIZE];
    FILE *file = fopen(arguments[2], "rb");
    bool done = segment != NULL && file != NULL && setvbuf(file, buffer, _IOFBF, sizeof buffer) == 0 &&
                hash_file(file, segment, size, root);
    if (!done) {
        perror(arguments[2]);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    free(segment);
    for (int i = 0; done && i < SIZE; i++) {
        printf("%02x", root[i]);
    }
    if (done && (putchar('\n') == EOF || fflush(stdout) != 0)) {
        perror("standard output");
        done = false;
    }
    return done ? 0 : 1;
}
