/* The program `merkle`: the Merkle root of a file. */
#include "merkle.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char USAGE[] = "Usage: merkle [--format plain|rfc6962] [--segment N] [FILE]\n"
                            "       merkle --rows < ROWS\n"
                            "       merkle --hash-rate N\n"
                            "\n"
                            "Prints the Merkle root of FILE, or of the standard input, over SHA-256.\n"
                            "\n"
                            "  --format NAME   plain (the default): leaf H(bytes), node H(left || right);\n"
                            "                  rfc6962: leaf H(00 || bytes), node H(01 || left || right)\n"
                            "  --segment N     the length of a leaf in bytes, at least 1 (64)\n"
                            "  --rows          read test vectors, write them with the root computed here\n"
                            "  --hash-rate N   hash the string \"test.dat\" N times: seconds and MH/s\n"
                            "  --help          print this\n"
                            "\n"
                            "Exits with 1 when something cannot be read or written, with 2 on a bad option.\n";

enum { OK, FAILED, MISUSED };

/* What one read asks for, in bytes: a second-level cache holds it. */
enum { BUFFER = 1 << 17 };

static const char *const FORMATS[] = {[MERKLE_PLAIN] = "plain", [MERKLE_RFC6962] = "rfc6962"};

/* Finds the format of the first `length` bytes of `name`. */
static bool format_named(const char *name, size_t length, merkle_format *format) {
    for (size_t i = 0; i < sizeof FORMATS / sizeof FORMATS[0]; i++) {
        if (strlen(FORMATS[i]) == length && memcmp(FORMATS[i], name, length) == 0) {
            *format = (merkle_format)i;
            return true;
        }
    }
    return false;
}

/* Reads decimal digits and moves `text` behind them; false if there are none, or more than 64 bits of them. */
static bool number(const char **text, uint64_t *value) {
    if (**text < '0' || **text > '9') {
        return false;
    }
    char *end;
    errno = 0;
    unsigned long long read = strtoull(*text, &end, 10);
    *value = read;
    *text = end;
    return errno == 0 && read <= UINT64_MAX;
}

/* Reads the whole of `text` as a number from 1 on. */
static bool positive(const char *text, uint64_t *value) {
    return number(&text, value) && *text == '\0' && *value > 0;
}

static void print_root(const merkle_tree *tree) {
    uint8_t root[MERKLE_SIZE];
    merkle_root(tree, root);
    for (size_t i = 0; i < sizeof root; i++) {
        printf("%02x", root[i]);
    }
}

/* Flushes the output: a full disk is an error like any other. */
static int finished(void) {
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        fprintf(stderr, "merkle: standard output: %s\n", strerror(errno));
        return FAILED;
    }
    return OK;
}

static int root_of_file(merkle_format format, uint64_t segment, const char *path) {
    const char *shown = path == NULL ? "standard input" : path;
    int file = path == NULL ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        fprintf(stderr, "merkle: %s: %s\n", shown, strerror(errno));
        return FAILED;
    }
    static uint8_t buffer[BUFFER];
    merkle_tree tree;
    (void)merkle_init(&tree, format, segment); /* the arguments were checked */
    /* Reads of whole leaves leave none of them to be put together from two. */
    size_t wanted = segment <= BUFFER ? BUFFER / (size_t)segment * (size_t)segment : BUFFER;
    for (;;) {
        ssize_t got = read(file, buffer, wanted);
        if (got > 0) {
            merkle_update(&tree, buffer, (size_t)got);
        } else if (got == 0) {
            break;
        } else if (errno != EINTR) {
            fprintf(stderr, "merkle: %s: %s\n", shown, strerror(errno));
            return FAILED;
        }
    }
    print_root(&tree);
    putchar('\n');
    return finished();
}

/* Appends `length` bytes of a pattern that vectors/README.md names; false if it does not. */
static bool append_pattern(merkle_tree *tree, const char *name, uint64_t length) {
    bool modulo = strcmp(name, "mod251") == 0;
    if (!modulo && strcmp(name, "pat") != 0) {
        return false;
    }
    static uint8_t bytes[1 << 16];
    for (uint64_t at = 0; at < length;) {
        size_t size = length - at < sizeof bytes ? (size_t)(length - at) : sizeof bytes;
        for (size_t i = 0; i < size; i++) {
            uint64_t offset = at + i;
            bytes[i] = (uint8_t)(modulo ? offset % 251 : offset * 131 + (offset >> 8) * 17);
        }
        merkle_update(tree, bytes, size);
        at += size;
    }
    return true;
}

