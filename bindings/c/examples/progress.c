/* progress FORMAT FILE: prints the root of a file, and its progress on standard error. Ctrl-C cancels it. */
#include <mksum.h>
#include <signal.h>
#include <stdio.h>

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

static int show(void *context, uint64_t done, uint64_t all)
{
    fprintf(stderr, "\r%s: %3u %%", (const char *)context, all ? (unsigned)(done * 100.0 / (double)all) : 0);
    return interrupted;
}

int main(int argc, char **argv)
{
    char text[MKSUM_TEXT_MAX];
    mksum_options options = MKSUM_OPTIONS;

    if (argc != 3) {
        fprintf(stderr, "usage: progress FORMAT FILE\n");
        return 2;
    }
    signal(SIGINT, interrupt);
    options.progress = show;
    options.context = argv[2];
    mksum_status status = mksum_root_of_file(argv[1], argv[2], &options, text, sizeof text);
    fprintf(stderr, "\n");
    if (status != MKSUM_OK) {
        fprintf(stderr, "progress: %s\n", mksum_error());
        return status == MKSUM_CANCELLED ? 130 : 1;
    }
    printf("%s\n", text);
    return 0;
}
