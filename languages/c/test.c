/* Tests of the library by cmocka. The shared rows are read by the program: see ../contract.sh. */
#include "merkle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* After the four headers that it asks for. */
#include <cmocka.h>

enum { LONGEST = 70000 };
static uint8_t input[LONGEST];

static const merkle_format FORMATS[] = {MERKLE_PLAIN, MERKLE_RFC6962};
#define EACH_FORMAT(format) for (const merkle_format *format = FORMATS; format < FORMATS + 2; format++)

/* Numbers that look random and are the same in every run (Knuth's linear congruential generator). */
static uint64_t random_state = 1;
static uint64_t below(uint64_t bound) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (random_state >> 33) % bound;
}

static int fill_input(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof input; i++) {
        input[i] = (uint8_t)(i * 131 + (i >> 8) * 17);
    }
    return 0;
}

static void hex(const uint8_t *digest, char text[2 * MERKLE_SIZE + 1]) {
    for (size_t i = 0; i < MERKLE_SIZE; i++) {
        (void)snprintf(text + 2 * i, 3, "%02x", digest[i]);
    }
}

#define assert_digest(digest, expected)                                                                                \
    do {                                                                                                               \
        char text[2 * MERKLE_SIZE + 1];                                                                                \
        hex(digest, text);                                                                                             \
        assert_string_equal(text, expected);                                                                           \
    } while (0)

/* One message by the incremental form, in one piece. */
static void digest_of(int prefix, const uint8_t *bytes, size_t size, uint8_t *digest) {
    sha256 hash;
    sha256_init(&hash);
    if (prefix != SHA256_NO_PREFIX) {
        sha256_update(&hash, &(uint8_t){(uint8_t)prefix}, 1);
    }
    sha256_update(&hash, bytes, size);
    sha256_final(&hash, digest);
}

/* The root as spec/rfc6962.md defines it: split at the largest power of two below the number of leaves. */
/* NOLINTNEXTLINE(misc-no-recursion): the definition is recursive */
static void definition(merkle_format format, uint64_t segment, const uint8_t *bytes, size_t size, uint8_t *root) {
    if (size == 0) {
        digest_of(SHA256_NO_PREFIX, bytes, 0, root);
        return;
    }
    if (size <= segment) {
        digest_of(format == MERKLE_RFC6962 ? 0 : SHA256_NO_PREFIX, bytes, size, root);
        return;
    }
    size_t left = (size_t)segment;
    while (2 * left < size) {
        left *= 2;
    }
    uint8_t pair[2 * MERKLE_SIZE];
    definition(format, segment, bytes, left, pair);
    definition(format, segment, bytes + left, size - left, pair + MERKLE_SIZE);
    digest_of(format == MERKLE_RFC6962 ? 1 : SHA256_NO_PREFIX, pair, sizeof pair, root);
}

static void root_of(merkle_format format, uint64_t segment, const uint8_t *bytes, size_t size, uint8_t *root) {
    merkle_tree tree;
    assert_true(merkle_init(&tree, format, segment));
    merkle_update(&tree, bytes, size);
    merkle_root(&tree, root);
}

/* ---- SHA-256 ------------------------------------------------------------------------------------------------- */

