/* digest FORMAT < INPUT: prints the digest of standard input, read piece by piece. */
#include <mksum.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    static unsigned char piece[1 << 16];
    char text[MKSUM_TEXT_MAX];
    mksum_hasher *hasher;
    size_t len;

    if (argc != 2) {
        fprintf(stderr, "usage: digest FORMAT < INPUT\n");
        return 2;
    }
    mksum_status status = mksum_hasher_new(argv[1], &hasher);
    while (status == MKSUM_OK && (len = fread(piece, 1, sizeof piece, stdin)) > 0)
        status = mksum_hasher_update(hasher, piece, len);
    if (status == MKSUM_OK && ferror(stdin)) {
        fprintf(stderr, "digest: the input cannot be read\n");
        mksum_hasher_free(hasher);
        return 1;
    }
    if (status == MKSUM_OK)
        status = mksum_hasher_finish_text(hasher, text, sizeof text);
    mksum_hasher_free(hasher);
    if (status != MKSUM_OK) {
        fprintf(stderr, "digest: %s\n", mksum_error());
        return 1;
    }
    printf("%s\n", text);
    return 0;
}
