// NVRTC's interface over the C++ compiler of this system: a "cubin" is a library for the CPU. FOLDER is the folder of this file.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nvrtc.h>
#include <string>
#include <unistd.h>
#include <vector>

struct _nvrtcProgram {
    std::string source, log, image;
};

static std::string content(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

nvrtcResult nvrtcGetNumSupportedArchs(int *count) {
    *count = 2;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int *known) {
    known[0] = 75, known[1] = 90;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *, int headers, const char *const *,
                               const char *const *) {
    if (headers != 0) return NVRTC_ERROR_INVALID_INPUT;
    *program = new _nvrtcProgram{source, "", ""};
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program) {
    delete *program;
    *program = nullptr;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char *const *options) {
    std::string definitions, architecture;
    for (int at = 0; at < count; at++) {
        std::string option = options[at];
        size_t equals = std::min(option.find('='), option.size());
        // In the text rather than as options: headers of the system have names of their own, which begin.h removes.
        if (option.rfind("-D", 0) == 0)
            definitions += "#define " + option.substr(2, equals - 2) + " " + option.substr(std::min(equals + 1, option.size())) + "\n";
        else if (option.rfind("--gpu-architecture=", 0) == 0) architecture = option.substr(19);
        else if (option != "--std=c++17" && option != "--diag-suppress=177") return NVRTC_ERROR_INVALID_OPTION;
    }
    if (architecture != "sm_90" && architecture != "compute_90") return NVRTC_ERROR_INVALID_OPTION;
    char folder[] = "/tmp/mksum-emulator-XXXXXX";
    if (!mkdtemp(folder)) return NVRTC_ERROR_COMPILATION;
    std::string base = std::string(folder) + "/kernels";
    std::ofstream(base + ".cpp") << "#include \"" FOLDER "/begin.h\"\n" << definitions << program->source << "#include \"" FOLDER "/end.h\"\n";
    std::string command = "c++ -std=c++17 -O2 -fno-strict-aliasing -w -fPIC -shared " + base + ".cpp -o " + base + ".so 2>" + base + ".log";
    int status = system(command.c_str());
    program->log = content(base + ".log");
    program->image = content(base + ".so");
    for (const char *end : {".cpp", ".so", ".log"}) unlink((base + end).c_str());
    rmdir(folder);
    return status == 0 ? NVRTC_SUCCESS : NVRTC_ERROR_COMPILATION;
}

static nvrtcResult size_of(const std::string &text, size_t *size) {
    *size = text.size();
    return NVRTC_SUCCESS;
}

static nvrtcResult bytes_of(const std::string &text, char *bytes) {
    text.copy(bytes, text.size());
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *size) { return size_of(program->log, size); }
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *bytes) { return bytes_of(program->log, bytes); }
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *size) { return size_of(program->image, size); }
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *bytes) { return bytes_of(program->image, bytes); }
nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *size) { return size_of(program->image, size); }
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *bytes) { return bytes_of(program->image, bytes); }
