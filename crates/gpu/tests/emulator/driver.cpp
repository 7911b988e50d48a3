// CUDA's driver over the CPU, strict where a card would be lenient. Commands run only when somebody waits for them. Memory ends at a
// page that cannot be touched. Calls fail on a thread without the context. A wrong handle or a wrong place ends the process, and so does an
// object that is left when its device is closed. With MKSUM_EMULATED_FAILURES=N, every N-th call fails of those that create or enqueue.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <deque>
#include <dlfcn.h>
#include <elf.h>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

struct Launch;

struct CUstream_st {
    std::deque<std::function<void()>> pending;
};
struct CUevent_st {
    CUstream stream = nullptr;
    bool happened = false;
    std::chrono::steady_clock::time_point time;
};
struct CUfunc_st {
    CUmodule module;
    std::string name;
};
struct CUmod_st {
    void *library;
    std::map<std::string, CUfunc_st> functions;
    template <class F> F *symbol(const char *name) { return (F *)dlsym(library, name); }
};
struct CUctx_st {};

namespace {
constexpr size_t TOTAL = size_t(2) << 30, PAGE = 4096;
std::recursive_mutex lock;
CUctx_st primary;
thread_local CUcontext current = nullptr;

struct Memory {
    size_t len, mapped;
    char *base;
};
std::map<CUdeviceptr, Memory> memories;
std::set<CUstream> streams;
std::set<CUevent> events;
std::set<CUmodule> modules;
std::set<void *> pinned;
size_t used = 0;
int retained = 0;

[[noreturn]] void fail(const std::string &what) {
    fprintf(stderr, "emulated driver: %s\n", what.c_str());
    abort();
}

template <class T> void known(const std::set<T> &all, T handle, const char *what) {
    if (!all.count(handle)) fail(std::string("a wrong handle of ") + what);
}

void within(CUdeviceptr at, size_t len) {
    auto next = memories.upper_bound(at);
    if (next == memories.begin()) fail("a transfer outside of all memory");
    auto &[start, memory] = *--next;
    if (at + len > start + memory.len) fail("a transfer beyond the end of its memory");
}

void run(CUstream stream) {
    while (!stream->pending.empty()) {
        auto command = std::move(stream->pending.front());
        stream->pending.pop_front();
        command();
    }
}

void run_all() {
    for (CUstream stream : streams) run(stream);
}

int architecture() {
    const char *chosen = getenv("MKSUM_EMULATED_ARCHITECTURE");
    return chosen ? atoi(chosen) : 90;
}

bool fails() {
    static const char *every = getenv("MKSUM_EMULATED_FAILURES");
    static long calls = 0;
    return every && ++calls % atol(every) == 0;
}
} // namespace

#define CALL                                                                                                           \
    std::lock_guard guard(lock);                                                                                       \
    if (current != &primary) return CUDA_ERROR_INVALID_CONTEXT;
#define CALL_THAT_MAY_FAIL                                                                                             \
    CALL                                                                                                               \
    if (fails()) return CUDA_ERROR_UNKNOWN;

CUresult cuInit(unsigned flags) { return flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; }

CUresult cuDriverGetVersion(int *version) {
    *version = 12090;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
    *count = 1;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int index) {
    *device = 7 + index;
    return index == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetName(char *name, int len, CUdevice) {
    snprintf(name, len, "an emulator");
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice) {
    *bytes = TOTAL;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice) {
    memset(uuid->bytes, 0xee, 16);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    if (device != 7) return CUDA_ERROR_INVALID_DEVICE;
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = architecture() / 10; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = architecture() % 10; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: *value = 48 << 10; break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = 1024; break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 2; break;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y: *value = 65535; break;
    case CU_DEVICE_ATTRIBUTE_INTEGRATED: *value = 0; break;
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID: *value = 0; break;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID: *value = 3; break;
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID: *value = 0; break;
    default: fail("an attribute that the emulator does not have");
    }
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    std::lock_guard guard(lock);
    if (device != 7) return CUDA_ERROR_INVALID_DEVICE;
    *context = &primary;
    retained++;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
    std::lock_guard guard(lock);
    if (device != 7 || retained == 0) fail("a context that is not retained");
    size_t left = streams.size() + events.size() + modules.size() + memories.size() + pinned.size();
    if (--retained == 0 && left > 0) fail(std::to_string(left) + " objects are left");
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
    if (context != &primary) return CUDA_ERROR_INVALID_CONTEXT;
    current = context;
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned) {
    CALL_THAT_MAY_FAIL
    streams.insert(*stream = new CUstream_st);
    return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream) {
    CALL
    known(streams, stream, "a stream");
    run(stream);
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream stream) {
    CALL
    known(streams, stream, "a stream");
    run(stream);
    streams.erase(stream);
    delete stream;
    return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *event, unsigned) {
    CALL_THAT_MAY_FAIL
    events.insert(*event = new CUevent_st);
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
    CALL_THAT_MAY_FAIL
    known(events, event, "an event");
    known(streams, stream, "a stream");
    event->stream = stream;
    stream->pending.push_back([=] {
        if (!events.count(event)) return;
        event->happened = true;
        event->time = std::chrono::steady_clock::now();
    });
    return CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent event) {
    CALL
    known(events, event, "an event");
    if (event->stream && !event->happened) run(event->stream);
    return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
    CALL
    known(events, start, "an event");
    known(events, end, "an event");
    if (!start->happened || !end->happened) return CUDA_ERROR_NOT_READY;
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
    return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent event) {
    CALL
    known(events, event, "an event");
    events.erase(event);
    delete event;
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr *address, size_t len) {
    CALL_THAT_MAY_FAIL
    if (len == 0) return CUDA_ERROR_INVALID_VALUE;
    if (len > TOTAL - used) return CUDA_ERROR_OUT_OF_MEMORY;
    size_t aligned = (len + 15) / 16 * 16, pages = (aligned + PAGE - 1) / PAGE * PAGE, mapped = pages + 2 * PAGE;
    char *base = (char *)mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED || mprotect(base + PAGE, pages, PROT_READ | PROT_WRITE)) return CUDA_ERROR_OUT_OF_MEMORY;
    memset(base + PAGE, 0x5a, pages);
    *address = (CUdeviceptr)(base + PAGE + pages - aligned);
    memories[*address] = {len, mapped, base};
    used += len;
    return CUDA_SUCCESS;
}

