/* Tests the contract in mksum.h: every function with valid and invalid arguments. Compiled as C11 and as C++17. */
#include "expect.h"
#include <mksum.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void trees(void)
{
    uint8_t leaves[256], nodes[256];
    char text[65];
    pattern(leaves, sizeof leaves);

    /* vectors/nodes.tsv: blake3, 2 and 8 leaves. */
    memset(nodes, 0xa5, sizeof nodes);
    EXPECT(mksum_merklize("blake3", leaves, 64, nodes, 64) == MKSUM_OK);
    hex(nodes + 32, 32, text);
    EXPECT(!strcmp(text, "ad1c2b267ef140bae48d210c646c4c06af8ce75995849f610c52e16b9b6a5c0a"));
    EXPECT(nodes[0] == 0 && nodes[31] == 0 && nodes[64] == 0xa5);
    EXPECT(mksum_merklize_on("cpu", 2, "blake3", leaves, 256, nodes, 256) == MKSUM_OK);
    hex(nodes + 32, 32, text);
    EXPECT(!strcmp(text, "5d9a981a67fc70f57eff9f8e146425918b781efbe24d2aceb37024089b700b98"));

    /* Lengths. */
    for (size_t len = 0; len <= 256; len++) {
        mksum_status expected = len == 64 || len == 128 || len == 256 ? MKSUM_OK : MKSUM_BAD_LENGTH;
        EXPECT(mksum_merklize("blake3", leaves, len, nodes, len) == expected);
    }
    EXPECT(mksum_merklize("blake3", leaves, 64, nodes, 32) == MKSUM_BAD_LENGTH);
    EXPECT(mksum_merklize("blake3", leaves, 64, nodes, 256) == MKSUM_BAD_LENGTH);
    EXPECT(strstr(mksum_error(), "256") && strstr(mksum_error(), "64"));

    /* Names. */
    EXPECT(mksum_merklize("md5", leaves, 64, nodes, 64) == MKSUM_BAD_HASH);
    EXPECT(mksum_merklize("", leaves, 64, nodes, 64) == MKSUM_BAD_HASH);
    EXPECT(mksum_merklize("\xff", leaves, 64, nodes, 64) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_merklize_on("no such device", 0, "blake3", leaves, 64, nodes, 64) == MKSUM_NO_DEVICE);
    EXPECT(strlen(mksum_error()) > 0 && !strchr(mksum_error(), '\n'));
    EXPECT(mksum_merklize_on("auto", 0, "blake3", leaves, 64, nodes, 64) == MKSUM_OK);
    EXPECT(mksum_merklize_on(NULL, 0, "blake3", leaves, 64, nodes, 64) == MKSUM_OK);

    /* Pointers. */
    EXPECT(mksum_merklize(NULL, leaves, 64, nodes, 64) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_merklize("blake3", NULL, 64, nodes, 64) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_merklize("blake3", leaves, 64, NULL, 64) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_merklize("blake3", NULL, 0, NULL, 0) == MKSUM_BAD_LENGTH);
    EXPECT(mksum_merklize("blake3", leaves, 64, leaves, 64) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_merklize("blake3", leaves, 64, leaves + 63, 64) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_merklize("blake3", leaves + 63, 64, leaves, 64) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_merklize("blake3", leaves, SIZE_MAX, nodes, SIZE_MAX) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_merklize("blake3", leaves, 64, leaves + 64, 64) == MKSUM_OK);
}