static void test_sha256_of_fips(void **state) {
    (void)state;
    uint8_t digest[SHA256_SIZE];
    const char *two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    digest_of(SHA256_NO_PREFIX, (const uint8_t *)"abc", 3, digest);
    assert_digest(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    digest_of(SHA256_NO_PREFIX, (const uint8_t *)two_blocks, strlen(two_blocks), digest);
    assert_digest(digest, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    sha256 hash;
    sha256_init(&hash);
    for (int i = 0; i < 1000000; i++) {
        sha256_update(&hash, "a", 1);
    }
    sha256_final(&hash, digest);
    assert_digest(digest, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void test_many_as_one_by_one(void **state) {
    (void)state;
    static const int PREFIXES[] = {SHA256_NO_PREFIX, 0, 1, 255};
    for (size_t p = 0; p < 4; p++) {
        for (size_t size = 0; size <= 200; size++) {
            for (size_t count = 0; count <= 5; count++) {
                uint8_t many[6 * SHA256_SIZE], one[SHA256_SIZE];
                memset(many, 0xAA, sizeof many);
                sha256_many(PREFIXES[p], input + 1, size, count, many);
                for (size_t i = 0; i < count; i++) {
                    digest_of(PREFIXES[p], input + 1 + i * size, size, one);
                    assert_memory_equal(many + i * SHA256_SIZE, one, SHA256_SIZE);
                }
                assert_int_equal(many[count * SHA256_SIZE], 0xAA);
            }
        }
    }
}

/* ---- Roots --------------------------------------------------------------------------------------------------- */

static void test_zeros(void **state) {
    (void)state;
    uint8_t root[MERKLE_SIZE], *zeros = calloc(1, (1 << 22) + 32);
    assert_non_null(zeros);
    root_of(MERKLE_PLAIN, 64, zeros, (1 << 22) + 32, root);
    free(zeros);
    assert_digest(root, "e9683665a90bd70aabd7705cba57c2be2a4e913a0ca1a14d765497112c178120");
}

static void test_empty(void **state) {
    (void)state;
    uint8_t root[MERKLE_SIZE];
    EACH_FORMAT (format) {
        root_of(*format, 1, NULL, 0, root);
        assert_digest(root, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}

static void test_definition(void **state) {
    (void)state;
    EACH_FORMAT (format) {
        for (int i = 0; i < 60; i++) {
            uint64_t segment = 1 + below(i % 2 == 0 ? 20 : 300);
            size_t size = (size_t)(i % 4 == 0 ? segment * below(600) : below(20000)) % LONGEST;
            uint8_t expected[MERKLE_SIZE], root[MERKLE_SIZE];
            definition(*format, segment, input, size, expected);
            root_of(*format, segment, input, size, root);
            assert_memory_equal(root, expected, MERKLE_SIZE);
        }
    }
}

/* Pieces of any size give the root of the whole; the roots asked for on the way are right and disturb nothing. */
static void test_pieces(void **state) {
    (void)state;
    EACH_FORMAT (format) {
        for (int i = 0; i < 45; i++) {
            uint64_t segment = 1 + below(100);
            size_t size = (size_t)below(30000), at = 0;
            uint8_t expected[MERKLE_SIZE], root[MERKLE_SIZE];
            merkle_tree tree;
            assert_true(merkle_init(&tree, *format, segment));
            merkle_update(&tree, "left over", 9);
            merkle_reset(&tree);
            while (at < size) {
                size_t piece = (size_t)below(i % 3 == 0 ? 10 : 9000) % (size - at + 1);
                merkle_update(&tree, input + at, piece);
                at += piece;
                if (below(i % 3 == 0 ? 300 : 3) == 0) {
                    definition(*format, segment, input, at, expected);
                    merkle_root(&tree, root);
                    assert_memory_equal(root, expected, MERKLE_SIZE);
                }
            }
            definition(*format, segment, input, size, expected);
            merkle_root(&tree, root);
            assert_memory_equal(root, expected, MERKLE_SIZE);
            assert_int_equal(merkle_leaves(&tree), (size + segment - 1) / segment);
        }
    }
}

/* The root of 2^level equal leaves. */
static void perfect(merkle_format format, unsigned level, uint8_t *digest) {
    digest_of(format == MERKLE_RFC6962 ? 0 : SHA256_NO_PREFIX, input, 1, digest);
    for (unsigned i = 0; i < level; i++) {
        uint8_t pair[2 * MERKLE_SIZE];
        memcpy(pair, digest, MERKLE_SIZE);
        memcpy(pair + MERKLE_SIZE, digest, MERKLE_SIZE);
        digest_of(format == MERKLE_RFC6962 ? 1 : SHA256_NO_PREFIX, pair, sizeof pair, digest);
    }
}

/* A tree just below 2^32 equal leaves is put together by hand, and more leaves come: at 2^32 the root is the perfect
 * one, and no count wraps. */
static void test_past_four_billion_leaves(void **state) {
    (void)state;
    uint8_t equal[2 * MERKLE_BATCH], root[MERKLE_SIZE], expected[MERKLE_SIZE];
    memset(equal, input[0], sizeof equal);
    EACH_FORMAT (format) {
        merkle_tree tree;
        assert_true(merkle_init_watching(&tree, *format, 1, UINT64_C(1) << 32));
        tree.joined = (UINT64_C(1) << 32) - MERKLE_BATCH;
        for (unsigned level = 8; level < 32; level++) {
            perfect(*format, level, tree.frontier[level]);
        }
        merkle_update(&tree, equal, MERKLE_BATCH);
        merkle_root(&tree, root);
        perfect(*format, 32, expected);
        assert_memory_equal(root, expected, MERKLE_SIZE);
        merkle_path path;
        assert_false(merkle_prove(&tree, &path));
        merkle_update(&tree, equal, 1);
        merkle_root(&tree, root);
        uint8_t pair[2 * MERKLE_SIZE];
        perfect(*format, 32, pair);
        perfect(*format, 0, pair + MERKLE_SIZE);
        digest_of(*format == MERKLE_RFC6962 ? 1 : SHA256_NO_PREFIX, pair, sizeof pair, expected);
        assert_memory_equal(root, expected, MERKLE_SIZE);
        assert_true(merkle_leaves(&tree) == (UINT64_C(1) << 32) + 1);
        assert_true(merkle_prove(&tree, &path));
        assert_int_equal(path.length, 1);
        assert_true(merkle_verify(*format, root, &path, equal, 1));
    }
}

static void test_bad_arguments(void **state) {
    (void)state;
    merkle_tree tree;
    assert_false(merkle_init(&tree, MERKLE_PLAIN, 0));
    assert_false(merkle_init(&tree, (merkle_format)2, 64));
    assert_true(merkle_init(&tree, MERKLE_PLAIN, UINT64_MAX));
    merkle_path path;
    merkle_update(&tree, "a", 1);
    assert_false(merkle_prove(&tree, &path));
}

/* ---- Proofs -------------------------------------------------------------------------------------------------- */

static void prove(merkle_format format, uint64_t segment, size_t size, uint64_t index, merkle_path *path) {
    merkle_tree tree;
    assert_true(merkle_init_watching(&tree, format, segment, index));
    merkle_update(&tree, input, size / 3);
    (void)merkle_prove(&tree, path); /* on the way: disturbs nothing */
    merkle_update(&tree, input + size / 3, size - size / 3);
    assert_true(merkle_prove(&tree, path));
}

static void test_every_proof_and_no_other(void **state) {
    (void)state;
    const uint64_t segment = 3;
    EACH_FORMAT (format) {
        for (uint64_t leaves = 1; leaves <= 20; leaves++) {
            size_t size = (size_t)(leaves * segment) - 1;
            uint8_t root[MERKLE_SIZE];
            definition(*format, segment, input, size, root);
            for (uint64_t index = 0; index < leaves; index++) {
                merkle_path path;
                prove(*format, segment, size, index, &path);
                const uint8_t *leaf = input + index * segment;
                size_t length = index + 1 < leaves ? segment : segment - 1;
                assert_true(merkle_verify(*format, root, &path, leaf, length));
                assert_false(merkle_verify(*format, root, &path, leaf, length - 1));
                assert_false(merkle_verify(*format, root, &path, leaf + 1, length));
                for (size_t bit = 0; bit < path.length * MERKLE_SIZE * 8; bit += 37) {
                    merkle_path changed = path;
                    changed.digests[bit / 8 / MERKLE_SIZE][bit / 8 % MERKLE_SIZE] ^= (uint8_t)(1 << bit % 8);
                    assert_false(merkle_verify(*format, root, &changed, leaf, length));
                }
                merkle_path longer = path, elsewhere = path;
                longer.length++;
                assert_false(merkle_verify(*format, root, &longer, leaf, length));
                for (elsewhere.index = 0; elsewhere.index <= leaves; elsewhere.index++) {
                    bool right = elsewhere.index == index;
                    assert_true(merkle_verify(*format, root, &elsewhere, leaf, length) == right);
                }
                if (path.length > 0) {
                    merkle_path shorter = path;
                    shorter.length--;
                    assert_false(merkle_verify(*format, root, &shorter, leaf, length));
                }
            }
        }
    }
}

static void test_proofs_of_large_trees(void **state) {
    (void)state;
    EACH_FORMAT (format) {
        for (int i = 0; i < 60; i++) {
            uint64_t segment = 1 + below(20), leaves = 1 + below(3000), index = below(leaves);
            size_t size = (size_t)((leaves - 1) * segment + 1 + below(segment));
            uint8_t root[MERKLE_SIZE];
            merkle_path path;
            definition(*format, segment, input, size, root);
            prove(*format, segment, size, index, &path);
            assert_int_equal(path.leaves, leaves);
            size_t start = (size_t)(index * segment);
            size_t length = size - start < segment ? size - start : (size_t)segment;
            assert_true(merkle_verify(*format, root, &path, input + start, length));
        }
    }
}

/* What spec/plain.md warns of: the two digests below a root are a leaf of a tree of one leaf with the same root. */
static void test_forgery_in_plain_only(void **state) {
    (void)state;
    EACH_FORMAT (format) {
        uint8_t root[MERKLE_SIZE], digests[2 * MERKLE_SIZE];
        definition(*format, 64, input, 128, root);
        definition(*format, 64, input, 64, digests);
        definition(*format, 64, input + 64, 64, digests + MERKLE_SIZE);
        merkle_path path = {.index = 0, .leaves = 1, .length = 0};
        bool forged = merkle_verify(*format, root, &path, digests, sizeof digests);
        assert_true(forged == (*format == MERKLE_PLAIN));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256_of_fips),
        cmocka_unit_test(test_many_as_one_by_one),
        cmocka_unit_test(test_zeros),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_definition),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_past_four_billion_leaves),
        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_every_proof_and_no_other),
        cmocka_unit_test(test_proofs_of_large_trees),
        cmocka_unit_test(test_forgery_in_plain_only),
    };
    (void)printf("SHA-256 by %s\n", sha256_implementation());
    return cmocka_run_group_tests(tests, fill_input, NULL);
}