CUresult cuMemFree(CUdeviceptr address) {
    CALL
    run_all();
    auto found = memories.find(address);
    if (found == memories.end()) fail("a wrong address of memory");
    auto [len, mapped, base] = found->second;
    char *end = base + mapped - PAGE;
    for (char *at = base + PAGE; at < (char *)address; at++)
        if (*at != 0x5a) fail("a kernel wrote before its memory");
    for (char *at = (char *)address + len; at < end; at++)
        if (*at != 0x5a) fail("a kernel wrote behind its memory");
    munmap(base, mapped);
    used -= len;
    memories.erase(found);
    return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **address, size_t len, unsigned) {
    CALL_THAT_MAY_FAIL
    *address = malloc(len);
    memset(*address, 0x5a, len);
    pinned.insert(*address);
    return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *address) {
    CALL
    run_all();
    if (!pinned.erase(address)) fail("a wrong address of pinned memory");
    free(address);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t len, CUstream stream) {
    CALL_THAT_MAY_FAIL
    known(streams, stream, "a stream");
    within(to, len);
    stream->pending.push_back([=] { memcpy((void *)to, from, len); });
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t len, CUstream stream) {
    CALL_THAT_MAY_FAIL
    known(streams, stream, "a stream");
    within(from, len);
    stream->pending.push_back([=] { memcpy(to, (void *)from, len); });
    return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    CALL_THAT_MAY_FAIL
    auto header = (const Elf64_Ehdr *)image;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG)) return CUDA_ERROR_INVALID_IMAGE;
    // An image has no length: its last part is the table of its sections.
    size_t len = header->e_shoff + size_t(header->e_shnum) * header->e_shentsize;
    char path[] = "/tmp/mksum-emulator-XXXXXX";
    int file = mkstemp(path);
    if (file < 0 || write(file, image, len) != (ssize_t)len) fail("no room for a module");
    close(file);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    unlink(path);
    if (!library) return CUDA_ERROR_INVALID_IMAGE;
    modules.insert(*module = new CUmod_st{library, {}});
    return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
    CALL
    known(modules, module, "a module");
    run_all();
    modules.erase(module);
    dlclose(module->library);
    delete module;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    CALL_THAT_MAY_FAIL
    known(modules, module, "a module");
    Launch *launch = module->symbol<Launch *(const char *, void **)>("emulator_bind")(name, nullptr);
    if (!launch) return CUDA_ERROR_NOT_FOUND;
    module->symbol<void(Launch *)>("emulator_free")(launch);
    *function = &(module->functions[name] = {module, name});
    return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
    CALL_THAT_MAY_FAIL
    known(modules, function->module, "a module");
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK) return CUDA_ERROR_INVALID_VALUE;
    *value = 256;
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned groups, unsigned rows, unsigned layers, unsigned items, unsigned high,
                        unsigned deep, unsigned shared, CUstream stream, void **values, void **extra) {
    CALL_THAT_MAY_FAIL
    known(streams, stream, "a stream");
    known(modules, function->module, "a module");
    bool fits = groups > 0 && rows > 0 && rows <= 65535 && layers == 1 && items > 0 && items <= 256 && high == 1 && deep == 1;
    if (!fits || shared > 48 << 10 || extra) return CUDA_ERROR_INVALID_VALUE;
    CUmodule module = function->module;
    Launch *launch = module->symbol<Launch *(const char *, void **)>("emulator_bind")(function->name.c_str(), values);
    stream->pending.push_back([=] {
        module->symbol<void(Launch *, unsigned, unsigned, unsigned, unsigned)>("emulator_run")(launch, groups, rows, items, shared);
        module->symbol<void(Launch *)>("emulator_free")(launch);
    });
    return CUDA_SUCCESS;
}
