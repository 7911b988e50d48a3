/* libFuzzer: pieces of any size give the same root as the whole, and every proof is valid. */
#include "merkle.h"

#include <stdlib.h>
#include <string.h>

/* The input is: format, segment, leaf to be proven, size of a piece, then the bytes of the file. */
enum { HEADER = 5 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < HEADER) {
        return 0;
    }
    merkle_format format = data[0] % 2 == 0 ? MERKLE_PLAIN : MERKLE_RFC6962;
    uint64_t segment = (uint64_t)data[1] + 1, index = data[2] + UINT64_C(256) * data[3];
    size_t piece = (size_t)data[4] + 1;
    const uint8_t *bytes = data + HEADER;
    size -= HEADER;

    merkle_tree whole, pieces;
    uint8_t expected[MERKLE_SIZE], root[MERKLE_SIZE];
    if (!merkle_init(&whole, format, segment) || !merkle_init_prover(&pieces, format, segment, index)) {
        abort();
    }
    merkle_update(&whole, bytes, size);
    merkle_root(&whole, expected);
    for (size_t at = 0; at < size; at += piece) {
        merkle_update(&pieces, bytes + at, size - at < piece ? size - at : piece);
    }
    merkle_root(&pieces, root);
    if (memcmp(root, expected, sizeof root) != 0) {
        abort();
    }
    merkle_proof proof;
    if (merkle_prove(&pieces, &proof)) {
        size_t start = (size_t)(index * segment);
        size_t length = size - start < segment ? size - start : (size_t)segment;
        if (!merkle_verify(format, segment, root, &proof, bytes + start, length)) {
            abort();
        }
    } else if (index < merkle_leaves(&whole)) {
        abort();
    }
    return 0;
}