/* Begins the tree of a format string, as in "rfc6962:sha256:64KiB". */
static bool tree_named(merkle_tree *tree, const char *name) {
    static const char HASH[] = ":sha256:";
    merkle_format format;
    uint64_t segment;
    size_t length = strcspn(name, ":");
    if (!format_named(name, length, &format) || strncmp(name + length, HASH, strlen(HASH)) != 0) {
        return false;
    }
    const char *size = name + length + strlen(HASH);
    if (!number(&size, &segment)) {
        return false;
    }
    unsigned shift = strcmp(size, "KiB") == 0 ? 10 : strcmp(size, "MiB") == 0 ? 20 : 0;
    if ((shift == 0 && *size != '\0') || segment > UINT64_MAX >> shift) {
        return false;
    }
    return merkle_init(tree, format, segment << shift);
}

/* Reads rows, writes each with its root; the first that cannot be computed ends it. */
static int rows(void) {
    char *line = NULL;
    size_t room = 0;
    int result = OK;
    for (uint64_t count = 1; getline(&line, &room, stdin) >= 0; count++) {
        if (line[0] == '#') {
            fputs(line, stdout);
            continue;
        }
        line[strcspn(line, "\n")] = '\0';
        char *column[5];
        char *rest = line;
        for (int i = 0; i < 5; i++) {
            column[i] = rest;
            rest = rest == NULL ? NULL : strchr(rest, '\t');
            if (rest != NULL) {
                *rest++ = '\0';
            }
        }
        merkle_tree tree;
        uint64_t bytes;
        const char *digits = column[2];
        if (column[4] == NULL || rest != NULL || !tree_named(&tree, column[0]) || !number(&digits, &bytes) ||
            *digits != '\0' || !append_pattern(&tree, column[1], bytes)) {
            fprintf(stderr, "merkle: row %" PRIu64 ": not a row of plain or rfc6962 with sha256\n", count);
            result = FAILED;
            break;
        }
        printf("%s\t%s\t%s\t", column[0], column[1], column[2]);
        print_root(&tree);
        printf("\t%s\n", column[4]);
    }
    if (ferror(stdin) != 0) {
        fprintf(stderr, "merkle: standard input: %s\n", strerror(errno));
        result = FAILED;
    }
    free(line);
    return result == OK ? finished() : result;
}

static int hash_rate(uint64_t times) {
    static const char TEXT[] = "test.dat";
    uint8_t digest[SHA256_SIZE];
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (uint64_t i = 0; i < times; i++) {
        sha256_many(SHA256_NO_PREFIX, (const uint8_t *)TEXT, strlen(TEXT), 1, digest);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    printf("%.6f s %.3f MH/s\n", seconds, (double)times / seconds / 1e6);
    return finished();
}

static int misused(const char *option, const char *value) {
    fprintf(stderr, "merkle: %s: bad value '%s'\n%s", option, value, USAGE);
    return MISUSED;
}

int main(int argc, char **argv) {
    static const struct option OPTIONS[] = {
        {"format", required_argument, NULL, 'f'}, {"segment", required_argument, NULL, 's'},
        {"rows", no_argument, NULL, 'r'},         {"hash-rate", required_argument, NULL, 'h'},
        {"help", no_argument, NULL, 'H'},         {NULL, 0, NULL, 0},
    };
    merkle_format format = MERKLE_PLAIN;
    uint64_t segment = 64, times = 0;
    bool read_rows = false;
    for (int option; (option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;) {
        switch (option) {
        case 'f':
            if (!format_named(optarg, strlen(optarg), &format)) {
                return misused("--format", optarg);
            }
            break;
        case 's':
            if (!positive(optarg, &segment)) {
                return misused("--segment", optarg);
            }
            break;
        case 'r':
            read_rows = true;
            break;
        case 'h':
            if (!positive(optarg, &times)) {
                return misused("--hash-rate", optarg);
            }
            break;
        case 'H':
            fputs(USAGE, stdout);
            return finished();
        default:
            fputs(USAGE, stderr);
            return MISUSED;
        }
    }
    bool alone = read_rows || times > 0;
    if (argc - optind > (alone ? 0 : 1) || (read_rows && times > 0)) {
        fprintf(stderr, "merkle: too many arguments\n%s", USAGE);
        return MISUSED;
    }
    if (read_rows) {
        return rows();
    }
    return times > 0 ? hash_rate(times) : root_of_file(format, segment, argv[optind]);
}
