/* Tests the functions that read files and streams: the progress, cancelled calls, proofs, outboards and verified reads. Its only argument
 * is an empty directory. Compiled as C11 and as C++17. */
#define _POSIX_C_SOURCE 200809L
#include "expect.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LEN = 3000000, UNIT = 65536 };

static uint8_t content[LEN + UNIT];

static void put(const char *path, size_t len)
{
    FILE *file = fopen(path, "wb");
    EXPECT(file && fwrite(content, 1, len, file) == len && !fclose(file));
}

static void nap(void)
{
    struct timespec time = {0, 40000000};
    nanosleep(&time, NULL);
}

/* What a progress function was told. */
struct progress {
    size_t calls;
    uint64_t first, last, all;
    int falls;
    /* The call that cancels, from 1; 0 for none. */
    size_t cancel;
    /* Set by another thread, which cancels too. */
    volatile int flag;
};

static int advance(void *context, uint64_t done, uint64_t all)
{
    struct progress *progress = (struct progress *)context;
    if (progress->calls++ == 0)
        progress->first = done;
    progress->falls |= done < progress->last || (all && done > all);
    progress->last = done;
    progress->all = all;
    return progress->flag || progress->calls == progress->cancel;
}

static mksum_options watched(struct progress *progress, size_t cancel)
{
    mksum_options options = MKSUM_OPTIONS;
    memset(progress, 0, sizeof *progress);
    progress->cancel = cancel;
    options.threads = 2;
    options.progress = advance;
    options.context = progress;
    return options;
}

/* Whether all of `all` bytes were told, from nothing on. */
static int complete(const struct progress *progress, uint64_t all)
{
    return progress->calls >= 2 && progress->first == 0 && progress->last == all && progress->all == all && !progress->falls;
}

/* A stream of `content`. */
struct stream {
    size_t at, len, piece;
    /* The number of reads after which it fails, returns too much, or waits, from 1. */
    size_t reads, fail, lie, wait;
    pthread_t thread;
};

static ptrdiff_t pull(void *context, uint8_t *buffer, size_t room)
{
    struct stream *stream = (struct stream *)context;
    size_t more = stream->len - stream->at;
    EXPECT(room > 0 && pthread_equal(stream->thread, pthread_self()));
    if (++stream->reads == stream->fail)
        return -1;
    if (stream->reads == stream->lie)
        return (ptrdiff_t)room + 1;
    if (stream->reads == stream->wait)
        nap();
    if (more > room)
        more = room;
    if (more > stream->piece)
        more = stream->piece;
    memcpy(buffer, content + stream->at, more);
    stream->at += more;
    return (ptrdiff_t)more;
}

static struct stream stream_of(size_t len, size_t piece)
{
    struct stream stream;
    memset(&stream, 0, sizeof stream);
    stream.len = len;
    stream.piece = piece;
    stream.thread = pthread_self();
    return stream;
}

static void streams(void)
{
    static const char *const formats[] = {"sha256", "rfc6962", "blake3", "rfc6962:sha512:4KiB", "crc32"};
    static const size_t lens[] = {0, 1, 65537, LEN}, pieces[] = {997, 1 << 16, 1 << 30};
    char text[MKSUM_TEXT_MAX], expected[MKSUM_TEXT_MAX];
    struct progress progress;
    struct stream stream;

    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
        for (size_t l = 0; l < sizeof lens / sizeof *lens; l++)
            for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
                mksum_options options = watched(&progress, 0);
                stream = stream_of(lens[l], pieces[p]);
                EXPECT(mksum_root_of_bytes(formats[f], content, lens[l], expected, sizeof expected) == MKSUM_OK);
                EXPECT(mksum_root_of_stream(formats[f], pull, &stream, p ? &options : NULL, text, sizeof text) == MKSUM_OK);
                EXPECT(!strcmp(text, expected) && (!p || (progress.last == lens[l] && progress.all == 0)));
            }

    strcpy(text, "old");
    stream = stream_of(LEN, 1000);
    stream.fail = 7;
    EXPECT(mksum_root_of_stream("sha256", pull, &stream, NULL, text, sizeof text) == MKSUM_READ_FAILED);
    EXPECT(strstr(mksum_error(), "stream: read failed at byte 6000: ") && stream.reads == 7);
    stream = stream_of(LEN, 1000);
    stream.lie = 3;
    EXPECT(mksum_root_of_stream("sha256", pull, &stream, NULL, text, sizeof text) == MKSUM_READ_FAILED);
    EXPECT(strstr(mksum_error(), "returned more bytes"));
    stream = stream_of(LEN, 1000);
    EXPECT(mksum_root_of_stream("mtsum", pull, &stream, NULL, text, sizeof text) == MKSUM_NO_ROOT);
    EXPECT(mksum_root_of_stream("teapot", pull, &stream, NULL, text, sizeof text) == MKSUM_BAD_FORMAT);
    EXPECT(mksum_root_of_stream("sha256", NULL, NULL, NULL, text, sizeof text) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_root_of_stream("sha256", pull, &stream, NULL, NULL, sizeof text) == MKSUM_BAD_ARGUMENT && stream.reads == 0);
    EXPECT(mksum_root_of_stream("sha256", pull, &stream, NULL, text, 64) == MKSUM_NO_ROOM);
    EXPECT(!strcmp(text, "old"));

    /* Cancelled before the first read, and in the middle. */
    mksum_options options = watched(&progress, 1);
    stream = stream_of(LEN, 1000);
    EXPECT(mksum_root_of_stream("sha256", pull, &stream, &options, text, sizeof text) == MKSUM_CANCELLED);
    EXPECT(stream.reads == 0 && progress.calls == 1 && strstr(mksum_error(), "cancelled"));
    options = watched(&progress, 2);
    stream = stream_of(LEN, 1000);
    stream.wait = 5;
    EXPECT(mksum_root_of_stream("sha256", pull, &stream, &options, text, sizeof text) == MKSUM_CANCELLED);
    EXPECT(stream.reads <= 5 && progress.calls == 2 && !strcmp(text, "old"));
}

