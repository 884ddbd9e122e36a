#include "compiler.h"
#include "api/offers.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 64 };

static enum status compiler_try(const char *program, struct compiler *out, struct error *err)
{
    struct compiler c = {0};
    char text[1024];
    int code = -1;
    if ((size_t)snprintf(c.program, sizeof c.program, "%s", program) >= sizeof c.program)
        return error_msg(err, STATUS_ARG, "the compiler's name is too long");
    char *argv[] = {c.program, (char *)"--version", NULL};
    enum status st = child_run(argv, text, sizeof text, &code, err);
    if (st)
        return st;
    if (code != 0)
        return error_msg(err, STATUS_MISSING, "%s --version fails with status %d", program, code);
    text[strcspn(text, "\n")] = '\0';
    snprintf(c.version, sizeof c.version, "%.127s", text);
    *out = c;
    return STATUS_OK;
}

enum status compiler_find(struct compiler *out, struct error *err)
{
    const char *wanted = getenv("ISOPHOTE_CC");
    struct error why = {0};
    if (wanted && *wanted) {
        if (compiler_try(wanted, out, &why) == STATUS_OK)
            return STATUS_OK;
        return error_msg(err, STATUS_MISSING,
                         "no C compiler for the native device: ISOPHOTE_CC names %s, and %s",
                         wanted, why.msg);
    }
    static const char *const names[] = {"cc", "gcc", "clang"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (compiler_try(names[i], out, &why) == STATUS_OK)
            return STATUS_OK;
    return error_msg(err, STATUS_MISSING,
                     "no C compiler for the native device: tried cc, gcc and clang (on Debian: "
                     "apt-get install gcc libc6-dev)");
}

void processor_describe(char *name, size_t size, uint32_t *mhz, char features_hex[33])
{
    snprintf(name, size, "CPU");
    *mhz = 0;
    char model[256] = "", flags[8192] = "";
    FILE *f = fopen("/proc/cpuinfo", "r"); /* reports size 0, so file_read does not take it */
    char line[8192];
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (!colon)
            continue;
        const char *value = colon[1] == ' ' ? colon + 2 : colon + 1;
        line[strcspn(line, "\n")] = '\0';
        if (!*model && strncmp(line, "model name", 10) == 0)
            snprintf(model, sizeof model, "%.255s", value);
        else if (!*flags && (strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0))
            snprintf(flags, sizeof flags, "%.8191s", value);
        else if (*mhz == 0 && strncmp(line, "cpu MHz", 7) == 0)
            *mhz = (uint32_t)strtod(value, NULL);
    }
    if (f)
        fclose(f);
    if (*model)
        snprintf(name, size, "%s", model);
    char all[sizeof model + sizeof flags];
    int n = snprintf(all, sizeof all, "%s %s", model, flags);
    hash_bytes(all, n > 0 ? (size_t)n : 0, features_hex);
}

/* What a mode means to gcc and clang. Not -ffast-math as a whole: infinities and NaN must stay what
 * they are. */
static const char *mode_flags(enum math_mode mode)
{
    switch (mode) {
    case MODE_STRICT:
        return "-ffp-contract=off -fno-fast-math";
    case MODE_DEVICE:
        return "-ffp-contract=fast";
    default:
        return "-ffp-contract=fast -fno-signed-zeros -fno-trapping-math "
               "-fassociative-math -freciprocal-math";
    }
}

/* Packing the kernel's three-vectors into registers of four costs more shuffles than it saves work.
 */
static const char common_flags[] =
    "-std=gnu11 -O3 -march=native -fno-math-errno -fno-tree-slp-vectorize -fno-strict-aliasing "
    "-fvisibility=hidden -fPIC -shared -w";

/* Splits text at blanks into argv[*n...]; the text is cut up in place. */
static enum status arguments_split(char *text, char *argv[ARGUMENTS_MAX], size_t *n,
                                   struct error *err)
{
    char *save = NULL;
    for (char *word = strtok_r(text, " \t\n", &save); word; word = strtok_r(NULL, " \t\n", &save)) {
        if (*n + 1 >= ARGUMENTS_MAX)
            return error_msg(err, STATUS_LIMIT, "more than %d compiler arguments", ARGUMENTS_MAX);
        argv[(*n)++] = word;
    }
    argv[*n] = NULL;
    return STATUS_OK;
}

