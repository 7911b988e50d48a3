// outboard FILE [COPY]: keeps the outboard of a file; later verifies the file with it, prints the damaged ranges, and repairs them from COPY.
#include <cinttypes>
#include <cstdio>
#include <mksum.h>

namespace {

int print(void *, mksum_range range, std::uint64_t start, std::uint64_t end)
{
    static const char *const words[] = {"damaged", "missing", "appended", "unreadable", "outboard damaged", "changed", "repaired", "not repaired"};
    std::printf("%s: %" PRIu64 "..%" PRIu64 "\n", words[range], start, end);
    return 0;
}

int result(mksum_status status)
{
    if (status != MKSUM_OK)
        std::fprintf(stderr, "outboard: %s\n", mksum_error());
    return status == MKSUM_OK ? 0 : status == MKSUM_DAMAGED ? 1 : 2;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3) {
        std::fprintf(stderr, "usage: outboard FILE [COPY]\n");
        return 2;
    }
    mksum_outboard_info info;
    if (mksum_outboard_read(argv[1], nullptr, &info) == MKSUM_READ_FAILED)
        return result(mksum_outboard_keep(argv[1], nullptr, nullptr, 0, MKSUM_REFUSE_CHANGES, nullptr));
    if (argc == 3)
        return result(mksum_outboard_repair(argv[1], nullptr, argv[2], nullptr, print, nullptr));
    return result(mksum_outboard_verify(argv[1], nullptr, 0, MKSUM_UNKNOWN, nullptr, print, nullptr));
}