static void *write_slowly(void *context)
{
    struct progress *progress = (struct progress *)context;
    int pipe = open("pipe", O_WRONLY);
    EXPECT(pipe >= 0 && write(pipe, content, 1000) == 1000);
    nap();
    progress->flag = 1;
    /* The call waits for more bytes, and hears of the flag meanwhile. */
    nap();
    EXPECT(close(pipe) == 0);
    return NULL;
}

struct result {
    size_t count;
    mksum_status last;
};

static int count(void *context, size_t file, size_t format, mksum_status status, const char *text)
{
    struct result *result = (struct result *)context;
    EXPECT(2 * file + format == result->count++ && text);
    result->last = status;
    return 0;
}

static int find(void *context, const mksum_entry *entry)
{
    EXPECT(entry->state == MKSUM_ENTRY_NEW || entry->state == MKSUM_ENTRY_INTACT);
    ++*(size_t *)context;
    return 0;
}

/* The same options, which cancel the next call too. */
static const mksum_options *watched_again(const mksum_options *options)
{
    ((struct progress *)options->context)->calls = 0;
    return options;
}

static void progress_and_cancel(void)
{
    size_t found = 0;
    const char *formats[] = {"sha256", "rfc6962"}, *paths[] = {"file", "none", "file"};
    const char *of_memory[] = {"md5", "rfc6962", "blake3", "btv2", "mtsum", "plain:sha256:3MiB", "rfc6962:sha256:8MiB"};
    static uint8_t large[7000003];
    char text[MKSUM_TEXT_MAX], expected[MKSUM_TEXT_MAX];
    struct progress progress;
    struct result result = {0, MKSUM_OK};
    mksum_options options;

    for (size_t i = 0; i < sizeof large; i++)
        large[i] = content[i % LEN];
    for (size_t f = 0; f < 2; f++) {
        options = watched(&progress, 0);
        EXPECT(mksum_root_of_bytes(formats[f], content, LEN, expected, sizeof expected) == MKSUM_OK);
        EXPECT(mksum_root_of_file(formats[f], "file", &options, text, sizeof text) == MKSUM_OK && !strcmp(text, expected));
        EXPECT(complete(&progress, LEN));
    }
    for (size_t f = 0; f < sizeof of_memory / sizeof *of_memory; f++) {
        EXPECT(mksum_root_of_bytes(of_memory[f], large, sizeof large, expected, sizeof expected) == MKSUM_OK);
        for (unsigned threads = 0; threads < 4; threads += 3) {
            options = watched(&progress, 0);
            options.threads = threads;
            EXPECT(mksum_root_of_memory(of_memory[f], large, sizeof large, &options, text, sizeof text) == MKSUM_OK);
            EXPECT(!strcmp(text, expected) && complete(&progress, sizeof large));
        }
        EXPECT(mksum_root_of_memory(of_memory[f], large, sizeof large, NULL, text, sizeof text) == MKSUM_OK && !strcmp(text, expected));
        mksum_status of_nothing = mksum_root_of_bytes(of_memory[f], NULL, 0, expected, sizeof expected);
        EXPECT(mksum_root_of_memory(of_memory[f], NULL, 0, NULL, text, sizeof text) == of_nothing);
        options = watched(&progress, 1);
        strcpy(text, "old");
        EXPECT(mksum_root_of_memory(of_memory[f], large, sizeof large, &options, text, sizeof text) == MKSUM_CANCELLED);
        EXPECT(progress.calls == 1 && !strcmp(text, "old"));
    }
    EXPECT(mksum_root_of_memory("btv2", NULL, 0, NULL, text, sizeof text) == MKSUM_NO_ROOT);
    EXPECT(mksum_root_of_memory("blake3", NULL, 1, NULL, text, sizeof text) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_root_of_memory("blake3", large, 1, NULL, text, 64) == MKSUM_NO_ROOM);

    options = watched(&progress, 1);
    strcpy(text, "old");
    EXPECT(mksum_root_of_file("rfc6962", "file", &options, text, sizeof text) == MKSUM_CANCELLED);
    EXPECT(progress.calls == 1 && !strcmp(text, "old"));

    /* By another thread, while nothing can be read. */
    pthread_t thread;
    EXPECT(!mkfifo("pipe", 0600));
    options = watched(&progress, 0);
    EXPECT(!pthread_create(&thread, NULL, write_slowly, &progress));
    EXPECT(mksum_root_of_file("rfc6962", "pipe", &options, text, sizeof text) == MKSUM_CANCELLED);
    EXPECT(!strcmp(text, "old") && !pthread_join(thread, NULL));

    options = watched(&progress, 0);
    EXPECT(mksum_root_of_directory("dir", "folder", &options, text, sizeof text) == MKSUM_OK);
    EXPECT(mksum_root_of_directory("dir", "folder", NULL, expected, sizeof expected) == MKSUM_OK && !strcmp(text, expected));
    EXPECT(progress.last == 100010 && progress.all == 0);
    options = watched(&progress, 1);
    EXPECT(mksum_root_of_directory("dir", "folder", &options, text, sizeof text) == MKSUM_CANCELLED && !strcmp(text, expected));

    options = watched(&progress, 0);
    EXPECT(mksum_hash_files(formats, 2, paths, 3, &options, count, &result) == MKSUM_OK && result.count == 6);
    EXPECT(complete(&progress, 2 * LEN) && result.last == MKSUM_OK);
    options = watched(&progress, 1);
    EXPECT(mksum_hash_files(formats, 2, paths, 3, &options, count, &result) == MKSUM_CANCELLED && result.count == 6);

    options = watched(&progress, 1);
    EXPECT(mksum_catalogue_keep("folder", NULL, NULL, 0, &options, find, &found) == MKSUM_CANCELLED && found == 0);
    options = watched(&progress, 0);
    EXPECT(mksum_catalogue_keep("folder", NULL, NULL, 0, &options, find, &found) == MKSUM_OK && found == 2);
    EXPECT(progress.last == 100010 && progress.all == 0);
    EXPECT(mksum_catalogue_verify("folder", NULL, 0, 0, &options, find, &found) == MKSUM_OK && found == 4);
    options = watched(&progress, 1);
    EXPECT(mksum_catalogue_verify("folder", NULL, 0, 0, &options, find, &found) == MKSUM_CANCELLED);
    EXPECT(mksum_catalogue_update("folder", NULL, watched_again(&options), find, &found) == MKSUM_CANCELLED);
    EXPECT(mksum_catalogue_repair("folder", NULL, "folder", watched_again(&options), find, &found) == MKSUM_CANCELLED && found == 4);

    /* Options of another version of the library. */
    struct { mksum_options options; size_t more; } later = {MKSUM_OPTIONS, 0};
    later.options.size = sizeof later;
    EXPECT(mksum_root_of_file("sha256", "file", &later.options, text, sizeof text) == MKSUM_OK);
    later.more = 1;
    EXPECT(mksum_root_of_file("sha256", "file", &later.options, text, sizeof text) == MKSUM_BAD_ARGUMENT);
    later.options.size = 0;
    EXPECT(mksum_root_of_file("sha256", "file", &later.options, text, sizeof text) == MKSUM_BAD_ARGUMENT);
    EXPECT(strstr(mksum_error(), "MKSUM_OPTIONS"));
}

