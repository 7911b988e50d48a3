// After the kernels: runs one, group after group. The work-items of a group take turns, each up to its next barrier.

// The shared memory of a group, and what lies behind it.
constexpr unsigned SHARED = 48 << 10, BEHIND = 4 << 10;
thread_local uint4 local_memory[(SHARED + BEHIND) / 16];

static void fail(const char *what) {
    fprintf(stderr, "emulated kernel: %s\n", what);
    abort();
}

struct Item {
    ucontext_t context;
    bool ended;
    std::vector<char> stack = std::vector<char>(64 << 10);
};
static thread_local std::vector<Item> items;
static thread_local ucontext_t scheduler;
static thread_local const std::function<void()> *body;

static void begin() {
    (*body)();
    items[threadIdx.x].ended = true;
}

static void __syncthreads() {
    unsigned own = threadIdx.x;
    swapcontext(&items[own].context, &scheduler);
}

static void run_group() {
    unsigned count = blockDim.x;
    if (items.size() < count) items.resize(count);
    for (unsigned at = 0; at < count; at++) {
        Item &item = items[at];
        getcontext(&item.context);
        item.context.uc_stack.ss_sp = item.stack.data();
        item.context.uc_stack.ss_size = item.stack.size();
        item.context.uc_link = &scheduler;
        item.ended = false;
        makecontext(&item.context, begin, 0);
    }
    for (unsigned running = count; running > 0;) {
        unsigned waiting = 0;
        for (unsigned at = 0; at < count; at++) {
            threadIdx.x = at;
            swapcontext(&scheduler, &items[at].context);
            waiting += !items[at].ended;
        }
        if (waiting != 0 && waiting != count) fail("some work-items of a group wait at a barrier, and others have ended");
        running = waiting;
    }
}

struct Launch {
    std::function<void()> body;
    bool has_barriers;
};

template <class... A, size_t... I>
static Launch *bound(void (*kernel)(A...), void **values, bool has_barriers, std::index_sequence<I...>) {
    std::tuple<A...> copies(*(A *)values[I]...);
    return new Launch{[=] { std::apply(kernel, copies); }, has_barriers};
}
template <class... A> static Launch *bind(void (*kernel)(A...), void **values, bool has_barriers) {
    return bound(kernel, values, has_barriers, std::index_sequence_for<A...>());
}

// Returns a launch of a kernel with a copy of its arguments; without arguments, a launch that is never run; null if there is no such
// kernel.
extern "C" Launch *emulator_bind(const char *name, void **values) {
#define KERNEL(kernel, has_barriers)                                                                                   \
    if (!strcmp(name, #kernel)) return values ? bind(kernel, values, has_barriers) : new Launch;
#ifdef CHUNK_BLOCKS
    KERNEL(messages, false)
#ifdef CHUNK
    KERNEL(chunk_parents, false)
#endif
#elif defined(RATE)
    KERNEL(rate, false)
#else
    KERNEL(pairs, true)
#endif
    return nullptr;
}

extern "C" void emulator_run(Launch *launch, unsigned groups, unsigned rows, unsigned group, unsigned shared) {
    gridDim = {groups, rows}, blockDim = {group, 1};
    body = &launch->body;
    char *memory = (char *)local_memory;
    for (unsigned row = 0; row < rows; row++) {
        for (unsigned at = 0; at < groups; at++) {
            blockIdx = {at, row};
            if (launch->has_barriers) {
                // A group finds what others left in shared memory.
                memset(memory, 0x5a, SHARED + BEHIND);
                run_group();
                for (unsigned byte = shared; byte < SHARED + BEHIND; byte++)
                    if (memory[byte] != 0x5a) fail("a group wrote behind its shared memory");
            } else {
                for (threadIdx.x = 0; threadIdx.x < group; threadIdx.x++) launch->body();
            }
        }
    }
}

extern "C" void emulator_free(Launch *launch) {
    delete launch;
}
