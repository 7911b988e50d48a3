/* Tests the functions on logs. The only argument is an empty directory, in which the log, its key, an entry and the proof of it stay.
 * Compiled as C11 and as C++17. */
#include "expect.h"
#include <stdlib.h>
#include <string.h>

enum { MANY = 600, ROOM = 1 << 14, LONGEST = 65535 };

static char place[4096];

static const char *below(const char *name)
{
    static char paths[4][4200];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    sprintf(path, "%s/%s", place, name);
    return path;
}

static size_t get(const char *name, uint8_t *content)
{
    FILE *file = fopen(below(name), "rb");
    size_t len = file ? fread(content, 1, ROOM, file) : 0;
    EXPECT(file && !fclose(file));
    return len;
}

static void put(const char *name, const void *content, size_t len)
{
    FILE *file = fopen(below(name), "wb");
    EXPECT(file && fwrite(content, 1, len, file) == len && !fclose(file));
}

int main(int count, char **arguments)
{
    static uint8_t proof[ROOM], other[ROOM], checkpoint[ROOM], longest[LONGEST + 1];
    static char names[MANY][16], policy[512];
    const uint8_t *entries[MANY];
    size_t lens[MANY], len = 0, checkpoint_len;
    uint64_t first = 7, index = 7, size = 7;
    char key[256], folder[4200];
    if (count != 2 || strlen(arguments[1]) >= sizeof place)
        return 2;
    strcpy(place, arguments[1]);
    strcpy(folder, below("log"));
    for (size_t i = 0; i < MANY; i++) {
        sprintf(names[i], "entry %u", (unsigned)i);
        entries[i] = (const uint8_t *)names[i];
        lens[i] = strlen(names[i]);
    }

    /* A folder without a log, and arguments that are none. */
    EXPECT(mksum_log_append(folder, entries, lens, 1, &first) == MKSUM_REFUSED && first == 7);
    EXPECT(mksum_log_prove(folder, 0, proof, ROOM, &len) == MKSUM_DAMAGED);
    EXPECT(mksum_log_create(NULL, "example.com/c", key, sizeof key) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_log_create(folder, NULL, key, sizeof key) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_log_create(folder, "\xff", key, sizeof key) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_log_create(folder, "with a space", key, sizeof key) == MKSUM_REFUSED);
    EXPECT(mksum_log_create(folder, "example.com/c", key, 13 + 54) == MKSUM_NO_ROOM);
    EXPECT(mksum_log_create(folder, "example.com/c", key, 13 + 55) == MKSUM_OK);
    EXPECT(strlen(key) == 13 + 54 && !strncmp(key, "example.com/c+", 14));
    EXPECT(mksum_log_create(folder, "example.com/c", key, sizeof key) == MKSUM_REFUSED);
    put("key", key, strlen(key));

    EXPECT(mksum_log_append(folder, entries, lens, 300, &first) == MKSUM_OK && first == 0);
    checkpoint_len = get("log/checkpoint", checkpoint);
    EXPECT(mksum_log_append(folder, entries + 300, lens + 300, 300, &first) == MKSUM_OK && first == 300);
    EXPECT(mksum_log_append(folder, NULL, NULL, 0, &first) == MKSUM_OK && first == 600);
    EXPECT(mksum_log_append(folder, NULL, NULL, 1, &first) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_log_append(folder, entries, lens, 1, NULL) == MKSUM_BAD_ARGUMENT);

    /* Each entry is proven, and no other one by its proof. */
    for (uint64_t i = 0; i < MANY; i += 59) {
        EXPECT(mksum_log_prove(folder, i, NULL, 0, &len) == MKSUM_NO_ROOM && len > 0 && len < ROOM);
        EXPECT(mksum_log_prove(folder, i, proof, len, &len) == MKSUM_OK);
        EXPECT(mksum_log_check(proof, len, key, entries[i], lens[i], &index) == MKSUM_OK && index == i);
        index = MANY;
        EXPECT(mksum_log_check(proof, len, key, entries[i ^ 1], lens[i ^ 1], &index) == MKSUM_BAD_PROOF && index == MANY);
    }
    EXPECT(mksum_log_prove(folder, 600, proof, ROOM, &len) == MKSUM_REFUSED);
    EXPECT(mksum_log_prove(folder, 599, proof, ROOM, &len) == MKSUM_OK);
    put("proof", proof, len);
    put("entry", entries[599], lens[599]);
    for (size_t at = 0; at < len; at += 7) {
        memcpy(other, proof, len);
        other[at] ^= 1;
        EXPECT(mksum_log_check(other, len, key, entries[599], lens[599], &index) == MKSUM_BAD_PROOF);
    }
    EXPECT(mksum_log_check(proof, 0, key, entries[599], lens[599], &index) == MKSUM_BAD_PROOF);
    EXPECT(mksum_log_check(NULL, 1, key, entries[599], lens[599], &index) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_log_check(proof, len, key, entries[599], lens[599], NULL) == MKSUM_BAD_ARGUMENT);

    /* A policy is as good as a key; a text that is neither is refused. */
    sprintf(policy, "log %s\nquorum none\n", key);
    EXPECT(mksum_log_check(proof, len, policy, entries[599], lens[599], &index) == MKSUM_OK && index == 599);
    EXPECT(mksum_log_check(proof, len, "example.com/c", entries[599], lens[599], &index) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_log_check(proof, len, "log nonsense\n", entries[599], lens[599], &index) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_log_check(proof, len, NULL, entries[599], lens[599], &index) == MKSUM_BAD_ARGUMENT);

    /* The log has only grown. */
    EXPECT(mksum_log_prove_consistency(folder, 300, proof, ROOM, &len) == MKSUM_OK);
    EXPECT(mksum_log_check_consistency(proof, len, key, checkpoint, checkpoint_len, &size) == MKSUM_OK && size == 600);
    EXPECT(mksum_log_prove_consistency(folder, 299, proof, ROOM, &len) == MKSUM_OK);
    EXPECT(mksum_log_check_consistency(proof, len, key, checkpoint, checkpoint_len, &size) == MKSUM_BAD_PROOF);
    EXPECT(mksum_log_prove_consistency(folder, 601, proof, ROOM, &len) == MKSUM_REFUSED);
    checkpoint[checkpoint_len / 2] ^= 1;
    EXPECT(mksum_log_check_consistency(proof, len, key, checkpoint, checkpoint_len, &size) == MKSUM_BAD_PROOF);

    /* The longest entry, and one that is longer: then nothing is appended. */
    entries[0] = entries[1] = longest;
    lens[0] = LONGEST;
    lens[1] = LONGEST + 1;
    EXPECT(mksum_log_append(folder, entries, lens, 2, &first) == MKSUM_REFUSED);
    EXPECT(mksum_log_append(folder, entries, lens, 1, &first) == MKSUM_OK && first == 600);
    return failures != 0;
}