/* spec/proofs.md: bytes 5 to 11 of "abcdefghijklmnopqr" in leaves of 4 bytes. */
static const char *const published =
    "6d6b73756d70726601001000726663363936323a7368613235363a34120000000000000005000000000000000b00000000000000"
    "b4768f09ca070169db2f5962745531650515dbd00ea5bf393cd88fec601d598a"
    "9e167841babc8dc170ca32be363a8be7da4db82419faddca62f14f0d7d19e60c"
    "7728941bec428ad9659d02431d249da50e335ecac8bc0eb11e0358d446d65f93656c";

static void proofs(void)
{
    static const char format[] = "rfc6962:sha256:4";
    const uint8_t *letters = (const uint8_t *)"abcdefghijklmnopqr";
    uint8_t proof[512], other[512];
    char text[1025], root[MKSUM_TEXT_MAX], old[MKSUM_TEXT_MAX];
    size_t len = 99, again = 99;
    uint64_t start = 99;

    EXPECT(mksum_root_of_bytes(format, letters, 18, root, sizeof root) == MKSUM_OK);
    EXPECT(mksum_root_of_bytes(format, letters, 12, old, sizeof old) == MKSUM_OK);
    EXPECT(mksum_prove(format, letters, 18, 5, 11, NULL, 0, &len) == MKSUM_NO_ROOM && len == strlen(published) / 2);
    memset(proof, 0xa5, sizeof proof);
    EXPECT(mksum_prove(format, letters, 18, 5, 11, proof, len - 1, &again) == MKSUM_NO_ROOM && again == len && proof[0] == 0xa5);
    EXPECT(mksum_prove(format, letters, 18, 5, 11, proof, len, &again) == MKSUM_OK && again == len && proof[len] == 0xa5);
    hex(proof, len, text);
    EXPECT(!strcmp(text, published));
    EXPECT(mksum_check_proof(proof, len, format, root, 18, letters + 5, 6, &start) == MKSUM_OK && start == 5);
    EXPECT(mksum_check_proof(proof, len, format, root, MKSUM_UNKNOWN, letters + 5, 6, &start) == MKSUM_OK);
    mksum_proof_info info;
    EXPECT(mksum_proof_read(proof, len, &info) == MKSUM_OK && !strcmp(info.format, format) && info.length == 18);
    EXPECT(info.start == 5 && info.end == 11 && info.is_consistency == 0);
    EXPECT(mksum_proof_read(proof, len - 1, &info) == MKSUM_BAD_PROOF && mksum_proof_read(NULL, 0, &info) == MKSUM_BAD_PROOF);
    EXPECT(mksum_proof_read(NULL, len, &info) == MKSUM_BAD_ARGUMENT && mksum_proof_read(proof, len, NULL) == MKSUM_BAD_ARGUMENT);
    start = 99;
    EXPECT(mksum_check_proof(proof, len, format, root, 19, letters + 5, 6, &start) == MKSUM_BAD_PROOF);
    EXPECT(mksum_check_proof(proof, len, format, root, 18, letters + 4, 6, &start) == MKSUM_BAD_PROOF);
    EXPECT(mksum_check_proof(proof, len, format, root, 18, letters + 5, 5, &start) == MKSUM_BAD_PROOF);
    EXPECT(mksum_check_proof(proof, len, format, root, 18, letters + 5, 7, &start) == MKSUM_BAD_PROOF);
    EXPECT(mksum_check_proof(proof, len, format, root, 18, NULL, 0, &start) == MKSUM_BAD_PROOF);
    EXPECT(mksum_check_proof(proof, len, format, old, 18, letters + 5, 6, &start) == MKSUM_BAD_PROOF);
    EXPECT(mksum_check_proof(proof, len, "rfc6962:sha256:8", root, 18, letters + 5, 6, &start) == MKSUM_BAD_PROOF);
    EXPECT(mksum_check_proof(proof, len, format, "12", 18, letters + 5, 6, &start) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_check_proof(proof, len, format, NULL, 18, letters + 5, 6, &start) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_check_proof(NULL, len, format, root, 18, letters + 5, 6, &start) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_check_proof(proof, len, format, root, 18, NULL, 6, &start) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_check_proof(proof, len, format, root, 18, letters + 5, 6, NULL) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_check_proof(proof, len, "teapot", root, 18, letters + 5, 6, &start) == MKSUM_BAD_FORMAT);
    EXPECT(mksum_check_proof(NULL, 0, format, root, 18, letters + 5, 6, &start) == MKSUM_BAD_PROOF);
    EXPECT(mksum_check_consistency(proof, len, format, old, 12, root, 18) == MKSUM_BAD_PROOF);
    /* Every changed byte and every other length. */
    for (size_t i = 0; i < len; i++) {
        proof[i] ^= 1;
        EXPECT(mksum_check_proof(proof, len, format, root, 18, letters + 5, 6, &start) == MKSUM_BAD_PROOF);
        proof[i] ^= 1;
        EXPECT(mksum_check_proof(proof, i, format, root, 18, letters + 5, 6, &start) == MKSUM_BAD_PROOF);
    }
    EXPECT(mksum_check_proof(proof, len + 1, format, root, 18, letters + 5, 6, &start) == MKSUM_BAD_PROOF && start == 99);

    EXPECT(mksum_prove_consistency(format, letters, 18, 12, NULL, 0, &len) == MKSUM_NO_ROOM && len < sizeof proof);
    EXPECT(mksum_prove_consistency(format, letters, 18, 12, proof, len, &again) == MKSUM_OK && again == len);
    EXPECT(mksum_proof_read(proof, len, &info) == MKSUM_OK && info.length == 18 && info.start == 0 && info.end == 12);
    EXPECT(info.is_consistency == 1);
    EXPECT(mksum_check_consistency(proof, len, format, old, 12, root, 18) == MKSUM_OK);
    EXPECT(mksum_check_consistency(proof, len, format, old, MKSUM_UNKNOWN, root, MKSUM_UNKNOWN) == MKSUM_OK);
    EXPECT(mksum_check_consistency(proof, len, format, old, 11, root, 18) == MKSUM_BAD_PROOF);
    EXPECT(mksum_check_consistency(proof, len, format, root, 12, old, 18) == MKSUM_BAD_PROOF);
    EXPECT(mksum_check_consistency(proof, len, format, old, 12, "", 18) == MKSUM_BAD_ARGUMENT && strstr(mksum_error(), "new_root"));
    EXPECT(mksum_check_proof(proof, len, format, root, 18, letters, 12, &start) == MKSUM_BAD_PROOF);

    EXPECT(mksum_prove(format, letters, 18, 5, 5, proof, sizeof proof, &len) == MKSUM_BAD_PROOF);
    EXPECT(mksum_prove(format, letters, 18, 5, 19, proof, sizeof proof, &len) == MKSUM_BAD_PROOF);
    EXPECT(mksum_prove(format, letters, 18, 7, 5, proof, sizeof proof, &len) == MKSUM_BAD_PROOF);
    EXPECT(mksum_prove(format, NULL, 0, 0, 0, proof, sizeof proof, &len) == MKSUM_BAD_PROOF);
    EXPECT(mksum_prove("crc32", letters, 18, 5, 6, proof, sizeof proof, &len) == MKSUM_BAD_PROOF);
    EXPECT(mksum_prove("dmverity", letters, 18, 5, 6, proof, sizeof proof, &len) == MKSUM_NO_ROOT);
    EXPECT(mksum_prove("teapot", letters, 18, 5, 6, proof, sizeof proof, &len) == MKSUM_BAD_FORMAT);
    EXPECT(mksum_prove(format, NULL, 18, 5, 6, proof, sizeof proof, &len) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_prove(format, letters, 18, 5, 6, NULL, sizeof proof, &len) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_prove(format, letters, 18, 5, 6, proof, sizeof proof, NULL) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_prove_consistency(format, letters, 18, 0, proof, sizeof proof, &len) == MKSUM_BAD_PROOF);
    EXPECT(mksum_prove_consistency(format, letters, 18, 19, proof, sizeof proof, &len) == MKSUM_BAD_PROOF);
    EXPECT(mksum_prove_consistency("mtsum", letters, 18, 3, proof, sizeof proof, &len) == MKSUM_BAD_PROOF);

    /* About a file the same bytes as about its content. */
    struct progress progress;
    mksum_options options = watched(&progress, 0);
    size_t room = 1 << 18;
    uint8_t *ours = (uint8_t *)malloc(room), *theirs = (uint8_t *)malloc(room);
    if (!ours || !theirs)
        exit(1);
    EXPECT(mksum_prove("rfc6962", content, LEN, 70000, 80000, ours, room, &len) == MKSUM_OK);
    EXPECT(mksum_prove_file("rfc6962", "file", 70000, 80000, NULL, NULL, 0, &again) == MKSUM_NO_ROOM && again == len);
    EXPECT(mksum_prove_file("rfc6962", "file", 70000, 80000, &options, theirs, room, &again) == MKSUM_OK);
    EXPECT(again == len && !memcmp(ours, theirs, len) && complete(&progress, LEN));
    EXPECT(mksum_prove_consistency("rfc6962", content, LEN, 1000000, ours, room, &len) == MKSUM_OK);
    EXPECT(mksum_prove_file_consistency("rfc6962", "file", 1000000, NULL, theirs, room, &again) == MKSUM_OK);
    EXPECT(again == len && !memcmp(ours, theirs, len));
    options = watched(&progress, 1);
    EXPECT(mksum_prove_file("rfc6962", "file", 0, 1, &options, other, sizeof other, &again) == MKSUM_NO_ROOM && !progress.calls);
    EXPECT(mksum_prove_file("rfc6962", "file", 0, 1, &options, theirs, room, &again) == MKSUM_CANCELLED);
    EXPECT(mksum_prove_file("rfc6962", "none", 0, 1, NULL, theirs, room, &again) == MKSUM_READ_FAILED);
    EXPECT(mksum_prove_file("rfc6962", "file", LEN, LEN + 1, NULL, theirs, room, &again) == MKSUM_BAD_PROOF);
    free(ours);
    free(theirs);
}

