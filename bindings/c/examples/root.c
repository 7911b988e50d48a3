/* root FORMAT FILE: prints the root of a file. */
#include <mksum.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    char text[MKSUM_TEXT_MAX];
    if (argc != 3) {
        fprintf(stderr, "usage: root FORMAT FILE\n");
        return 2;
    }
    if (mksum_root_of_file(argv[1], argv[2], NULL, text, sizeof text) != MKSUM_OK) {
        fprintf(stderr, "root: %s\n", mksum_error());
        return 1;
    }
    printf("%s (%s) = %s\n", argv[1], argv[2], text);
    return 0;
}
