#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include "llvm_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_once_t once;
    struct llvm_api api;
    void *library;
    bool loaded;
    char problem[640];
} llvm = {.once = PTHREAD_ONCE_INIT};

static void *library_open(void)
{
    static const char *const names[] = {"libLLVM-15.so.1", "libLLVM-15.so",
                                        "/usr/lib/llvm-15/lib/libLLVM-15.so.1"};
    const char *wanted = getenv("ISOPHOTE_LLVM");
    if (wanted && *wanted)
        return dlopen(wanted, RTLD_NOW | RTLD_LOCAL);
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof names / sizeof names[0]; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

enum status llvm_target_ready(const struct llvm_api *api, const char *architecture,
                              struct error *err)
{
    static const char *const parts[] = {"TargetInfo", "Target", "TargetMC", "AsmPrinter"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "LLVMInitialize%s%s", architecture, parts[i]);
        void (*initialise)(void);
        *(void **)&initialise = dlsym(llvm.library, name);
        if (!initialise)
            return error_msg(err, STATUS_UNSUPPORTED, "llvm: %s lacks %s", api->path, name);
        initialise();
    }
    return STATUS_OK;
}

static void path_keep(void *library)
{
    Dl_info where;
    void *symbol = dlsym(library, "LLVMContextCreate");
    snprintf(llvm.api.path, sizeof llvm.api.path, "%s",
             symbol && dladdr(symbol, &where) && where.dli_fname ? where.dli_fname : "libLLVM");
}

static void host_describe(void)
{
    struct llvm_api *a = &llvm.api;
    char *triple = a->GetDefaultTargetTriple(), *cpu = a->GetHostCPUName();
    snprintf(a->host_triple, sizeof a->host_triple, "%s", triple);
    snprintf(a->host_cpu, sizeof a->host_cpu, "%s", cpu);
    a->host_features = a->GetHostCPUFeatures();
    a->DisposeMessage(triple);
    a->DisposeMessage(cpu);
}

static void library_load(void)
{
    void *library = library_open();
    if (!library) {
        const char *why = dlerror();
        snprintf(llvm.problem, sizeof llvm.problem,
                 "llvm: no libLLVM-15 (%s); on Debian: apt-get install libllvm15",
                 why ? why : "it does not load");
        return;
    }
    path_keep(library);
#define X(member, result, parameters)                                                              \
    *(void **)&llvm.api.member = dlsym(library, "LLVM" #member);                                   \
    if (!llvm.api.member) {                                                                        \
        snprintf(llvm.problem, sizeof llvm.problem,                                                \
                 "llvm: %s lacks LLVM" #member "; version 15 is needed", llvm.api.path);           \
        return;                                                                                    \
    }
    LLVM_FUNCTIONS(X)
#undef X
    struct error why = {0};
    llvm.library = library;
    if (llvm_target_ready(&llvm.api, LLVM_HOST_ARCHITECTURE, &why) != STATUS_OK) {
        snprintf(llvm.problem, sizeof llvm.problem, "%.600s", why.msg);
        return;
    }
    host_describe();
    llvm.loaded = true;
}

const struct llvm_api *llvm_load(const char **problem)
{
    pthread_once(&llvm.once, library_load);
    *problem = llvm.loaded ? NULL : llvm.problem;
    return llvm.loaded ? &llvm.api : NULL;
}

enum status llvm_error(struct error *err, const struct llvm_api *api, enum status code,
                       llvm_failure failure, char *message, const char *what)
{
    char *text = failure ? api->GetErrorMessage(failure) : message;
    error_msg(err, code, "%s: %.800s", what, text ? text : "failed without a reason");
    if (failure && text)
        api->DisposeErrorMessage(text);
    else if (text)
        api->DisposeMessage(text);
    return code;
}
