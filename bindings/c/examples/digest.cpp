// digest FORMAT… < INPUT: prints the digests of standard input in each format, which share one read.
#include <cstdio>
#include <exception>
#include <memory>
#include <mksum.h>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

void check(mksum_status status)
{
    if (status != MKSUM_OK)
        throw std::runtime_error(mksum_error());
}

// A hasher that frees itself.
class Hasher {
public:
    explicit Hasher(const char *format)
    {
        mksum_hasher *made;
        check(mksum_hasher_new(format, &made));
        hasher.reset(made);
    }

    void update(const unsigned char *bytes, std::size_t len) { check(mksum_hasher_update(hasher.get(), bytes, len)); }

    std::string finish()
    {
        char text[MKSUM_TEXT_MAX];
        check(mksum_hasher_finish_text(hasher.get(), text, sizeof text));
        return text;
    }

private:
    struct Free {
        void operator()(mksum_hasher *freed) const { mksum_hasher_free(freed); }
    };
    std::unique_ptr<mksum_hasher, Free> hasher;
};

} // namespace

int main(int argc, char **argv)
try {
    std::vector<std::pair<std::string, Hasher>> hashers;
    for (int i = 1; i < argc; i++)
        hashers.emplace_back(argv[i], Hasher(argv[i]));
    std::vector<unsigned char> piece(1 << 16);
    while (std::size_t len = std::fread(piece.data(), 1, piece.size(), stdin))
        for (auto &[format, hasher] : hashers)
            hasher.update(piece.data(), len);
    if (std::ferror(stdin))
        throw std::runtime_error("the input cannot be read");
    for (auto &[format, hasher] : hashers)
        std::printf("%s: %s\n", format.c_str(), hasher.finish().c_str());
    return 0;
} catch (const std::exception &error) {
    std::fprintf(stderr, "digest: %s\n", error.what());
    return 1;
}
