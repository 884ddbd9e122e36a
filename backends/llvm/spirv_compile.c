#include "spirv_compile.h"

#include "child.h"
#include "kept.h"

#include <string.h>

/* As backends/llvm/CMakeLists.txt compiles the kernel, for the reasons told there. */
#define CLANG                                                                                      \
    "clang-15", "-c", "-x", "cl", "-cl-std=CL1.2", "-target", "spir64", "-w", "-Xclang",           \
        "-finclude-default-header", "-emit-llvm", "-O0", "-Xclang", "-disable-O0-optnone",         \
        "-Xclang", "-disable-llvm-passes", "-Dinline=inline __attribute__((always_inline))"
#define TRANSLATOR "llvm-spirv-15", "--spirv-max-version=1.2"

static const struct mode_words {
    const char *const clang[5];
    const char *contraction;
} modes[] = {
    [MODE_STRICT] = {{"-DK_MODE=0"}, "--spirv-fp-contract=off"},
    [MODE_DEVICE] = {{"-DK_MODE=1", "-cl-mad-enable"}, "--spirv-fp-contract=fast"},
    [MODE_FAST] = {{"-DK_MODE=2", "-cl-mad-enable", "-cl-no-signed-zeros",
                    "-cl-unsafe-math-optimizations"},
                   "--spirv-fp-contract=fast"},
};

static enum status tool_run(const char *const argv[], struct build_info *info, struct error *err)
{
    int code = 0;
    /* posix_spawn takes what it does not change as not const */
    enum status s =
        child_run((char *const *)(uintptr_t)argv, info->log, sizeof info->log, &code, err);
    if (s == STATUS_MISSING)
        return error_msg(err, s,
                         "%s does not start; shaders come to this device through it: on Debian, "
                         "apt-get install clang-15 llvm-spirv-15",
                         argv[0]);
    if (s == STATUS_OK && code != 0)
        s = error_msg(err, STATUS_BUILD, "%s does not compile the shader: %.700s", argv[0],
                      info->log[0] ? info->log : "it says nothing");
    return s;
}

/* Source, bitcode and module beside each other in the cache folder, with temporary names. */
static enum status tools_run(struct arena *a, const struct job_source *source, const char *path,
                             const void **spirv, size_t *size, struct build_info *info,
                             struct error *err)
{
    const struct mode_words *m = &modes[source->mode];
    char module[4200], text[sizeof module + 4], bitcode[sizeof module + 4], *data = NULL;
    enum status s = file_temp_name(path, module, sizeof module, err);
    if (s != STATUS_OK)
        return s;
    snprintf(text, sizeof text, "%s.cl", module);
    snprintf(bitcode, sizeof bitcode, "%s.bc", module);
    const char *const clang[] = {CLANG,       m->clang[0], text,        "-o", bitcode,
                                 m->clang[1], m->clang[2], m->clang[3], NULL},
                      *const translator[] = {TRANSLATOR, m->contraction, bitcode,
                                             "-o",       module,         NULL};
    s = file_write(text, source->text, strlen(source->text), err);
    if (s == STATUS_OK)
        s = tool_run(clang, info, err);
    if (s == STATUS_OK)
        s = tool_run(translator, info, err);
    if (s == STATUS_OK)
        s = file_read(a, module, (size_t)1 << 30, &data, size, err);
    file_discard(text);
    file_discard(bitcode);
    file_discard(module);
    *spirv = data;
    return s;
}

enum status spirv_compile(struct arena *a, const struct job_source *source, const void **spirv,
                          size_t *size, struct build_info *info, struct error *err)
{
    char key[33], path[4096];
    struct kept_resources none = {0};
    struct hash *h = hash_open();
    snprintf(info->options, sizeof info->options, "clang-15 -cl-std=CL1.2 %s, llvm-spirv-15 %s",
             modes[source->mode].clang[0], modes[source->mode].contraction);
    hash_add(h, "spirv 1", 8);
    hash_add(h, info->options, strlen(info->options) + 1);
    hash_add(h, source->hash, strlen(source->hash) + 1);
    hash_close(h, key);
    enum status s = kernel_cache_path(key, ".spv", path, sizeof path, err);
    if (s != STATUS_OK || kept_read(a, path, key, spirv, size, &none))
        return s;
    s = tools_run(a, source, path, spirv, size, info, err);
    if (s == STATUS_OK)
        kept_write(path, key, *spirv, *size, &none);
    return s;
}