/* The ranges that a function received. */
struct ranges {
    size_t count, stop;
    mksum_range kinds[8];
    uint64_t starts[8], ends[8];
};

static int receive(void *context, mksum_range kind, uint64_t start, uint64_t end)
{
    struct ranges *ranges = (struct ranges *)context;
    EXPECT(ranges->count < 8);
    ranges->kinds[ranges->count] = kind;
    ranges->starts[ranges->count] = start;
    ranges->ends[ranges->count++] = end;
    return ranges->count == ranges->stop;
}

static int is(const struct ranges *ranges, size_t i, mksum_range kind, uint64_t start, uint64_t end)
{
    return i < ranges->count && ranges->kinds[i] == kind && ranges->starts[i] == start && ranges->ends[i] == end;
}

#define FRESH(ranges) (memset(&(ranges), 0, sizeof(ranges)), &(ranges))

/* Changes a byte; with `secretly`, the file's times show nothing. */
static void change(const char *path, long at, int secretly)
{
    struct stat facts;
    EXPECT(!stat(path, &facts));
    FILE *file = fopen(path, "r+b");
    EXPECT(file && !fseek(file, at, SEEK_SET));
    int byte = fgetc(file) ^ 1;
    EXPECT(!fseek(file, at, SEEK_SET) && fputc(byte, file) == byte && !fclose(file));
    struct timespec times[2];
    times[0] = facts.st_atim;
    times[1] = facts.st_mtim;
    /* So that it shows also where times are coarse. */
    times[1].tv_sec += !secretly;
    EXPECT(!utimensat(AT_FDCWD, path, times, 0));
}

