/* Tests digests and hashers, and hashtree.h. Compiled as C11 and as C++17.
 *
 * hashers           tests the contract
 * hashers ROOTS     reads rows of vectors/rows/NAME.tsv on standard input and writes them with the roots that it computes: of the whole
 *                   bytes and in pieces of odd lengths, as bytes and as texts, all of which must agree */
#include "expect.h"
#include <hashtree.h>
#include <mksum.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends in pieces whose lengths differ, among them 0. */
static mksum_status append(mksum_hasher *hasher, const uint8_t *bytes, size_t len)
{
    static const size_t pieces[] = {1, 0, 63, 64, 65, 1000, 4096, 16385, 100000, 300001, 7};
    mksum_status status = MKSUM_OK;
    for (size_t done = 0, turn = 0; done < len && status == MKSUM_OK; turn++) {
        size_t piece = pieces[turn % (sizeof pieces / sizeof *pieces)];
        if (piece > len - done)
            piece = len - done;
        status = mksum_hasher_update(hasher, piece ? bytes + done : NULL, piece);
        done += piece;
    }
    return status;
}

/* Writes the root's text, or "-" if the format has none for so many bytes. */
static void root(const char *format, const uint8_t *bytes, size_t len, char *text)
{
    uint8_t whole[MKSUM_DIGEST_MAX], pieces[MKSUM_DIGEST_MAX];
    char other[MKSUM_TEXT_MAX], digits[2 * MKSUM_DIGEST_MAX + 1];
    size_t size = mksum_digest_size(format);
    mksum_status status = mksum_root_of_bytes(format, bytes, len, text, MKSUM_TEXT_MAX);
    mksum_hasher *hasher, *clone;

    EXPECT(status == MKSUM_OK || status == MKSUM_NO_ROOT);
    EXPECT(size >= 4 && size <= MKSUM_DIGEST_MAX);
    memset(whole, 0xa5, sizeof whole);
    EXPECT(mksum_digest(format, bytes, len, whole, size) == status);
    EXPECT(size == sizeof whole || whole[size] == 0xa5);
    if (mksum_hasher_new(format, &hasher) == MKSUM_BAD_FORMAT) {
        EXPECT(!hasher && strstr(mksum_error(), "needs the input's length first"));
    } else {
        EXPECT(hasher);
        EXPECT(append(hasher, bytes, len / 2) == MKSUM_OK);
        EXPECT(mksum_hasher_clone(hasher, &clone) == MKSUM_OK && clone);
        EXPECT(append(hasher, bytes + len / 2, len - len / 2) == MKSUM_OK);
        EXPECT(mksum_hasher_finish(hasher, pieces, sizeof pieces) == status);
        EXPECT(append(clone, bytes + len / 2, len - len / 2) == MKSUM_OK);
        EXPECT(mksum_hasher_finish_text(clone, other, sizeof other) == status);
        if (status == MKSUM_OK)
            EXPECT(!memcmp(whole, pieces, size) && !strcmp(text, other));
        mksum_hasher_free(hasher);
        mksum_hasher_free(clone);
    }
    if (status == MKSUM_OK) {
        hex(whole, size, digits);
        /* A text that is not hex alone is compared with the row. */
        EXPECT(!strcmp(text, digits) || strspn(text, "0123456789abcdef") < strlen(text));
    } else {
        strcpy(text, "-");
    }
}

/* The pattern `noise` of spec/README.md. */
static void noise(uint8_t *bytes, size_t len)
{
    uint64_t state = 0;
    for (size_t i = 0; i < len; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (uint8_t)(state >> 56);
    }
}