/* First line of a compiler's output that tells of an error, for the message. */
static void log_first_error(const char *log, char *out, size_t size)
{
    const char *at = strstr(log, "error");
    at = at ? at : log;
    while (at > log && at[-1] != '\n')
        at--;
    snprintf(out, size, "%.*s", (int)strcspn(at, "\n"), at);
}

/* "file:12:5: error: ..." as the error's place. */
static void log_place(const char *line, struct error *err)
{
    const char *colon = strchr(line, ':');
    char *end;
    if (!err || !colon || (size_t)(colon - line) >= sizeof err->file)
        return;
    unsigned long row = strtoul(colon + 1, &end, 10);
    if (end == colon + 1 || *end != ':' || row > UINT32_MAX)
        return;
    snprintf(err->file, sizeof err->file, "%.*s", (int)(colon - line), line);
    err->line = (uint32_t)row;
    err->col = (uint32_t)strtoul(end + 1, NULL, 10);
}

static enum status text_compile(const struct compiler *c, char *flags, const char *text,
                                const char *source, const char *object, struct build_info *info,
                                struct error *err)
{
    char *argv[ARGUMENTS_MAX] = {(char *)c->program};
    char tmp[4096];
    size_t n = 1;
    int code = -1;
    enum status st = arguments_split(flags, argv, &n, err);
    if (st == STATUS_OK)
        st = file_write(source, text, strlen(text), err);
    if (st == STATUS_OK)
        st = file_temp_name(object, tmp, sizeof tmp, err);
    if (st)
        return st;
    if (n + 5 >= ARGUMENTS_MAX)
        return error_msg(err, STATUS_LIMIT, "more than %d compiler arguments", ARGUMENTS_MAX);
    argv[n++] = (char *)"-x";
    argv[n++] = (char *)"c";
    argv[n++] = (char *)source;
    argv[n++] = (char *)"-o";
    argv[n++] = tmp;
    argv[n] = NULL;
    st = child_run(argv, info->log, sizeof info->log, &code, err);
    if (st == STATUS_OK && code != 0) {
        char first[512];
        log_first_error(info->log, first, sizeof first);
        st = error_msg(err, STATUS_BUILD, "%s refused the kernel (exit status %d): %s", c->program,
                       code, first[0] ? first : "it said nothing");
        log_place(first, err);
    }
    if (st == STATUS_OK)
        st = file_commit(tmp, object, err);
    else
        file_discard(tmp);
    return st;
}

enum status compiler_build(const struct compiler *c, const struct program_request *request,
                           char *path, size_t size, struct build_info *info, struct error *err)
{
    const char *extra = getenv("ISOPHOTE_CFLAGS");
    char flags[sizeof info->options], defines[256];
    enum status st = program_defines(request, defines, sizeof defines, err);
    if (st)
        return st;
    int length = snprintf(flags, sizeof flags, "%s %s %s %s", common_flags,
                          mode_flags(request->mode), defines, extra ? extra : "");
    if (length < 0 || (size_t)length >= sizeof flags)
        return error_msg(err, STATUS_LIMIT, "ISOPHOTE_CFLAGS is too long");
    return compiler_build_text(c, flags, request->source, request->source_hash, path, size, info,
                               err);
}

enum status compiler_build_text(const struct compiler *c, const char *options, const char *text,
                                const char text_hash[33], char *path, size_t size,
                                struct build_info *info, struct error *err)
{
    char flags[sizeof info->options], name[128], features[33], key[33];
    uint32_t mhz;
    if (strlen(options) >= sizeof flags)
        return error_msg(err, STATUS_LIMIT, "the compiler's options are too long");
    snprintf(flags, sizeof flags, "%s", options);
    snprintf(info->options, sizeof info->options, "%s", flags);
    processor_describe(name, sizeof name, &mhz, features);
    struct hash *h = hash_open();
    if (!h)
        return error_msg(err, STATUS_MEMORY, "out of memory for a hash");
    hash_add(h, text_hash, 33);
    hash_add(h, flags, strlen(flags) + 1);
    hash_add(h, c, sizeof *c);
    hash_add(h, features, sizeof features);
    hash_close(h, key);
    char source[4096];
    enum status st = kernel_cache_path(key, ".so", path, size, err);
    if (st == STATUS_OK)
        st = kernel_cache_path(key, ".c", source, sizeof source, err);
    if (st)
        return st;
    if (access(path, R_OK) == 0) {
        info->cached = true;
        return STATUS_OK;
    }
    double start = clock_s();
    st = text_compile(c, flags, text, source, path, info, err);
    info->compile_s = clock_s() - start;
    return st;
}
