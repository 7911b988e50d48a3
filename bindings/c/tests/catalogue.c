/* Tests the functions for catalogues as mksum.h describes them. catalogue FOLDER: an empty folder, in which it writes. */
#define _POSIX_C_SOURCE 200809L
#include "expect.h"
#include <mksum.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What was received: a copy of it, since its pointers end with the call. */
struct found {
    size_t count, stop;
    struct {
        mksum_state state;
        char path[64], from[64], reason[256];
        uint64_t bytes, range[2];
        size_t ranges;
    } entries[8];
};

static int receive(void *context, const mksum_entry *entry)
{
    struct found *found = (struct found *)context;
    EXPECT(found->count < 8 && strlen(entry->path) == entry->path_len && entry->path_len < 64);
    EXPECT(entry->from ? strlen(entry->from) == entry->from_len : entry->from_len == 0);
    EXPECT((entry->ranges == NULL) == (entry->ranges_len == 0));
    if (found->count == 8)
        return 1;
    found->entries[found->count].state = entry->state;
    snprintf(found->entries[found->count].path, 64, "%s", entry->path);
    snprintf(found->entries[found->count].from, 64, "%s", entry->from ? entry->from : "");
    snprintf(found->entries[found->count].reason, 256, "%s", entry->reason ? entry->reason : "");
    found->entries[found->count].bytes = entry->bytes;
    found->entries[found->count].ranges = entry->ranges_len;
    if (entry->ranges_len)
        memcpy(found->entries[found->count].range, entry->ranges, sizeof found->entries[0].range);
    return ++found->count == found->stop;
}

/* Whether the entry with this path was received once, in this state; its index in `at`, if that is not NULL. */
static int has(const struct found *found, mksum_state state, const char *path, size_t *at)
{
    size_t times = 0;
    for (size_t i = 0; i < found->count; i++)
        if (found->entries[i].state == state && !strcmp(found->entries[i].path, path)) {
            times++;
            if (at)
                *at = i;
        }
    return times == 1;
}

static void put(const char *path, const char *text, size_t times)
{
    FILE *file = fopen(path, "wb");
    EXPECT(file);
    for (size_t i = 0; file && i < times; i++)
        fputs(text, file);
    EXPECT(file && !fclose(file));
}

/* Changes a byte, and nothing else that the system tells of the file. */
static void damage(const char *path, long at)
{
    struct stat facts;
    EXPECT(!stat(path, &facts));
    FILE *file = fopen(path, "r+b");
    EXPECT(file && !fseek(file, at, SEEK_SET) && fputc('X', file) == 'X' && !fclose(file));
    struct timespec times[2];
    times[0] = facts.st_atim;
    times[1] = facts.st_mtim;
    EXPECT(!utimensat(AT_FDCWD, path, times, 0));
}

static struct found fresh(size_t stop)
{
    struct found found;
    memset(&found, 0, sizeof found);
    found.stop = stop;
    return found;
}

#define LONG 9000000