static void devices(void)
{
    uint8_t leaves[256], nodes[256], expected[256];
    mksum_device *device = NULL, *none = (mksum_device *)leaves;
    pattern(leaves, sizeof leaves);

    EXPECT(mksum_device_open(NULL, 0, &device) == MKSUM_OK && device);
    mksum_device_close(device);
    EXPECT(mksum_device_open("cpu", 2, &device) == MKSUM_OK && device);
    static const char *const hashes[] = {"blake3", "sha256", "blake3"};
    for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++) {
        memset(nodes, 0xa5, sizeof nodes);
        EXPECT(mksum_merklize(hashes[i], leaves, 256, expected, 256) == MKSUM_OK);
        EXPECT(mksum_device_merklize(device, hashes[i], leaves, 256, nodes, 256) == MKSUM_OK);
        EXPECT(!memcmp(nodes, expected, sizeof nodes));
    }
    EXPECT(mksum_device_merklize(device, "md5", leaves, 64, nodes, 64) == MKSUM_BAD_HASH);
    EXPECT(mksum_device_merklize(device, "blake3", leaves, 65, nodes, 65) == MKSUM_BAD_LENGTH);
    EXPECT(mksum_device_merklize(device, "blake3", NULL, 64, nodes, 64) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_device_merklize(device, "blake3", leaves, 64, leaves, 64) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_device_merklize(NULL, "blake3", leaves, 64, nodes, 64) == MKSUM_BAD_ARGUMENT);
    mksum_device_close(device);

    EXPECT(mksum_device_open("no such device", 0, &none) == MKSUM_NO_DEVICE && !none);
    EXPECT(mksum_device_open("cpu", 0, NULL) == MKSUM_BAD_ARGUMENT);
    mksum_device_close(NULL);
}

/* Trees from buffer to buffer on a device, against the CPU's on the host. */
static void buffers_on(const char *name)
{
    enum { LEN = 32 << 12 };
    static const char *const hashes[] = {"blake3", "sha256"};
    static uint8_t leaves[LEN], nodes[LEN], expected[LEN];
    mksum_device *device, *second;
    mksum_device_buffer *from, *to, *foreign, *none = (mksum_device_buffer *)leaves;

    EXPECT(mksum_device_open(name, 2, &device) == MKSUM_OK && mksum_device_open(name, 2, &second) == MKSUM_OK);
    pattern(leaves, sizeof leaves);
    EXPECT(mksum_device_buffer_new(device, LEN, &from) == MKSUM_OK && from);
    EXPECT(mksum_device_buffer_new(device, LEN, &to) == MKSUM_OK && to);
    EXPECT(mksum_device_buffer_new(second, 96, &foreign) == MKSUM_OK && foreign);
    /* In two parts. */
    EXPECT(mksum_device_buffer_write(from, 1000, leaves + 1000, LEN - 1000) == MKSUM_OK);
    EXPECT(mksum_device_buffer_write(from, 0, leaves, 1000) == MKSUM_OK);
    for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++) {
        EXPECT(mksum_merklize(hashes[i], leaves, LEN, expected, LEN) == MKSUM_OK);
        EXPECT(mksum_device_buffer_merklize(device, hashes[i], from, to) == MKSUM_OK);
        EXPECT(mksum_device_buffer_read(to, 77, nodes + 77, LEN - 77) == MKSUM_OK);
        EXPECT(mksum_device_buffer_read(to, 0, nodes, 77) == MKSUM_OK);
        EXPECT(!memcmp(nodes, expected, LEN));
    }
    EXPECT(mksum_device_buffer_read(to, LEN - 1, nodes, 2) == MKSUM_BAD_LENGTH);
    EXPECT(strstr(mksum_error(), "2 bytes at byte 131071 "));
    EXPECT(mksum_device_buffer_write(to, SIZE_MAX, nodes, 2) == MKSUM_BAD_LENGTH);
    EXPECT(mksum_device_buffer_write(to, LEN, NULL, 0) == MKSUM_OK && mksum_device_buffer_read(to, LEN, NULL, 0) == MKSUM_OK);
    EXPECT(mksum_device_buffer_write(to, 0, NULL, 1) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_device_buffer_read(to, 0, NULL, 1) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_device_buffer_write(NULL, 0, nodes, 1) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_device_buffer_read(NULL, 0, nodes, 1) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_device_buffer_merklize(device, "md5", from, to) == MKSUM_BAD_HASH);
    EXPECT(mksum_device_buffer_merklize(device, "blake3", foreign, to) == MKSUM_BAD_LENGTH);
    EXPECT(mksum_device_buffer_merklize(device, "blake3", from, foreign) == MKSUM_BAD_LENGTH);
    EXPECT(mksum_device_buffer_merklize(device, "blake3", to, to) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_device_buffer_merklize(device, "blake3", NULL, to) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_device_buffer_merklize(device, "blake3", from, NULL) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_device_buffer_merklize(device, NULL, from, to) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_device_buffer_merklize(NULL, "blake3", from, to) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_device_buffer_new(device, SIZE_MAX, &none) == MKSUM_DEVICE_FAILED && !none);
    EXPECT(mksum_device_buffer_new(NULL, 1, &none) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_device_buffer_new(device, 1, NULL) == MKSUM_BAD_ARGUMENT);
    mksum_device_buffer_free(NULL);
    mksum_device_buffer_free(foreign);
    mksum_device_close(second);
    mksum_device_close(device);
    /* The device is closed, its buffers are not. */
    EXPECT(mksum_device_buffer_read(to, 0, nodes, LEN) == MKSUM_OK && !memcmp(nodes, expected, LEN));
    mksum_device_buffer_free(from);
    mksum_device_buffer_free(to);
}

