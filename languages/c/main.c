/* The program `merkle`: the Merkle root of a file. */
#include "merkle.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char USAGE[] = "Usage: merkle [OPTION]... [FILE]\n"
                            "       merkle --rows | --prove | --verify < ROWS\n"
                            "       merkle --hash-rate N\n"
                            "\n"
                            "Prints the Merkle root of FILE over SHA-256, as lowercase hex. Reads the\n"
                            "standard input if FILE is missing or is -.\n"
                            "\n"
                            "  --format NAME   plain: leaf H(bytes), node H(left || right) (the default);\n"
                            "                  rfc6962: leaf H(00 || bytes), node H(01 || left || right)\n"
                            "  --segment N     leaf size in bytes, 1 to 1099511627776 (2^40); default 64\n"
                            "  --rows          complete rows of test vectors with the root computed here\n"
                            "  --prove         complete rows with the root and the inclusion proof\n"
                            "  --verify        complete rows with the verdict on a proof: valid or invalid\n"
                            "  --hash-rate N   hash the string \"test.dat\" N times, print seconds and MH/s\n"
                            "  --help          print this help\n"
                            "\n"
                            "Options may follow FILE; -- ends them. A value is given as --segment 64 or as\n"
                            "--segment=64. Exit status: 0 on success, 1 if a file or a row cannot be read\n"
                            "or written, 2 on a bad command line.\n";

enum { OK, FAILED, MISUSED }; /* exit statuses */

/* Bytes in the read buffer: a second-level cache holds it. */
enum { BUFFER = 1 << 17 };

/* The largest number on a command line or in a row. */
static const uint64_t LIMIT = MERKLE_SEGMENT_MAX;

static const char *const FORMATS[] = {[MERKLE_PLAIN] = "plain", [MERKLE_RFC6962] = "rfc6962"};

/* Prints a message; returns `status`. */
__attribute__((format(printf, 2, 3))) static int failed(int status, const char *message, ...) {
    va_list values;
    va_start(values, message);
    (void)fputs("merkle: ", stderr);
    (void)vfprintf(stderr, message, values);
    (void)fputs(status == MISUSED ? "\nTry 'merkle --help'.\n" : "\n", stderr);
    va_end(values);
    return status;
}

/* Flushes the output: a full disk is an error like any other. */
static int finished(void) {
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        return failed(FAILED, "standard output: %s", strerror(errno));
    }
    return OK;
}

/* ---- Values -------------------------------------------------------------------------------------------------- */

/* Finds the format named by the first `length` bytes of `name`. */
static bool format_named(const char *name, size_t length, merkle_format *format) {
    for (size_t i = 0; i < sizeof FORMATS / sizeof FORMATS[0]; i++) {
        if (strlen(FORMATS[i]) == length && memcmp(FORMATS[i], name, length) == 0) {
            *format = (merkle_format)i;
            return true;
        }
    }
    return false;
}

/* Reads the `length` bytes at `text` as a number from `least` to LIMIT: decimal digits only, no leading zero. */
static bool number(const char *text, size_t length, uint64_t least, uint64_t *value) {
    if (length == 0 || length > 13 || (text[0] == '0' && length > 1)) {
        return false;
    }
    uint64_t read = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
        read = 10 * read + (uint64_t)(text[i] - '0');
    }
    if (read < least || read > LIMIT) {
        return false;
    }
    *value = read;
    return true;
}

/* Reads a format string: "rfc6962:sha256:64KiB". */
static bool shape_named(const char *name, merkle_format *format, uint64_t *segment) {
    static const char HASH[] = ":sha256:", *const UNITS[] = {"KiB", "MiB", "GiB", "TiB"};
    size_t length = strcspn(name, ":");
    if (!format_named(name, length, format) || strncmp(name + length, HASH, strlen(HASH)) != 0) {
        return false;
    }
    const char *size = name + length + strlen(HASH);
    size_t digits = strspn(size, "0123456789");
    unsigned shift = 0;
    for (unsigned i = 0; i < 4; i++) {
        if (strcmp(size + digits, UNITS[i]) == 0) {
            shift = 10 * (i + 1);
        }
    }
    if ((shift == 0 && size[digits] != '\0') || !number(size, digits, 1, segment) || *segment > LIMIT >> shift) {
        return false;
    }
    *segment <<= shift;
    return true;
}