static void append(const char *path, size_t len)
{
    FILE *file = fopen(path, "ab");
    EXPECT(file && fwrite(content, 1, len, file) == len && !fclose(file));
}

static void outboards(void)
{
    char text[MKSUM_TEXT_MAX];
    struct progress progress;
    struct ranges ranges;
    mksum_outboard_info info;
    mksum_options options = watched(&progress, 1);
    const uint64_t written[] = {10, 20, 2000000, 2000001}, empty[] = {5, 5};
    uint8_t *ours = (uint8_t *)malloc(1 << 18), *theirs = (uint8_t *)malloc(1 << 18);
    size_t len, again;
    if (!ours || !theirs)
        exit(1);

    /* Kept, and read. */
    EXPECT(mksum_outboard_read("file", NULL, &info) == MKSUM_READ_FAILED && strstr(mksum_error(), "file.mkt: "));
    EXPECT(mksum_outboard_keep("file", NULL, NULL, UNIT, MKSUM_REFUSE_CHANGES, &options) == MKSUM_CANCELLED);
    EXPECT(access("file.mkt", F_OK));
    options = watched(&progress, 0);
    EXPECT(mksum_outboard_keep("file", NULL, NULL, UNIT, MKSUM_REFUSE_CHANGES, &options) == MKSUM_OK && complete(&progress, LEN));
    EXPECT(mksum_root_of_bytes("rfc6962", content, LEN, text, sizeof text) == MKSUM_OK);
    EXPECT(mksum_outboard_read("file", NULL, &info) == MKSUM_OK && !strcmp(info.root, text));
    EXPECT(!strcmp(info.format, "rfc6962:sha256:64KiB") && info.length == LEN && info.unit == UNIT && info.is_unchanged == 1);
    EXPECT(mksum_outboard_keep("file", "other.mkt", "rfc6962:sha256:4KiB", 0, MKSUM_REFUSE_CHANGES, NULL) == MKSUM_OK);
    EXPECT(mksum_outboard_read("file", "other.mkt", &info) == MKSUM_OK && !strcmp(info.format, "rfc6962:sha256:4KiB"));
    EXPECT(mksum_outboard_keep("file", "copy", NULL, 0, MKSUM_REFUSE_CHANGES, NULL) == MKSUM_REFUSED);
    EXPECT(mksum_outboard_keep("file", NULL, NULL, 0, (mksum_changes)1, NULL) == MKSUM_OK);
    EXPECT(mksum_outboard_keep("file", NULL, "dmverity", 0, MKSUM_REFUSE_CHANGES, NULL) == MKSUM_NO_ROOT);
    EXPECT(mksum_outboard_keep("none", NULL, NULL, 0, MKSUM_REFUSE_CHANGES, NULL) == MKSUM_READ_FAILED);
    EXPECT(mksum_outboard_keep("file", "none/a", NULL, 0, MKSUM_REFUSE_CHANGES, NULL) == MKSUM_WRITE_FAILED);
    EXPECT(mksum_outboard_keep("file", NULL, "teapot", 0, MKSUM_REFUSE_CHANGES, NULL) == MKSUM_BAD_FORMAT);
    EXPECT(mksum_outboard_keep(NULL, NULL, NULL, 0, MKSUM_REFUSE_CHANGES, NULL) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_outboard_read("copy", "copy", &info) == MKSUM_BAD_OUTBOARD);
    EXPECT(mksum_outboard_read("file", NULL, NULL) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_outboard_keep("file", NULL, NULL, UNIT, MKSUM_REFUSE_CHANGES, NULL) == MKSUM_OK);

    /* Proofs from it have the same bytes. */
    EXPECT(mksum_prove("rfc6962", content, LEN, 70000, 80000, ours, 1 << 18, &len) == MKSUM_OK);
    EXPECT(mksum_outboard_prove("file", NULL, 70000, 80000, NULL, 0, &again) == MKSUM_NO_ROOM && again == len);
    EXPECT(mksum_outboard_prove("file", NULL, 70000, 80000, theirs, len, &again) == MKSUM_OK && !memcmp(ours, theirs, len));
    EXPECT(mksum_prove_consistency("rfc6962", content, LEN, 5, ours, 1 << 18, &len) == MKSUM_OK);
    EXPECT(mksum_outboard_prove_consistency("file", NULL, 5, theirs, 1 << 18, &again) == MKSUM_OK && again == len);
    EXPECT(!memcmp(ours, theirs, len));
    EXPECT(mksum_outboard_prove("file", NULL, 80000, 70000, theirs, 1 << 18, &again) == MKSUM_BAD_PROOF);
    EXPECT(mksum_outboard_prove("file", "copy", 1, 2, theirs, 1 << 18, &again) == MKSUM_BAD_OUTBOARD);

    /* Verified. */
    options = watched(&progress, 0);
    EXPECT(mksum_outboard_verify("file", NULL, 0, MKSUM_UNKNOWN, &options, receive, FRESH(ranges)) == MKSUM_OK);
    EXPECT(ranges.count == 0 && complete(&progress, LEN));
    change("file", 100000, 1);
    change("file", 140000, 1);
    change("file", 2000000, 1);
    EXPECT(mksum_outboard_verify("file", NULL, 0, MKSUM_UNKNOWN, NULL, receive, FRESH(ranges)) == MKSUM_DAMAGED);
    EXPECT(ranges.count == 2 && is(&ranges, 0, MKSUM_RANGE_DAMAGED, UNIT, 3 * UNIT));
    EXPECT(is(&ranges, 1, MKSUM_RANGE_DAMAGED, 30 * UNIT, 31 * UNIT));
    EXPECT(strstr(mksum_error(), "file: 196608 bytes are damaged (ranges: 2)"));
    EXPECT(mksum_outboard_verify("file", NULL, 0, MKSUM_UNKNOWN, NULL, NULL, NULL) == MKSUM_DAMAGED);
    EXPECT(mksum_outboard_verify("file", NULL, 4 * UNIT, 5 * UNIT, NULL, receive, FRESH(ranges)) == MKSUM_OK && ranges.count == 0);
    EXPECT(mksum_outboard_verify("file", NULL, 2 * UNIT, 5 * UNIT, NULL, receive, FRESH(ranges)) == MKSUM_DAMAGED);
    EXPECT(ranges.count == 1 && is(&ranges, 0, MKSUM_RANGE_DAMAGED, 2 * UNIT, 3 * UNIT));
    FRESH(ranges)->stop = 1;
    EXPECT(mksum_outboard_verify("file", NULL, 0, MKSUM_UNKNOWN, NULL, receive, &ranges) == MKSUM_DAMAGED && ranges.count == 1);
    EXPECT(mksum_outboard_verify("file", NULL, 0, LEN + 1, NULL, receive, FRESH(ranges)) == MKSUM_BAD_LENGTH);
    EXPECT(mksum_outboard_verify("file", NULL, LEN, MKSUM_UNKNOWN, NULL, receive, &ranges) == MKSUM_BAD_LENGTH);
    EXPECT(mksum_outboard_verify("file", NULL, 5, 5, NULL, receive, &ranges) == MKSUM_BAD_LENGTH && ranges.count == 0);
    options = watched(&progress, 1);
    EXPECT(mksum_outboard_verify("file", NULL, 0, MKSUM_UNKNOWN, &options, receive, &ranges) == MKSUM_CANCELLED && ranges.count == 0);
    EXPECT(mksum_outboard_verify("none", NULL, 0, MKSUM_UNKNOWN, NULL, receive, &ranges) == MKSUM_READ_FAILED);
    EXPECT(mksum_outboard_verify("file", "copy", 0, MKSUM_UNKNOWN, NULL, receive, &ranges) == MKSUM_BAD_OUTBOARD);
    /* The evidence stays, and the file is not proven. */
    EXPECT(mksum_outboard_keep("file", NULL, NULL, UNIT, MKSUM_REFUSE_CHANGES, NULL) == MKSUM_DAMAGED);
    EXPECT(mksum_outboard_prove("file", NULL, 100000, 100001, theirs, 1 << 18, &again) == MKSUM_BAD_PROOF);

    /* Repaired, of a copy that is damaged too and of one that is not. */
    change("copy", 2000005, 1);
    EXPECT(mksum_outboard_repair("file", NULL, "copy", NULL, receive, FRESH(ranges)) == MKSUM_DAMAGED);
    EXPECT(ranges.count == 2 && is(&ranges, 0, MKSUM_RANGE_REPAIRED, UNIT, 3 * UNIT));
    EXPECT(is(&ranges, 1, MKSUM_RANGE_NOT_REPAIRED, 30 * UNIT, 31 * UNIT) && strstr(mksum_error(), "the copy is damaged there too"));
    change("copy", 2000005, 1);
    options = watched(&progress, 1);
    EXPECT(mksum_outboard_repair("file", NULL, "copy", &options, receive, FRESH(ranges)) == MKSUM_CANCELLED && ranges.count == 0);
    options = watched(&progress, 0);
    EXPECT(mksum_outboard_repair("file", NULL, "copy", &options, receive, FRESH(ranges)) == MKSUM_OK);
    EXPECT(ranges.count == 1 && is(&ranges, 0, MKSUM_RANGE_REPAIRED, 30 * UNIT, 31 * UNIT) && progress.calls >= 2);
    EXPECT(mksum_outboard_repair("file", NULL, "copy", NULL, NULL, NULL) == MKSUM_OK);
    EXPECT(mksum_outboard_repair("file", NULL, "none", NULL, NULL, NULL) == MKSUM_READ_FAILED);
    EXPECT(mksum_outboard_repair("file", NULL, NULL, NULL, NULL, NULL) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_outboard_verify("file", NULL, 0, MKSUM_UNKNOWN, NULL, NULL, NULL) == MKSUM_OK);

    /* Appended, truncated and changed on purpose; `other` and `file` have one content each time. */
    EXPECT(mksum_outboard_keep("file", "other.mkt", NULL, UNIT, MKSUM_REFUSE_CHANGES, NULL) == MKSUM_OK);
    append("file", 1000);
    EXPECT(mksum_outboard_verify("file", NULL, 0, MKSUM_UNKNOWN, NULL, receive, FRESH(ranges)) == MKSUM_DAMAGED);
    EXPECT(ranges.count == 1 && is(&ranges, 0, MKSUM_RANGE_GROWN, LEN, LEN + 1000));
    EXPECT(mksum_outboard_repair("file", NULL, "copy", NULL, NULL, NULL) == MKSUM_REFUSED);
    options = watched(&progress, 1);
    mksum_update_options how = MKSUM_UPDATE_OPTIONS;
    how.each = receive;
    how.context = FRESH(ranges);
    EXPECT(mksum_outboard_update("file", &how, &options) == MKSUM_CANCELLED);
    options = watched(&progress, 0);
    EXPECT(mksum_outboard_update("file", &how, &options) == MKSUM_OK);
    EXPECT(ranges.count == 1 && is(&ranges, 0, MKSUM_RANGE_CHANGED, 45 * UNIT, LEN + 1000) && complete(&progress, LEN + 1000));
    EXPECT(mksum_outboard_verify("file", NULL, 0, MKSUM_UNKNOWN, NULL, NULL, NULL) == MKSUM_OK);
    EXPECT(!truncate("file", LEN - 10));
    EXPECT(mksum_outboard_verify("file", NULL, 0, MKSUM_UNKNOWN, NULL, receive, FRESH(ranges)) == MKSUM_DAMAGED);
    EXPECT(ranges.count == 2 && is(&ranges, 0, MKSUM_RANGE_DAMAGED, 45 * UNIT, LEN - 10));
    EXPECT(is(&ranges, 1, MKSUM_RANGE_MISSING, LEN - 10, LEN + 1000));
    how.ranges = written;
    how.ranges_len = 2;
    EXPECT(mksum_outboard_update("file", &how, NULL) == MKSUM_READ_FAILED);
    EXPECT(mksum_outboard_update("file", NULL, NULL) == MKSUM_OK);
    change("file", 15, 0);
    change("file", 2000000, 0);
    how.context = FRESH(ranges);
    how.outboard = "file.mkt";
    EXPECT(mksum_outboard_update("file", &how, NULL) == MKSUM_OK);
    EXPECT(ranges.count == 2 && is(&ranges, 0, MKSUM_RANGE_CHANGED, 0, UNIT));
    EXPECT(is(&ranges, 1, MKSUM_RANGE_CHANGED, 30 * UNIT, 31 * UNIT));
    how.ranges_len = SIZE_MAX;
    EXPECT(mksum_outboard_update("file", &how, NULL) == MKSUM_BAD_ARGUMENT);
    how.ranges_len = 1;
    how.ranges = empty;
    EXPECT(mksum_outboard_update("file", &how, NULL) == MKSUM_BAD_ARGUMENT);
    how.ranges = NULL;
    EXPECT(mksum_outboard_update("file", &how, NULL) == MKSUM_BAD_ARGUMENT);
    how.ranges = written;
    how.size = 1;
    EXPECT(mksum_outboard_update("file", &how, NULL) == MKSUM_BAD_ARGUMENT && strstr(mksum_error(), "MKSUM_UPDATE_OPTIONS"));
    EXPECT(mksum_outboard_update(NULL, NULL, NULL) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_outboard_verify("file", NULL, 0, MKSUM_UNKNOWN, NULL, NULL, NULL) == MKSUM_OK);
    EXPECT(mksum_root_of_file("rfc6962", "file", NULL, text, sizeof text) == MKSUM_OK);
    EXPECT(mksum_outboard_read("file", NULL, &info) == MKSUM_OK && !strcmp(info.root, text) && info.length == LEN - 10);
    EXPECT(mksum_outboard_diff("file.mkt", "other.mkt", receive, FRESH(ranges)) == MKSUM_OK && ranges.count == 3);
    EXPECT(is(&ranges, 1, MKSUM_RANGE_CHANGED, 30 * UNIT, 31 * UNIT));
    FRESH(ranges)->stop = 2;
    EXPECT(mksum_outboard_diff("file.mkt", "other.mkt", receive, &ranges) == MKSUM_OK && ranges.count == 2);
    EXPECT(mksum_outboard_diff("file.mkt", "file.mkt", receive, FRESH(ranges)) == MKSUM_OK && ranges.count == 0);
    EXPECT(mksum_outboard_diff("file.mkt", "other.mkt", NULL, NULL) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_outboard_diff("file.mkt", "copy", receive, &ranges) == MKSUM_BAD_OUTBOARD);
    /* Proofs need the file as it was; a root that is accepted replaces the old one. */
    change("file", 15, 0);
    EXPECT(mksum_outboard_prove("file", NULL, 1, 2, theirs, 1 << 18, &again) == MKSUM_READ_FAILED);
    EXPECT(mksum_outboard_read("file", NULL, &info) == MKSUM_OK && info.is_unchanged == 0);
    EXPECT(mksum_outboard_keep("file", NULL, NULL, UNIT, MKSUM_REFUSE_CHANGES, NULL) == MKSUM_OK);
    change("file", 15, 1);
    mksum_update_options anew = MKSUM_UPDATE_OPTIONS;
    anew.ranges = written;
    anew.ranges_len = 2;
    EXPECT(mksum_outboard_update("file", &anew, NULL) == MKSUM_DAMAGED);
    anew.changes = MKSUM_ACCEPT_CHANGES;
    EXPECT(mksum_outboard_update("file", &anew, NULL) == MKSUM_OK);
    EXPECT(mksum_outboard_verify("file", NULL, 0, MKSUM_UNKNOWN, NULL, NULL, NULL) == MKSUM_OK);

    /* The last digest of the outboard is damaged. */
    struct stat facts;
    EXPECT(!stat("file.mkt", &facts));
    change("file.mkt", (long)facts.st_size - 3, 0);
    EXPECT(mksum_outboard_verify("file", NULL, 0, MKSUM_UNKNOWN, NULL, receive, FRESH(ranges)) == MKSUM_BAD_OUTBOARD);
    EXPECT(ranges.count == 1 && ranges.kinds[0] == MKSUM_RANGE_OUTBOARD && strstr(mksum_error(), "file.mkt"));
    free(ours);
    free(theirs);
}

