/* What the programs that test the library share. */
#ifndef MKSUM_TESTS_EXPECT_H
#define MKSUM_TESTS_EXPECT_H

#include <mksum.h>
#include <stdio.h>

static int failures;

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, mksum_error());                         \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

static inline void hex(const uint8_t *bytes, size_t len, char *text)
{
    for (size_t i = 0; i < len; i++)
        sprintf(text + 2 * i, "%02x", bytes[i]);
}

/* The pattern `pat` of vectors/README.md, which the leaves of vectors/nodes.tsv are. */
static inline void pattern(uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        bytes[i] = (uint8_t)(i * 131 + (i >> 8) * 17);
}

#endif