/* Every device that OpenCL and CUDA have here, and the CPU. */
static void buffers(void)
{
    mksum_device_info devices[8];
    mksum_device *device;
    size_t count = 99, one = 99;
    char name[24];

    buffers_on("cpu");
    EXPECT(mksum_devices(devices, 8, NULL) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_devices(NULL, 1, &one) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_devices(devices, 8, &count) == MKSUM_OK);
    EXPECT(mksum_devices(NULL, 0, &one) == MKSUM_OK && one == count);
    EXPECT(count > 0 || !getenv("MKSUM_TEST_RUNTIME"));
    for (size_t i = 0; i < count && i < 8; i++) {
        EXPECT(*devices[i].name && devices[i].memory > 0);
        EXPECT(!strcmp(devices[i].api, "OpenCL") || !strcmp(devices[i].api, "CUDA"));
        snprintf(name, sizeof name, "%u", (unsigned)i);
        buffers_on(name);
    }
    snprintf(name, sizeof name, "%u", (unsigned)count);
    EXPECT(mksum_device_open(name, 0, &device) == MKSUM_NO_DEVICE && !device);
}

static void every_hash(void)
{
    static const struct { const char *name; size_t size; } hashes[] = {
        {"blake3", 32},   {"sha1", 20},     {"sha224", 28},   {"sha256", 32},   {"sha384", 48},
        {"sha512", 64},   {"sha512-224", 28}, {"sha512-256", 32}, {"sha3-224", 28}, {"sha3-256", 32},
        {"sha3-384", 48}, {"sha3-512", 64}, {"keccak256", 32},
    };
    for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++) {
        size_t size = hashes[i].size, len = size << 14;
        EXPECT(mksum_digest_size(hashes[i].name) == size);
        uint8_t *leaves = (uint8_t *)malloc(len), *nodes = (uint8_t *)malloc(len), *two = (uint8_t *)malloc(2 * size);
        if (!leaves || !nodes || !two)
            exit(1);
        pattern(leaves, len);
        EXPECT(mksum_merklize(hashes[i].name, leaves, len, nodes, len) == MKSUM_OK);
        /* A tree over the root's children has the same root, and a tree over the last two leaves has the last node. */
        EXPECT(mksum_merklize(hashes[i].name, nodes + 2 * size, 2 * size, two, 2 * size) == MKSUM_OK);
        EXPECT(!memcmp(two + size, nodes + size, size));
        EXPECT(mksum_merklize(hashes[i].name, leaves + len - 2 * size, 2 * size, two, 2 * size) == MKSUM_OK);
        EXPECT(!memcmp(two + size, nodes + len - size, size));
        free(leaves);
        free(nodes);
        free(two);
    }
}

