/* Valgrind's client requests: marks bytes as secret (undefined, to memcheck) or public. */
#include <stddef.h>
#include <valgrind/memcheck.h>

void mark_secret(void *bytes, size_t size) {
    (void)VALGRIND_MAKE_MEM_UNDEFINED(bytes, size);
}

void mark_public(void *bytes, size_t size) {
    (void)VALGRIND_MAKE_MEM_DEFINED(bytes, size);
}
