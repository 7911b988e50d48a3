/* proof make FORMAT FILE START END PROOF: writes a proof that the bytes START to END lie in a file; from its outboard, if there is one.
 * proof check FORMAT ROOT LENGTH PROOF < BYTES: checks a proof, and prints where the bytes lie in the file with that root. */
#include <inttypes.h>
#include <mksum.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed(const char *what)
{
    fprintf(stderr, "proof: %s\n", what);
    return 1;
}

static int make(const char *format, const char *file, uint64_t start, uint64_t end, const char *path)
{
    mksum_outboard_info info;
    /* An outboard in this format, of the file as it is now, spares reading all of it. */
    int kept = mksum_outboard_read(file, NULL, &info) == MKSUM_OK && info.is_unchanged && !strcmp(info.format, format);
    unsigned char *proof = NULL;
    size_t room = 0, len = 0;

    for (;;) {
        mksum_status status = kept ? mksum_outboard_prove(file, NULL, start, end, proof, room, &len)
                                   : mksum_prove_file(format, file, start, end, NULL, proof, room, &len);
        if (status == MKSUM_OK)
            break;
        free(proof);
        /* The first call says how long the proof will be. */
        if (status != MKSUM_NO_ROOM || !(proof = malloc(room = len)))
            return failed(mksum_error());
    }
    FILE *output = fopen(path, "wb");
    int written = output && fwrite(proof, 1, len, output) == len;
    free(proof);
    if (output && fclose(output))
        written = 0;
    return written ? 0 : failed("the proof cannot be written");
}

/* All bytes of a stream; NULL if it cannot be read. */
static unsigned char *read_all(FILE *stream, size_t *len)
{
    size_t room = 1 << 16;
    unsigned char *bytes = malloc(room);

    *len = 0;
    while (bytes && (*len += fread(bytes + *len, 1, room - *len, stream)) == room) {
        unsigned char *longer = realloc(bytes, room *= 2);
        if (!longer)
            free(bytes);
        bytes = longer;
    }
    return bytes;
}

static int check(const char *format, const char *root, uint64_t length, const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t proof_len = 0, len = 0;
    unsigned char *proof = file ? read_all(file, &proof_len) : NULL, *bytes = read_all(stdin, &len);
    uint64_t start;

    if (file)
        fclose(file);
    if (!proof || !bytes) {
        free(proof);
        free(bytes);
        return failed("the proof or its bytes cannot be read");
    }
    mksum_status status = mksum_check_proof(proof, proof_len, format, root, length, bytes, len, &start);
    free(proof);
    free(bytes);
    if (status != MKSUM_OK)
        return failed(mksum_error());
    printf("OK: bytes %" PRIu64 "..%" PRIu64 " of %" PRIu64 "\n", start, start + len, length);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 7 && !strcmp(argv[1], "make"))
        return make(argv[2], argv[3], strtoull(argv[4], NULL, 10), strtoull(argv[5], NULL, 10), argv[6]);
    if (argc == 6 && !strcmp(argv[1], "check"))
        return check(argv[2], argv[3], strtoull(argv[4], NULL, 10), argv[5]);
    fprintf(stderr, "usage: proof make FORMAT FILE START END PROOF\n"
                    "       proof check FORMAT ROOT LENGTH PROOF < BYTES\n");
    return 2;
}