/* Reads parts of a file, over and over. */
static void *read_parts(void *context)
{
    const mksum_verified *file = (const mksum_verified *)context;
    uint8_t part[4096];
    size_t len;
    for (uint64_t i = 0; i < 200; i++) {
        uint64_t at = i * 7919 * 61 % (LEN - sizeof part);
        EXPECT(mksum_verified_read(file, at, part, sizeof part, &len) == MKSUM_OK && len == sizeof part);
        EXPECT(!memcmp(part, content + at, sizeof part));
    }
    return NULL;
}

static void verified_reads(void)
{
    char root[MKSUM_TEXT_MAX], trusted[2 * MKSUM_TEXT_MAX];
    mksum_verified *file, *other = (mksum_verified *)root;
    mksum_verified_options how = MKSUM_VERIFIED_OPTIONS;
    mksum_options options = MKSUM_OPTIONS;
    const char *copies[] = {"none", "liar", "copy"}, *wrong[] = {NULL};
    size_t len = 7;
    uint8_t *bytes = (uint8_t *)malloc(LEN + 1);
    if (!bytes)
        exit(1);
    options.threads = 2;
    put("read", LEN);
    put("copy", LEN);
    FILE *liar = fopen("liar", "wb");
    EXPECT(liar && fwrite(content + 1, 1, LEN, liar) == LEN && !fclose(liar));
    EXPECT(mksum_outboard_keep("read", NULL, NULL, UNIT, MKSUM_REFUSE_CHANGES, NULL) == MKSUM_OK);
    EXPECT(mksum_root_of_bytes("rfc6962", content, LEN, root, sizeof root) == MKSUM_OK);
    sprintf(trusted, "rfc6962:sha256:64KiB:%s", root);

    EXPECT(mksum_verified_open("read", trusted, NULL, &options, &file) == MKSUM_OK && file);
    EXPECT(mksum_verified_length(file) == LEN && mksum_verified_length(NULL) == 0);
    EXPECT(mksum_verified_read(file, 0, bytes, LEN + 1, &len) == MKSUM_OK && len == LEN && !memcmp(bytes, content, LEN));
    EXPECT(mksum_verified_read(file, 70001, bytes, 100000, &len) == MKSUM_OK && len == 100000 && !memcmp(bytes, content + 70001, len));
    EXPECT(mksum_verified_read(file, LEN - 3, bytes, 10, &len) == MKSUM_OK && len == 3 && !memcmp(bytes, content + LEN - 3, len));
    EXPECT(mksum_verified_read(file, LEN, bytes, 10, &len) == MKSUM_OK && len == 0);
    EXPECT(mksum_verified_read(file, UINT64_MAX, bytes, 10, &len) == MKSUM_OK && len == 0);
    EXPECT(mksum_verified_read(file, 5, NULL, 0, &len) == MKSUM_OK && len == 0);
    EXPECT(mksum_verified_read(file, 5, NULL, 1, &len) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_verified_read(file, 5, bytes, 1, NULL) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_verified_read(NULL, 5, bytes, 1, &len) == MKSUM_BAD_ARGUMENT);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        EXPECT(!pthread_create(&threads[i], NULL, read_parts, file));
    for (int i = 0; i < 4; i++)
        EXPECT(!pthread_join(threads[i], NULL));
    mksum_verified_close(file);
    mksum_verified_close(NULL);

    /* A damaged unit: none of its bytes, but those of the others; or what the first copy with the right bytes has. */
    change("read", 200000, 1);
    EXPECT(mksum_verified_open("read", trusted, NULL, NULL, &file) == MKSUM_OK);
    EXPECT(mksum_verified_read(file, 0, bytes, LEN, &len) == MKSUM_DAMAGED && len == 0);
    EXPECT(strstr(mksum_error(), "read: ") && strstr(mksum_error(), "196608..262144 are damaged: expected "));
    EXPECT(mksum_verified_read(file, 262143, bytes, 1, &len) == MKSUM_DAMAGED && len == 0);
    EXPECT(mksum_verified_read(file, 262144, bytes, LEN, &len) == MKSUM_OK && len == LEN - 262144 && !memcmp(bytes, content + 262144, len));
    mksum_verified_close(file);
    how.replicas = copies;
    how.replicas_len = 2;
    EXPECT(mksum_verified_open("read", trusted, &how, NULL, &file) == MKSUM_OK);
    EXPECT(mksum_verified_read(file, 200000, bytes, 1, &len) == MKSUM_DAMAGED && len == 0 && strstr(mksum_error(), "liar"));
    mksum_verified_close(file);
    how.replicas_len = 3;
    EXPECT(mksum_verified_open("read", trusted, &how, NULL, &file) == MKSUM_OK);
    EXPECT(mksum_verified_read(file, 0, bytes, LEN, &len) == MKSUM_OK && len == LEN && !memcmp(bytes, content, LEN));
    mksum_verified_close(file);
    EXPECT(mksum_verified_open("read", trusted, NULL, NULL, &file) == MKSUM_OK);
    EXPECT(!truncate("read", 1000000));
    EXPECT(mksum_verified_read(file, 0, bytes, LEN, &len) == MKSUM_READ_FAILED && len == 0 && strstr(mksum_error(), "read: "));
    mksum_verified_close(file);

    /* What cannot be opened. */
    put("read", LEN);
    how.replicas = NULL;
    EXPECT(mksum_verified_open("read", trusted, &how, NULL, &other) == MKSUM_BAD_ARGUMENT && !other && strstr(mksum_error(), "replicas"));
    how.replicas = wrong;
    how.replicas_len = 1;
    EXPECT(mksum_verified_open("read", trusted, &how, NULL, &other) == MKSUM_BAD_ARGUMENT && !other);
    how.replicas_len = 0;
    how.length = LEN + 1;
    EXPECT(mksum_verified_open("read", trusted, &how, NULL, &other) == MKSUM_REFUSED && !other);
    how.length = LEN;
    how.outboard = "copy";
    EXPECT(mksum_verified_open("read", trusted, &how, NULL, &other) == MKSUM_BAD_OUTBOARD && !other);
    how.outboard = "read.mkt";
    EXPECT(mksum_verified_open("copy", trusted, &how, NULL, &other) == MKSUM_OK && other);
    mksum_verified_close(other);
    how.size = 1;
    EXPECT(mksum_verified_open("read", trusted, &how, NULL, &other) == MKSUM_BAD_ARGUMENT && !other);
    EXPECT(strstr(mksum_error(), "MKSUM_VERIFIED_OPTIONS"));
    EXPECT(mksum_verified_open("read", "no root", NULL, NULL, &other) == MKSUM_BAD_ARGUMENT && !other);
    EXPECT(mksum_verified_open("read", NULL, NULL, NULL, &other) == MKSUM_BAD_ARGUMENT && !other);
    EXPECT(mksum_verified_open(NULL, trusted, NULL, NULL, &other) == MKSUM_BAD_ARGUMENT && !other);
    EXPECT(mksum_verified_open("read", trusted, NULL, NULL, NULL) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_verified_open("none", trusted, NULL, NULL, &other) == MKSUM_READ_FAILED && !other);
    trusted[strlen(trusted) - 1] ^= 1;
    EXPECT(mksum_verified_open("read", trusted, NULL, NULL, &other) == MKSUM_REFUSED && !other && strstr(mksum_error(), "is trusted"));
    free(bytes);
}

int main(int argc, char **argv)
{
    EXPECT(argc == 2);
    if (argc != 2 || chdir(argv[1]))
        return 1;
    pattern(content, sizeof content);
    put("file", LEN);
    put("copy", LEN);
    EXPECT(!mkdir("folder", 0777));
    put("folder/a", 100000);
    put("folder/b", 10);
    streams();
    progress_and_cancel();
    proofs();
    outboards();
    verified_reads();
    if (failures)
        fprintf(stderr, "%d failures\n", failures);
    return failures != 0;
}
