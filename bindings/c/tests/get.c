/* Tests downloads. Arguments: an empty directory, the URL of a file, that of a copy of which leaves are wrong, the root, and a path of the
 * original. Compiled as C11 and as C++17. */
#include "expect.h"
#include <mksum_get.h>
#include <stdlib.h>
#include <string.h>

static char place[4096];

static const char *below(const char *name)
{
    static char path[4200];
    sprintf(path, "%s/%s", place, name);
    return path;
}

static int same(const char *left, const char *right)
{
    FILE *one = fopen(left, "rb"), *other = fopen(right, "rb");
    int first = 0, second = 0, count = 0;
    while (one && other && first == second && first != EOF) {
        first = fgetc(one);
        second = fgetc(other);
        count++;
    }
    if (one)
        fclose(one);
    if (other)
        fclose(other);
    return count > 1 && first == EOF && second == EOF;
}

static int is_there(const char *path)
{
    FILE *file = fopen(path, "rb");
    return file && !fclose(file);
}

struct seen {
    uint64_t done, all;
    int cancel;
};

static int watch(void *context, uint64_t done, uint64_t all)
{
    struct seen *seen = (struct seen *)context;
    EXPECT(done >= seen->done);
    seen->done = done;
    seen->all = all;
    return seen->cancel;
}

int main(int count, char **arguments)
{
    if (count != 6 || strlen(arguments[1]) >= sizeof place)
        return 2;
    strcpy(place, arguments[1]);
    const char *good = arguments[2], *bad = arguments[3], *root = arguments[4], *original = arguments[5];
    const char *both[] = {bad, good}, *none[] = {NULL};
    struct seen seen = {0, 0, 0};
    mksum_options options = MKSUM_OPTIONS;
    mksum_get_options how = MKSUM_GET_OPTIONS;
    mksum_got got = {7, 7, 7, 7};
    options.progress = watch;
    options.context = &seen;

    /* Arguments that are none. Nothing is written. */
    EXPECT(mksum_get(both, 0, root, below("a"), NULL, &got, NULL) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_get(NULL, 1, root, below("a"), NULL, &got, NULL) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_get(none, 1, root, below("a"), NULL, &got, NULL) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_get(both, 2, NULL, below("a"), NULL, &got, NULL) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_get(both, 2, "no root", below("a"), NULL, &got, NULL) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_get(both, 2, root, NULL, NULL, &got, NULL) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_get(both, 2, "dir:0000000000000000000000000000000000000000000000000000000000000000", below("a"), NULL, &got, NULL) ==
           MKSUM_BAD_FORMAT);
    how.size = 1;
    EXPECT(mksum_get(both, 2, root, below("a"), &how, &got, NULL) == MKSUM_BAD_ARGUMENT && strstr(mksum_error(), "MKSUM_GET_OPTIONS"));
    how.size = sizeof how;
    seen.cancel = 1;
    EXPECT(mksum_get(both, 2, root, below("a"), NULL, &got, &options) == MKSUM_CANCELLED);
    EXPECT(got.fetched == 7 && !is_there(below("a")));

    /* One of two mirrors has wrong leaves: they are fetched from the other, and the file is right. */
    seen.cancel = 0;
    EXPECT(mksum_get(both, 2, root, below("a"), NULL, &got, &options) == MKSUM_OK);
    EXPECT(same(below("a"), original) && !is_there(below("a.part")));
    /* Whether it was asked for them is chance, and a slow range is asked of both. */
    EXPECT(got.resumed == 0 && got.reused == 0 && seen.done > 0 && seen.done == seen.all);
    EXPECT(got.fetched >= seen.all + got.wrong);

    /* It is there. */
    EXPECT(mksum_get(both, 2, root, below("a"), NULL, &got, NULL) == MKSUM_OK && got.fetched == 0);

    /* The wrong mirror alone: what was right of it is kept, and only the rest is fetched from the other one. */
    how.connections = 2;
    EXPECT(mksum_get(both, 1, root, below("b"), &how, &got, NULL) == MKSUM_DAMAGED && got.wrong > 0);
    EXPECT(strstr(mksum_error(), "not whole") && strstr(mksum_error(), bad) && !strchr(mksum_error(), '\n'));
    EXPECT(!is_there(below("b")) && is_there(below("b.part")));
    EXPECT(mksum_get(&both[1], 1, root, below("b"), &how, &got, NULL) == MKSUM_OK && same(below("b"), original));
    EXPECT(got.resumed > 0 && got.wrong == 0 && got.resumed + got.fetched >= seen.all);

    /* An outboard that is not there: the whole stream is hashed. The wrong mirror is asked first. */
    how.outboard = "/nonexistent.mkt";
    EXPECT(mksum_get(both, 2, root, below("c"), &how, &got, NULL) == MKSUM_OK && same(below("c"), original));
    EXPECT(mksum_get(both, 1, root, below("d"), &how, NULL, NULL) == MKSUM_DAMAGED && !is_there(below("d")));
    /* Verified reads from servers. */
    mksum_verified_options parts = MKSUM_VERIFIED_OPTIONS;
    mksum_verified *file;
    uint8_t *all = (uint8_t *)malloc(seen.all), part[1000];
    char tree[4200];
    size_t len;
    FILE *right = fopen(original, "rb");
    if (!all || !right || fread(all, 1, seen.all, right) != seen.all || strlen(good) + 5 > sizeof tree)
        return 2;
    fclose(right);
    sprintf(tree, "%s.mkt", good);
    parts.outboard = tree;
    EXPECT(mksum_verified_open(good, root, &parts, NULL, &file) == MKSUM_OK && mksum_verified_length(file) == seen.all);
    EXPECT(mksum_verified_read(file, seen.all - 500, part, sizeof part, &len) == MKSUM_OK && len == 500);
    EXPECT(!memcmp(part, all + seen.all - 500, len));
    mksum_verified_close(file);
    uint8_t *found = (uint8_t *)malloc(seen.all);
    if (!found)
        return 2;
    EXPECT(mksum_verified_open(bad, root, &parts, NULL, &file) == MKSUM_OK);
    EXPECT(mksum_verified_read(file, 0, found, seen.all, &len) == MKSUM_DAMAGED && len == 0 && strstr(mksum_error(), bad));
    mksum_verified_close(file);
    parts.replicas = &good;
    parts.replicas_len = 1;
    EXPECT(mksum_verified_open(bad, root, &parts, NULL, &file) == MKSUM_OK);
    EXPECT(mksum_verified_read(file, 0, found, seen.all, &len) == MKSUM_OK && len == seen.all && !memcmp(found, all, len));
    mksum_verified_close(file);
    free(found);
    free(all);
    return failures > 0;
}
