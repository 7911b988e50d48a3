/* Tests of the library by cmocka. The shared rows are read by the program: see ../contract.sh. */
#include "merkle.h"
/* The code itself, so that the tests can set the length of a message instead of hashing gigabytes. */
#include "merkle_sha256.c" /* NOLINT(bugprone-suspicious-include) */

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
    merkle_sha256 hash;
    merkle_sha256_init(&hash);
    if (prefix != MERKLE_SHA256_NO_PREFIX) {
        merkle_sha256_update(&hash, &(uint8_t){(uint8_t)prefix}, 1);
    }
    merkle_sha256_update(&hash, bytes, size);
    merkle_sha256_final(&hash, digest);
}

/* The root as spec/rfc6962.md defines it: split at the largest power of two below the number of leaves. */
/* NOLINTNEXTLINE(misc-no-recursion): the definition is recursive */
static void definition(merkle_format format, uint64_t segment, const uint8_t *bytes, size_t size, uint8_t *root) {
    if (size == 0) {
        digest_of(MERKLE_SHA256_NO_PREFIX, bytes, 0, root);
        return;
    }
    if (size <= segment) {
        digest_of(format == MERKLE_RFC6962 ? 0 : MERKLE_SHA256_NO_PREFIX, bytes, size, root);
        return;
    }
    size_t left = (size_t)segment;
    while (2 * left < size) {
        left *= 2;
    }
    uint8_t pair[2 * MERKLE_SIZE];
    definition(format, segment, bytes, left, pair);
    definition(format, segment, bytes + left, size - left, pair + MERKLE_SIZE);
    digest_of(format == MERKLE_RFC6962 ? 1 : MERKLE_SHA256_NO_PREFIX, pair, sizeof pair, root);
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
    uint8_t digest[MERKLE_SHA256_SIZE];
    const char *two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    digest_of(MERKLE_SHA256_NO_PREFIX, (const uint8_t *)"abc", 3, digest);
    assert_digest(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    digest_of(MERKLE_SHA256_NO_PREFIX, (const uint8_t *)two_blocks, strlen(two_blocks), digest);
    assert_digest(digest, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    merkle_sha256 hash;
    merkle_sha256_init(&hash);
    for (int i = 0; i < 1000000; i++) {
        merkle_sha256_update(&hash, "a", 1);
    }
    merkle_sha256_final(&hash, digest);
    assert_digest(digest, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* The digests of the first 0 to 320 bytes of mod251, hashed: what Python's hashlib prints for
 *
 *     h = hashlib.sha256()
 *     for n in range(321): h.update(hashlib.sha256(prefix + bytes(i % 251 for i in range(n))).digest())
 *
 * Every border of the padding is among them, and nothing of this library is in what is expected. */
static void test_every_length_as_hashlib(void **state) {
    (void)state;
    static const struct {
        int prefix;
        const char *digest;
    } EXPECTED[] = {
        {MERKLE_SHA256_NO_PREFIX, "372cafb34ed1c019aa4a6b34126992760b927c973f51349d3c903a4b10d81193"},
        {0, "60202b44f49bfc81f1551d8ec4a63c5cb0ad64cafe1d896159cc08198b91f34c"},
        {1, "6d27231e84124dbca0d8baa7927d24d316343019cea7f8d08498b77b0aa33ae2"},
    };
    uint8_t mod251[320];
    for (size_t i = 0; i < sizeof mod251; i++) {
        mod251[i] = (uint8_t)(i % 251);
    }
    for (size_t p = 0; p < sizeof EXPECTED / sizeof EXPECTED[0]; p++) {
        merkle_sha256 pieces, many;
        merkle_sha256_init(&pieces);
        merkle_sha256_init(&many);
        for (size_t size = 0; size <= sizeof mod251; size++) {
            uint8_t digest[MERKLE_SHA256_SIZE];
            digest_of(EXPECTED[p].prefix, mod251, size, digest);
            merkle_sha256_update(&pieces, digest, sizeof digest);
            merkle_sha256_many(EXPECTED[p].prefix, mod251, size, 1, digest);
            merkle_sha256_update(&many, digest, sizeof digest);
        }
        uint8_t digest[MERKLE_SHA256_SIZE];
        merkle_sha256_final(&pieces, digest);
        assert_digest(digest, EXPECTED[p].digest);
        merkle_sha256_final(&many, digest);
        assert_digest(digest, EXPECTED[p].digest);
    }
}

/* A message of 0x5c0000043 bytes, of which only the last three are hashed. The digest is that of a SHA-256 in Python
 * that takes the length as an argument. */
static void test_more_than_2_32_bits(void **state) {
    (void)state;
    const uint64_t before = UINT64_C(0x5c0000040);
    uint8_t digest[MERKLE_SHA256_SIZE];
    merkle_sha256 hash;
    merkle_sha256_init(&hash);
    hash.length = before;
    merkle_sha256_update(&hash, "abc", 3);
    merkle_sha256_final(&hash, digest);
    assert_digest(digest, "6f4b2092600157b7435334d871afe0d90babaf5074a983495c504ad38b11e869");
#ifdef HAVE_X86
    /* Of messages in memory, only the layout of the last block knows the length. */
    static const uint8_t BITS[8] = {0, 0, 0, 0x2e, 0, 0, 0x02, 0x18};
    for (int prefix = MERKLE_SHA256_NO_PREFIX; prefix <= 0; prefix++) {
        x86_buffers buffers;
        size_t size = (size_t)before + 3 - (prefix == MERKLE_SHA256_NO_PREFIX ? 0 : 1);
        x86_layout lay = x86_lay(prefix, size, &buffers);
        assert_int_equal(lay.last, 1);
        assert_memory_equal(buffers.last[0] + MERKLE_SHA256_BLOCK - sizeof BITS, BITS, sizeof BITS);
        assert_memory_equal(buffers.last[1] + MERKLE_SHA256_BLOCK - sizeof BITS, BITS, sizeof BITS);
    }
#endif
}

static void test_two_as_one_by_one(void **state) {
    (void)state;
    for (size_t size = 0; size <= 200; size++) {
        for (size_t cut = 0; cut <= size; cut += 1 + size / 16) {
            merkle_sha256 two[2];
            uint8_t expected[MERKLE_SHA256_SIZE], digest[MERKLE_SHA256_SIZE];
            merkle_sha256_init(&two[0]);
            merkle_sha256_init(&two[1]);
            merkle_sha256_update_two(two, input, input + 1000, cut);
            merkle_sha256_update_two(two, input + cut, input + 1000 + cut, size - cut);
            for (size_t i = 0; i < 2; i++) {
                digest_of(MERKLE_SHA256_NO_PREFIX, input + 1000 * i, size, expected);
                merkle_sha256_final(&two[i], digest);
                assert_memory_equal(digest, expected, sizeof digest);
            }
        }
    }
}

static void test_many_as_one_by_one(void **state) {
    (void)state;
    static const int PREFIXES[] = {MERKLE_SHA256_NO_PREFIX, 0, 1, 255};
    for (size_t p = 0; p < 4; p++) {
        for (size_t size = 0; size <= 200; size++) {
            for (size_t count = 0; count <= 5; count++) {
                uint8_t many[6 * MERKLE_SHA256_SIZE], one[MERKLE_SHA256_SIZE];
                memset(many, 0xAA, sizeof many);
                merkle_sha256_many(PREFIXES[p], input + 1, size, count, many);
                for (size_t i = 0; i < count; i++) {
                    digest_of(PREFIXES[p], input + 1 + i * size, size, one);
                    assert_memory_equal(many + i * MERKLE_SHA256_SIZE, one, MERKLE_SHA256_SIZE);
                }
                assert_int_equal(many[count * MERKLE_SHA256_SIZE], 0xAA);
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

typedef struct source {
    uint64_t calls, fails_at;
} source;

static int read_input(void *context, uint64_t offset, void *buffer, size_t size) {
    source *from = context;
    if (++from->calls == from->fails_at) {
        return 77;
    }
    assert_true(offset + size <= sizeof input);
    memcpy(buffer, input + offset, size);
    return 0;
}

/* A source that is read at any offset gives the root of its bytes, after none or some others, for any buffer. */
static void test_update_from(void **state) {
    (void)state;
    uint8_t buffer[1024];
    EACH_FORMAT (format) {
        for (int i = 0; i < 300; i++) {
            uint64_t segment = 1 + below(i % 3 == 0 ? 200 : 2000);
            size_t room = 128 + (size_t)below(sizeof buffer - 127);
            size_t size = (size_t)below(i % 5 == 0 ? LONGEST : 9000), before = i % 2 == 0 ? 0 : (size_t)below(size + 1);
            uint8_t expected[MERKLE_SIZE], root[MERKLE_SIZE];
            source from = {0, 0};
            merkle_tree tree;
            assert_true(merkle_init(&tree, *format, segment));
            merkle_update(&tree, input, before);
            assert_int_equal(merkle_update_from(&tree, read_input, &from, before, size - before, buffer, room), 0);
            definition(*format, segment, input, size, expected);
            merkle_root(&tree, root);
            assert_memory_equal(root, expected, MERKLE_SIZE);
            if (from.calls > 0) {
                source failing = {0, 1 + below(from.calls)};
                merkle_reset(&tree);
                merkle_update(&tree, input, before);
                assert_int_equal(merkle_update_from(&tree, read_input, &failing, before, size - before, buffer, room),
                                 77);
                assert_int_equal(failing.calls, failing.fails_at);
            }
        }
    }
    source from = {0, 0};
    merkle_tree tree;
    assert_true(merkle_init(&tree, MERKLE_RFC6962, 64));
    for (size_t room = 0; room < MERKLE_ROOM_MIN; room++) {
        assert_int_equal(merkle_update_from(&tree, read_input, &from, 0, 1000, buffer, room), MERKLE_NO_ROOM);
    }
    assert_int_equal(from.calls, 0);
}

/* The root of 2^level equal leaves. */
static void perfect(merkle_format format, unsigned level, uint8_t *digest) {
    digest_of(format == MERKLE_RFC6962 ? 0 : MERKLE_SHA256_NO_PREFIX, input, 1, digest);
    for (unsigned i = 0; i < level; i++) {
        uint8_t pair[2 * MERKLE_SIZE];
        memcpy(pair, digest, MERKLE_SIZE);
        memcpy(pair + MERKLE_SIZE, digest, MERKLE_SIZE);
        digest_of(format == MERKLE_RFC6962 ? 1 : MERKLE_SHA256_NO_PREFIX, pair, sizeof pair, digest);
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
        assert_true(merkle_init_prover(&tree, *format, 1, UINT64_C(1) << 32));
        tree.joined = (UINT64_C(1) << 32) - MERKLE_BATCH;
        for (unsigned level = 8; level < 32; level++) {
            perfect(*format, level, tree.frontier[level]);
        }
        merkle_update(&tree, equal, MERKLE_BATCH);
        merkle_root(&tree, root);
        perfect(*format, 32, expected);
        assert_memory_equal(root, expected, MERKLE_SIZE);
        merkle_proof proof;
        assert_false(merkle_prove(&tree, &proof));
        merkle_update(&tree, equal, 1);
        merkle_root(&tree, root);
        uint8_t pair[2 * MERKLE_SIZE];
        perfect(*format, 32, pair);
        perfect(*format, 0, pair + MERKLE_SIZE);
        digest_of(*format == MERKLE_RFC6962 ? 1 : MERKLE_SHA256_NO_PREFIX, pair, sizeof pair, expected);
        assert_memory_equal(root, expected, MERKLE_SIZE);
        assert_true(merkle_leaves(&tree) == (UINT64_C(1) << 32) + 1);
        assert_true(merkle_prove(&tree, &proof));
        assert_int_equal(proof.length, 1);
        assert_true(merkle_verify(*format, 1, root, &proof, equal, 1));
    }
}

static void test_bad_arguments(void **state) {
    (void)state;
    merkle_tree tree;
    assert_false(merkle_init(&tree, MERKLE_PLAIN, 0));
    assert_false(merkle_init(&tree, (merkle_format)2, 64));
    assert_false(merkle_init(&tree, MERKLE_PLAIN, MERKLE_SEGMENT_MAX + 1));
    assert_false(merkle_init_prover(&tree, MERKLE_PLAIN, 0, 0));
    assert_true(merkle_init(&tree, MERKLE_PLAIN, MERKLE_SEGMENT_MAX));
    merkle_proof proof;
    merkle_update(&tree, "a", 1);
    assert_false(merkle_prove(&tree, &proof));
}

/* ---- Proofs -------------------------------------------------------------------------------------------------- */

static void prove(merkle_format format, uint64_t segment, size_t size, uint64_t index, merkle_proof *proof) {
    merkle_tree tree;
    assert_true(merkle_init_prover(&tree, format, segment, index));
    merkle_update(&tree, input, size / 3);
    (void)merkle_prove(&tree, proof); /* on the way: disturbs nothing */
    merkle_update(&tree, input + size / 3, size - size / 3);
    assert_true(merkle_prove(&tree, proof));
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
                merkle_proof proof;
                prove(*format, segment, size, index, &proof);
                const uint8_t *leaf = input + index * segment;
                size_t length = index + 1 < leaves ? segment : segment - 1;
                assert_true(merkle_verify(*format, segment, root, &proof, leaf, length));
                assert_false(merkle_verify(*format, segment, root, &proof, leaf, length - 1));
                assert_false(merkle_verify(*format, segment, root, &proof, leaf + 1, length));
                assert_false(merkle_verify(*format, segment, root, &proof, leaf, 0));
                assert_false(merkle_verify(*format, length - 1, root, &proof, leaf, length));
                for (size_t bit = 0; bit < proof.length * MERKLE_SIZE * 8; bit += 37) {
                    merkle_proof changed = proof;
                    changed.path[bit / 8 / MERKLE_SIZE][bit / 8 % MERKLE_SIZE] ^= (uint8_t)(1 << bit % 8);
                    assert_false(merkle_verify(*format, segment, root, &changed, leaf, length));
                }
                merkle_proof longer = proof, elsewhere = proof;
                longer.length++;
                assert_false(merkle_verify(*format, segment, root, &longer, leaf, length));
                for (elsewhere.index = 0; elsewhere.index <= leaves; elsewhere.index++) {
                    bool right = elsewhere.index == index;
                    assert_true(merkle_verify(*format, segment, root, &elsewhere, leaf, length) == right);
                }
                if (proof.length > 0) {
                    merkle_proof shorter = proof;
                    shorter.length--;
                    assert_false(merkle_verify(*format, segment, root, &shorter, leaf, length));
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
            merkle_proof proof;
            definition(*format, segment, input, size, root);
            prove(*format, segment, size, index, &proof);
            assert_int_equal(proof.leaves, leaves);
            size_t start = (size_t)(index * segment);
            size_t length = size - start < segment ? size - start : (size_t)segment;
            assert_true(merkle_verify(*format, segment, root, &proof, input + start, length));
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
        merkle_proof proof = {.index = 0, .leaves = 1, .length = 0};
        bool forged = merkle_verify(*format, 64, root, &proof, digests, sizeof digests);
        assert_true(forged == (*format == MERKLE_PLAIN));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256_of_fips),
        cmocka_unit_test(test_every_length_as_hashlib),
        cmocka_unit_test(test_more_than_2_32_bits),
        cmocka_unit_test(test_two_as_one_by_one),
        cmocka_unit_test(test_many_as_one_by_one),
        cmocka_unit_test(test_zeros),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_definition),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_update_from),
        cmocka_unit_test(test_past_four_billion_leaves),
        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_every_proof_and_no_other),
        cmocka_unit_test(test_proofs_of_large_trees),
        cmocka_unit_test(test_forgery_in_plain_only),
    };
    (void)printf("SHA-256 by %s\n", merkle_sha256_implementation());
    return cmocka_run_group_tests(tests, fill_input, NULL);
}