static int hex_digit(char digit) {
    return digit >= '0' && digit <= '9' ? digit - '0' : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Decodes lowercase hex in place ("-" for no bytes); false if it is not that. */
static bool unhex(char *text, size_t *size) {
    *size = 0;
    if (strcmp(text, "-") == 0) {
        return true;
    }
    size_t length = strlen(text);
    if (length == 0 || length % 2 == 1) {
        return false;
    }
    for (; *size < length / 2; ++*size) {
        int high = hex_digit(text[2 * *size]), low = hex_digit(text[2 * *size + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        text[*size] = (char)(high << 4 | low);
    }
    return true;
}

static void print_hex(const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        printf("%02x", bytes[i]);
    }
}

static void print_root(const merkle_tree *tree) {
    uint8_t root[MERKLE_SIZE];
    merkle_root(tree, root);
    print_hex(root, sizeof root);
}

/* ---- The root of a file -------------------------------------------------------------------------------------- */

static int read_at(void *context, uint64_t offset, void *buffer, size_t size) {
    int file = *(const int *)context;
    for (size_t got = 0; got < size;) {
        ssize_t more = pread(file, (uint8_t *)buffer + got, size - got, (off_t)(offset + got));
        if (more == 0) {
            return ENODATA; /* the file has become shorter */
        }
        if (more < 0 && errno != EINTR) {
            return errno;
        }
        got += more > 0 ? (size_t)more : 0;
    }
    return 0;
}

/* Appends the pairs of long leaves of a regular file, from the file's offset on, and moves the offset behind them. Does
 * nothing with short leaves and with files that have no length, such as pipes. Returns an error number. */
static int append_long_leaves(merkle_tree *tree, uint64_t segment, int file, uint8_t *buffer) {
    struct stat status;
    off_t offset = lseek(file, 0, SEEK_CUR);
    if (offset < 0 || fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || segment <= BUFFER / 2 ||
        status.st_size <= offset) {
        return 0;
    }
    uint64_t pairs = (uint64_t)(status.st_size - offset) / segment / 2, size = pairs * 2 * segment;
    int error = merkle_update_from(tree, read_at, &file, (uint64_t)offset, size, buffer, BUFFER);
    if (error == 0 && lseek(file, offset + (off_t)size, SEEK_SET) < 0) {
        error = errno;
    }
    return error;
}

static int root_of_file(merkle_format format, uint64_t segment, const char *path) {
    bool named = path != NULL && strcmp(path, "-") != 0;
    const char *shown = named ? path : "standard input";
    int file = named ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    if (file < 0) {
        return failed(FAILED, "%s: %s", shown, strerror(errno));
    }
    static _Alignas(64) uint8_t buffer[BUFFER]; /* into other places some processors copy at a third of the speed */
    merkle_tree tree;
    (void)merkle_init(&tree, format, segment); /* the arguments were checked */
    int error = append_long_leaves(&tree, segment, file, buffer);
    if (error != 0) {
        return failed(FAILED, "%s: %s", shown, error == ENODATA ? "became shorter while it was read" : strerror(error));
    }
    /* Reads of whole leaves, so that no leaf is put together from two reads. */
    size_t wanted = segment <= BUFFER ? BUFFER / (size_t)segment * (size_t)segment : BUFFER;
    for (;;) {
        ssize_t got = read(file, buffer, wanted);
        if (got > 0) {
            merkle_update(&tree, buffer, (size_t)got);
        } else if (got == 0) {
            break;
        } else if (errno != EINTR) {
            return failed(FAILED, "%s: %s", shown, strerror(errno));
        }
    }
    print_root(&tree);
    putchar('\n');
    return finished();
}

/* ---- Rows ---------------------------------------------------------------------------------------------------- */

enum { COLUMNS = 8 }; /* at most */

/* Appends `length` bytes of a pattern that vectors/README.md names; false if there is no such pattern. */
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

/* format input length root source */
static bool complete_root(char *column[COLUMNS]) {
    merkle_format format;
    uint64_t segment, length;
    merkle_tree tree;
    if (!shape_named(column[0], &format, &segment) || !number(column[2], strlen(column[2]), 0, &length) ||
        !merkle_init(&tree, format, segment) || !append_pattern(&tree, column[1], length)) {
        return false;
    }
    printf("%s\t%s\t%s\t", column[0], column[1], column[2]);
    print_root(&tree);
    printf("\t%s\n", column[4]);
    return true;
}

/* format input length index root path source */
static bool complete_proof(char *column[COLUMNS]) {
    merkle_format format;
    uint64_t segment, length, index;
    merkle_tree tree;
    merkle_proof proof;
    if (!shape_named(column[0], &format, &segment) || !number(column[2], strlen(column[2]), 0, &length) ||
        !number(column[3], strlen(column[3]), 0, &index) || !merkle_init_prover(&tree, format, segment, index) ||
        !append_pattern(&tree, column[1], length) || !merkle_prove(&tree, &proof)) {
        return false;
    }
    printf("%s\t%s\t%s\t%s\t", column[0], column[1], column[2], column[3]);
    print_root(&tree);
    putchar('\t');
    for (size_t i = 0; i < proof.length; i++) {
        if (i > 0) {
            putchar(',');
        }
        print_hex(proof.path[i], MERKLE_SIZE);
    }
    printf("%s\t%s\n", proof.length == 0 ? "-" : "", column[6]);
    return true;
}

/* Reads digests with commas between them. False if they are not hex; `fits` is false if they are not digests, or too
 * many. */
static bool read_path(char *text, merkle_proof *proof, bool *fits) {
    proof->length = 0;
    *fits = true;
    if (strcmp(text, "-") == 0) {
        return true;
    }
    for (char *next = text; next != NULL;) {
        char *digest = next;
        next = strchr(digest, ',');
        if (next != NULL) {
            *next++ = '\0';
        }
        size_t size;
        if (!unhex(digest, &size) || size == 0) {
            return false;
        }
        *fits = *fits && size == MERKLE_SIZE && proof->length < MERKLE_LEVELS;
        if (*fits) {
            memcpy(proof->path[proof->length++], digest, MERKLE_SIZE);
        }
    }
    return true;
}

/* format leaves index leaf root path verdict source */
static bool complete_verdict(char *column[COLUMNS]) {
    merkle_format format;
    uint64_t segment;
    merkle_proof proof;
    size_t leaf_size, root_size;
    bool fits;
    /* The columns are decoded in place, so they are printed first. */
    if (!shape_named(column[0], &format, &segment) || !number(column[1], strlen(column[1]), 0, &proof.leaves) ||
        !number(column[2], strlen(column[2]), 0, &proof.index)) {
        return false;
    }
    char *line = NULL;
    size_t room = 0;
    FILE *kept = open_memstream(&line, &room);
    if (kept == NULL) {
        return false;
    }
    fprintf(kept, "%s\t%s\t%s\t%s\t%s\t%s\t", column[0], column[1], column[2], column[3], column[4], column[5]);
    bool good = fclose(kept) == 0 && unhex(column[3], &leaf_size) && unhex(column[4], &root_size) &&
                read_path(column[5], &proof, &fits);
    if (good) {
        bool valid = fits && root_size == MERKLE_SIZE &&
                     merkle_verify(format, segment, (const uint8_t *)column[4], &proof, column[3], leaf_size);
        printf("%s%s\t%s\n", line, valid ? "valid" : "invalid", column[7]);
    }
    free(line);
    return good;
}

/* What --rows, --prove and --verify do with a row. */
typedef struct row_kind {
    const char *option;
    size_t columns;
    bool (*complete)(char *column[COLUMNS]);
    const char *expected;
} row_kind;

static const row_kind KINDS[] = {
    {"--rows", 5, complete_root, "format input length root source"},
    {"--prove", 7, complete_proof, "format input length index root path source, with a leaf of that index"},
    {"--verify", 8, complete_verdict, "format leaves index leaf root path verdict source"},
};

/* Splits a line at its tabs; returns the number of columns, of which the first COLUMNS are kept. */
static size_t split(char *line, char *column[COLUMNS]) {
    size_t count = 0;
    for (char *next = line; next != NULL; count++) {
        char *text = next;
        next = strchr(text, '\t');
        if (next != NULL) {
            *next++ = '\0';
        }
        if (count < COLUMNS) {
            column[count] = text;
        }
    }
    return count;
}

/* Completes rows of standard input, up to the first that cannot be completed. */
static int rows(const row_kind *kind) {
    char *line = NULL;
    size_t room = 0;
    int result = OK;
    for (uint64_t count = 1; result == OK && getline(&line, &room, stdin) >= 0; count++) {
        line[strcspn(line, "\n")] = '\0';
        char *column[COLUMNS];
        if (line[0] == '#') {
            puts(line);
        } else if (split(line, column) != kind->columns || !kind->complete(column)) {
            result = failed(FAILED, "row %" PRIu64 ": expected plain or rfc6962 with sha256, in columns %s", count,
                            kind->expected);
        }
    }
    if (result == OK && ferror(stdin) != 0) {
        result = failed(FAILED, "standard input: %s", strerror(errno));
    }
    free(line);
    int flushed = finished();
    return result == OK ? flushed : result;
}

/* ---- The program --------------------------------------------------------------------------------------------- */

static int hash_rate(uint64_t times) {
    static const char TEXT[] = "test.dat";
    uint8_t digest[MERKLE_SHA256_SIZE];
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (uint64_t i = 0; i < times; i++) {
        merkle_sha256_many(MERKLE_SHA256_NO_PREFIX, (const uint8_t *)TEXT, strlen(TEXT), 1, digest);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    printf("%.6f s %.3f MH/s\n", seconds, (double)times / seconds / 1e6);
    return finished();
}

/* What the command line asks for. */
typedef struct command {
    merkle_format format;
    uint64_t segment, times;
    const char *shaped; /* --format or --segment, if one was given */
    const char *mode;   /* --rows, --prove, --verify or --hash-rate; NULL for the root of a file */
    const char *path;   /* NULL for standard input */
    bool help;
} command;

static int number_expected(const char *option, const char *value) {
    return failed(MISUSED, "%s: '%s' is not a number from 1 to %" PRIu64, option, value, LIMIT);
}

/* Sets an option that has a value. */
static int set_value(command *asked, const char *option, const char *value) {
    if (value == NULL) {
        return failed(MISUSED, "%s: its value is missing", option);
    }
    if (strcmp(option, "--format") == 0) {
        asked->shaped = "--format";
        return format_named(value, strlen(value), &asked->format)
                   ? OK
                   : failed(MISUSED, "--format: '%s' is neither plain nor rfc6962", value);
    }
    if (strcmp(option, "--segment") == 0) {
        asked->shaped = "--segment";
        return number(value, strlen(value), 1, &asked->segment) ? OK : number_expected(option, value);
    }
    return number(value, strlen(value), 1, &asked->times) ? OK : number_expected(option, value);
}

static int set_mode(command *asked, const char *option) {
    if (asked->mode != NULL && strcmp(asked->mode, option) != 0) {
        return failed(MISUSED, "%s and %s exclude each other", asked->mode, option);
    }
    asked->mode = option;
    return OK;
}

/* Applies the option `arguments[0]`; returns an exit status. Adds to `used` if the value is the next argument. */
static int set_option(command *asked, char **arguments, int *used) {
    static const char *const VALUED[] = {"--format", "--segment", "--hash-rate"};
    static const char *const FLAGS[] = {"--rows", "--prove", "--verify", "--help"};
    const char *argument = arguments[0], *equals = strchr(argument, '=');
    size_t length = equals == NULL ? strlen(argument) : (size_t)(equals - argument);
    for (size_t i = 0; i < sizeof VALUED / sizeof VALUED[0]; i++) {
        if (strlen(VALUED[i]) == length && memcmp(VALUED[i], argument, length) == 0) {
            *used += equals == NULL && arguments[1] != NULL ? 1 : 0;
            int status = i == 2 ? set_mode(asked, VALUED[i]) : OK;
            return status == OK ? set_value(asked, VALUED[i], equals == NULL ? arguments[1] : equals + 1) : status;
        }
    }
    for (size_t i = 0; i < sizeof FLAGS / sizeof FLAGS[0]; i++) {
        if (strlen(FLAGS[i]) == length && memcmp(FLAGS[i], argument, length) == 0) {
            if (equals != NULL) {
                return failed(MISUSED, "%s takes no value", FLAGS[i]);
            }
            asked->help = asked->help || i == 3;
            return i == 3 ? OK : set_mode(asked, FLAGS[i]);
        }
    }
    return failed(MISUSED, "unknown option '%s'", argument);
}

/* Reads the command line; returns an exit status. */
static int parse(char **arguments, command *asked) {
    bool options = true;
    for (; *arguments != NULL && !asked->help; arguments++) {
        int used = 0, status = OK;
        if (options && strcmp(*arguments, "--") == 0) {
            options = false;
        } else if (options && (*arguments)[0] == '-' && (*arguments)[1] != '\0') {
            status = set_option(asked, arguments, &used);
        } else if (asked->path != NULL) {
            status = failed(MISUSED, "one FILE is expected, '%s' is one more", *arguments);
        } else {
            asked->path = *arguments;
        }
        if (status != OK) {
            return status;
        }
        arguments += used;
    }
    if (asked->mode != NULL && !asked->help && asked->path != NULL) {
        return failed(MISUSED, "%s takes no FILE: '%s'", asked->mode, asked->path);
    }
    if (asked->mode != NULL && !asked->help && asked->shaped != NULL) {
        return failed(MISUSED, "%s takes no %s", asked->mode, asked->shaped);
    }
    return OK;
}

int main(int argc, char **argv) {
    command asked = {.format = MERKLE_PLAIN, .segment = 64};
    int status = argc > 0 ? parse(argv + 1, &asked) : OK;
    if (status != OK) {
        return status;
    }
    if (asked.help) {
        (void)fputs(USAGE, stdout);
        return finished();
    }
    for (size_t i = 0; asked.mode != NULL && i < sizeof KINDS / sizeof KINDS[0]; i++) {
        if (strcmp(asked.mode, KINDS[i].option) == 0) {
            return rows(&KINDS[i]);
        }
    }
    return asked.mode != NULL ? hash_rate(asked.times) : root_of_file(asked.format, asked.segment, asked.path);
}