int main(int argc, char **argv)
{
    const char *formats[] = {"sha256", "rfc6962"}, *unknown[] = {"teapot"};
    mksum_options one = MKSUM_OPTIONS, two = MKSUM_OPTIONS;
    struct found found;
    size_t at = 0;
    one.threads = 1;
    two.threads = 2;

    EXPECT(argc == 2);
    if (argc != 2 || chdir(argv[1]))
        return 1;
    EXPECT(!mkdir("tree", 0777) && !mkdir("tree/s", 0777) && !mkdir("copy", 0777) && !mkdir("copy/s", 0777));
    for (int copy = 0; copy < 2; copy++) {
        put(copy ? "copy/a" : "tree/a", "a\n", 1);
        put(copy ? "copy/s/\xff" : "tree/s/\xff", "b\n", 1);
        put(copy ? "copy/long" : "tree/long", "long lines\n", LONG / 11);
    }

    /* Nothing is there yet. */
    found = fresh(0);
    EXPECT(mksum_catalogue_status("tree", NULL, receive, &found) == MKSUM_CATALOGUE_FAILED && found.count == 0);
    EXPECT(strstr(mksum_error(), "tree/.mksum/catalogue: "));
    EXPECT(mksum_catalogue_update("tree", NULL, NULL, receive, &found) == MKSUM_CATALOGUE_FAILED);
    EXPECT(mksum_catalogue_verify("tree", NULL, 0, 0, NULL, receive, &found) == MKSUM_CATALOGUE_FAILED);
    EXPECT(mksum_catalogue_repair("tree", NULL, "copy", NULL, receive, &found) == MKSUM_CATALOGUE_FAILED);
    EXPECT(mksum_catalogue_diff("tree", "copy", receive, &found) == MKSUM_CATALOGUE_FAILED);
    EXPECT(mksum_catalogue_keep("none", NULL, NULL, 0, NULL, receive, &found) == MKSUM_READ_FAILED);
    EXPECT(mksum_catalogue_keep("tree/a", NULL, NULL, 0, NULL, receive, &found) == MKSUM_READ_FAILED);
    EXPECT(mksum_catalogue_keep("tree", NULL, unknown, 1, NULL, receive, &found) == MKSUM_BAD_FORMAT);
    EXPECT(mksum_catalogue_keep("tree", "tree/a", NULL, 0, NULL, receive, &found) == MKSUM_CATALOGUE_FAILED);
    EXPECT(strstr(mksum_error(), "not a catalogue"));
    EXPECT(found.count == 0 && access("tree/.mksum", F_OK));

    /* Arguments. */
    EXPECT(mksum_catalogue_keep(NULL, NULL, NULL, 0, NULL, receive, &found) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_catalogue_keep("tree", NULL, NULL, 1, NULL, receive, &found) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_catalogue_keep("tree", NULL, formats, 2, NULL, NULL, NULL) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_catalogue_status("tree", NULL, NULL, NULL) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_catalogue_update("tree", NULL, NULL, NULL, NULL) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_catalogue_verify("tree", NULL, 1, 0.5, NULL, receive, &found) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_catalogue_verify("tree", NULL, -1, 0, NULL, receive, &found) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_catalogue_verify("tree", NULL, 0, 1.5, NULL, receive, &found) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_catalogue_repair("tree", NULL, NULL, NULL, receive, &found) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_catalogue_diff(NULL, "copy", receive, &found) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_catalogue_diff("tree", NULL, receive, &found) == MKSUM_BAD_ARGUMENT);

    /* A first catalogue, of a call that is ended; the next one goes on. */
    found = fresh(1);
    EXPECT(mksum_catalogue_keep("tree", NULL, formats, 1, &one, receive, &found) == MKSUM_OK && found.count == 1);
    EXPECT(has(&found, MKSUM_ENTRY_NEW, "a", NULL));
    found = fresh(0);
    EXPECT(mksum_catalogue_keep("tree", NULL, formats, 1, &two, receive, &found) == MKSUM_OK);
    EXPECT(has(&found, MKSUM_ENTRY_NEW, "long", NULL) && has(&found, MKSUM_ENTRY_NEW, "s/\xff", NULL));
    found = fresh(0);
    EXPECT(mksum_catalogue_status("tree", NULL, receive, &found) == MKSUM_OK && found.count == 0);
    /* With another format, all is read again, and long files get a tree. */
    EXPECT(mksum_catalogue_keep("tree", NULL, formats, 2, NULL, receive, &found) == MKSUM_OK);
    EXPECT(found.count == 3 && has(&found, MKSUM_ENTRY_TOUCHED, "long", NULL));
    found = fresh(0);
    EXPECT(mksum_catalogue_keep("copy", "copy.catalogue", formats, 2, NULL, receive, &found) == MKSUM_OK && found.count == 3);
    found = fresh(0);
    EXPECT(mksum_catalogue_diff("tree", "copy.catalogue", receive, &found) == MKSUM_OK && found.count == 0);

    /* Damage is found in its range and repaired. */
    damage("tree/long", 5000000);
    damage("tree/s/\xff", 0);
    found = fresh(0);
    EXPECT(mksum_catalogue_status("tree", NULL, receive, &found) == MKSUM_OK && found.count == 0);
    EXPECT(mksum_catalogue_verify("tree", NULL, 0, 0, NULL, receive, &found) == MKSUM_OK && found.count == 3);
    EXPECT(has(&found, MKSUM_ENTRY_INTACT, "a", &at) && found.entries[at].bytes == 2);
    EXPECT(has(&found, MKSUM_ENTRY_DAMAGED, "s/\xff", &at) && found.entries[at].ranges == 0 && *found.entries[at].reason);
    EXPECT(has(&found, MKSUM_ENTRY_DAMAGED, "long", &at) && found.entries[at].ranges == 1);
    EXPECT(found.entries[at].range[0] == 4980736 && found.entries[at].range[1] == 4980736 + 65536);
    found = fresh(0);
    EXPECT(mksum_catalogue_repair("tree", NULL, "none", NULL, receive, &found) == MKSUM_OK);
    EXPECT(has(&found, MKSUM_ENTRY_NOT_REPAIRED, "s/\xff", &at) && strstr(found.entries[at].reason, "none/s"));
    found = fresh(0);
    EXPECT(mksum_catalogue_repair("tree", NULL, "copy", NULL, receive, &found) == MKSUM_OK && found.count == 3);
    EXPECT(has(&found, MKSUM_ENTRY_INTACT, "a", NULL) && has(&found, MKSUM_ENTRY_REPAIRED, "s/\xff", NULL));
    EXPECT(has(&found, MKSUM_ENTRY_REPAIRED, "long", &at) && found.entries[at].bytes == 65536);
    EXPECT(found.entries[at].ranges == 1 && found.entries[at].range[0] == 4980736);
    found = fresh(0);
    EXPECT(mksum_catalogue_verify("tree", NULL, 0, 1, NULL, receive, &found) == MKSUM_OK && found.count == 3);
    found = fresh(0);
    EXPECT(mksum_catalogue_verify("tree", NULL, 60, 0, NULL, receive, &found) == MKSUM_OK && found.count == 3);
    found = fresh(2);
    EXPECT(mksum_catalogue_verify("tree", NULL, 0, 0, NULL, receive, &found) == MKSUM_OK && found.count == 2);

    /* What has changed is found, brought up to date, and compared. */
    put("tree/a", "other\n", 1);
    put("tree/new", "new\n", 1);
    EXPECT(!rename("tree/s/\xff", "tree/\xfe") && !unlink("tree/long"));
    found = fresh(0);
    EXPECT(mksum_catalogue_status("tree", NULL, receive, &found) == MKSUM_OK && found.count == 4);
    EXPECT(has(&found, MKSUM_ENTRY_CHANGED, "a", NULL) && has(&found, MKSUM_ENTRY_GONE, "long", NULL));
    EXPECT(has(&found, MKSUM_ENTRY_MOVED, "\xfe", &at) && !strcmp(found.entries[at].from, "s/\xff"));
    found = fresh(2);
    EXPECT(mksum_catalogue_status("tree", NULL, receive, &found) == MKSUM_OK && found.count == 2);
    found = fresh(0);
    EXPECT(mksum_catalogue_verify("tree", NULL, 0, 0, NULL, receive, &found) == MKSUM_OK);
    EXPECT(has(&found, MKSUM_ENTRY_CHANGED, "a", NULL) && has(&found, MKSUM_ENTRY_NEW, "new", NULL));
    found = fresh(0);
    EXPECT(mksum_catalogue_update("tree", NULL, NULL, receive, &found) == MKSUM_OK && found.count == 4);
    EXPECT(has(&found, MKSUM_ENTRY_CHANGED, "a", NULL) && has(&found, MKSUM_ENTRY_NEW, "new", NULL));
    EXPECT(has(&found, MKSUM_ENTRY_MOVED, "\xfe", NULL) && has(&found, MKSUM_ENTRY_GONE, "long", NULL));
    found = fresh(0);
    EXPECT(mksum_catalogue_diff("copy.catalogue", "tree", receive, &found) == MKSUM_OK && found.count == 4);
    EXPECT(has(&found, MKSUM_ENTRY_CHANGED, "a", NULL) && has(&found, MKSUM_ENTRY_ADDED, "new", NULL));
    EXPECT(has(&found, MKSUM_ENTRY_REMOVED, "long", NULL));
    EXPECT(has(&found, MKSUM_ENTRY_MOVED, "\xfe", &at) && !strcmp(found.entries[at].from, "s/\xff"));
    found = fresh(1);
    EXPECT(mksum_catalogue_diff("copy.catalogue", "tree", receive, &found) == MKSUM_OK && found.count == 1);

    /* Another file in the place of the catalogue. */
    put("copy.catalogue", "junk", 100);
    EXPECT(mksum_catalogue_diff("tree", "copy.catalogue", receive, &found) == MKSUM_CATALOGUE_FAILED);
    EXPECT(strstr(mksum_error(), "copy.catalogue: "));
    if (failures)
        fprintf(stderr, "%d failures\n", failures);
    return failures != 0;
}
