/* catalogue DIRECTORY [SECONDS]: keeps a catalogue of a directory, verifies it for some time, and prints what it finds. */
#include <mksum.h>
#include <stdio.h>
#include <stdlib.h>

static int print(void *context, const mksum_entry *entry)
{
    unsigned long *bad = context;

    switch (entry->state) {
    case MKSUM_ENTRY_NEW:
    case MKSUM_ENTRY_INTACT:
    case MKSUM_ENTRY_TOUCHED:
        return 0;
    case MKSUM_ENTRY_CHANGED:
        printf("%s: changed\n", entry->path);
        return 0;
    case MKSUM_ENTRY_MOVED:
        printf("%s: moved from %s\n", entry->path, entry->from);
        return 0;
    case MKSUM_ENTRY_GONE:
        printf("%s: gone\n", entry->path);
        return 0;
    default:
        *bad += 1;
        printf("%s: %s\n", entry->path, entry->reason ? entry->reason : "damaged");
        for (size_t i = 0; i < entry->ranges_len; i++)
            printf("%s: damaged %llu..%llu\n", entry->path, (unsigned long long)entry->ranges[2 * i],
                   (unsigned long long)entry->ranges[2 * i + 1]);
        return 0;
    }
}

int main(int argc, char **argv)
{
    unsigned long bad = 0;

    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: catalogue DIRECTORY [SECONDS]\n");
        return 2;
    }
    if (mksum_catalogue_keep(argv[1], NULL, NULL, 0, NULL, print, &bad) != MKSUM_OK ||
        mksum_catalogue_verify(argv[1], NULL, argc > 2 ? atof(argv[2]) : 0, 0, NULL, print, &bad) != MKSUM_OK) {
        fprintf(stderr, "catalogue: %s\n", mksum_error());
        return 2;
    }
    return bad > 0;
}