/* `file`: of any length but 0; `odd`: of one that is no multiple of 4 KiB. */
static void roots(const char *file, const char *odd)
{
    char text[MKSUM_TEXT_MAX], other[MKSUM_TEXT_MAX];
    const uint8_t zero = 0;

    EXPECT(mksum_root_of_bytes("rfc6962:sha256:4KiB", &zero, 1, text, sizeof text) == MKSUM_OK);
    EXPECT(!strcmp(text, "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7"));
    EXPECT(mksum_root_of_bytes("blake3", NULL, 0, text, sizeof text) == MKSUM_OK);
    EXPECT(!strcmp(text, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"));
    EXPECT(mksum_root_of_bytes("blake3", NULL, 0, text, 65) == MKSUM_OK);
    strcpy(text, "old");
    EXPECT(mksum_root_of_bytes("blake3", NULL, 0, text, 64) == MKSUM_NO_ROOM && !strcmp(text, "old"));
    EXPECT(mksum_root_of_bytes("blake3", NULL, 0, text, 0) == MKSUM_NO_ROOM);
    EXPECT(mksum_root_of_bytes("blake3", NULL, 0, NULL, 65) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_root_of_bytes("blake3", NULL, 1, text, sizeof text) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_root_of_bytes(NULL, &zero, 1, text, sizeof text) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_root_of_bytes("teapot", &zero, 1, text, sizeof text) == MKSUM_BAD_FORMAT);
    EXPECT(mksum_root_of_bytes("btv2", NULL, 0, text, sizeof text) == MKSUM_NO_ROOT);
    EXPECT(mksum_root_of_bytes("dmverity", &zero, 1, text, sizeof text) == MKSUM_NO_ROOT);
    EXPECT(mksum_root_of_bytes("fsverity:sha512:64KiB:salt=00", &zero, 1, text, sizeof text) == MKSUM_OK);

    EXPECT(mksum_root_of_file("rfc6962", file, NULL, text, sizeof text) == MKSUM_OK);
    FILE *input = fopen(file, "rb");
    size_t room = (size_t)1 << 28, len = 0;
    uint8_t *bytes = (uint8_t *)malloc(room);
    if (input && bytes) {
        len = fread(bytes, 1, room, input);
        fclose(input);
    }
    EXPECT(len > 0 && len < room);
    EXPECT(mksum_root_of_bytes("rfc6962", bytes, len, other, sizeof other) == MKSUM_OK && !strcmp(text, other));
    free(bytes);
    EXPECT(mksum_root_of_file("rfc6962", "none/such", NULL, text, sizeof text) == MKSUM_READ_FAILED);
    EXPECT(strstr(mksum_error(), "none/such: "));
    EXPECT(mksum_root_of_file("rfc6962", ".", NULL, text, sizeof text) == MKSUM_READ_FAILED);
    EXPECT(mksum_root_of_file("dmverity", odd, NULL, text, sizeof text) == MKSUM_NO_ROOT);
    EXPECT(mksum_root_of_file("rfc6962", NULL, NULL, text, sizeof text) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_root_of_file("rfc6962", file, NULL, text, 3) == MKSUM_NO_ROOM);
}

/* `path`: a directory with a file, an empty directory and a link, made by run.sh. */
static void directories(const char *path, const char *file)
{
    char text[MKSUM_TEXT_MAX];

    EXPECT(mksum_root_of_directory("dir", path, NULL, text, sizeof text) == MKSUM_OK);
    EXPECT(!strcmp(text, "12b79b8c069a263e80ba5b35bbc381c293c697914489ebf9c1dc14648e0d7980"));
    EXPECT(mksum_root_of_directory("dir", path, NULL, text, 3) == MKSUM_NO_ROOM);
    EXPECT(mksum_root_of_directory("dir", NULL, NULL, text, sizeof text) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_root_of_directory("sha256", path, NULL, text, sizeof text) == MKSUM_BAD_FORMAT);
    EXPECT(mksum_root_of_directory("dir", file, NULL, text, sizeof text) == MKSUM_READ_FAILED);
    EXPECT(mksum_root_of_directory("dir", "none/such", NULL, text, sizeof text) == MKSUM_READ_FAILED);
    EXPECT(strstr(mksum_error(), "none/such: "));
    EXPECT(mksum_root_of_file("dir", path, NULL, text, sizeof text) == MKSUM_BAD_FORMAT);
}

struct told {
    size_t count, stop;
    mksum_status status[8];
    char text[8][MKSUM_TEXT_MAX];
};

static int tell(void *context, size_t file, size_t format, mksum_status status, const char *text)
{
    struct told *told = (struct told *)context;
    EXPECT(told->count < 8 && 2 * file + format == told->count);
    told->status[told->count] = status;
    snprintf(told->text[told->count++], MKSUM_TEXT_MAX, "%s", text);
    return told->count == told->stop;
}

static void files(const char *file)
{
    const char *formats[] = {"sha256", "rfc6962"}, *paths[] = {file, "none/such", file};
    char text[MKSUM_TEXT_MAX];
    struct told told;
    mksum_options options = MKSUM_OPTIONS;
    for (; options.threads < 3; options.threads++) {
        memset(&told, 0, sizeof told);
        EXPECT(mksum_hash_files(formats, 2, paths, 3, &options, tell, &told) == MKSUM_OK && told.count == 6);
        for (size_t i = 0; i < 6; i++) {
            EXPECT(told.status[i] == (i / 2 == 1 ? MKSUM_READ_FAILED : MKSUM_OK));
            EXPECT(mksum_root_of_file(formats[i % 2], file, NULL, text, sizeof text) == MKSUM_OK);
            EXPECT(i / 2 == 1 ? !strncmp(told.text[i], "none/such: ", 11) : !strcmp(told.text[i], text));
        }
    }
    memset(&told, 0, sizeof told);
    told.stop = 3;
    EXPECT(mksum_hash_files(formats, 2, paths, 3, &options, tell, &told) == MKSUM_OK && told.count == 3);
    EXPECT(mksum_hash_files(formats, 2, NULL, 0, NULL, tell, &told) == MKSUM_OK && told.count == 3);
    EXPECT(mksum_hash_files(formats, 2, NULL, 1, NULL, tell, &told) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_hash_files(NULL, 2, paths, 1, NULL, tell, &told) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_hash_files(formats, 2, paths, SIZE_MAX, NULL, tell, &told) == MKSUM_BAD_ARGUMENT);
    EXPECT(mksum_hash_files(formats, 2, paths, 3, NULL, NULL, NULL) == MKSUM_BAD_ARGUMENT);
    formats[1] = "teapot";
    EXPECT(mksum_hash_files(formats, 2, paths, 3, NULL, tell, &told) == MKSUM_BAD_FORMAT && told.count == 3);
    paths[1] = NULL;
    EXPECT(mksum_hash_files(formats, 1, paths, 3, NULL, tell, &told) == MKSUM_BAD_ARGUMENT && told.count == 3);
}

int main(int argc, char **argv)
{
    EXPECT(argc == 2);
    EXPECT(!strcmp(mksum_error(), ""));
    char numbers[32];
    snprintf(numbers, sizeof numbers, "%d.%d.%d", MKSUM_VERSION_MAJOR, MKSUM_VERSION_MINOR, MKSUM_VERSION_PATCH);
    EXPECT(!strcmp(mksum_version(), VERSION) && !strcmp(MKSUM_VERSION, VERSION) && !strcmp(numbers, VERSION));
    trees();
    devices();
    buffers();
    every_hash();
    char odd[4096];
    snprintf(odd, sizeof odd, "%s/index.html", argv[1]);
    roots(argv[0], odd);
    files(argv[0]);
    directories(argv[1], argv[0]);
    if (failures)
        fprintf(stderr, "%d failures\n", failures);
    return failures != 0;
}