static void rows(void)
{
    char line[1024], text[MKSUM_TEXT_MAX];
    size_t room = 1 << 25;
    uint8_t *bytes = (uint8_t *)malloc(room);
    while (bytes && fgets(line, sizeof line, stdin)) {
        char *format = strtok(line, "\t"), *input = strtok(NULL, "\t"), *number = strtok(NULL, "\t");
        char *source = strtok(NULL, "\t") ? strtok(NULL, "\n") : NULL;
        size_t len = source ? (size_t)strtoull(number, NULL, 10) : room + 1;
        if (len > room || (strcmp(input, "pat") && strcmp(input, "mod251") && strcmp(input, "noise"))) {
            fprintf(stderr, "hashers: an unknown row\n");
            failures++;
            break;
        }
        if (!strcmp(input, "pat"))
            pattern(bytes, len);
        else if (!strcmp(input, "noise"))
            noise(bytes, len);
        else
            for (size_t i = 0; i < len; i++)
                bytes[i] = (uint8_t)(i % 251);
        root(format, bytes, len, text);
        printf("%s\t%s\t%s\t%s\t%s\n", format, input, number, text, source);
    }
    free(bytes);
}

static void sizes(void)
{
    static const struct { const char *format; size_t size; } formats[] = {
        {"md5", 16}, {"sha1", 20}, {"sha224", 28}, {"sha256", 32}, {"sha384", 48}, {"sha512", 64}, {"sha512-256", 32},
        {"sha3-224", 28}, {"sha3-256", 32}, {"sha3-384", 48}, {"sha3-512", 64}, {"blake2b", 64}, {"blake2s", 32},
        {"sm3", 32}, {"crc32", 4}, {"crc32c", 4}, {"crc64nvme", 8}, {"xxh32", 4}, {"xxh64", 8}, {"xxh3", 8},
        {"xxh128", 16}, {"blake3", 32}, {"rfc6962:sha512:4KiB", 64}, {"s3:md5:5MiB", 16}, {"keccak256", 32}, {"sha512-224", 28},
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        EXPECT(mksum_digest_size(formats[i].format) == formats[i].size);
    EXPECT(mksum_digest_size("teapot") == 0 && mksum_digest_size("") == 0 && mksum_digest_size(NULL) == 0);
    EXPECT(mksum_digest_size("\xff") == 0 && mksum_digest_size("rfc6962:sha256:0") == 0);
}

static void digests(void)
{
    uint8_t bytes[100] = {0}, digest[MKSUM_DIGEST_MAX];
    char text[2 * MKSUM_DIGEST_MAX + 1];

    /* FIPS 180-4's example, and the check value of CRC-32. */
    EXPECT(mksum_digest("sha256", (const uint8_t *)"abc", 3, digest, 32) == MKSUM_OK);
    hex(digest, 32, text);
    EXPECT(!strcmp(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    EXPECT(mksum_digest("crc32", (const uint8_t *)"123456789", 9, digest, 4) == MKSUM_OK);
    hex(digest, 4, text);
    EXPECT(!strcmp(text, "cbf43926"));
    EXPECT(mksum_digest("xxh3", (const uint8_t *)"abc", 3, digest, 8) == MKSUM_OK);
    hex(digest, 8, text);
    EXPECT(!strcmp(text, "78af5f94892f3950"));
    EXPECT(mksum_digest("sha256", NULL, 0, digest, sizeof digest) == MKSUM_OK);
    hex(digest, 32, text);
    EXPECT(!strcmp(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));

    memset(digest, 0xa5, sizeof digest);
    EXPECT(mksum_digest("sha256", bytes, 1, digest, 31) == MKSUM_NO_ROOM && digest[0] == 0xa5);
    EXPECT(strstr(mksum_error(), "32 bytes") && strstr(mksum_error(), "31"));
    EXPECT(mksum_digest("sha256", bytes, 1, NULL, 0) == MKSUM_NO_ROOM);
    EXPECT(mksum_digest("sha256", bytes, 1, NULL, 32) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_digest("sha256", NULL, 1, digest, 32) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_digest(NULL, bytes, 1, digest, 32) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_digest("sha256", bytes, sizeof bytes, bytes + 99, 32) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_digest("sha256", bytes, SIZE_MAX, digest, 32) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_digest("teapot", bytes, 1, digest, 32) == MKSUM_BAD_FORMAT && strstr(mksum_error(), "teapot"));
    EXPECT(mksum_digest("keccak256", bytes, 1, digest, 32) == MKSUM_BAD_FORMAT);
    EXPECT(mksum_digest("dmverity", bytes, 1, digest, 32) == MKSUM_NO_ROOT);
}

static void hashers(void)
{
    uint8_t bytes[1000], expected[32], digest[MKSUM_DIGEST_MAX];
    char text[MKSUM_TEXT_MAX], digits[65];
    mksum_hasher *hasher = NULL, *clone = NULL, *none = (mksum_hasher *)bytes;
    pattern(bytes, sizeof bytes);

    EXPECT(mksum_hasher_new("teapot", &none) == MKSUM_BAD_FORMAT && !none);
    none = (mksum_hasher *)bytes;
    EXPECT(mksum_hasher_new(NULL, &none) == MKSUM_BAD_ARGUMENT && !none);
    EXPECT(mksum_hasher_new("sha256", NULL) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_hasher_new("mtsum", &none) == MKSUM_BAD_FORMAT && strstr(mksum_error(), "mtsum:sha256: "));

    /* A hasher without bytes, and one that is used again and again. */
    EXPECT(mksum_hasher_new("sha256", &hasher) == MKSUM_OK && hasher);
    for (size_t len = 0; len <= sizeof bytes; len += 37) {
        EXPECT(mksum_digest("sha256", bytes, len, expected, sizeof expected) == MKSUM_OK);
        EXPECT(append(hasher, bytes, len) == MKSUM_OK);
        EXPECT(mksum_hasher_finish(hasher, digest, 32) == MKSUM_OK && !memcmp(digest, expected, 32));
        EXPECT(mksum_hasher_reset(hasher) == MKSUM_OK);
    }

    /* A failed finish changes nothing. */
    memset(digest, 0xa5, sizeof digest);
    EXPECT(mksum_hasher_update(hasher, bytes, 10) == MKSUM_OK);
    EXPECT(mksum_hasher_finish(hasher, digest, 31) == MKSUM_NO_ROOM && digest[0] == 0xa5);
    EXPECT(mksum_hasher_finish(hasher, NULL, 32) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_hasher_finish_text(hasher, text, 64) == MKSUM_NO_ROOM);
    EXPECT(mksum_hasher_finish_text(hasher, NULL, 65) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_hasher_update(hasher, NULL, 1) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_hasher_update(hasher, bytes, SIZE_MAX) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_hasher_update(hasher, bytes + 10, 10) == MKSUM_OK);
    EXPECT(mksum_digest("sha256", bytes, 20, expected, sizeof expected) == MKSUM_OK);
    hex(expected, 32, digits);
    EXPECT(mksum_hasher_finish_text(hasher, text, 65) == MKSUM_OK && !strcmp(text, digits));

    /* After the end. */
    memset(digest, 0xa5, sizeof digest);
    EXPECT(mksum_hasher_finish(hasher, digest, sizeof digest) == MKSUM_FINISHED && digest[0] == 0xa5);
    EXPECT(strstr(mksum_error(), "finished"));
    EXPECT(mksum_hasher_finish_text(hasher, text, sizeof text) == MKSUM_FINISHED);
    EXPECT(mksum_hasher_update(hasher, bytes, 1) == MKSUM_FINISHED);
    EXPECT(mksum_hasher_update(hasher, NULL, 0) == MKSUM_FINISHED);
    EXPECT(mksum_hasher_clone(hasher, &clone) == MKSUM_OK && clone);
    EXPECT(mksum_hasher_update(clone, bytes, 1) == MKSUM_FINISHED);
    EXPECT(mksum_hasher_reset(clone) == MKSUM_OK);
    EXPECT(mksum_hasher_update(clone, bytes, 20) == MKSUM_OK);
    EXPECT(mksum_hasher_update(hasher, bytes, 1) == MKSUM_FINISHED);
    mksum_hasher_free(hasher);
    EXPECT(mksum_hasher_finish(clone, digest, sizeof digest) == MKSUM_OK && !memcmp(digest, expected, 32));
    mksum_hasher_free(clone);

    /* A format without a root for so many bytes, which has one for more. */
    uint8_t *blocks = (uint8_t *)calloc(2, 4096);
    EXPECT(mksum_hasher_new("dmverity", &hasher) == MKSUM_OK && blocks);
    EXPECT(mksum_hasher_update(hasher, blocks, 4097) == MKSUM_OK);
    EXPECT(mksum_hasher_finish(hasher, digest, sizeof digest) == MKSUM_NO_ROOT);
    EXPECT(mksum_hasher_update(hasher, blocks + 4097, 4095) == MKSUM_OK);
    EXPECT(mksum_digest("dmverity", blocks, 8192, expected, sizeof expected) == MKSUM_OK);
    EXPECT(mksum_hasher_finish(hasher, digest, sizeof digest) == MKSUM_OK && !memcmp(digest, expected, 32));
    mksum_hasher_free(hasher);
    free(blocks);

    none = (mksum_hasher *)bytes;
    EXPECT(mksum_hasher_clone(NULL, &none) == MKSUM_BAD_ARGUMENT && !none);
    EXPECT(mksum_hasher_update(NULL, bytes, 1) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_hasher_finish(NULL, digest, sizeof digest) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_hasher_finish_text(NULL, text, sizeof text) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_hasher_reset(NULL) == MKSUM_BAD_ARGUMENT && strstr(mksum_error(), "hasher: NULL"));
    mksum_hasher_free(NULL);
}

static uint64_t calls;

/* A function in the place of hashtree_hash. */
static void zeros(unsigned char *out, const unsigned char *chunks, uint64_t count)
{
    (void)chunks;
    calls += count;
    memset(out, 0, (size_t)(32 * count));
}

static void pairs(void)
{
    enum { MOST = 200, ROOM = 64 * MOST + 64 };
    uint8_t *chunks = (uint8_t *)malloc(ROOM), *out = (uint8_t *)malloc(ROOM), *own = (uint8_t *)malloc(ROOM);
    uint8_t expected[32 * MOST];
    EXPECT(chunks && out && own);
    pattern(chunks, ROOM);
    for (uint64_t i = 0; i < MOST; i++)
        EXPECT(mksum_digest("sha256", chunks + 64 * i, 64, expected + 32 * i, 32) == MKSUM_OK);

    hashtree_hash(NULL, NULL, 0);
    for (int turn = 0; turn < 2; turn++) {
        for (uint64_t count = 0; count <= MOST; count++) {
            memset(out, 0xa5, ROOM);
            hashtree_hash(out, chunks, count);
            EXPECT(!memcmp(out, expected, 32 * count) && out[32 * count] == 0xa5);
            /* In place, and a little before the chunks. */
            for (size_t before = 0; before <= 64; before += 32) {
                memcpy(own + before, chunks, 64 * count);
                hashtree_hash(own, own + before, count);
                EXPECT(!memcmp(own, expected, 32 * count));
                if (count > 1)
                    EXPECT(!memcmp(own + before + 64 * count - 32, chunks + 64 * count - 32, 32));
            }
        }
        hashtree_init(NULL);
    }

    /* Memory that is not aligned. */
    memcpy(own + 1, chunks, 64 * 70);
    hashtree_hash(out + 3, own + 1, 70);
    EXPECT(!memcmp(out + 3, expected, 32 * 70));

    hashtree_init(zeros);
    memset(out, 0xa5, ROOM);
    hashtree_hash(out, chunks, 2);
    EXPECT(calls == 2 && !out[0] && !out[63] && out[64] == 0xa5);
    hashtree_init(NULL);
    hashtree_hash(out, chunks, 2);
    EXPECT(calls == 2 && !memcmp(out, expected, 64));
    free(chunks);
    free(out);
    free(own);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "ROOTS")) {
        rows();
    } else {
        sizes();
        digests();
        hashers();
        pairs();
    }
    if (failures)
        fprintf(stderr, "%d failures\n", failures);
    return failures != 0;
}
